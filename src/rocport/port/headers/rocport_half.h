// rocport_half.h - half and bfloat16 functions of CUDA that HIP does not have.
// SPDX-License-Identifier: Apache-2.0
//
// Names are CUDA's without their underscores. Every result is CUDA's: conversions round once, in the direction the name
// says; `_rn` arithmetic is never fused; comparisons into masks give 0xffff a lane. Arithmetic goes through float, which is
// wide enough that rounding twice equals rounding once (24 >= 2 * 11 + 2 bits).
#ifndef ROCPORT_HALF_H
#define ROCPORT_HALF_H

#include "rocport_compat.h"

// HIP's half types are no constants to the compiler. A function that says constexpr and makes one is an ordinary function
// then, as it is to nvcc; where its value has to be a constant, it stays an error.
#if defined(__clang__) && __clang_major__ >= 18
#pragma clang diagnostic ignored "-Winvalid-constexpr"
#endif

// For what CUDA lets the host call too.
#ifndef ROCPORT_HOST_DEVICE
#define ROCPORT_HOST_DEVICE __host__ __device__ inline __attribute__((always_inline))
#endif

// HIP gives a plain C++ compiler half as a type without functions.
#if defined(ROCPORT_HOST_ONLY)
#include <hip/hip_fp16.h>
namespace rocport {
using half2_raw = __half2_raw;

template <class To, class From>
inline To cast(const From &value) {
  return static_cast<To>(value);
}
}  // namespace rocport
#else

#if !defined(__HIPCC_RTC__)
#include <hip/hip_bf16.h>
#include <hip/hip_fp16.h>
#endif

namespace rocport {

// CUDA's __half2_raw: its halves are numbers, HIP's are structures.
struct half2_raw {
  unsigned short x, y;
  half2_raw() = default;
  ROCPORT_HOST_DEVICE half2_raw(const __half2_raw &raw) { __builtin_memcpy(this, &raw, sizeof raw); }
  ROCPORT_HOST_DEVICE half2_raw(const __half2 &value) { __builtin_memcpy(this, &value, sizeof value); }
  ROCPORT_HOST_DEVICE operator __half2() const {
    __half2_raw raw;
    __builtin_memcpy(&raw, this, sizeof raw);
    return __half2(raw);
  }
};

namespace detail {

// ---- What the two 16-bit types, and their pairs, have in common ------------------------------------------------------

template <class T>
struct half_type;  // undefined for every other type

template <>
struct half_type<__half> {
  using pair = __half2;
  ROCPORT_DEVICE static float to_float(__half value) { return __half2float(value); }
  ROCPORT_DEVICE static __half from_float(float value) { return __float2half_rn(value); }
};
template <>
struct half_type<__hip_bfloat16> {
  using pair = __hip_bfloat162;
  ROCPORT_DEVICE static float to_float(__hip_bfloat16 value) { return __bfloat162float(value); }
  ROCPORT_DEVICE static __hip_bfloat16 from_float(float value) { return __float2bfloat16(value); }
};

// HIP's conversions from half to bfloat16, and back, are ambiguous; CUDA's go through float and round once.
template <class To, class From>
struct caster {
  ROCPORT_HOST_DEVICE static To cast(const From &value) { return static_cast<To>(value); }
};
template <>
struct caster<__hip_bfloat16, __half> {
  ROCPORT_HOST_DEVICE static __hip_bfloat16 cast(__half value) { return __float2bfloat16(__half2float(value)); }
};
template <>
struct caster<__half, __hip_bfloat16> {
  ROCPORT_HOST_DEVICE static __half cast(__hip_bfloat16 value) { return __float2half(__bfloat162float(value)); }
};

template <class T>
struct pair_type;

template <>
struct pair_type<__half2> {
  using scalar = __half;
  ROCPORT_DEVICE static __half low(__half2 value) { return __low2half(value); }
  ROCPORT_DEVICE static __half high(__half2 value) { return __high2half(value); }
  ROCPORT_DEVICE static __half2 make(__half low, __half high) { return __halves2half2(low, high); }
};
template <>
struct pair_type<__hip_bfloat162> {
  using scalar = __hip_bfloat16;
  ROCPORT_DEVICE static __hip_bfloat16 low(__hip_bfloat162 value) { return __low2bfloat16(value); }
  ROCPORT_DEVICE static __hip_bfloat16 high(__hip_bfloat162 value) { return __high2bfloat16(value); }
  ROCPORT_HOST_DEVICE static __hip_bfloat162 make(__hip_bfloat16 low, __hip_bfloat16 high) {
    __hip_bfloat162 pair;
    pair.x = low;
    pair.y = high;
    return pair;
  }
};

template <class T>
struct same {
  using type = T;
};

template <class T>
using pair_of = typename half_type<T>::pair;
template <class T>
using scalar_of = typename pair_type<T>::scalar;

template <class T>
ROCPORT_DEVICE float widen(T value) {
  return half_type<T>::to_float(value);
}
template <class T>
ROCPORT_DEVICE T narrow(float value) {
  return half_type<T>::from_float(value);
}

}  // namespace detail

template <class To, class From>
ROCPORT_HOST_DEVICE To cast(const From &value) {
  return detail::caster<To, From>::cast(value);
}

// ---- Arithmetic ------------------------------------------------------------------------------------------------------

// A function of scalars, and the same on both halves of a pair under the name with a 2.
#define ROCPORT_HALF_UNARY(name, expression)                                                                 \
  template <class T, class = detail::pair_of<T>>                                                             \
  ROCPORT_DEVICE T h##name(T a) {                                                                            \
    const float x = detail::widen(a);                                                                        \
    return detail::narrow<T>(expression);                                                                    \
  }                                                                                                          \
  template <class P, class = detail::scalar_of<P>>                                                           \
  ROCPORT_DEVICE P h2##name(P a) {                                                                           \
    using Pair = detail::pair_type<P>;                                                                       \
    return Pair::make(h##name(Pair::low(a)), h##name(Pair::high(a)));                                        \
  }
#define ROCPORT_HALF_BINARY(name, pair_name, expression)                                                     \
  template <class T, class = detail::pair_of<T>>                                                             \
  ROCPORT_DEVICE T name(T a, T b) {                                                                          \
    const float x = detail::widen(a), y = detail::widen(b);                                                  \
    return detail::narrow<T>(expression);                                                                    \
  }                                                                                                          \
  template <class P, class = detail::scalar_of<P>>                                                           \
  ROCPORT_DEVICE P pair_name(P a, P b) {                                                                     \
    using Pair = detail::pair_type<P>;                                                                       \
    return Pair::make(name(Pair::low(a), Pair::low(b)), name(Pair::high(a), Pair::high(b)));                 \
  }

ROCPORT_HALF_UNARY(tanh, tanhf(x))
ROCPORT_HALF_UNARY(tanh_approx, tanhf(x))

ROCPORT_HALF_BINARY(hadd_rn, hadd2_rn, fadd_rn(x, y))
ROCPORT_HALF_BINARY(hsub_rn, hsub2_rn, fsub_rn(x, y))
ROCPORT_HALF_BINARY(hmul_rn, hmul2_rn, fmul_rn(x, y))
ROCPORT_HALF_BINARY(hadd_sat, hadd2_sat, saturatef(fadd_rn(x, y)))
ROCPORT_HALF_BINARY(hsub_sat, hsub2_sat, saturatef(fsub_rn(x, y)))
ROCPORT_HALF_BINARY(hmul_sat, hmul2_sat, saturatef(fmul_rn(x, y)))
ROCPORT_HALF_BINARY(hmin, hmin2, fminf(x, y))
ROCPORT_HALF_BINARY(hmax, hmax2, fmaxf(x, y))
ROCPORT_HALF_BINARY(hmin_nan, hmin2_nan, fmin_nan(x, y))
ROCPORT_HALF_BINARY(hmax_nan, hmax2_nan, fmax_nan(x, y))

#undef ROCPORT_HALF_BINARY
#undef ROCPORT_HALF_UNARY

// a * b + c rounded once; `relu` and `sat` after the rounding. A product of two 16-bit numbers is exact in float, and the
// sum is exact in double.
template <class T, class = detail::pair_of<T>>
ROCPORT_DEVICE T hfma_relu(T a, T b, T c) {
  const T value = __hfma(a, b, c);
  const float wide = detail::widen(value);
  return wide > 0.0f || wide != wide ? value : detail::narrow<T>(0.0f);
}
template <class T, class = detail::pair_of<T>>
ROCPORT_DEVICE T hfma_sat(T a, T b, T c) {
  return detail::narrow<T>(saturatef(detail::widen(__hfma(a, b, c))));
}
template <class P, class = detail::scalar_of<P>>
ROCPORT_DEVICE P hfma2_relu(P a, P b, P c) {
  using Pair = detail::pair_type<P>;
  return Pair::make(hfma_relu(Pair::low(a), Pair::low(b), Pair::low(c)),
                    hfma_relu(Pair::high(a), Pair::high(b), Pair::high(c)));
}
template <class P, class = detail::scalar_of<P>>
ROCPORT_DEVICE P hfma2_sat(P a, P b, P c) {
  using Pair = detail::pair_type<P>;
  return Pair::make(hfma_sat(Pair::low(a), Pair::low(b), Pair::low(c)),
                    hfma_sat(Pair::high(a), Pair::high(b), Pair::high(c)));
}

// Complex a * b + c, the real part low.
template <class P, class = detail::scalar_of<P>>
ROCPORT_DEVICE P hcmadd(P a, P b, P c) {
  using Pair = detail::pair_type<P>;
  const auto ar = Pair::low(a), ai = Pair::high(a), br = Pair::low(b), bi = Pair::high(b);
  const auto real = __hfma(__hneg(ai), bi, __hfma(ar, br, Pair::low(c)));
  const auto imaginary = __hfma(ai, br, __hfma(ar, bi, Pair::high(c)));
  return Pair::make(real, imaginary);
}

// ---- Comparisons -----------------------------------------------------------------------------------------------------

// Two lanes compared: as a mask of 0xffff a lane, and (bfloat16 only, HIP has it for half) as a pair of ones and zeros.
// The `u` forms also hold where an operand is NaN.
#define ROCPORT_HALF_COMPARE(name, expression)                                                        \
  template <class P, class = detail::scalar_of<P>>                                                    \
  ROCPORT_DEVICE unsigned name##2_mask(P a, P b) {                                                    \
    using Pair = detail::pair_type<P>;                                                                \
    unsigned mask = 0u;                                                                               \
    {                                                                                                 \
      const float x = detail::widen(Pair::low(a)), y = detail::widen(Pair::low(b));                   \
      if (expression) mask |= 0x0000ffffu;                                                            \
    }                                                                                                 \
    {                                                                                                 \
      const float x = detail::widen(Pair::high(a)), y = detail::widen(Pair::high(b));                 \
      if (expression) mask |= 0xffff0000u;                                                            \
    }                                                                                                 \
    return mask;                                                                                      \
  }                                                                                                   \
  template <class P, class = detail::scalar_of<P>>                                                    \
  ROCPORT_DEVICE P name##2(P a, P b) {                                                                \
    using Scalar = detail::scalar_of<P>;                                                              \
    const unsigned mask = name##2_mask(a, b);                                                         \
    return detail::pair_type<P>::make(detail::narrow<Scalar>((mask & 0xffffu) ? 1.0f : 0.0f),         \
                                      detail::narrow<Scalar>((mask >> 16) ? 1.0f : 0.0f));            \
  }
ROCPORT_HALF_COMPARE(heq, x == y)
ROCPORT_HALF_COMPARE(hne, x < y || x > y)
ROCPORT_HALF_COMPARE(hlt, x < y)
ROCPORT_HALF_COMPARE(hle, x <= y)
ROCPORT_HALF_COMPARE(hgt, x > y)
ROCPORT_HALF_COMPARE(hge, x >= y)
ROCPORT_HALF_COMPARE(hequ, !(x < y || x > y))
ROCPORT_HALF_COMPARE(hneu, !(x == y))
ROCPORT_HALF_COMPARE(hltu, !(x >= y))
ROCPORT_HALF_COMPARE(hleu, !(x > y))
ROCPORT_HALF_COMPARE(hgtu, !(x <= y))
ROCPORT_HALF_COMPARE(hgeu, !(x < y))
#undef ROCPORT_HALF_COMPARE
// Unequal, and neither is NaN.
template <class T, class = detail::pair_of<T>>
ROCPORT_DEVICE bool hne(T a, T b) {
  const float x = detail::widen(a), y = detail::widen(b);
  return x < y || x > y;
}
// CUDA converts a number beside one of the 16-bit types.
template <class T, class = detail::pair_of<T>>
ROCPORT_DEVICE bool hne(T a, float b) {
  return hne(a, detail::half_type<T>::from_float(b));
}
template <class T, class = detail::pair_of<T>>
ROCPORT_DEVICE bool hne(float a, T b) {
  return hne(detail::half_type<T>::from_float(a), b);
}
template <class P, class = detail::scalar_of<P>>
ROCPORT_DEVICE bool hbne2(P a, P b) {
  return hne2_mask(a, b) == 0xffffffffu;
}

// ---- Conversions -----------------------------------------------------------------------------------------------------

ROCPORT_HOST_DEVICE __half double2half(double value) { return bit_cast<__half>(static_cast<_Float16>(value)); }
ROCPORT_DEVICE signed char half2char_rz(__half value) { return convert_sat<signed char>(__float2int_rz(__half2float(value))); }
ROCPORT_DEVICE unsigned char half2uchar_rz(__half value) {
  return convert_sat<unsigned char>(__float2int_rz(__half2float(value)));
}

namespace detail {

enum bfloat16_rounding { nearest, zero, upwards, downwards };

// A float as bfloat16. NaN stays NaN.
ROCPORT_HOST_DEVICE __hip_bfloat16 bfloat16_from(float value, bfloat16_rounding mode) {
  const unsigned bits = bit_cast<unsigned>(value);
  unsigned short upper = static_cast<unsigned short>(bits >> 16);
  const unsigned lower = bits & 0xffffu;
  const bool negative = (bits >> 31) != 0u;
  if (value != value) {
    upper = 0x7fffu;
  } else if (lower != 0u && (bits & 0x7f800000u) != 0x7f800000u) {
    const bool away = mode == nearest ? (lower > 0x8000u || (lower == 0x8000u && (upper & 1u)))
                                      : (mode == upwards && !negative) || (mode == downwards && negative);
    if (away) upper = static_cast<unsigned short>(upper + 1u);
  }
  return bit_cast<__hip_bfloat16>(upper);
}

// A double as a float rounded to odd, so that only the rounding after it counts.
ROCPORT_DEVICE float odd_float(double value) {
  const float cut = __double2float_rz(value);
  return value == value && static_cast<double>(cut) != value ? bit_cast<float>(bit_cast<unsigned>(cut) | 1u) : cut;
}
ROCPORT_DEVICE __hip_bfloat16 bfloat16_from(double value, bfloat16_rounding mode) {
  return bfloat16_from(odd_float(value), mode);
}
ROCPORT_DEVICE double odd_double(long long value) {
  const double cut = __ll2double_rz(value);
  return static_cast<long long>(cut) == value ? cut : bit_cast<double>(bit_cast<unsigned long long>(cut) | 1ull);
}
ROCPORT_DEVICE double odd_double(unsigned long long value) {
  const double cut = __ull2double_rz(value);
  return static_cast<unsigned long long>(cut) == value ? cut
                                                       : bit_cast<double>(bit_cast<unsigned long long>(cut) | 1ull);
}

}  // namespace detail

ROCPORT_HOST_DEVICE __hip_bfloat16 float2bfloat16_rn(float value) { return detail::bfloat16_from(value, detail::nearest); }
ROCPORT_HOST_DEVICE __hip_bfloat16 float2bfloat16_rz(float value) { return detail::bfloat16_from(value, detail::zero); }
ROCPORT_HOST_DEVICE __hip_bfloat16 float2bfloat16_ru(float value) { return detail::bfloat16_from(value, detail::upwards); }
ROCPORT_HOST_DEVICE __hip_bfloat16 float2bfloat16_rd(float value) { return detail::bfloat16_from(value, detail::downwards); }
ROCPORT_HOST_DEVICE __hip_bfloat162 make_bfloat162(__hip_bfloat16 low, __hip_bfloat16 high) {
  return detail::pair_type<__hip_bfloat162>::make(low, high);
}
ROCPORT_HOST_DEVICE __hip_bfloat162 float2bfloat162_rn(float value) {
  return make_bfloat162(float2bfloat16_rn(value), float2bfloat16_rn(value));
}
ROCPORT_HOST_DEVICE __hip_bfloat162 floats2bfloat162_rn(float low, float high) {
  return make_bfloat162(float2bfloat16_rn(low), float2bfloat16_rn(high));
}

#define ROCPORT_BFLOAT16_FROM(name, type, suffix, mode)                                                       \
  ROCPORT_DEVICE __hip_bfloat16 name##2bfloat16_##suffix(type value) {                                        \
    return detail::bfloat16_from(detail::odd_double(value), detail::mode);                                    \
  }
#define ROCPORT_BFLOAT16_TO(name, type, suffix, convert)                                                      \
  ROCPORT_DEVICE type bfloat162##name##_##suffix(__hip_bfloat16 value) {                                      \
    return convert_sat<type>(convert(__bfloat162float(value)));                                               \
  }
#define ROCPORT_BFLOAT16_INTEGER(name, type, through)                                                        \
  ROCPORT_BFLOAT16_FROM(name, type, rn, nearest)                                                              \
  ROCPORT_BFLOAT16_FROM(name, type, rz, zero)                                                                 \
  ROCPORT_BFLOAT16_FROM(name, type, ru, upwards)                                                              \
  ROCPORT_BFLOAT16_FROM(name, type, rd, downwards)                                                            \
  ROCPORT_BFLOAT16_TO(name, type, rn, __float2##through##_rn)                                                 \
  ROCPORT_BFLOAT16_TO(name, type, rz, __float2##through##_rz)                                                 \
  ROCPORT_BFLOAT16_TO(name, type, ru, __float2##through##_ru)                                                 \
  ROCPORT_BFLOAT16_TO(name, type, rd, __float2##through##_rd)
namespace detail {
ROCPORT_DEVICE double odd_double(int value) { return static_cast<double>(value); }
ROCPORT_DEVICE double odd_double(unsigned value) { return static_cast<double>(value); }
ROCPORT_DEVICE double odd_double(short value) { return static_cast<double>(value); }
ROCPORT_DEVICE double odd_double(unsigned short value) { return static_cast<double>(value); }
}  // namespace detail
ROCPORT_BFLOAT16_INTEGER(int, int, int)
ROCPORT_BFLOAT16_INTEGER(uint, unsigned, uint)
ROCPORT_BFLOAT16_INTEGER(short, short, int)
ROCPORT_BFLOAT16_INTEGER(ushort, unsigned short, uint)
ROCPORT_BFLOAT16_INTEGER(ll, long long, ll)
ROCPORT_BFLOAT16_INTEGER(ull, unsigned long long, ull)
ROCPORT_BFLOAT16_TO(char, signed char, rz, __float2int_rz)
ROCPORT_BFLOAT16_TO(uchar, unsigned char, rz, __float2int_rz)

// HIP has these, and cuts where the name says another direction, or rounds to the nearest.
#define ROCPORT_HALF_TO(name, type, suffix, convert)                                                     \
  ROCPORT_DEVICE type half2##name##_##suffix(__half value) {                                             \
    return convert_sat<type>(convert(__half2float(value)));                                              \
  }
#define ROCPORT_HALF_FROM(name, type, suffix)                                                            \
  ROCPORT_DEVICE __half name##2half_##suffix(type value) {                                               \
    return __float2half_##suffix(detail::odd_float(detail::odd_double(value)));                          \
  }
#define ROCPORT_HALF_INTEGER(name, type, through)                                                        \
  ROCPORT_HALF_TO(name, type, rn, __float2##through##_rn)                                                \
  ROCPORT_HALF_TO(name, type, ru, __float2##through##_ru)                                                \
  ROCPORT_HALF_TO(name, type, rd, __float2##through##_rd)                                                \
  ROCPORT_HALF_FROM(name, type, rz)                                                                      \
  ROCPORT_HALF_FROM(name, type, ru)                                                                      \
  ROCPORT_HALF_FROM(name, type, rd)
ROCPORT_HALF_INTEGER(int, int, int)
ROCPORT_HALF_INTEGER(uint, unsigned, uint)
ROCPORT_HALF_INTEGER(short, short, int)
ROCPORT_HALF_INTEGER(ushort, unsigned short, uint)
ROCPORT_HALF_INTEGER(ll, long long, ll)
ROCPORT_HALF_INTEGER(ull, unsigned long long, ull)
#undef ROCPORT_HALF_INTEGER
#undef ROCPORT_HALF_FROM
#undef ROCPORT_HALF_TO
#undef ROCPORT_BFLOAT16_INTEGER
#undef ROCPORT_BFLOAT16_TO
#undef ROCPORT_BFLOAT16_FROM

// ---- Atomics ---------------------------------------------------------------------------------------------------------

namespace detail {

// Compare-and-swap on the aligned word that holds the value; the neighbour in it is written back as it was read.
template <class T, class Add>
ROCPORT_DEVICE T atomic_update(T* address, Add add) {
  const size_t place = reinterpret_cast<size_t>(address);
  unsigned* word = reinterpret_cast<unsigned*>(place & ~size_t(3));
  const unsigned shift = sizeof(T) == 4u ? 0u : static_cast<unsigned>(place & 2u) * 8u;
  using Bits = typename detail::word<sizeof(T)>::type;
  const unsigned keep = sizeof(T) == 4u ? 0u : ~(0xffffu << shift);
  unsigned seen = __hip_atomic_load(word, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  while (true) {
    const T old = bit_cast<T>(static_cast<Bits>(seen >> shift));
    const unsigned wanted = (seen & keep) | (static_cast<unsigned>(bit_cast<Bits>(add(old))) << shift);
    if (__hip_atomic_compare_exchange_strong(word, &seen, wanted, __ATOMIC_RELAXED, __ATOMIC_RELAXED,
                                             __HIP_MEMORY_SCOPE_AGENT)) {
      return old;
    }
  }
}

}  // namespace detail

template <class T, class = detail::pair_of<T>>
ROCPORT_DEVICE T atomic_add(T* address, typename detail::same<T>::type value) {
  return detail::atomic_update(address, [value](T old) { return hadd_rn(old, value); });
}
template <class P, class = detail::scalar_of<P>, class = void>
ROCPORT_DEVICE P atomic_add(P* address, typename detail::same<P>::type value) {
  return detail::atomic_update(address, [value](P old) { return hadd2_rn(old, value); });
}

}  // namespace rocport

// CUDA's overloads for 16-bit types of names that HIP has for other types. They are templates, so that a HIP, or a program,
// that declares the same overload itself is preferred.
template <class T, class = rocport::detail::pair_of<T>>
ROCPORT_DEVICE T atomicAdd(T* address, typename rocport::detail::same<T>::type value) {
  return rocport::atomic_add(address, value);
}
template <class P, class = rocport::detail::scalar_of<P>, class = void>
ROCPORT_DEVICE P atomicAdd(P* address, typename rocport::detail::same<P>::type value) {
  return rocport::atomic_add(address, value);
}
#if !defined(ROCPORT_ON_CPU)  // the CPU executor loads every type
// Of any type that HIP has no overload for (PyTorch's c10::Half among them); the pack makes any other overload the better.
template <class T, class... None>
ROCPORT_DEVICE T __ldg(const T* from, None...) {
  static_assert(sizeof...(None) == 0, "__ldg takes a pointer");
  return *from;
}
#endif

#if defined(__CLANG_HIP_CMATH_H__) && !defined(ROCPORT_ON_CPU)
// clang's templates of fma, pow and others for mixed types ask to which number a type converts, and stop the compiler at one
// that converts to several. A program's own fma of these types is considered together with them.
namespace __hip {
#define ROCPORT_NO_NUMBER(name)     \
  template <>                       \
  struct __numeric_type<name> {     \
    typedef void type;              \
    static const bool value = false; \
  };
ROCPORT_NO_NUMBER(__half)
ROCPORT_NO_NUMBER(__half2)
ROCPORT_NO_NUMBER(__hip_bfloat16)
ROCPORT_NO_NUMBER(__hip_bfloat162)
#undef ROCPORT_NO_NUMBER
}  // namespace __hip
#endif

#endif  // !ROCPORT_HOST_ONLY

#endif  // ROCPORT_HALF_H
