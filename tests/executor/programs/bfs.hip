// SPDX-License-Identifier: Apache-2.0
// Breadth-first search, level by level, with a queue that threads append to.
#include "check.h"

__global__ void expand(const int *offsets, const int *targets, int *level, const int *queue, int size, int *next, int *next_size, int depth) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= size) return;
  int node = queue[i];
  for (int e = offsets[node]; e < offsets[node + 1]; ++e)
    if (atomicCAS(&level[targets[e]], -1, depth) == -1) next[atomicAdd(next_size, 1)] = targets[e];
}

int main() {
  const int nodes = 400;
  Numbers numbers(32);
  std::vector<int> offsets(nodes + 1), targets, want(nodes, -1), queue{0};
  for (int n = 0; n < nodes; ++n) {
    for (int e = numbers.below(4); e >= 0; --e) targets.push_back(numbers.below(nodes));
    offsets[n + 1] = targets.size();
  }
  want[0] = 0;
  for (size_t i = 0; i < queue.size(); ++i)
    for (int e = offsets[queue[i]]; e < offsets[queue[i] + 1]; ++e)
      if (want[targets[e]] < 0) {
        want[targets[e]] = want[queue[i]] + 1;
        queue.push_back(targets[e]);
      }
  Buffer<int> o(offsets), t(targets), level(nodes, 0xff), a(nodes, 0), b(nodes, 0), count(1);
  HIP(hipMemset(level, 0, sizeof(int)));
  int size = 1;
  int *from = a, *to = b;
  for (int depth = 1; size; ++depth) {
    HIP(hipMemset(count, 0, sizeof(int)));
    expand<<<(size + 63) / 64, 64>>>(o, t, level, from, size, to, count, depth);
    size = count.read()[0];
    std::swap(from, to);
  }
  return verdict(wrong(level.read(), want));
}
