// SPDX-License-Identifier: Apache-2.0
// Connected components by label propagation, until no label changes.
#include <numeric>
#include "check.h"

__global__ void hook(const int *from, const int *to, int edges, int *label, int *changed) {
  int e = blockIdx.x * blockDim.x + threadIdx.x;
  if (e >= edges) return;
  int a = label[from[e]], b = label[to[e]];
  if (a == b) return;
  if (atomicMin(&label[a > b ? from[e] : to[e]], min(a, b)) > min(a, b)) *changed = 1;
}

int main() {
  const int nodes = 120, edges = 110;
  Numbers numbers(34);
  std::vector<int> from = numbers.ints(edges, nodes), to = numbers.ints(edges, nodes), want(nodes);
  std::iota(want.begin(), want.end(), 0);
  Buffer<int> f(from), t(to), label(want), changed(1);
  for (bool again = true; again;) {
    again = false;
    for (int e = 0; e < edges; ++e) {
      int low = std::min(want[from[e]], want[to[e]]);
      again |= want[from[e]] != low || want[to[e]] != low;
      want[from[e]] = want[to[e]] = low;
    }
  }
  for (int again = 1; again;) {
    HIP(hipMemset(changed, 0, sizeof(int)));
    hook<<<2, 64>>>(f, t, edges, label, changed);
    again = changed.read()[0];
  }
  return verdict(wrong(label.read(), want));
}
