// SPDX-License-Identifier: Apache-2.0
// A sum that adds to memory nobody cleared.
#include <hip/hip_runtime.h>
__global__ void k(const int *in, int *sum) {
  atomicAdd(&sum[threadIdx.x % 4], in[threadIdx.x]);
}
int main() {
  int *in, *sum;
  hipMalloc(&in, 64 * sizeof(int));
  hipMalloc(&sum, 4 * sizeof(int));
  hipMemset(in, 0, 64 * sizeof(int));
#ifdef RIGHT
  hipMemset(sum, 0, 4 * sizeof(int));
#endif
  k<<<1, 64>>>(in, sum);
  hipFree(in);
  hipFree(sum);
}
