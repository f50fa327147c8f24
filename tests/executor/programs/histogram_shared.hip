// SPDX-License-Identifier: Apache-2.0
// A histogram in shared memory, added to the global one.
#include "check.h"

__global__ void histogram(const int *in, int n, int *bins) {
  __shared__ int local[64];
  for (int i = threadIdx.x; i < 64; i += blockDim.x) local[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&local[in[i]], 1);
  __syncthreads();
  for (int i = threadIdx.x; i < 64; i += blockDim.x) atomicAdd(&bins[i], local[i]);
}

int main() {
  const int n = 4000;
  std::vector<int> in = Numbers(12).ints(n, 64), want(64);
  for (int v : in) ++want[v];
  Buffer<int> a(in), bins(64, 0);
  histogram<<<5, 48>>>(a, n, bins);
  return verdict(wrong(bins.read(), want));
}
