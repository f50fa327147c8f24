// SPDX-License-Identifier: Apache-2.0
// Blocks that spin for a later block, and a lock held across other threads' attempts.
#include <hip/hip_runtime.h>
#include <cstdio>

__global__ void chain(volatile int *flags, int *order, int *lock, int *sum) {
  __shared__ int mark[4];
  if (threadIdx.x == 0) {
    mark[blockIdx.x & 3] = blockIdx.x;
    int later = gridDim.x - 1 - blockIdx.x;
    if (later > 0)
      while (flags[blockIdx.x + 1] == 0) {
      }
    order[blockIdx.x] = mark[blockIdx.x & 3];
    __threadfence();
    flags[blockIdx.x] = 1;
  }
  bool done = false;
  while (!done) {
    if (atomicCAS(lock, 0, 1) == 0) {
      *sum += 1;
      __threadfence();
      atomicExch(lock, 0);
      done = true;
    }
  }
}

int main() {
  int *data;
  hipMallocManaged(&data, 32 * sizeof(int));
  hipMemset(data, 0, 32 * sizeof(int));
  chain<<<6, 64>>>(data, data + 8, data + 16, data + 17);
  hipDeviceSynchronize();
  bool right = data[17] == 6 * 64;
  for (int b = 0; b < 6; ++b) right = right && data[8 + b] == b;
  std::printf("%s %d\n", right ? "PASS" : "FAIL", data[17]);
  hipFree(data);
}
