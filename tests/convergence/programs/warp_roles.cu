// Warp 0 writes, the other warps read, each with barriers of its own branch.
#include "check.h"
__global__ void roles(int *out) {
  __shared__ int s[32];
  int warp = threadIdx.x / 32;
  if (warp == 0) {
    s[threadIdx.x] = threadIdx.x + 1;
    __syncthreads();
    __syncthreads();
    s[threadIdx.x] = 100;
    __syncthreads();
  } else {
    __syncthreads();
    out[threadIdx.x - 32] = s[threadIdx.x & 31];
    __syncthreads();
    __syncthreads();
    out[threadIdx.x - 32] += s[threadIdx.x & 31];
  }
}
int main() { return report(sum_of(roles, 1, 128, 96), 3 * (32 * 33 / 2 + 3200)); }
