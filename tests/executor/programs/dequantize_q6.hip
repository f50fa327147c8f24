// SPDX-License-Identifier: Apache-2.0
// 6-bit weights, four in three bytes, unpacked by a dispatch over the number of bits.
#include "check.h"

template <int kBits> __global__ void unpack(const unsigned char *packed, float *out, int n, float scale) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int bit = i * kBits, value = packed[bit / 8] | packed[bit / 8 + 1] << 8;
  out[i] = scale * ((value >> (bit % 8) & ((1 << kBits) - 1)) - (1 << (kBits - 1)));
}

void dequantize(const unsigned char *packed, float *out, int n, float scale, int bits) {
  int blocks = (n + 127) / 128;
  switch (bits) {
    case 3: unpack<3><<<blocks, 128>>>(packed, out, n, scale); break;
    case 4: unpack<4><<<blocks, 128>>>(packed, out, n, scale); break;
    case 6: unpack<6><<<blocks, 128>>>(packed, out, n, scale); break;
    case 8: unpack<8><<<blocks, 128>>>(packed, out, n, scale); break;
  }
}

int main() {
  const int n = 400;
  long mistakes = 0;
  Numbers numbers(41);
  for (int bits : {3, 4, 6, 8}) {
    std::vector<unsigned char> packed(n * bits / 8 + 2);
    std::vector<float> want(n);
    for (int i = 0; i < n; ++i) {
      int value = numbers.below(1 << bits);
      want[i] = 0.5f * (value - (1 << (bits - 1)));
      for (int b = 0; b < bits; ++b) packed[(i * bits + b) / 8] |= (value >> b & 1) << (i * bits + b) % 8;
    }
    Buffer<unsigned char> p(packed);
    Buffer<float> out(n);
    dequantize(p, out, n, 0.5f, bits);
    mistakes += wrong(out.read(), want);
  }
  return verdict(mistakes);
}
