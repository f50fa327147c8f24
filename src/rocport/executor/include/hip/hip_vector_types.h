// SPDX-License-Identifier: Apache-2.0
// char1 ... double4: HIP's HIP_vector_type<T, n>, with element-wise operators.
// The operators are templates, so that a program's own `float4 operator+(float4, float4)` is preferred.
#pragma once

#include <array>
#include <iosfwd>
#include <type_traits>

#include "rpx/index.h"

namespace rpx {

template <class T, int N> struct VectorData;
template <class T> struct VectorData<T, 1> {
  T x;
};
template <class T> struct alignas(2 * sizeof(T)) VectorData<T, 2> {
  T x, y;
};
template <class T> struct VectorData<T, 3> {
  T x, y, z;
};
template <class T> struct alignas(4 * sizeof(T)) VectorData<T, 4> {
  T x, y, z, w;
};

template <class U, class T> using IfScalar = std::enable_if_t<std::is_convertible<U, T>::value, int>;

}  // namespace rpx

#define RPX_VECTOR_COMMON(N)                                                         \
  using value_type = T;                                                              \
  HIP_vector_type() = default;                                                       \
  constexpr HIP_vector_type(const HIP_vector_type &) = default;                      \
  HIP_vector_type &operator=(const HIP_vector_type &) = default;                     \
  template <class V, std::enable_if_t<std::is_same<std::remove_const_t<V>, volatile HIP_vector_type>::value, int> = 0> \
  RPX_INLINE HIP_vector_type(V &o) {                                                 \
    for (unsigned i = 0; i < N; ++i) (&this->x)[i] = (&o.x)[i];                      \
  }                                                                                  \
  template <class V, std::enable_if_t<std::is_same<V, HIP_vector_type>::value, int> = 0> \
  RPX_INLINE void operator=(const V &o) volatile {                                   \
    for (unsigned i = 0; i < N; ++i) (&this->x)[i] = (&o.x)[i];                      \
  }                                                                                  \
  RPX_INLINE constexpr T &operator[](std::size_t i) { return (&this->x)[i]; }        \
  RPX_INLINE constexpr const T &operator[](std::size_t i) const { return (&this->x)[i]; }

template <class T> struct HIP_vector_type<T, 1> : rpx::VectorData<T, 1> {
  RPX_VECTOR_COMMON(1)
  template <class U, rpx::IfScalar<U, T> = 0> constexpr HIP_vector_type(U a) : rpx::VectorData<T, 1>{(T)a} {}
};
template <class T> struct HIP_vector_type<T, 2> : rpx::VectorData<T, 2> {
  RPX_VECTOR_COMMON(2)
  template <class U, rpx::IfScalar<U, T> = 0>
  constexpr explicit HIP_vector_type(U a) : rpx::VectorData<T, 2>{(T)a, (T)a} {}
  template <class A, class B, rpx::IfScalar<A, T> = 0>
  constexpr HIP_vector_type(A a, B b) : rpx::VectorData<T, 2>{(T)a, (T)b} {}
};
template <class T> struct HIP_vector_type<T, 3> : rpx::VectorData<T, 3> {
  RPX_VECTOR_COMMON(3)
  template <class U, rpx::IfScalar<U, T> = 0>
  constexpr explicit HIP_vector_type(U a) : rpx::VectorData<T, 3>{(T)a, (T)a, (T)a} {}
  template <class A, class B, class C, rpx::IfScalar<A, T> = 0>
  constexpr HIP_vector_type(A a, B b, C c) : rpx::VectorData<T, 3>{(T)a, (T)b, (T)c} {}
};
template <class T> struct HIP_vector_type<T, 4> : rpx::VectorData<T, 4> {
  RPX_VECTOR_COMMON(4)
  template <class U, rpx::IfScalar<U, T> = 0>
  constexpr explicit HIP_vector_type(U a) : rpx::VectorData<T, 4>{(T)a, (T)a, (T)a, (T)a} {}
  template <class A, class B, class C, class D, rpx::IfScalar<A, T> = 0>
  constexpr HIP_vector_type(A a, B b, C c, D d) : rpx::VectorData<T, 4>{(T)a, (T)b, (T)c, (T)d} {}
};
#undef RPX_VECTOR_COMMON

// ---- operators -----------------------------------------------------------------------------------------------------

#define RPX_VECTOR_OPERATOR(OP)                                                                                   \
  template <class T, unsigned N>                                                                                  \
  RPX_INLINE constexpr HIP_vector_type<T, N> &operator OP##=(HIP_vector_type<T, N> &a, const HIP_vector_type<T, N> &b) { \
    for (unsigned i = 0; i < N; ++i) a[i] = (T)(a[i] OP b[i]);                                                    \
    return a;                                                                                                     \
  }                                                                                                               \
  template <class T, unsigned N, class U, rpx::IfScalar<U, T> = 0>                                                \
  RPX_INLINE constexpr HIP_vector_type<T, N> &operator OP##=(HIP_vector_type<T, N> &a, U b) {                     \
    for (unsigned i = 0; i < N; ++i) a[i] = (T)(a[i] OP(T) b);                                                    \
    return a;                                                                                                     \
  }                                                                                                               \
  template <class T, unsigned N>                                                                                  \
  RPX_INLINE constexpr HIP_vector_type<T, N> operator OP(HIP_vector_type<T, N> a, const HIP_vector_type<T, N> &b) { \
    for (unsigned i = 0; i < N; ++i) a[i] = (T)(a[i] OP b[i]);                                                    \
    return a;                                                                                                     \
  }                                                                                                               \
  template <class T, unsigned N, class U, rpx::IfScalar<U, T> = 0>                                                \
  RPX_INLINE constexpr HIP_vector_type<T, N> operator OP(HIP_vector_type<T, N> a, U b) {                          \
    for (unsigned i = 0; i < N; ++i) a[i] = (T)(a[i] OP(T) b);                                                    \
    return a;                                                                                                     \
  }                                                                                                               \
  template <class T, unsigned N, class U, rpx::IfScalar<U, T> = 0>                                                \
  RPX_INLINE constexpr HIP_vector_type<T, N> operator OP(U a, HIP_vector_type<T, N> b) {                          \
    for (unsigned i = 0; i < N; ++i) b[i] = (T)((T)a OP b[i]);                                                    \
    return b;                                                                                                     \
  }
RPX_VECTOR_OPERATOR(+)
RPX_VECTOR_OPERATOR(-)
RPX_VECTOR_OPERATOR(*)
RPX_VECTOR_OPERATOR(/)
RPX_VECTOR_OPERATOR(%)
RPX_VECTOR_OPERATOR(&)
RPX_VECTOR_OPERATOR(|)
RPX_VECTOR_OPERATOR(^)
RPX_VECTOR_OPERATOR(<<)
RPX_VECTOR_OPERATOR(>>)
#undef RPX_VECTOR_OPERATOR

template <class T, unsigned N> RPX_INLINE constexpr HIP_vector_type<T, N> operator-(HIP_vector_type<T, N> a) {
  for (unsigned i = 0; i < N; ++i) a[i] = (T)-a[i];
  return a;
}
template <class T, unsigned N> RPX_INLINE constexpr HIP_vector_type<T, N> operator+(HIP_vector_type<T, N> a) { return a; }
template <class T, unsigned N> RPX_INLINE constexpr HIP_vector_type<T, N> operator~(HIP_vector_type<T, N> a) {
  for (unsigned i = 0; i < N; ++i) a[i] = (T)~a[i];
  return a;
}
template <class T, unsigned N> RPX_INLINE constexpr HIP_vector_type<T, N> &operator++(HIP_vector_type<T, N> &a) {
  for (unsigned i = 0; i < N; ++i) ++a[i];
  return a;
}
template <class T, unsigned N> RPX_INLINE constexpr HIP_vector_type<T, N> &operator--(HIP_vector_type<T, N> &a) {
  for (unsigned i = 0; i < N; ++i) --a[i];
  return a;
}
template <class T, unsigned N>
RPX_INLINE constexpr bool operator==(const HIP_vector_type<T, N> &a, const HIP_vector_type<T, N> &b) {
  for (unsigned i = 0; i < N; ++i)
    if (!(a[i] == b[i])) return false;
  return true;
}
template <class T, unsigned N>
RPX_INLINE constexpr bool operator!=(const HIP_vector_type<T, N> &a, const HIP_vector_type<T, N> &b) {
  return !(a == b);
}

// ---- names and makers ----------------------------------------------------------------------------------------------

#define RPX_VECTOR_NAMES(name, T)                                                                          \
  using name##1 = HIP_vector_type<T, 1>;                                                                   \
  using name##2 = HIP_vector_type<T, 2>;                                                                   \
  using name##3 = HIP_vector_type<T, 3>;                                                                   \
  using name##4 = HIP_vector_type<T, 4>;                                                                   \
  RPX_INLINE constexpr name##1 make_##name##1(T x) { return name##1(x); }                                  \
  RPX_INLINE constexpr name##2 make_##name##2(T x, T y) { return name##2(x, y); }                          \
  RPX_INLINE constexpr name##3 make_##name##3(T x, T y, T z) { return name##3(x, y, z); }                  \
  RPX_INLINE constexpr name##4 make_##name##4(T x, T y, T z, T w) { return name##4(x, y, z, w); }

RPX_VECTOR_NAMES(char, signed char)
RPX_VECTOR_NAMES(uchar, unsigned char)
RPX_VECTOR_NAMES(short, short)
RPX_VECTOR_NAMES(ushort, unsigned short)
RPX_VECTOR_NAMES(int, int)
RPX_VECTOR_NAMES(uint, unsigned int)
RPX_VECTOR_NAMES(long, long)
RPX_VECTOR_NAMES(ulong, unsigned long)
RPX_VECTOR_NAMES(longlong, long long)
RPX_VECTOR_NAMES(ulonglong, unsigned long long)
RPX_VECTOR_NAMES(float, float)
RPX_VECTOR_NAMES(double, double)
#undef RPX_VECTOR_NAMES

inline dim3::dim3(const uint3 &v) : x(v.x), y(v.y), z(v.z) {}
inline dim3::operator uint3() const { return uint3(x, y, z); }
inline rpx::Index3::operator uint3() const { return uint3(x, y, z); }
