// SPDX-License-Identifier: Apache-2.0
// IEEE half precision: __half, __half2 and their functions.
#pragma once

#include "rpx/small_float.h"

struct __half_raw {
  union {
    unsigned short x;
    _Float16 data;
  };
};

#define rpx_round(v) bits((_Float16)(v))
struct __half {
  union {
    _Float16 bits;
    unsigned short __x;
  };
  RPX_SMALL_FLOAT_MEMBERS(__half, rpx_round, (float)bits)
  RPX_INLINE __half(_Float16 v) : bits(v) {}
  RPX_INLINE __half(const __half_raw &r) : bits(r.data) {}
  RPX_INLINE operator __half_raw() const {
    __half_raw r;
    r.data = bits;
    return r;
  }
};
#undef rpx_round

struct __half2_raw {
  unsigned short x, y;
};

struct alignas(4) __half2 {
  __half x, y;
  __half2() = default;
  RPX_INLINE __half2(__half a, __half b) : x(a), y(b) {}
  RPX_INLINE explicit __half2(__half a) : x(a), y(a) {}
  RPX_INLINE __half2(const __half2_raw &r) {
    x.__x = r.x;
    y.__x = r.y;
  }
};
typedef __half half;
typedef __half2 half2;
typedef __half_raw half_raw;

RPX_SMALL_FLOAT_OPERATORS(__half, __half2)
RPX_SMALL_FLOAT_ARITHMETIC(__half, __half2)
RPX_SMALL_FLOAT_MATH(__half, __half2)

RPX_INLINE __half2 make_half2(__half a, __half b) { return __half2(a, b); }
RPX_INLINE __half __float2half(float v) { return __half(v); }
RPX_INLINE __half __float2half_rn(float v) { return __half(v); }
RPX_INLINE __half __double2half(double v) { return __half(v); }
RPX_INLINE float __half2float(__half h) { return float(h); }
RPX_INLINE float __half2float(const __half_raw &r) { return float(__half(r)); }

namespace rpx {
// The half next to `v` in the direction of zero, of plus or of minus infinity.
inline __half directed_half(float v, int direction) {
  __half h(v);
  float back = float(h);
  bool over = direction == 0 ? std::fabs(back) > std::fabs(v) : direction > 0 ? back < v : back > v;
  if (!over || back != back) return h;
  bool away = direction == 0 ? false : (direction > 0) == (v > 0);
  if (h.__x == 0 || h.__x == 0x8000) h.__x = direction > 0 ? 1 : 0x8001;
  else h.__x = static_cast<unsigned short>(h.__x + (away ? 1 : -1));
  return h;
}
}  // namespace rpx
RPX_INLINE __half __float2half_rz(float v) { return rpx::directed_half(v, 0); }
RPX_INLINE __half __float2half_ru(float v) { return rpx::directed_half(v, 1); }
RPX_INLINE __half __float2half_rd(float v) { return rpx::directed_half(v, -1); }

RPX_INLINE __half2 __float2half2_rn(float v) { return __half2(__half(v), __half(v)); }
RPX_INLINE __half2 __floats2half2_rn(float a, float b) { return __half2(__half(a), __half(b)); }
RPX_INLINE __half2 __float22half2_rn(float2 v) { return __half2(__half(v.x), __half(v.y)); }
RPX_INLINE float2 __half22float2(__half2 h) { return float2(float(h.x), float(h.y)); }
RPX_INLINE float __low2float(__half2 h) { return float(h.x); }
RPX_INLINE float __high2float(__half2 h) { return float(h.y); }
RPX_INLINE __half __low2half(__half2 h) { return h.x; }
RPX_INLINE __half __high2half(__half2 h) { return h.y; }
RPX_INLINE __half2 __half2half2(__half h) { return __half2(h, h); }
RPX_INLINE __half2 __halves2half2(__half a, __half b) { return __half2(a, b); }
RPX_INLINE __half2 __low2half2(__half2 h) { return __half2(h.x, h.x); }
RPX_INLINE __half2 __high2half2(__half2 h) { return __half2(h.y, h.y); }
RPX_INLINE __half2 __lowhigh2highlow(__half2 h) { return __half2(h.y, h.x); }
RPX_INLINE __half2 __lows2half2(__half2 a, __half2 b) { return __half2(a.x, b.x); }
RPX_INLINE __half2 __highs2half2(__half2 a, __half2 b) { return __half2(a.y, b.y); }
RPX_INLINE unsigned short __half_as_ushort(__half h) { return h.__x; }
RPX_INLINE short __half_as_short(__half h) { return static_cast<short>(h.__x); }
RPX_INLINE __half __ushort_as_half(unsigned short v) {
  __half h;
  h.__x = v;
  return h;
}
RPX_INLINE __half __short_as_half(short v) { return __ushort_as_half(static_cast<unsigned short>(v)); }
#define HIPRT_INF_FP16 __ushort_as_half(0x7C00)
#define HIPRT_NAN_FP16 __ushort_as_half(0x7FFF)
#define HIPRT_MAX_NORMAL_FP16 __ushort_as_half(0x7BFF)
#define HIPRT_ONE_FP16 __ushort_as_half(0x3C00)
#define HIPRT_ZERO_FP16 __ushort_as_half(0x0000)
RPX_INLINE int __half2int_rn(__half h) { return rpx::to_integer<int>(std::rint(float(h))); }
RPX_INLINE __half __int2half_rn(int v) { return __half(v); }
RPX_INLINE int __half2int_rz(__half h) { return rpx::to_integer<int>(std::trunc(float(h))); }
RPX_INLINE __half __int2half_rz(int v) { return __half(v); }
RPX_INLINE int __half2int_ru(__half h) { return rpx::to_integer<int>(std::ceil(float(h))); }
RPX_INLINE __half __int2half_ru(int v) { return __half(v); }
RPX_INLINE int __half2int_rd(__half h) { return rpx::to_integer<int>(std::floor(float(h))); }
RPX_INLINE __half __int2half_rd(int v) { return __half(v); }
RPX_INLINE unsigned int __half2uint_rn(__half h) { return rpx::to_integer<unsigned int>(std::rint(float(h))); }
RPX_INLINE __half __uint2half_rn(unsigned int v) { return __half(v); }
RPX_INLINE unsigned int __half2uint_rz(__half h) { return rpx::to_integer<unsigned int>(std::trunc(float(h))); }
RPX_INLINE __half __uint2half_rz(unsigned int v) { return __half(v); }
RPX_INLINE unsigned int __half2uint_ru(__half h) { return rpx::to_integer<unsigned int>(std::ceil(float(h))); }
RPX_INLINE __half __uint2half_ru(unsigned int v) { return __half(v); }
RPX_INLINE unsigned int __half2uint_rd(__half h) { return rpx::to_integer<unsigned int>(std::floor(float(h))); }
RPX_INLINE __half __uint2half_rd(unsigned int v) { return __half(v); }
RPX_INLINE short __half2short_rn(__half h) { return rpx::to_integer<short>(std::rint(float(h))); }
RPX_INLINE __half __short2half_rn(short v) { return __half(v); }
RPX_INLINE short __half2short_rz(__half h) { return rpx::to_integer<short>(std::trunc(float(h))); }
RPX_INLINE __half __short2half_rz(short v) { return __half(v); }
RPX_INLINE short __half2short_ru(__half h) { return rpx::to_integer<short>(std::ceil(float(h))); }
RPX_INLINE __half __short2half_ru(short v) { return __half(v); }
RPX_INLINE short __half2short_rd(__half h) { return rpx::to_integer<short>(std::floor(float(h))); }
RPX_INLINE __half __short2half_rd(short v) { return __half(v); }
RPX_INLINE unsigned short __half2ushort_rn(__half h) { return rpx::to_integer<unsigned short>(std::rint(float(h))); }
RPX_INLINE __half __ushort2half_rn(unsigned short v) { return __half(v); }
RPX_INLINE unsigned short __half2ushort_rz(__half h) { return rpx::to_integer<unsigned short>(std::trunc(float(h))); }
RPX_INLINE __half __ushort2half_rz(unsigned short v) { return __half(v); }
RPX_INLINE unsigned short __half2ushort_ru(__half h) { return rpx::to_integer<unsigned short>(std::ceil(float(h))); }
RPX_INLINE __half __ushort2half_ru(unsigned short v) { return __half(v); }
RPX_INLINE unsigned short __half2ushort_rd(__half h) { return rpx::to_integer<unsigned short>(std::floor(float(h))); }
RPX_INLINE __half __ushort2half_rd(unsigned short v) { return __half(v); }
RPX_INLINE long long __half2ll_rn(__half h) { return rpx::to_integer<long long>(std::rint(float(h))); }
RPX_INLINE __half __ll2half_rn(long long v) { return __half(v); }
RPX_INLINE long long __half2ll_rz(__half h) { return rpx::to_integer<long long>(std::trunc(float(h))); }
RPX_INLINE __half __ll2half_rz(long long v) { return __half(v); }
RPX_INLINE long long __half2ll_ru(__half h) { return rpx::to_integer<long long>(std::ceil(float(h))); }
RPX_INLINE __half __ll2half_ru(long long v) { return __half(v); }
RPX_INLINE long long __half2ll_rd(__half h) { return rpx::to_integer<long long>(std::floor(float(h))); }
RPX_INLINE __half __ll2half_rd(long long v) { return __half(v); }
RPX_INLINE unsigned long long __half2ull_rn(__half h) { return rpx::to_integer<unsigned long long>(std::rint(float(h))); }
RPX_INLINE __half __ull2half_rn(unsigned long long v) { return __half(v); }
RPX_INLINE unsigned long long __half2ull_rz(__half h) { return rpx::to_integer<unsigned long long>(std::trunc(float(h))); }
RPX_INLINE __half __ull2half_rz(unsigned long long v) { return __half(v); }
RPX_INLINE unsigned long long __half2ull_ru(__half h) { return rpx::to_integer<unsigned long long>(std::ceil(float(h))); }
RPX_INLINE __half __ull2half_ru(unsigned long long v) { return __half(v); }
RPX_INLINE unsigned long long __half2ull_rd(__half h) { return rpx::to_integer<unsigned long long>(std::floor(float(h))); }
RPX_INLINE __half __ull2half_rd(unsigned long long v) { return __half(v); }
