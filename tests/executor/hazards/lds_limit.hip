// SPDX-License-Identifier: Apache-2.0
#include <hip/hip_runtime.h>
__global__ void k(int *out) {
  extern __shared__ int s[];
  s[threadIdx.x] = 1;
  out[threadIdx.x] = s[threadIdx.x];
}
int main() {
  int *out;
  hipMalloc(&out, 64 * sizeof(int));
#ifdef RIGHT
  k<<<1, 64, 65536>>>(out);
#else
  k<<<1, 64, 65540>>>(out);
#endif
  hipGetLastError();
  hipFree(out);
}
