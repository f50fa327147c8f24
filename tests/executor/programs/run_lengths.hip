// SPDX-License-Identifier: Apache-2.0
// Run-length encoding: flags, a scan, and a scatter by the first of each run.
#include "check.h"

__global__ void encode(const int *in, int n, int *values, int *starts, int *runs) {
  __shared__ int sums[256];
  int t = threadIdx.x;
  int first = t < n && (t == 0 || in[t] != in[t - 1]);
  sums[t] = first;
  for (int step = 1; step < 256; step *= 2) {
    __syncthreads();
    int below = t >= step ? sums[t - step] : 0;
    __syncthreads();
    sums[t] += below;
  }
  __syncthreads();
  if (first) {
    values[sums[t] - 1] = in[t];
    starts[sums[t] - 1] = t;
  }
  if (t == 255) *runs = sums[t];
}

int main() {
  const int n = 230;
  std::vector<int> in = Numbers(54).ints(n, 3), values, starts;
  for (int i = 0; i < n; ++i)
    if (!i || in[i] != in[i - 1]) {
      values.push_back(in[i]);
      starts.push_back(i);
    }
  Buffer<int> a(in), v(values.size()), s(values.size()), runs(1);
  encode<<<1, 256>>>(a, n, v, s, runs);
  return verdict(wrong(v.read(), values) + wrong(s.read(), starts) + (runs.read()[0] != static_cast<int>(values.size())));
}
