// SPDX-License-Identifier: Apache-2.0
// A histogram with one copy a wavefront, in dynamic shared memory.
#include "check.h"

__global__ void histogram(const unsigned char *in, int n, unsigned *bins) {
  extern __shared__ unsigned copies[];
  unsigned *mine = copies + threadIdx.x / warpSize * 32;
  for (int i = threadIdx.x; i < 32 * static_cast<int>(blockDim.x) / warpSize; i += blockDim.x) copies[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&mine[in[i] >> 3], 1u);
  __syncthreads();
  if (threadIdx.x < 32) {
    unsigned sum = 0;
    for (int w = 0; w < static_cast<int>(blockDim.x) / warpSize; ++w) sum += copies[w * 32 + threadIdx.x];
    atomicAdd(&bins[threadIdx.x], sum);
  }
}

int main() {
  const int n = 2500, block = 128;
  int width;
  HIP(hipDeviceGetAttribute(&width, hipDeviceAttributeWarpSize, 0));
  Numbers numbers(13);
  std::vector<unsigned char> in(n);
  std::vector<unsigned> want(32);
  for (unsigned char &v : in) {
    v = numbers.next();
    ++want[v >> 3];
  }
  Buffer<unsigned char> a(in);
  Buffer<unsigned> bins(32, 0);
  histogram<<<4, block, block / width * 32 * sizeof(unsigned)>>>(a, n, bins);
  return verdict(wrong(bins.read(), want));
}
