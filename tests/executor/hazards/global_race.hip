// SPDX-License-Identifier: Apache-2.0
// Blocks add to one place: only an atomic keeps every addition.
#include <hip/hip_runtime.h>
__global__ void k(const int *in, int *sum) {
#ifdef RIGHT
  atomicAdd(sum, in[blockIdx.x * blockDim.x + threadIdx.x]);
#else
  *sum += in[blockIdx.x * blockDim.x + threadIdx.x];
#endif
}
int main() {
  int *in, *sum;
  hipMalloc(&in, 256 * sizeof(int));
  hipMalloc(&sum, sizeof(int));
  hipMemset(in, 1, 256 * sizeof(int));
  hipMemset(sum, 0, sizeof(int));
  k<<<4, 64>>>(in, sum);
  hipFree(in);
  hipFree(sum);
}
