// SPDX-License-Identifier: Apache-2.0
// A grid-wide barrier in a cooperative launch: every block sees what all have written.
#include <hip/hip_cooperative_groups.h>
#include "check.h"

namespace cg = cooperative_groups;

__global__ void rounds(int *data, int n, int steps) {
  cg::grid_group grid = cg::this_grid();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int s = 0; s < steps; ++s) {
    int left = data[s % 2 * n + (i + n - 1) % n], right = data[s % 2 * n + (i + 1) % n];
    data[(s + 1) % 2 * n + i] = (left + right) % 1009;
    grid.sync();
  }
}

int main() {
  int n = 4 * 64, steps = 6;
  std::vector<int> want = Numbers(46).ints(n, 1000), data(2 * n);
  std::copy(want.begin(), want.end(), data.begin());
  Buffer<int> d(data);
  int *pointer = d;
  void *arguments[] = {&pointer, &n, &steps};
  HIP(hipLaunchCooperativeKernel((void *)rounds, dim3(4), dim3(64), arguments, 0, nullptr));
  for (int s = 0; s < steps; ++s) {
    std::vector<int> next(n);
    for (int i = 0; i < n; ++i) next[i] = (want[(i + n - 1) % n] + want[(i + 1) % n]) % 1009;
    want = next;
  }
  std::vector<int> got = d.read();
  got.resize(n);
  return verdict(wrong(got, want));
}
