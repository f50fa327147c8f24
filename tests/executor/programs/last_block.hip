// SPDX-License-Identifier: Apache-2.0
// A sum in one kernel: the block that finishes last adds up what the others left.
#include "check.h"

__global__ void sum(const int *in, int n, int *partial, unsigned *finished, int *out) {
  __shared__ int part[64];
  __shared__ bool last;
  int own = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) own += in[i];
  part[threadIdx.x] = own;
  __syncthreads();
  for (int half = 32; half > 0; half /= 2) {
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = part[0];
    __threadfence();
    last = atomicAdd(finished, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    int total = 0;
    for (unsigned b = 0; b < gridDim.x; ++b) total += partial[b];
    *out = total;
  }
}

int main() {
  const int n = 5000, blocks = 9;
  std::vector<int> in = Numbers(47).ints(n, 300), want(1);
  for (int v : in) want[0] += v;
  Buffer<int> a(in), partial(blocks), out(1);
  Buffer<unsigned> finished(1, 0);
  sum<<<blocks, 64>>>(a, n, partial, finished, out);
  return verdict(wrong(out.read(), want));
}
