// SPDX-License-Identifier: Apache-2.0
// A sum within one wavefront that trusts its lanes to run in step.
#include <hip/hip_runtime.h>
#include <cstdio>
__global__ void sum(int *out) {
  __shared__ volatile int s[32];
  int t = threadIdx.x;
  s[t] = t;
#ifdef RIGHT
  __syncthreads();
#endif
  for (int offset = 16; offset > 0; offset /= 2) {
    if (t < offset) {
      int v = s[t + offset];
      s[t] = s[t] + v;
    }
#ifdef RIGHT
    __syncthreads();
#endif
  }
  if (t == 0) *out = s[0];
}
int main() {
  int *out;
  hipMallocManaged(&out, sizeof(int));
  sum<<<1, 32>>>(out);
  std::printf("%s\n", *out == 496 ? "PASS" : "FAIL");
  hipFree(out);
}
