// SPDX-License-Identifier: Apache-2.0
#include <hip/hip_runtime.h>
__global__ void k(int *out) {
  __shared__ int s[128];
  s[threadIdx.x] = threadIdx.x;
#ifdef RIGHT
  __syncthreads();
#endif
  out[threadIdx.x] = s[127 - threadIdx.x];
}
int main() {
  int *out;
  hipMalloc(&out, 128 * sizeof(int));
  k<<<1, 128>>>(out);
  hipFree(out);
}
