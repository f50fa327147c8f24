// SPDX-License-Identifier: Apache-2.0
#include <hip/hip_runtime.h>
__global__ void k(int *out) {
#ifdef RIGHT
  int v = __shfl(threadIdx.x, 40 % warpSize);
  if (threadIdx.x < 16) out[threadIdx.x] = v;
#else
  if (threadIdx.x < 16) out[threadIdx.x] = __shfl(threadIdx.x, 20);
#endif
}
int main() {
  int *out;
  hipMalloc(&out, 64 * sizeof(int));
  k<<<1, 64>>>(out);
  hipFree(out);
}
