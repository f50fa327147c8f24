// SPDX-License-Identifier: Apache-2.0
// The argmax of a vector by packing value and index into one atomic word.
#include "check.h"

__device__ unsigned long long pack(float v, unsigned index) {
  unsigned bits = __float_as_uint(v);
  bits = bits & 0x80000000u ? ~bits : bits | 0x80000000u;
  return static_cast<unsigned long long>(bits) << 32 | (0xffffffffu - index);
}

__global__ void argmax(const float *in, int n, unsigned long long *best) {
  unsigned long long mine = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    unsigned long long packed = pack(in[i], i);
    mine = mine > packed ? mine : packed;
  }
  for (int step = warpSize / 2; step > 0; step /= 2) {
    unsigned long long other = __shfl_down(mine, step);
    mine = mine > other ? mine : other;
  }
  if (threadIdx.x % warpSize == 0) atomicMax(best, mine);
}

int main() {
  const int n = 2222;
  std::vector<float> in = Numbers(27).floats(n);
  in[700] = in[1500] = 1.5f;
  Buffer<float> a(in);
  Buffer<unsigned long long> best(1, 0);
  argmax<<<3, 128>>>(a, n, best);
  unsigned index = 0xffffffffu - static_cast<unsigned>(best.read()[0]);
  return verdict(index != 700);
}
