// SPDX-License-Identifier: Apache-2.0
// An exclusive scan of a block: shuffles within wavefronts, their totals scanned by the first one.
#include "check.h"

__global__ void scan(const int *in, int *out, int *total) {
  __shared__ int totals[32];
  int lane = threadIdx.x % warpSize, wave = threadIdx.x / warpSize, waves = blockDim.x / warpSize;
  int own = in[threadIdx.x], sum = own;
  for (int step = 1; step < warpSize; step *= 2) {
    int below = __shfl_up(sum, step);
    if (lane >= step) sum += below;
  }
  if (lane == warpSize - 1) totals[wave] = sum;
  __syncthreads();
  if (wave == 0) {
    int t = lane < waves ? totals[lane] : 0;
    for (int step = 1; step < warpSize; step *= 2) {
      int below = __shfl_up(t, step);
      if (lane >= step) t += below;
    }
    if (lane < waves) totals[lane] = t;
  }
  __syncthreads();
  out[threadIdx.x] = sum - own + (wave ? totals[wave - 1] : 0);
  if (threadIdx.x == 0) *total = totals[waves - 1];
}

int main() {
  const int n = 512;
  std::vector<int> in = Numbers(7).ints(n, 1000), want(n);
  int sum = 0;
  for (int i = 0; i < n; ++i) {
    want[i] = sum;
    sum += in[i];
  }
  Buffer<int> a(in), b(n), total(1);
  scan<<<1, n>>>(a, b, total);
  return verdict(wrong(b.read(), want) + (total.read()[0] != sum));
}
