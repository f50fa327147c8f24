// SPDX-License-Identifier: Apache-2.0
// A stencil that reads its right neighbour, also at the right end.
#include <hip/hip_runtime.h>
__global__ void k(const int *in, int *out, int n) {
  int i = threadIdx.x;
#ifdef RIGHT
  int right = i + 1 < n ? in[i + 1] : 0;
#else
  int right = in[i + 1];
#endif
  out[i] = in[i] + right;
}
int main() {
  int *in, *out;
  hipMalloc(&in, 64 * sizeof(int));
  hipMalloc(&out, 64 * sizeof(int));
  hipMemset(in, 0, 64 * sizeof(int));
  k<<<1, 64>>>(in, out, 64);
  hipFree(in);
  hipFree(out);
}
