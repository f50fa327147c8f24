// SPDX-License-Identifier: Apache-2.0
#include <hip/hip_runtime.h>
#ifdef RIGHT
#define WIDTH 32
#else
#define WIDTH 64
#endif
__global__ void k(int *out) { out[threadIdx.x] = __shfl_down((int)threadIdx.x, 1, WIDTH); }
int main() {
  int *out;
  hipMalloc(&out, 64 * sizeof(int));
  k<<<1, 64>>>(out);
  hipFree(out);
}
