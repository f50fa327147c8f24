// SPDX-License-Identifier: Apache-2.0
// Cooperative tiles of 4, 16 and 32 lanes: sums by shuffle, votes, ranks.
#include <hip/hip_cooperative_groups.h>
#include "check.h"

namespace cg = cooperative_groups;

template <int kSize> __global__ void sums(const int *in, int *out, int *votes) {
  auto tile = cg::tiled_partition<kSize>(cg::this_thread_block());
  int v = in[threadIdx.x], sum = v;
  for (int step = kSize / 2; step > 0; step /= 2) sum += tile.shfl_xor(sum, step);
  out[threadIdx.x] = sum + static_cast<int>(tile.thread_rank());
  votes[threadIdx.x] = tile.any(v > 90) + 2 * tile.all(v > 5);
}

template <int kSize> long check(const std::vector<int> &in) {
  const int n = static_cast<int>(in.size());
  std::vector<int> want(n), votes(n);
  for (int i = 0; i < n; ++i) {
    int any = 0, all = 1, base = i / kSize * kSize;
    for (int j = base; j < base + kSize; ++j) {
      want[i] += in[j];
      any |= in[j] > 90;
      all &= in[j] > 5;
    }
    want[i] += i % kSize;
    votes[i] = any + 2 * all;
  }
  Buffer<int> a(in), b(n), c(n);
  sums<kSize><<<1, n>>>(a, b, c);
  return wrong(b.read(), want) + wrong(c.read(), votes);
}

int main() {
  std::vector<int> in = Numbers(45).ints(192, 100);
  return verdict(check<4>(in) + check<16>(in) + check<32>(in));
}
