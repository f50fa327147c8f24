// SPDX-License-Identifier: Apache-2.0
// Atomics. All GPU threads run on one host thread, but the watchdog may switch between any two instructions, so each
// operation is one instruction (or a compare-and-exchange loop): no lock prefix is needed for that, and none is paid for.
#pragma once

#include <cstring>
#include <type_traits>

#include "rpx/config.h"

namespace rpx {

template <std::size_t N> struct Bits;
template <> struct Bits<1> { using type = std::uint8_t; };
template <> struct Bits<2> { using type = std::uint16_t; };
template <> struct Bits<4> { using type = std::uint32_t; };
template <> struct Bits<8> { using type = std::uint64_t; };
template <> struct Bits<16> { using type = unsigned __int128; };
template <class T> using BitsOf = typename Bits<sizeof(T)>::type;

template <class To, class From> RPX_INLINE To bit_copy(const From &from) {
  static_assert(sizeof(To) == sizeof(From), "bits are copied between types of one size");
  alignas(To) unsigned char raw[sizeof(To)];
  std::memcpy(raw, static_cast<const void *>(&from), sizeof(To));
  return *reinterpret_cast<To *>(raw);
}

// Returns the value found; it was replaced when it equals `expected`.
template <class B> RPX_INLINE B compare_exchange(B *address, B expected, B desired) {
#if defined(__x86_64__)
  if constexpr (sizeof(B) <= 8) {
    B found = expected;
    __asm__ volatile("cmpxchg %2, %1" : "+a"(found), "+m"(*address) : "r"(desired) : "cc", "memory");
    return found;
  } else
#endif
  if constexpr (sizeof(B) <= 8) {
    __atomic_compare_exchange_n(address, &expected, desired, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    return expected;
  } else {
    B found = *address;
    if (found == expected) *address = desired;
    return found;
  }
}

template <class B> RPX_INLINE B fetch_add(B *address, B value) {
#if defined(__x86_64__)
  __asm__ volatile("xadd %0, %1" : "+r"(value), "+m"(*address) : : "cc", "memory");
  return value;
#else
  return __atomic_fetch_add(address, value, __ATOMIC_RELAXED);
#endif
}

template <class B> RPX_INLINE B exchange_bits(B *address, B value) {
  return __atomic_exchange_n(address, value, __ATOMIC_RELAXED);
}

// An instrumented build is told of atomics: the instructions below hide them from the compiler.
#ifdef RPX_INSTRUMENT
extern "C" void rpx_atomic_access(const void *, unsigned long);
extern "C" void rpx_atomic_store(const void *, unsigned long);
#else
RPX_INLINE void rpx_atomic_access(const void *, unsigned long) {}
RPX_INLINE void rpx_atomic_store(const void *, unsigned long) {}
#endif
template <class T> RPX_INLINE BitsOf<T> *bits(T *address) { return reinterpret_cast<BitsOf<T> *>(address); }

// *address = f(*address); returns the value before.
template <class T, class F> RPX_INLINE T update(T *address, F f) {
  using B = BitsOf<T>;
  rpx_atomic_access(address, sizeof(T));
  for (;;) {
    B before;
    __asm__ volatile("" ::: "memory");
#ifdef RPX_INSTRUMENT
    if constexpr (sizeof(B) <= 8) before = __atomic_load_n(bits(address), __ATOMIC_RELAXED);
    else
#endif
    before = *bits(address);
    T old = bit_copy<T>(before);
    if (compare_exchange<B>(bits(address), before, bit_copy<B>(static_cast<T>(f(old)))) == before) return old;
  }
}

template <class T> struct Plain { using type = std::remove_volatile_t<T>; };
template <class T> using plain = typename Plain<T>::type;
template <class T> RPX_INLINE plain<T> *strip(T *address) { return const_cast<plain<T> *>(address); }

template <class T> RPX_INLINE T atomic_add(T *address, T value) {
  if constexpr (std::is_integral<T>::value) {
    rpx_atomic_access(address, sizeof(T));
    return static_cast<T>(fetch_add<BitsOf<T>>(bits(address), static_cast<BitsOf<T>>(value)));
  } else
    return update(address, [=](T old) { return static_cast<T>(old + value); });
}

}  // namespace rpx

#define RPX_ATOMIC(name, expression)                                                                        \
  template <class T, class U> RPX_INLINE rpx::plain<T> name(T *address, U operand) {                        \
    using P = rpx::plain<T>;                                                                                \
    const P value = static_cast<P>(operand);                                                                \
    return rpx::update(rpx::strip(address), [=](P old) -> P { return expression; });                        \
  }                                                                                                         \
  template <class T, class U> RPX_INLINE rpx::plain<T> name##_system(T *a, U v) { return name(a, v); }      \
  template <class T, class U> RPX_INLINE rpx::plain<T> name##_block(T *a, U v) { return name(a, v); }
RPX_ATOMIC(atomicMin, value < old ? value : old)
RPX_ATOMIC(atomicMax, old < value ? value : old)
RPX_ATOMIC(atomicAnd, old &value)
RPX_ATOMIC(atomicOr, old | value)
RPX_ATOMIC(atomicXor, old ^ value)
RPX_ATOMIC(atomicInc, old >= value ? P(0) : static_cast<P>(old + 1))
RPX_ATOMIC(atomicDec, old == P(0) || old > value ? value : static_cast<P>(old - 1))
#undef RPX_ATOMIC

template <class T, class U> RPX_INLINE rpx::plain<T> atomicAdd(T *address, U value) {
  return rpx::atomic_add(rpx::strip(address), static_cast<rpx::plain<T>>(value));
}
template <class T, class U> RPX_INLINE rpx::plain<T> atomicSub(T *address, U value) {
  using P = rpx::plain<T>;
  return rpx::update(rpx::strip(address), [v = static_cast<P>(value)](P old) { return static_cast<P>(old - v); });
}
template <class T, class U> RPX_INLINE rpx::plain<T> atomicExch(T *address, U value) {
  using P = rpx::plain<T>;
  rpx::rpx_atomic_store(const_cast<P *>(address), sizeof(P));
  return rpx::bit_copy<P>(
      rpx::exchange_bits(rpx::bits(rpx::strip(address)), rpx::bit_copy<rpx::BitsOf<P>>(static_cast<P>(value))));
}
template <class T, class C, class U> RPX_INLINE rpx::plain<T> atomicCAS(T *address, C compare, U value) {
  using P = rpx::plain<T>;
  using B = rpx::BitsOf<P>;
  rpx::rpx_atomic_access(const_cast<P *>(address), sizeof(P));
  return rpx::bit_copy<P>(rpx::compare_exchange<B>(rpx::bits(rpx::strip(address)), rpx::bit_copy<B>(static_cast<P>(compare)),
                                                   rpx::bit_copy<B>(static_cast<P>(value))));
}
#define RPX_SCOPES(name)                                                                                       \
  template <class T, class U> RPX_INLINE rpx::plain<T> name##_system(T *a, U v) { return name(a, v); }         \
  template <class T, class U> RPX_INLINE rpx::plain<T> name##_block(T *a, U v) { return name(a, v); }
RPX_SCOPES(atomicAdd)
RPX_SCOPES(atomicSub)
RPX_SCOPES(atomicExch)
#undef RPX_SCOPES
template <class T, class C, class U> RPX_INLINE rpx::plain<T> atomicCAS_system(T *a, C c, U v) { return atomicCAS(a, c, v); }
template <class T, class C, class U> RPX_INLINE rpx::plain<T> atomicCAS_block(T *a, C c, U v) { return atomicCAS(a, c, v); }

template <class T, class U> RPX_INLINE T unsafeAtomicAdd(T *a, U v) { return atomicAdd(a, v); }
template <class T, class U> RPX_INLINE T safeAtomicAdd(T *a, U v) { return atomicAdd(a, v); }
template <class T, class U> RPX_INLINE T unsafeAtomicMax(T *a, U v) { return atomicMax(a, v); }
template <class T, class U> RPX_INLINE T unsafeAtomicMin(T *a, U v) { return atomicMin(a, v); }
template <class T, class U> RPX_INLINE T atomicAddNoRet(T *a, U v) { return atomicAdd(a, v); }

// ---- clang's scoped atomics, which HIP headers and tuned kernels call directly --------------------------------------

#define __HIP_MEMORY_SCOPE_SINGLETHREAD 1
#define __HIP_MEMORY_SCOPE_WAVEFRONT 2
#define __HIP_MEMORY_SCOPE_WORKGROUP 3
#define __HIP_MEMORY_SCOPE_AGENT 4
#define __HIP_MEMORY_SCOPE_SYSTEM 5

#if !defined(__clang__)  // clang has these as builtins
template <class T> RPX_INLINE rpx::plain<T> __hip_atomic_load(T *address, int, int) {
  __asm__ volatile("" ::: "memory");
  return *const_cast<rpx::plain<T> volatile *>(address);
}
template <class T, class U> RPX_INLINE void __hip_atomic_store(T *address, U value, int, int) {
  *const_cast<rpx::plain<T> volatile *>(address) = static_cast<rpx::plain<T>>(value);
}
template <class T, class U> RPX_INLINE rpx::plain<T> __hip_atomic_exchange(T *a, U v, int, int) { return atomicExch(a, v); }
template <class T, class U> RPX_INLINE rpx::plain<T> __hip_atomic_fetch_add(T *a, U v, int, int) { return atomicAdd(a, v); }
template <class T, class U> RPX_INLINE rpx::plain<T> __hip_atomic_fetch_and(T *a, U v, int, int) { return atomicAnd(a, v); }
template <class T, class U> RPX_INLINE rpx::plain<T> __hip_atomic_fetch_or(T *a, U v, int, int) { return atomicOr(a, v); }
template <class T, class U> RPX_INLINE rpx::plain<T> __hip_atomic_fetch_xor(T *a, U v, int, int) { return atomicXor(a, v); }
template <class T, class U> RPX_INLINE rpx::plain<T> __hip_atomic_fetch_min(T *a, U v, int, int) { return atomicMin(a, v); }
template <class T, class U> RPX_INLINE rpx::plain<T> __hip_atomic_fetch_max(T *a, U v, int, int) { return atomicMax(a, v); }
template <class T, class U>
RPX_INLINE bool __hip_atomic_compare_exchange_strong(T *address, rpx::plain<T> *expected, U desired, int, int, int) {
  rpx::plain<T> before = *expected;
  *expected = atomicCAS(address, before, desired);
  return std::memcmp(&before, expected, sizeof before) == 0;
}
template <class T, class U>
RPX_INLINE bool __hip_atomic_compare_exchange_weak(T *a, rpx::plain<T> *e, U d, int s, int f, int c) {
  return __hip_atomic_compare_exchange_strong(a, e, d, s, f, c);
}
template <class T> RPX_INLINE T __builtin_nontemporal_load(const T *address) { return *address; }
template <class T, class U> RPX_INLINE void __builtin_nontemporal_store(U value, T *address) { *address = value; }
#endif
