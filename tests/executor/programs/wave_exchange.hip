// SPDX-License-Identifier: Apache-2.0
// Values cross a block of 64 threads through shared memory, with a vote on the way.
#include "check.h"

__global__ void exchange(const int *in, int *out) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = in[blockIdx.x * 64 + t];
  int odd = __any(s[t] & 1);
  __syncthreads();
  out[blockIdx.x * 64 + t] = s[63 - t] * 2 + odd;
}

int main() {
  const int n = 192;
  std::vector<int> in = Numbers(60).ints(n, 1000), want(n);
  in[0] = 1;
  for (int &v : in) v |= 1;
  for (int i = 0; i < n; ++i) want[i] = in[i / 64 * 64 + 63 - i % 64] * 2 + 1;
  Buffer<int> a(in), b(n);
  exchange<<<n / 64, 64>>>(a, b);
  return verdict(wrong(b.read(), want));
}
