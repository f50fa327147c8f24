// SPDX-License-Identifier: Apache-2.0
#include <hip/hip_runtime.h>
__global__ void k(int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
#ifdef RIGHT
  if (i < n)
#endif
    out[i] = i;
}
int main() {
  int *out, n = 100;
  hipMalloc(&out, n * sizeof(int));
  k<<<2, 64>>>(out, n);
  hipFree(out);
}
