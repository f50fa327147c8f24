// SPDX-License-Identifier: Apache-2.0
// 4-bit codes through a table in shared memory, an absolute maximum a block of 64.
#include "check.h"

__constant__ float levels[16];

__global__ void dequantize(const unsigned char *codes, const float *absmax, float *out, int n) {
  __shared__ float table[16];
  if (threadIdx.x < 16) table[threadIdx.x] = levels[threadIdx.x];
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n / 2; i += gridDim.x * blockDim.x) {
    float top = absmax[2 * i / 64];
    out[2 * i] = table[codes[i] >> 4] * top;
    out[2 * i + 1] = table[codes[i] & 15] * top;
  }
}

int main() {
  const int n = 1024;
  Numbers numbers(42);
  std::vector<float> table(16), absmax = numbers.floats(n / 64), want(n);
  for (int i = 0; i < 16; ++i) table[i] = (i - 7.5f) * std::fabs(i - 7.5f) / 56.25f;
  std::vector<unsigned char> codes(n / 2);
  for (auto &c : codes) c = numbers.next();
  for (int i = 0; i < n; ++i) want[i] = table[i % 2 ? codes[i / 2] & 15 : codes[i / 2] >> 4] * absmax[i / 64];
  HIP(hipMemcpyToSymbol(HIP_SYMBOL(levels), table.data(), 16 * sizeof(float)));
  Buffer<unsigned char> c(codes);
  Buffer<float> a(absmax), out(n);
  dequantize<<<3, 64>>>(c, a, out, n);
  return verdict(wrong(out.read(), want));
}
