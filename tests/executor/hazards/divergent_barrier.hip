// SPDX-License-Identifier: Apache-2.0
#include <hip/hip_runtime.h>
__global__ void k(int *out) {
  __shared__ int s[64];
  s[threadIdx.x] = threadIdx.x;
#ifdef RIGHT
  __syncthreads();
#else
  if (threadIdx.x < 32) {
    __syncthreads();
    out[64] = 1;
  } else {
    __syncthreads();
    out[65] = 1;
  }
#endif
  out[threadIdx.x] = s[63 - threadIdx.x];
}
int main() {
  int *out;
  hipMalloc(&out, 66 * sizeof(int));
  k<<<1, 64>>>(out);
  hipFree(out);
}
