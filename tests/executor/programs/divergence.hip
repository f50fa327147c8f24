// SPDX-License-Identifier: Apache-2.0
// Lanes that leave a loop at different times meet again behind it; helpers called from two branches do not mix lanes.
#include <hip/hip_runtime.h>
#include <cstdio>
#include <vector>

__device__ int count_here() { return __popcll(__ballot(1)); }

__global__ void diverge(int *rounds, int *after, int *branches) {
  int lane = __lane_id(), seen = 0;
  for (int i = 0; i <= lane % 8; ++i) seen += count_here();
  rounds[threadIdx.x] = seen;
  after[threadIdx.x] = count_here();
  if (lane < 5) branches[threadIdx.x] = count_here();
  else branches[threadIdx.x] = -count_here();
}

int main() {
  int width;
  hipDeviceGetAttribute(&width, hipDeviceAttributeWarpSize, 0);
  int *device;
  std::vector<int> got(192);
  hipMalloc(&device, got.size() * sizeof(int));
  diverge<<<1, 64>>>(device, device + 64, device + 128);
  hipMemcpy(got.data(), device, got.size() * sizeof(int), hipMemcpyDeviceToHost);
  int wrong = 0;
  for (int t = 0; t < 64; ++t) {
    int lane = t % width, expected = 0;
    for (int i = 0; i <= lane % 8; ++i) expected += width - i * width / 8;
    wrong += got[t] != expected;
    wrong += got[64 + t] != width;
    wrong += got[128 + t] != (lane < 5 ? 5 : -(width - 5));
  }
  std::printf("%s\n", wrong ? "FAIL" : "PASS");
  hipFree(device);
}
