// rocport_fp8.h - CUDA's 8-bit floating point (OCP E4M3 and E5M2), on every AMD GPU and on the host.
// SPDX-License-Identifier: Apache-2.0
//
// CUDA's types are those of the Open Compute Project. The matrix units of gfx942 use other encodings (fnuz), and HIP's own
// OCP functions do not compile in device code for gfx942, or convert to fnuz bits there. The types and functions below
// have CUDA's encodings and rounding everywhere: to nearest, ties to even; they are plain integer code, slower than a
// conversion instruction. Data written by them is what CUDA would write, so files and checkpoints stay valid.
//
// Encodings: E4M3 has no infinity, its largest number is 448 and 0x7f is NaN; E5M2 is half cut short, up to 57344.
#ifndef ROCPORT_FP8_H
#define ROCPORT_FP8_H

#include "rocport_half.h"

namespace rocport {

typedef unsigned char fp8_storage_t;
typedef unsigned short fp8x2_storage_t;
typedef unsigned int fp8x4_storage_t;

enum fp8_interpretation_t { E4M3 = 0, E5M2 = 1 };
// What becomes of a number too large: NaN or infinity (NOSAT), or the largest number (SATFINITE).
enum saturation_t { NOSAT = 0, SATFINITE = 1 };

// ---- Conversions -----------------------------------------------------------------------------------------------------

ROCPORT_HOST_DEVICE fp8_storage_t cvt_float_to_fp8(float value, saturation_t saturate, fp8_interpretation_t kind) {
  const unsigned bits = bit_cast<unsigned>(value);
  const unsigned sign = (bits >> 24) & 0x80u, magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return 0x7fu;
  if (magnitude < 0x00800000u) return static_cast<fp8_storage_t>(sign);
  const int digits = kind == E4M3 ? 3 : 2;
  const int lowest = kind == E4M3 ? -6 : -14;
  const unsigned largest = kind == E4M3 ? 0x7eu : 0x7bu;
  const int exponent = static_cast<int>(magnitude >> 23) - 127;
  const int scale = exponent < lowest ? lowest : exponent;
  const unsigned mantissa = (magnitude & 0x007fffffu) | 0x00800000u;
  const int dropped = 23 - digits + (scale - exponent);
  unsigned kept = 0u;
  if (dropped < 26) {
    const unsigned rest = mantissa & ((1u << dropped) - 1u), half = 1u << (dropped - 1);
    kept = mantissa >> dropped;
    kept += (rest > half || (rest == half && (kept & 1u))) ? 1u : 0u;
  }
  unsigned code = (static_cast<unsigned>(scale - lowest) << digits) + kept;
  if (code > largest) code = saturate == SATFINITE ? largest : (kind == E4M3 ? 0x7fu : 0x7cu);
  return static_cast<fp8_storage_t>(sign | code);
}

// A double through a float rounded to odd, so that only the second rounding counts.
ROCPORT_HOST_DEVICE fp8_storage_t cvt_double_to_fp8(double value, saturation_t saturate, fp8_interpretation_t kind) {
  float nearest = static_cast<float>(value);
  const double back = static_cast<double>(nearest);
  if (back != value && value == value) {
    unsigned bits = bit_cast<unsigned>(nearest);
    if ((back > value) == (value > 0.0) && (bits & 0x7fffffffu) != 0u) bits -= 1u;
    nearest = bit_cast<float>(bits | 1u);
  }
  return cvt_float_to_fp8(nearest, saturate, kind);
}

ROCPORT_HOST_DEVICE float cvt_fp8_to_float(fp8_storage_t code, fp8_interpretation_t kind) {
  const unsigned sign = (code & 0x80u) << 24, magnitude = code & 0x7fu;
  const int digits = kind == E4M3 ? 3 : 2;
  const unsigned field = magnitude >> digits, fraction = magnitude & ((1u << digits) - 1u);
  if (kind == E4M3 ? magnitude == 0x7fu : magnitude > 0x7cu) return bit_cast<float>(0x7fffffffu);
  if (kind == E5M2 && magnitude == 0x7cu) return bit_cast<float>(sign | 0x7f800000u);
  if (field == 0u) {
    const float small = static_cast<float>(fraction) * (kind == E4M3 ? 0.001953125f : 0.0000152587890625f);
    return bit_cast<float>(sign | bit_cast<unsigned>(small));
  }
  const unsigned bias = kind == E4M3 ? 7u : 15u;
  return bit_cast<float>(sign | ((field + 127u - bias) << 23) | (fraction << (23 - digits)));
}

ROCPORT_HOST_DEVICE fp8x2_storage_t pack_fp8(fp8_storage_t low, fp8_storage_t high) {
  return static_cast<fp8x2_storage_t>(static_cast<unsigned>(low) | (static_cast<unsigned>(high) << 8));
}
ROCPORT_HOST_DEVICE fp8x2_storage_t cvt_float2_to_fp8x2(float2 value, saturation_t saturate, fp8_interpretation_t kind) {
  return pack_fp8(cvt_float_to_fp8(value.x, saturate, kind), cvt_float_to_fp8(value.y, saturate, kind));
}
ROCPORT_HOST_DEVICE fp8x2_storage_t cvt_double2_to_fp8x2(double2 value, saturation_t saturate, fp8_interpretation_t kind) {
  return pack_fp8(cvt_double_to_fp8(value.x, saturate, kind), cvt_double_to_fp8(value.y, saturate, kind));
}
#if !defined(ROCPORT_HOST_ONLY)
// Raw bits of half and bfloat16: any type of 16 bits, or of a pair of 32.
template <class Raw>
ROCPORT_HOST_DEVICE fp8_storage_t cvt_halfraw_to_fp8(Raw raw, saturation_t saturate, fp8_interpretation_t kind) {
  return cvt_float_to_fp8(static_cast<float>(bit_cast<_Float16>(raw)), saturate, kind);
}
template <class Raw>
ROCPORT_HOST_DEVICE fp8x2_storage_t cvt_halfraw2_to_fp8x2(Raw raw, saturation_t saturate, fp8_interpretation_t kind) {
  const unsigned bits = bit_cast<unsigned>(raw);
  return pack_fp8(cvt_halfraw_to_fp8(static_cast<unsigned short>(bits), saturate, kind),
                  cvt_halfraw_to_fp8(static_cast<unsigned short>(bits >> 16), saturate, kind));
}
template <class Raw>
ROCPORT_HOST_DEVICE fp8_storage_t cvt_bfloat16raw_to_fp8(Raw raw, saturation_t saturate, fp8_interpretation_t kind) {
  const unsigned bits = static_cast<unsigned>(bit_cast<unsigned short>(raw)) << 16;
  return cvt_float_to_fp8(bit_cast<float>(bits), saturate, kind);
}
template <class Raw>
ROCPORT_HOST_DEVICE fp8x2_storage_t cvt_bfloat16raw2_to_fp8x2(Raw raw, saturation_t saturate, fp8_interpretation_t kind) {
  const unsigned bits = bit_cast<unsigned>(raw);
  return pack_fp8(cvt_bfloat16raw_to_fp8(static_cast<unsigned short>(bits), saturate, kind),
                  cvt_bfloat16raw_to_fp8(static_cast<unsigned short>(bits >> 16), saturate, kind));
}
ROCPORT_HOST_DEVICE __half_raw cvt_fp8_to_halfraw(fp8_storage_t code, fp8_interpretation_t kind) {
  return bit_cast<__half_raw>(static_cast<_Float16>(cvt_fp8_to_float(code, kind)));
}
ROCPORT_HOST_DEVICE __half2_raw cvt_fp8x2_to_halfraw2(fp8x2_storage_t code, fp8_interpretation_t kind) {
  const unsigned low = bit_cast<unsigned short>(cvt_fp8_to_halfraw(static_cast<fp8_storage_t>(code), kind));
  const unsigned high = bit_cast<unsigned short>(cvt_fp8_to_halfraw(static_cast<fp8_storage_t>(code >> 8), kind));
  return bit_cast<__half2_raw>(low | (high << 16));
}
#endif

// ---- Types -----------------------------------------------------------------------------------------------------------

// One number. Conversions to it saturate, as CUDA's do.
template <fp8_interpretation_t Kind>
struct fp8 {
  fp8_storage_t __x;

  fp8() = default;
  ROCPORT_HOST_DEVICE explicit fp8(float value) : __x(cvt_float_to_fp8(value, SATFINITE, Kind)) {}
  ROCPORT_HOST_DEVICE explicit fp8(double value) : __x(cvt_double_to_fp8(value, SATFINITE, Kind)) {}
#if !defined(ROCPORT_HOST_ONLY)
  ROCPORT_HOST_DEVICE explicit fp8(__half value) : __x(cvt_halfraw_to_fp8(value, SATFINITE, Kind)) {}
  ROCPORT_HOST_DEVICE explicit fp8(__hip_bfloat16 value) : __x(cvt_bfloat16raw_to_fp8(value, SATFINITE, Kind)) {}
#endif
  ROCPORT_HOST_DEVICE explicit fp8(int value) : fp8(static_cast<double>(value)) {}
  ROCPORT_HOST_DEVICE explicit fp8(unsigned value) : fp8(static_cast<double>(value)) {}
  ROCPORT_HOST_DEVICE explicit fp8(short value) : fp8(static_cast<float>(value)) {}
  ROCPORT_HOST_DEVICE explicit fp8(unsigned short value) : fp8(static_cast<float>(value)) {}
  ROCPORT_HOST_DEVICE explicit fp8(long value) : fp8(static_cast<double>(value)) {}
  ROCPORT_HOST_DEVICE explicit fp8(unsigned long value) : fp8(static_cast<double>(value)) {}
  ROCPORT_HOST_DEVICE explicit fp8(long long value) : fp8(static_cast<double>(value)) {}
  ROCPORT_HOST_DEVICE explicit fp8(unsigned long long value) : fp8(static_cast<double>(value)) {}

  ROCPORT_HOST_DEVICE explicit operator float() const { return cvt_fp8_to_float(__x, Kind); }
  ROCPORT_HOST_DEVICE explicit operator double() const { return static_cast<double>(cvt_fp8_to_float(__x, Kind)); }
#if !defined(ROCPORT_HOST_ONLY)
  ROCPORT_HOST_DEVICE explicit operator __half() const { return bit_cast<__half>(cvt_fp8_to_halfraw(__x, Kind)); }
  ROCPORT_HOST_DEVICE explicit operator __hip_bfloat16() const {
    return float2bfloat16_rn(cvt_fp8_to_float(__x, Kind));
  }
#endif
  ROCPORT_HOST_DEVICE explicit operator bool() const { return (__x & 0x7fu) != 0u; }
  ROCPORT_HOST_DEVICE explicit operator int() const { return integer<int>(); }
  ROCPORT_HOST_DEVICE explicit operator unsigned() const { return integer<unsigned>(); }
  ROCPORT_HOST_DEVICE explicit operator short() const { return integer<short>(); }
  ROCPORT_HOST_DEVICE explicit operator unsigned short() const { return integer<unsigned short>(); }
  ROCPORT_HOST_DEVICE explicit operator signed char() const { return integer<signed char>(); }
  ROCPORT_HOST_DEVICE explicit operator unsigned char() const { return integer<unsigned char>(); }
  ROCPORT_HOST_DEVICE explicit operator char() const { return integer<char>(); }

 private:
  // Rounded towards zero and clamped; NaN gives 0.
  template <class T>
  ROCPORT_HOST_DEVICE T integer() const {
    const float value = cvt_fp8_to_float(__x, Kind);
    if (value != value) return T(0);
    const float clamped = value > 65536.0f ? 65536.0f : (value < -65536.0f ? -65536.0f : value);
    if (T(-1) > T(0) && clamped < 0.0f) return T(0);
    const long long whole = static_cast<long long>(clamped);
    const long long highest = sizeof(T) >= 4u ? 0x7fffffffll : (1ll << (8u * sizeof(T) - (T(-1) < T(0) ? 1u : 0u))) - 1ll;
    const long long lowest = T(-1) < T(0) ? -highest - 1ll : 0ll;
    return static_cast<T>(whole > highest ? highest : (whole < lowest ? lowest : whole));
  }
};

// Two numbers, the first low.
template <fp8_interpretation_t Kind>
struct fp8x2 {
  fp8x2_storage_t __x;

  fp8x2() = default;
  ROCPORT_HOST_DEVICE explicit fp8x2(float2 value) : __x(cvt_float2_to_fp8x2(value, SATFINITE, Kind)) {}
  ROCPORT_HOST_DEVICE explicit fp8x2(double2 value) : __x(cvt_double2_to_fp8x2(value, SATFINITE, Kind)) {}
#if !defined(ROCPORT_HOST_ONLY)
  ROCPORT_HOST_DEVICE explicit fp8x2(__half2 value) : __x(cvt_halfraw2_to_fp8x2(value, SATFINITE, Kind)) {}
  ROCPORT_HOST_DEVICE explicit fp8x2(__hip_bfloat162 value) : __x(cvt_bfloat16raw2_to_fp8x2(value, SATFINITE, Kind)) {}
#endif

  ROCPORT_HOST_DEVICE explicit operator float2() const {
    return float2{cvt_fp8_to_float(static_cast<fp8_storage_t>(__x), Kind),
                  cvt_fp8_to_float(static_cast<fp8_storage_t>(__x >> 8), Kind)};
  }
#if !defined(ROCPORT_HOST_ONLY)
  ROCPORT_HOST_DEVICE explicit operator __half2() const { return bit_cast<__half2>(cvt_fp8x2_to_halfraw2(__x, Kind)); }
  ROCPORT_HOST_DEVICE explicit operator __hip_bfloat162() const {
    const float2 wide = static_cast<float2>(*this);
    return floats2bfloat162_rn(wide.x, wide.y);
  }
#endif
};

// Four numbers, the first low.
template <fp8_interpretation_t Kind>
struct fp8x4 {
  fp8x4_storage_t __x;

  fp8x4() = default;
  ROCPORT_HOST_DEVICE explicit fp8x4(float4 value)
      : __x(join(fp8x2<Kind>(float2{value.x, value.y}), fp8x2<Kind>(float2{value.z, value.w}))) {}
  ROCPORT_HOST_DEVICE explicit fp8x4(double4 value)
      : __x(join(fp8x2<Kind>(double2{value.x, value.y}), fp8x2<Kind>(double2{value.z, value.w}))) {}
#if !defined(ROCPORT_HOST_ONLY)
  ROCPORT_HOST_DEVICE explicit fp8x4(__half2 low, __half2 high) : __x(join(fp8x2<Kind>(low), fp8x2<Kind>(high))) {}
  ROCPORT_HOST_DEVICE explicit fp8x4(__hip_bfloat162 low, __hip_bfloat162 high)
      : __x(join(fp8x2<Kind>(low), fp8x2<Kind>(high))) {}
#endif

  ROCPORT_HOST_DEVICE explicit operator float4() const {
    fp8x2<Kind> low, high;
    low.__x = static_cast<fp8x2_storage_t>(__x);
    high.__x = static_cast<fp8x2_storage_t>(__x >> 16);
    const float2 first = static_cast<float2>(low), second = static_cast<float2>(high);
    return float4{first.x, first.y, second.x, second.y};
  }

 private:
  ROCPORT_HOST_DEVICE static fp8x4_storage_t join(fp8x2<Kind> low, fp8x2<Kind> high) {
    return static_cast<unsigned>(low.__x) | (static_cast<unsigned>(high.__x) << 16);
  }
};

typedef fp8<E4M3> fp8_e4m3;
typedef fp8<E5M2> fp8_e5m2;
typedef fp8x2<E4M3> fp8x2_e4m3;
typedef fp8x2<E5M2> fp8x2_e5m2;
typedef fp8x4<E4M3> fp8x4_e4m3;
typedef fp8x4<E5M2> fp8x4_e5m2;

}  // namespace rocport

#endif  // ROCPORT_FP8_H
