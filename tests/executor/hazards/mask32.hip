// SPDX-License-Identifier: Apache-2.0
#include <hip/hip_runtime.h>
#ifdef RIGHT
#define MASK ~0ull
#else
#define MASK 0xffffffffu
#endif
__global__ void k(int *out) { out[threadIdx.x] = __shfl_sync(MASK, (int)threadIdx.x, 0); }
int main() {
  int *out;
  hipMalloc(&out, 64 * sizeof(int));
  k<<<1, 64>>>(out);
  hipFree(out);
}
