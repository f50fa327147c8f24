// SPDX-License-Identifier: Apache-2.0
// Two halves with a mask each; one reads over the border.
#include <hip/hip_runtime.h>
#ifdef RIGHT
#define SOURCE(lane) (((lane) & 16) + 5)
#else
#define SOURCE(lane) 5
#endif
__global__ void k(int *out) {
  int lane = threadIdx.x;
  unsigned long long mask = lane < 16 ? 0xffffull : 0xffff0000ull;
  out[lane] = __shfl_sync(mask, lane, SOURCE(lane), 32);
}
int main() {
  int *out;
  hipMalloc(&out, 32 * sizeof(int));
  k<<<1, 32>>>(out);
  hipFree(out);
}
