// SPDX-License-Identifier: Apache-2.0
// A bitonic sort of one block's keys in shared memory.
#include <algorithm>
#include "check.h"

__global__ void sort(int *keys, int n) {
  extern __shared__ int s[];
  for (int i = threadIdx.x; i < n; i += blockDim.x) s[i] = keys[i];
  for (int size = 2; size <= n; size *= 2)
    for (int stride = size / 2; stride > 0; stride /= 2) {
      __syncthreads();
      for (int i = threadIdx.x; i < n / 2; i += blockDim.x) {
        int low = 2 * i - (i & (stride - 1)), high = low + stride;
        bool up = (low & size) == 0;
        if ((s[low] > s[high]) == up) {
          int t = s[low];
          s[low] = s[high];
          s[high] = t;
        }
      }
    }
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) keys[i] = s[i];
}

int main() {
  const int n = 512;
  std::vector<int> keys = Numbers(9).ints(n, 10000), want = keys;
  std::sort(want.begin(), want.end());
  Buffer<int> d(keys);
  sort<<<1, 128, n * sizeof(int)>>>(d, n);
  return verdict(wrong(d.read(), want));
}
