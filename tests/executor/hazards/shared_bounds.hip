// SPDX-License-Identifier: Apache-2.0
// Dynamic shared memory for all threads but the last.
#include <hip/hip_runtime.h>
__global__ void k(int *out) {
  extern __shared__ int s[];
  s[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = s[(threadIdx.x + 1) % blockDim.x];
}
int main() {
  int *out;
  hipMalloc(&out, 64 * sizeof(int));
#ifdef RIGHT
  k<<<1, 64, 64 * sizeof(int)>>>(out);
#else
  k<<<1, 64, 63 * sizeof(int)>>>(out);
#endif
  hipFree(out);
}
