// rocport_pointer.h - pointers as nvcc takes them: to void in sums, to pieces of an object of another type.
// SPDX-License-Identifier: Apache-2.0
//
// nvcc counts a pointer to void in bytes, as GNU C does; clang refuses it in C++. What is no pointer to void is added as
// it is written, so that these may stand where the type is not known.
#ifndef ROCPORT_POINTER_H
#define ROCPORT_POINTER_H

#if defined(__HIPCC__)
#if !defined(__HIPCC_RTC__)
#include <hip/hip_runtime.h>
#endif
#define ROCPORT_POINTER __host__ __device__ inline __attribute__((always_inline))
#else
#define ROCPORT_POINTER inline
#endif

namespace rocport {

namespace detail {
template <class T>
struct may_alias {
  typedef T __attribute__((__may_alias__)) type;
};
}  // namespace detail
// A T that may lie where an object of any other type does.
template <class T>
using aliased = typename detail::may_alias<T>::type;

template <class N>
ROCPORT_POINTER constexpr auto plus(void* p, N n) -> decltype(static_cast<void*>(static_cast<char*>(p) + n)) {
  return static_cast<char*>(p) + n;
}
template <class N>
ROCPORT_POINTER constexpr auto plus(const void* p, N n) -> decltype(static_cast<const void*>(static_cast<const char*>(p) + n)) {
  return static_cast<const char*>(p) + n;
}
template <class N>
ROCPORT_POINTER constexpr auto plus(volatile void* p, N n)
    -> decltype(static_cast<volatile void*>(static_cast<volatile char*>(p) + n)) {
  return static_cast<volatile char*>(p) + n;
}
template <class N>
ROCPORT_POINTER constexpr auto plus(const volatile void* p, N n)
    -> decltype(static_cast<const volatile void*>(static_cast<const volatile char*>(p) + n)) {
  return static_cast<const volatile char*>(p) + n;
}
template <class P, class N>
ROCPORT_POINTER constexpr auto plus(P p, N n) -> decltype(p + n) {
  return p + n;
}
template <class N>
ROCPORT_POINTER constexpr auto minus(void* p, N n) -> decltype(static_cast<void*>(static_cast<char*>(p) - n)) {
  return static_cast<char*>(p) - n;
}
template <class N>
ROCPORT_POINTER constexpr auto minus(const void* p, N n) -> decltype(static_cast<const void*>(static_cast<const char*>(p) - n)) {
  return static_cast<const char*>(p) - n;
}
template <class N>
ROCPORT_POINTER constexpr auto minus(volatile void* p, N n)
    -> decltype(static_cast<volatile void*>(static_cast<volatile char*>(p) - n)) {
  return static_cast<volatile char*>(p) - n;
}
template <class N>
ROCPORT_POINTER constexpr auto minus(const volatile void* p, N n)
    -> decltype(static_cast<const volatile void*>(static_cast<const volatile char*>(p) - n)) {
  return static_cast<const volatile char*>(p) - n;
}
ROCPORT_POINTER long minus(const void* p, const void* q) {
  return static_cast<const char*>(p) - static_cast<const char*>(q);
}
template <class P, class N>
ROCPORT_POINTER constexpr auto minus(P p, N n) -> decltype(p - n) {
  return p - n;
}

}  // namespace rocport

#undef ROCPORT_POINTER
#endif  // ROCPORT_POINTER_H
