// SPDX-License-Identifier: Apache-2.0
// Threads of many wavefronts set one flag: a race only when they do not agree.
#include <hip/hip_runtime.h>
#ifdef RIGHT
#define VALUE 1
#else
#define VALUE (1 + threadIdx.x / 64)
#endif
__global__ void k(int *out) {
  __shared__ int found;
  if (threadIdx.x == 0) found = 0;
  __syncthreads();
  if (threadIdx.x % 5 == 3) found = VALUE;
  __syncthreads();
  out[threadIdx.x] = found;
}
int main() {
  int *out;
  hipMalloc(&out, 256 * sizeof(int));
  k<<<1, 256>>>(out);
  hipFree(out);
}
