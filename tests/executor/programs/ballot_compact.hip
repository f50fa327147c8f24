// SPDX-License-Identifier: Apache-2.0
// Stream compaction: ballots give each lane its place, one atomic a wavefront reserves the room; order inside is kept.
#include <algorithm>
#include "check.h"

__global__ void compact(const int *in, int n, int *out, int *count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % warpSize;
  bool keep = i < n && in[i] % 3 == 0;
  unsigned long long votes = __ballot(keep);
  int base = 0;
  if (lane == 0) base = atomicAdd(count, __popcll(votes));
  base = __shfl(base, 0);
  if (keep) out[base + __popcll(votes & ((1ull << lane) - 1))] = in[i];
}

int main() {
  const int n = 1000;
  std::vector<int> in = Numbers(28).ints(n, 10000), want;
  for (int v : in)
    if (v % 3 == 0) want.push_back(v);
  Buffer<int> a(in), out(want.size()), count(1, 0);
  compact<<<(n + 127) / 128, 128>>>(a, n, out, count);
  std::vector<int> got = out.read();
  std::sort(got.begin(), got.end());
  std::sort(want.begin(), want.end());
  return verdict(wrong(got, want) + (count.read()[0] != static_cast<int>(want.size())));
}
