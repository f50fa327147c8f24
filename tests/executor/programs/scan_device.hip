// SPDX-License-Identifier: Apache-2.0
// A device-wide scan in three kernels: block scans up and down a tree, scan of the totals, add.
#include "check.h"

constexpr int kBlock = 128;

__global__ void scan_blocks(const int *in, int *out, int *totals, int n) {
  __shared__ int tree[2 * kBlock];
  int t = threadIdx.x, base = blockIdx.x * 2 * kBlock;
  tree[2 * t] = base + 2 * t < n ? in[base + 2 * t] : 0;
  tree[2 * t + 1] = base + 2 * t + 1 < n ? in[base + 2 * t + 1] : 0;
  int offset = 1;
  for (int d = kBlock; d > 0; d /= 2) {
    __syncthreads();
    if (t < d) tree[offset * (2 * t + 2) - 1] += tree[offset * (2 * t + 1) - 1];
    offset *= 2;
  }
  if (t == 0) {
    if (totals) totals[blockIdx.x] = tree[2 * kBlock - 1];
    tree[2 * kBlock - 1] = 0;
  }
  for (int d = 1; d < 2 * kBlock; d *= 2) {
    offset /= 2;
    __syncthreads();
    if (t < d) {
      int left = tree[offset * (2 * t + 1) - 1];
      tree[offset * (2 * t + 1) - 1] = tree[offset * (2 * t + 2) - 1];
      tree[offset * (2 * t + 2) - 1] += left;
    }
  }
  __syncthreads();
  for (int i = 2 * t; i < 2 * t + 2; ++i)
    if (base + i < n) out[base + i] = tree[i];
}

__global__ void add(int *out, const int *totals, int n) {
  int i = blockIdx.x * 2 * kBlock + threadIdx.x;
  for (int j = i; j < i + 2 * kBlock; j += kBlock)
    if (j < n && j < (static_cast<int>(blockIdx.x) + 1) * 2 * kBlock) out[j] += totals[blockIdx.x];
}

int main() {
  const int n = 5000, blocks = (n + 2 * kBlock - 1) / (2 * kBlock);
  std::vector<int> in = Numbers(8).ints(n, 50), want(n);
  for (int i = 1; i < n; ++i) want[i] = want[i - 1] + in[i - 1];
  Buffer<int> a(in), b(n), totals(blocks), scanned(blocks);
  scan_blocks<<<blocks, kBlock>>>(a, b, totals, n);
  scan_blocks<<<1, kBlock>>>(totals, scanned, nullptr, blocks);
  add<<<blocks, kBlock>>>(b, scanned, n);
  return verdict(wrong(b.read(), want));
}
