// SPDX-License-Identifier: Apache-2.0
// A kernel's own shared arrays and what its launch adds are more than a block may have.
#include <hip/hip_runtime.h>
#ifdef RIGHT
#define EXTRA 0
#else
#define EXTRA 4
#endif
__global__ void k(float *out) {
  __shared__ float tile[96][128];
  extern __shared__ float rest[];
  tile[threadIdx.x][threadIdx.x] = 1;
  rest[threadIdx.x] = 2;
  __syncthreads();
  out[threadIdx.x] = tile[threadIdx.x][threadIdx.x] + rest[threadIdx.x];
}
int main() {
  float *out;
  hipMalloc(&out, 64 * sizeof(float));
  k<<<1, 64, 16384 + EXTRA>>>(out);
  hipFree(out);
}
