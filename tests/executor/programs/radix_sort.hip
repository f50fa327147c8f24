// SPDX-License-Identifier: Apache-2.0
// A radix sort, one bit a pass: ballots rank the lanes, shared memory the wavefronts.
#include <algorithm>
#include "check.h"

__global__ void sort(unsigned *keys, int bits) {
  __shared__ unsigned next[256];
  __shared__ int zeros[8];
  int lane = threadIdx.x % warpSize, wave = threadIdx.x / warpSize, waves = blockDim.x / warpSize;
  unsigned key = keys[threadIdx.x];
  for (int bit = 0; bit < bits; ++bit) {
    bool one = key >> bit & 1;
    unsigned long long votes = __ballot(!one);
    int below = __popcll(votes & ((1ull << lane) - 1));
    if (lane == 0) zeros[wave] = __popcll(votes);
    __syncthreads();
    int before = 0, all = 0;
    for (int w = 0; w < waves; ++w) {
      before += w < wave ? zeros[w] : 0;
      all += zeros[w];
    }
    int rank = before + below;
    next[one ? all + static_cast<int>(threadIdx.x) - rank : rank] = key;
    __syncthreads();
    key = next[threadIdx.x];
  }
  keys[threadIdx.x] = key;
}

int main() {
  const int n = 256;
  Numbers numbers(10);
  std::vector<unsigned> keys(n);
  for (unsigned &k : keys) k = numbers.next() & 0xffff;
  std::vector<unsigned> want = keys;
  std::sort(want.begin(), want.end());
  Buffer<unsigned> d(keys);
  sort<<<1, n>>>(d, 16);
  return verdict(wrong(d.read(), want));
}
