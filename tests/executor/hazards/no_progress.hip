// SPDX-License-Identifier: Apache-2.0
// One wavefront waits for a flag that the other sets, or would set.
#include <hip/hip_runtime.h>
#include <cstdio>
__global__ void k(volatile int *flag, int *out) {
#ifdef RIGHT
  if (threadIdx.x == warpSize) *flag = 1;
#endif
  if (threadIdx.x == 0)
    while (*flag == 0) {
    }
  out[threadIdx.x] = 1;
}
int main() {
  int *flag, *out;
  hipMalloc(&flag, sizeof(int));
  hipMalloc(&out, 128 * sizeof(int));
  hipMemset(flag, 0, sizeof(int));
  k<<<1, 128>>>(flag, out);
  hipFree(flag);
  hipFree(out);
}
