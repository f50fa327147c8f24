// SPDX-License-Identifier: Apache-2.0
// 8-bit floats under HIP's names; rpx/fp8.h has their arithmetic.
#pragma once

#include "hip/hip_bf16.h"
#include "hip/hip_fp16.h"
#include "hip/hip_vector_types.h"
#include "rpx/fp8.h"

typedef unsigned char __hip_fp8_storage_t;
typedef unsigned short __hip_fp8x2_storage_t;
typedef unsigned int __hip_fp8x4_storage_t;
typedef enum __hip_saturation_t { __HIP_NOSAT = 0, __HIP_SATFINITE = 1 } __hip_saturation_t;
typedef enum __hip_fp8_interpretation_t { __HIP_E4M3 = 0, __HIP_E5M2 = 1, __HIP_E4M3_FNUZ = 2, __HIP_E5M2_FNUZ = 3 } __hip_fp8_interpretation_t;

namespace rpx {

inline Fp8Format fp8_format(__hip_fp8_interpretation_t kind) {
  switch (kind) {
    case __HIP_E5M2: return kE5M2;
    case __HIP_E4M3_FNUZ: return kE4M3Fnuz;
    case __HIP_E5M2_FNUZ: return kE5M2Fnuz;
    default: return kE4M3;
  }
}
inline double fp8_value(unsigned char bits, __hip_fp8_interpretation_t kind) { return fp8_value(bits, fp8_format(kind)); }
inline unsigned char fp8_bits(double v, __hip_saturation_t saturation, __hip_fp8_interpretation_t kind) {
  return fp8_bits(v, saturation == __HIP_SATFINITE, fp8_format(kind));
}

template <__hip_fp8_interpretation_t Kind> struct Fp8 {
  __hip_fp8_storage_t __x;
  static constexpr __hip_saturation_t __default_saturation = __HIP_SATFINITE;
  static constexpr __hip_fp8_interpretation_t __default_interpret = Kind;
  Fp8() = default;
  template <class T, std::enable_if_t<std::is_arithmetic<T>::value, int> = 0>
  explicit Fp8(T v) : __x(fp8_bits(static_cast<double>(v), __HIP_SATFINITE, Kind)) {}
  explicit Fp8(__half v) : Fp8(static_cast<float>(v)) {}
  explicit Fp8(__hip_bfloat16 v) : Fp8(static_cast<float>(v)) {}
  operator float() const { return static_cast<float>(fp8_value(__x, Kind)); }
  explicit operator double() const { return fp8_value(__x, Kind); }
  explicit operator __half() const { return __half(static_cast<float>(*this)); }
  explicit operator __hip_bfloat16() const { return __hip_bfloat16(static_cast<float>(*this)); }
  explicit operator bool() const { return static_cast<float>(*this) != 0; }
};
template <__hip_fp8_interpretation_t Kind> struct Fp8x2 {
  __hip_fp8x2_storage_t __x;
  static constexpr __hip_saturation_t __default_saturation = __HIP_SATFINITE;
  static constexpr __hip_fp8_interpretation_t __default_interpret = Kind;
  Fp8x2() = default;
  explicit Fp8x2(float2 v)
      : __x(static_cast<__hip_fp8x2_storage_t>(fp8_bits(v.x, __HIP_SATFINITE, Kind) | fp8_bits(v.y, __HIP_SATFINITE, Kind) << 8)) {}
  explicit Fp8x2(double2 v) : Fp8x2(float2(v.x, v.y)) {}
  explicit Fp8x2(__half2 v) : Fp8x2(__half22float2(v)) {}
  explicit Fp8x2(__hip_bfloat162 v) : Fp8x2(__bfloat1622float2(v)) {}
  operator float2() const { return float2(fp8_value(__x & 255, Kind), fp8_value(__x >> 8, Kind)); }
};
template <__hip_fp8_interpretation_t Kind> struct Fp8x4 {
  __hip_fp8x4_storage_t __x;
  static constexpr __hip_saturation_t __default_saturation = __HIP_SATFINITE;
  static constexpr __hip_fp8_interpretation_t __default_interpret = Kind;
  Fp8x4() = default;
  explicit Fp8x4(float4 v) : __x(0) {
    for (int i = 0; i < 4; ++i) __x |= static_cast<unsigned>(fp8_bits(v[i], __HIP_SATFINITE, Kind)) << (8 * i);
  }
  explicit Fp8x4(double4 v) : Fp8x4(float4(v.x, v.y, v.z, v.w)) {}
  Fp8x4(__half2 low, __half2 high) : Fp8x4(float4(float(low.x), float(low.y), float(high.x), float(high.y))) {}
  Fp8x4(__hip_bfloat162 low, __hip_bfloat162 high) : Fp8x4(float4(float(low.x), float(low.y), float(high.x), float(high.y))) {}
  operator float4() const {
    return float4(fp8_value(__x & 255, Kind), fp8_value(__x >> 8 & 255, Kind), fp8_value(__x >> 16 & 255, Kind), fp8_value(__x >> 24, Kind));
  }
};

}  // namespace rpx

typedef rpx::Fp8<__HIP_E4M3> __hip_fp8_e4m3;
typedef rpx::Fp8<__HIP_E5M2> __hip_fp8_e5m2;
typedef rpx::Fp8<__HIP_E4M3_FNUZ> __hip_fp8_e4m3_fnuz;
typedef rpx::Fp8<__HIP_E5M2_FNUZ> __hip_fp8_e5m2_fnuz;
typedef rpx::Fp8x2<__HIP_E4M3> __hip_fp8x2_e4m3;
typedef rpx::Fp8x2<__HIP_E5M2> __hip_fp8x2_e5m2;
typedef rpx::Fp8x2<__HIP_E4M3_FNUZ> __hip_fp8x2_e4m3_fnuz;
typedef rpx::Fp8x2<__HIP_E5M2_FNUZ> __hip_fp8x2_e5m2_fnuz;
typedef rpx::Fp8x4<__HIP_E4M3> __hip_fp8x4_e4m3;
typedef rpx::Fp8x4<__HIP_E5M2> __hip_fp8x4_e5m2;
typedef rpx::Fp8x4<__HIP_E4M3_FNUZ> __hip_fp8x4_e4m3_fnuz;
typedef rpx::Fp8x4<__HIP_E5M2_FNUZ> __hip_fp8x4_e5m2_fnuz;

inline __hip_fp8_storage_t __hip_cvt_float_to_fp8(float v, __hip_saturation_t s, __hip_fp8_interpretation_t k) { return rpx::fp8_bits(v, s, k); }
inline __hip_fp8_storage_t __hip_cvt_double_to_fp8(double v, __hip_saturation_t s, __hip_fp8_interpretation_t k) { return rpx::fp8_bits(v, s, k); }
inline __hip_fp8_storage_t __hip_cvt_halfraw_to_fp8(__half_raw v, __hip_saturation_t s, __hip_fp8_interpretation_t k) { return rpx::fp8_bits(float(__half(v)), s, k); }
inline __hip_fp8_storage_t __hip_cvt_bfloat16raw_to_fp8(__hip_bfloat16_raw v, __hip_saturation_t s, __hip_fp8_interpretation_t k) { return rpx::fp8_bits(float(__hip_bfloat16(v)), s, k); }
inline __hip_fp8x2_storage_t __hip_cvt_float2_to_fp8x2(float2 v, __hip_saturation_t s, __hip_fp8_interpretation_t k) {
  return static_cast<__hip_fp8x2_storage_t>(rpx::fp8_bits(v.x, s, k) | rpx::fp8_bits(v.y, s, k) << 8);
}
inline __half_raw __hip_cvt_fp8_to_halfraw(__hip_fp8_storage_t v, __hip_fp8_interpretation_t k) { return __half(static_cast<float>(rpx::fp8_value(v, k))); }
