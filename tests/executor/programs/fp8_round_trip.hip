// SPDX-License-Identifier: Apache-2.0
// Every 8-bit pattern through the OCP e4m3 and e5m2 types, against a decoder of our own.
#include <hip/hip_fp8.h>
#include "check.h"

__global__ void decode(float *e4m3, float *e5m2, int *back) {
  int i = threadIdx.x;
  __hip_fp8_e4m3 a;
  __hip_fp8_e5m2 b;
  a.__x = static_cast<__hip_fp8_storage_t>(i);
  b.__x = static_cast<__hip_fp8_storage_t>(i);
  e4m3[i] = static_cast<float>(a);
  e5m2[i] = static_cast<float>(b);
  back[i] = __hip_fp8_e4m3(e4m3[i]).__x;
}

static float reference(int bits, int exponent_bits, int mantissa_bits, bool infinities) {
  int sign = bits >> 7, exponent = bits >> mantissa_bits & ((1 << exponent_bits) - 1), mantissa = bits & ((1 << mantissa_bits) - 1);
  int bias = (1 << (exponent_bits - 1)) - 1, top = (1 << exponent_bits) - 1;
  float value;
  if (exponent == top && infinities) value = mantissa ? NAN : INFINITY;
  else if (exponent == top && mantissa == (1 << mantissa_bits) - 1 && !infinities) value = NAN;
  else if (exponent == 0) value = std::ldexp(float(mantissa), 1 - bias - mantissa_bits);
  else value = std::ldexp(1 + mantissa / float(1 << mantissa_bits), exponent - bias);
  return sign ? -value : value;
}

int main() {
  Buffer<float> a(256), b(256);
  Buffer<int> back(256);
  decode<<<1, 256>>>(a, b, back);
  std::vector<float> e4m3 = a.read(), e5m2 = b.read();
  std::vector<int> again = back.read();
  long mistakes = 0;
  for (int i = 0; i < 256; ++i) {
    float w4 = reference(i, 4, 3, false), w5 = reference(i, 5, 2, true);
    mistakes += !(e4m3[i] == w4 || (std::isnan(e4m3[i]) && std::isnan(w4)));
    mistakes += !(e5m2[i] == w5 || (std::isnan(e5m2[i]) && std::isnan(w5)));
    mistakes += !std::isnan(w4) && again[i] != i;
  }
  return verdict(mistakes);
}
