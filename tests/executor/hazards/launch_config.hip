// SPDX-License-Identifier: Apache-2.0
#include <hip/hip_runtime.h>
__global__ void k(int *out) { out[threadIdx.x & 63] = 1; }
int main() {
  int *out;
  hipMalloc(&out, 64 * sizeof(int));
#ifdef RIGHT
  k<<<1, 1024>>>(out);
#else
  k<<<1, 1025>>>(out);
#endif
  hipFree(out);
}
