// SPDX-License-Identifier: Apache-2.0
// Groups of eight lanes with a mask each: minimum, broadcast and vote inside the group.
#define HIP_ENABLE_WARP_SYNC_BUILTINS
#include "check.h"

__global__ void groups(const int *in, int *low, int *first, int *votes) {
  int lane = threadIdx.x % warpSize;
  unsigned long long mask = 0xffull << (lane & ~7);
  int v = in[threadIdx.x], least = v;
  for (int step = 4; step > 0; step /= 2) {
    int other = __shfl_xor_sync(mask, least, step, 8);
    least = other < least ? other : least;
  }
  low[threadIdx.x] = least;
  first[threadIdx.x] = __shfl_sync(mask, v, 0, 8);
  votes[threadIdx.x] = __popcll(__ballot_sync(mask, v > 50));
}

int main() {
  const int n = 128;
  std::vector<int> in = Numbers(61).ints(n, 100), low(n), first(n), votes(n);
  for (int i = 0; i < n; ++i) {
    int base = i / 8 * 8;
    low[i] = *std::min_element(&in[base], &in[base] + 8);
    first[i] = in[base];
    for (int j = base; j < base + 8; ++j) votes[i] += in[j] > 50;
  }
  Buffer<int> a(in), b(n), c(n), d(n);
  groups<<<1, n>>>(a, b, c, d);
  return verdict(wrong(b.read(), low) + wrong(c.read(), first) + wrong(d.read(), votes));
}
