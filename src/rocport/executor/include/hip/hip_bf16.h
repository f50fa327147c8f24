// SPDX-License-Identifier: Apache-2.0
// bfloat16: __hip_bfloat16, __hip_bfloat162 and their functions.
#pragma once

#include "rpx/small_float.h"

namespace rpx {

// Round to nearest, ties to even; a NaN stays one.
RPX_INLINE unsigned short bfloat16_bits(float v) {
  std::uint32_t u = bit_copy<std::uint32_t>(v);
  if (v != v) return static_cast<unsigned short>(u >> 16 | 64);
  return static_cast<unsigned short>((u + 0x7fff + (u >> 16 & 1)) >> 16);
}
RPX_INLINE float bfloat16_value(unsigned short bits) { return bit_copy<float>(static_cast<std::uint32_t>(bits) << 16); }

// A double is rounded once: to odd on the way to float, so that the second rounding cannot go astray.
RPX_INLINE unsigned short bfloat16_bits(double v) {
  float f = static_cast<float>(v);
  if (static_cast<double>(f) != v && v == v && f - f == 0) {
    std::uint32_t u = bit_copy<std::uint32_t>(f);
    if (std::fabs(static_cast<double>(f)) > std::fabs(v)) --u;
    f = bit_copy<float>(u | 1u);
  }
  return bfloat16_bits(f);
}

}  // namespace rpx

struct __hip_bfloat16_raw {
  unsigned short x;
};
struct __hip_bfloat162_raw {
  unsigned short x, y;
};

#define rpx_round(v) bits(rpx::bfloat16_bits(v))
struct __hip_bfloat16 {
  union {
    unsigned short bits, data, __x;
  };
  RPX_SMALL_FLOAT_MEMBERS(__hip_bfloat16, rpx_round, rpx::bfloat16_value(bits))
  RPX_INLINE __hip_bfloat16(const __hip_bfloat16_raw &r) : bits(r.x) {}
  RPX_INLINE operator __hip_bfloat16_raw() const { return {bits}; }
};
#undef rpx_round

struct alignas(4) __hip_bfloat162 {
  __hip_bfloat16 x, y;
  __hip_bfloat162() = default;
  RPX_INLINE __hip_bfloat162(__hip_bfloat16 a, __hip_bfloat16 b) : x(a), y(b) {}
  RPX_INLINE __hip_bfloat162(const __hip_bfloat162_raw &r) {
    x.bits = r.x;
    y.bits = r.y;
  }
  RPX_INLINE operator __hip_bfloat162_raw() const { return {x.bits, y.bits}; }
  RPX_INLINE operator float2() const { return float2(float(x), float(y)); }
};

RPX_SMALL_FLOAT_OPERATORS(__hip_bfloat16, __hip_bfloat162)
RPX_SMALL_FLOAT_ARITHMETIC(__hip_bfloat16, __hip_bfloat162)
RPX_SMALL_FLOAT_MATH(__hip_bfloat16, __hip_bfloat162)

template <class T = __hip_bfloat16> RPX_INLINE __hip_bfloat162 make_bfloat162(T a, T b) { return __hip_bfloat162(a, b); }
RPX_INLINE __hip_bfloat16 __float2bfloat16(float v) { return __hip_bfloat16(v); }
RPX_INLINE __hip_bfloat16 __float2bfloat16_rn(float v) { return __hip_bfloat16(v); }
RPX_INLINE __hip_bfloat16 __double2bfloat16(double v) { return __hip_bfloat16(v); }
RPX_INLINE __hip_bfloat16 __float2bfloat16_rz(float v) {
  __hip_bfloat16 h;
  h.bits = static_cast<unsigned short>(rpx::bit_copy<std::uint32_t>(v) >> 16);
  return h;
}
RPX_INLINE float __bfloat162float(__hip_bfloat16 h) { return float(h); }
RPX_INLINE __hip_bfloat162 __bfloat162bfloat162(__hip_bfloat16 h) { return __hip_bfloat162(h, h); }
template <class F, std::enable_if_t<std::is_arithmetic<F>::value, int> = 0> RPX_INLINE __hip_bfloat162 __float2bfloat162_rn(F v) { return __hip_bfloat162(__hip_bfloat16((float)v), __hip_bfloat16((float)v)); }
// Templates, so that a program's own function of the name, written for older ROCm, is preferred.
template <class F, class G, std::enable_if_t<std::is_arithmetic<F>::value, int> = 0> RPX_INLINE __hip_bfloat162 __floats2bfloat162_rn(F a, G b) { return __hip_bfloat162(__hip_bfloat16(a), __hip_bfloat16(b)); }
RPX_INLINE __hip_bfloat162 __float22bfloat162_rn(float2 v) { return __hip_bfloat162(__hip_bfloat16(v.x), __hip_bfloat16(v.y)); }
RPX_INLINE float2 __bfloat1622float2(__hip_bfloat162 h) { return float2(float(h.x), float(h.y)); }
RPX_INLINE float __low2float(__hip_bfloat162 h) { return float(h.x); }
RPX_INLINE float __high2float(__hip_bfloat162 h) { return float(h.y); }
RPX_INLINE __hip_bfloat16 __low2bfloat16(__hip_bfloat162 h) { return h.x; }
RPX_INLINE __hip_bfloat16 __high2bfloat16(__hip_bfloat162 h) { return h.y; }
RPX_INLINE __hip_bfloat162 __low2bfloat162(__hip_bfloat162 h) { return __hip_bfloat162(h.x, h.x); }
RPX_INLINE __hip_bfloat162 __high2bfloat162(__hip_bfloat162 h) { return __hip_bfloat162(h.y, h.y); }
RPX_INLINE __hip_bfloat162 __halves2bfloat162(__hip_bfloat16 a, __hip_bfloat16 b) { return __hip_bfloat162(a, b); }
RPX_INLINE unsigned short __bfloat16_as_ushort(__hip_bfloat16 h) { return h.bits; }
RPX_INLINE short __bfloat16_as_short(__hip_bfloat16 h) { return static_cast<short>(h.bits); }
RPX_INLINE __hip_bfloat16 __ushort_as_bfloat16(unsigned short v) {
  __hip_bfloat16 h;
  h.bits = v;
  return h;
}
RPX_INLINE __hip_bfloat16 __short_as_bfloat16(short v) { return __ushort_as_bfloat16(static_cast<unsigned short>(v)); }
RPX_INLINE int __bfloat162int_rn(__hip_bfloat16 h) { return static_cast<int>(std::rint(float(h))); }
RPX_INLINE int __bfloat162int_rz(__hip_bfloat16 h) { return static_cast<int>(float(h)); }
RPX_INLINE __hip_bfloat16 __int2bfloat16_rn(int v) { return __hip_bfloat16(v); }
RPX_INLINE __hip_bfloat16 __uint2bfloat16_rn(unsigned v) { return __hip_bfloat16(v); }
#define HIPRT_INF_BF16 __ushort_as_bfloat16(0x7F80)
#define HIPRT_NAN_BF16 __ushort_as_bfloat16(0x7FFF)
#define HIPRT_ONE_BF16 __ushort_as_bfloat16(0x3F80)
#define HIPRT_ZERO_BF16 __ushort_as_bfloat16(0x0000)

#include "hip/hip_bfloat16.h"
