// SPDX-License-Identifier: Apache-2.0
// A tile is loaded again before everybody has read it.
#include <hip/hip_runtime.h>
__global__ void k(const int *in, int *out) {
  __shared__ int tile[128];
  int sum = 0;
  for (int round = 0; round < 3; ++round) {
    tile[threadIdx.x] = in[round * 128 + threadIdx.x];
    __syncthreads();
    sum += tile[127 - threadIdx.x];
#ifdef RIGHT
    __syncthreads();
#endif
  }
  out[threadIdx.x] = sum;
}
int main() {
  int *in, *out;
  hipMalloc(&in, 3 * 128 * sizeof(int));
  hipMalloc(&out, 128 * sizeof(int));
  hipMemset(in, 0, 3 * 128 * sizeof(int));
  k<<<1, 128>>>(in, out);
  hipFree(in);
  hipFree(out);
}
