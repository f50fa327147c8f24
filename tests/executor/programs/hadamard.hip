// SPDX-License-Identifier: Apache-2.0
// The Walsh-Hadamard transform of rows: shuffles inside the wavefront, shared memory across.
#include "check.h"

__global__ void hadamard(const float *in, float *out) {
  __shared__ float s[256];
  int t = threadIdx.x;
  float v = in[blockIdx.x * 256 + t];
  for (int step = 1; step < warpSize; step *= 2) {
    float other = __shfl_xor(v, step);
    v = t & step ? other - v : v + other;
  }
  for (int step = warpSize; step < 256; step *= 2) {
    s[t] = v;
    __syncthreads();
    float other = s[t ^ step];
    v = t & step ? other - v : v + other;
    __syncthreads();
  }
  out[blockIdx.x * 256 + t] = v / 16;
}

int main() {
  const int rows = 3;
  std::vector<float> in = Numbers(53).floats(rows * 256), want(rows * 256);
  for (int r = 0; r < rows; ++r)
    for (int i = 0; i < 256; ++i) {
      double sum = 0;
      for (int j = 0; j < 256; ++j) sum += __builtin_popcount(i & j) % 2 ? -in[r * 256 + j] : in[r * 256 + j];
      want[r * 256 + i] = sum / 16;
    }
  Buffer<float> a(in), b(rows * 256);
  hadamard<<<rows, 256>>>(a, b);
  return verdict(wrong(b.read(), want, 1e-3));
}
