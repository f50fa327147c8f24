// SPDX-License-Identifier: Apache-2.0
// A histogram in shared memory that only its first bins are cleared of.
#include <hip/hip_runtime.h>
#ifdef RIGHT
#define CLEARED 16
#else
#define CLEARED 12
#endif
__global__ void k(int *out) {
  __shared__ int bins[16];
  if (threadIdx.x < CLEARED) bins[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&bins[threadIdx.x % 16], 1);
  __syncthreads();
  if (threadIdx.x < 16) out[threadIdx.x] = bins[threadIdx.x];
}
int main() {
  int *out;
  hipMalloc(&out, 16 * sizeof(int));
  k<<<1, 64>>>(out);
  hipFree(out);
}
