// SPDX-License-Identifier: Apache-2.0
// hipCUB's block and device collectives, by the library's own headers.
#include <hip/hip_runtime.h>
#include <hipcub/hipcub.hpp>
#include <algorithm>
#include <cstdio>
#include <numeric>
#include <vector>

__global__ void block(const int *in, int *scan, int *sorted, int *total) {
  using Scan = hipcub::BlockScan<int, 128>;
  using Sort = hipcub::BlockRadixSort<int, 128, 1>;
  using Reduce = hipcub::BlockReduce<int, 128>;
  __shared__ union {
    Scan::TempStorage scan;
    Sort::TempStorage sort;
    Reduce::TempStorage reduce;
  } temp;
  int v = in[threadIdx.x], before;
  Scan(temp.scan).ExclusiveSum(v, before);
  scan[threadIdx.x] = before;
  __syncthreads();
  int key[1] = {v};
  Sort(temp.sort).Sort(key);
  sorted[threadIdx.x] = key[0];
  __syncthreads();
  int sum = Reduce(temp.reduce).Sum(v);
  if (threadIdx.x == 0) *total = sum;
}

int main() {
  const int n = 128;
  std::vector<int> in(n), scan(n), sorted(n), expected(n);
  for (int i = 0; i < n; ++i) in[i] = (i * 37 + 11) % 101 - 50;
  int *d;
  hipMallocManaged(&d, (3 * n + 1) * sizeof(int));
  std::copy(in.begin(), in.end(), d);
  block<<<1, n>>>(d, d + n, d + 2 * n, d + 3 * n);
  hipDeviceSynchronize();
  std::exclusive_scan(in.begin(), in.end(), expected.begin(), 0);
  bool right = std::equal(expected.begin(), expected.end(), d + n);
  std::vector<int> order = in;
  std::sort(order.begin(), order.end());
  right = right && std::equal(order.begin(), order.end(), d + 2 * n) && d[3 * n] == std::accumulate(in.begin(), in.end(), 0);
  size_t bytes = 0;
  hipcub::DeviceScan::InclusiveSum(nullptr, bytes, d, d + n, n);
  void *temp;
  hipMalloc(&temp, bytes);
  hipcub::DeviceScan::InclusiveSum(temp, bytes, d, d + n, n);
  std::inclusive_scan(in.begin(), in.end(), expected.begin());
  right = right && std::equal(expected.begin(), expected.end(), d + n);
  std::printf("%s\n", right ? "PASS" : "FAIL");
  hipFree(temp);
  hipFree(d);
}
