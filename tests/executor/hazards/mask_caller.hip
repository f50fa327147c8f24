// SPDX-License-Identifier: Apache-2.0
// The upper half of a wavefront calls with the mask of the lower half.
#include <hip/hip_runtime.h>
#ifdef RIGHT
#define MASK(lane) ((lane) < 16 ? 0xffffull : 0xffff0000ull)
#else
#define MASK(lane) 0xffffull
#endif
__global__ void k(int *out) {
  unsigned long long mask = MASK(threadIdx.x);
  out[threadIdx.x] = __shfl_xor_sync(mask, (int)threadIdx.x, 1, 16);
}
int main() {
  int *out;
  hipMalloc(&out, 32 * sizeof(int));
  k<<<1, 32>>>(out);
  hipFree(out);
}
