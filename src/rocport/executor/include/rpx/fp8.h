// SPDX-License-Identifier: Apache-2.0
// 8-bit floats: OCP E4M3 and E5M2, and the FNUZ forms of CDNA3 (one zero, no infinities, bias one higher).
// Formats: "OCP 8-bit Floating Point Specification (OFP8)" 1.0; CDNA3 ISA manual for FNUZ.
#pragma once

#include <cmath>

namespace rpx {

struct Fp8Format {
  int exponent_bits, mantissa_bits, bias;
  bool fnuz, infinity;
};
constexpr Fp8Format kE4M3{4, 3, 7, false, false}, kE5M2{5, 2, 15, false, true};
constexpr Fp8Format kE4M3Fnuz{4, 3, 8, true, false}, kE5M2Fnuz{5, 2, 16, true, false};

inline double fp8_value(unsigned char bits, Fp8Format f) {
  const int mantissa = bits & ((1 << f.mantissa_bits) - 1), exponent = bits >> f.mantissa_bits & ((1 << f.exponent_bits) - 1);
  const double sign = bits & 0x80 ? -1 : 1;
  if (f.fnuz) {
    if (bits == 0x80) return NAN;
  } else if (f.infinity && exponent == (1 << f.exponent_bits) - 1) {
    return mantissa ? NAN : sign * INFINITY;
  } else if (!f.infinity && (bits & 0x7f) == 0x7f) {
    return NAN;
  }
  if (!exponent) return sign * std::ldexp(mantissa, 1 - f.bias - f.mantissa_bits);
  return sign * std::ldexp((1 << f.mantissa_bits) + mantissa, exponent - f.bias - f.mantissa_bits);
}

// Rounds to nearest, ties to even. Out of range: the largest finite value when saturating, else infinity or NaN.
inline unsigned char fp8_bits(double v, bool saturate, Fp8Format f) {
  const unsigned char nan = f.fnuz ? 0x80 : 0x7f, sign = std::signbit(v) ? 0x80 : 0;
  if (v != v) return f.fnuz ? nan : static_cast<unsigned char>(nan | sign);
  const int all = (1 << f.exponent_bits) - 1;
  // The largest finite value: OCP E5M2 keeps its top exponent for infinity and NaN, OCP E4M3 its top code for NaN.
  const unsigned char largest = f.fnuz ? 0x7f : f.infinity ? static_cast<unsigned char>((all - 1) << f.mantissa_bits | ((1 << f.mantissa_bits) - 1)) : 0x7e;
  const double magnitude = std::fabs(v), limit = fp8_value(largest, f);
  if (magnitude == 0) return f.fnuz ? 0 : sign;
  int exponent = 0;
  std::frexp(magnitude, &exponent);
  exponent -= 1;
  if (exponent < 1 - f.bias) exponent = 1 - f.bias;
  const double step = std::ldexp(1.0, exponent - f.mantissa_bits), rounded = std::nearbyint(magnitude / step) * step;
  if (!(rounded <= limit)) {
    if (saturate) return static_cast<unsigned char>(largest | sign);
    if (f.infinity) return static_cast<unsigned char>(all << f.mantissa_bits | sign);
    return f.fnuz ? nan : static_cast<unsigned char>(nan | sign);
  }
  unsigned char low = 0, high = largest;
  while (low < high) {  // codes of one sign are in the order of their values
    unsigned char middle = static_cast<unsigned char>((low + high) / 2);
    if (fp8_value(middle, f) < rounded) low = static_cast<unsigned char>(middle + 1);
    else high = middle;
  }
  return low == 0 && f.fnuz ? 0 : static_cast<unsigned char>(low | sign);
}

}  // namespace rpx
