// SPDX-License-Identifier: Apache-2.0
// Conversion to bfloat16 rounds to the nearest, ties to even; sums are kept in float and rounded once.
#include <hip/hip_bf16.h>
#include <cstring>
#include "check.h"

__global__ void convert(const float *in, unsigned short *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  reinterpret_cast<__hip_bfloat16 *>(out)[i] = __float2bfloat16(in[i]);
}
__global__ void row_sums(const unsigned short *in, float *out, int columns) {
  float sum = 0;
  for (int i = 0; i < columns; ++i) {
    __hip_bfloat16 b = reinterpret_cast<const __hip_bfloat16 *>(in)[threadIdx.x * columns + i];
    sum += __bfloat162float(b);
  }
  out[threadIdx.x] = sum;
}

int main() {
  const int n = 64 * 40;
  Numbers numbers(43);
  std::vector<float> in(n);
  std::vector<unsigned short> want(n);
  for (int i = 0; i < n; ++i) {
    unsigned bits = (numbers.next() & 0x807fffff) | (120u + numbers.below(10)) << 23;
    if (i % 5 == 0) bits = (bits & 0xffff0000) | 0x8000;  // a tie
    std::memcpy(&in[i], &bits, 4);
    want[i] = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
  }
  Buffer<float> a(in), sums(64);
  Buffer<unsigned short> b(n);
  convert<<<(n + 63) / 64, 64>>>(a, b, n);
  row_sums<<<1, 64>>>(b, sums, 40);
  std::vector<float> totals(64);
  for (int i = 0; i < n; ++i) {
    unsigned bits = unsigned(want[i]) << 16;
    float f;
    std::memcpy(&f, &bits, 4);
    totals[i / 40] += f;
  }
  return verdict(wrong(b.read(), want) + wrong(sums.read(), totals));
}
