// SPDX-License-Identifier: Apache-2.0
// An inclusive scan within a block by doubling steps, double buffered.
#include "check.h"

__global__ void scan(const int *in, int *out) {
  __shared__ int buffer[2][256];
  int t = threadIdx.x, from = 0;
  buffer[0][t] = in[blockIdx.x * 256 + t];
  __syncthreads();
  for (int step = 1; step < 256; step *= 2) {
    buffer[1 - from][t] = buffer[from][t] + (t >= step ? buffer[from][t - step] : 0);
    from = 1 - from;
    __syncthreads();
  }
  out[blockIdx.x * 256 + t] = buffer[from][t];
}

int main() {
  const int blocks = 3, n = blocks * 256;
  std::vector<int> in = Numbers(6).ints(n, 100), want(n);
  for (int i = 0; i < n; ++i) want[i] = in[i] + (i % 256 ? want[i - 1] : 0);
  Buffer<int> a(in), b(n);
  scan<<<blocks, 256>>>(a, b);
  return verdict(wrong(b.read(), want));
}
