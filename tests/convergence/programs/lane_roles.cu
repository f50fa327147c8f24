// Lane 0 fills shared memory for its warp; each side of the branch has its __syncwarp.
#include "check.h"
__global__ void roles(int *out) {
  __shared__ int s[64];
  const int lane = threadIdx.x & 31, base = threadIdx.x & 32;
  if (lane == 0) {
    for (int i = 0; i < 32; ++i) s[base + i] = i + 1;
    __syncwarp();
    out[threadIdx.x] = 1;
  } else {
    __syncwarp();
    out[threadIdx.x] = s[threadIdx.x];
  }
}
int main() { return report(sum_of(roles, 1, 64, 64), 2 * 32 * 33 / 2); }
