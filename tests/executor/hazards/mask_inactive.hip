// SPDX-License-Identifier: Apache-2.0
// A full mask in a branch that only some lanes take.
#include <hip/hip_runtime.h>
__global__ void k(int *out) {
  if (threadIdx.x < 8) {
#ifdef RIGHT
    unsigned long long mask = 0xffull;
#else
    unsigned long long mask = 0xffffffffull;
#endif
    out[threadIdx.x] = __any_sync(mask, threadIdx.x == 3);
  }
}
int main() {
  int *out;
  hipMalloc(&out, 32 * sizeof(int));
  k<<<1, 32>>>(out);
  hipFree(out);
}
