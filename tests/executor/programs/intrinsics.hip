// SPDX-License-Identifier: Apache-2.0
// Wave intrinsics, each against what one host loop says.
#include <hip/hip_runtime.h>
#include <cstdio>
#include <vector>

constexpr int kChecks = 14;

__global__ void probe(unsigned long long *out) {
  unsigned lane = __lane_id();
  unsigned long long *mine = out + threadIdx.x * kChecks;
  mine[0] = __ballot(lane % 3 == 0);
  mine[1] = __shfl(lane * 10, 5);
  mine[2] = __shfl_xor(lane, 3);
  mine[3] = __shfl_up(lane, 2, 16);
  mine[4] = __shfl_down(lane, 2, 16);
  mine[5] = __any(lane == 7) * 2 + __all(lane < 64);
  mine[6] = __match_any(lane / 8);
  mine[7] = __popcll(__activemask());
  if (lane & 1) mine[8] = __ballot(1);
  else mine[8] = __ballot(1);
  mine[9] = __builtin_amdgcn_readfirstlane(lane + 40);
  mine[10] = __builtin_amdgcn_ds_bpermute((warpSize - 1 - lane) * 4, lane);
  mine[11] = __reduce_add_sync(~0ull, (int)lane);
  mine[12] = __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0));
  double wide = __shfl_xor(lane + 0.5, 1);
  mine[13] = (unsigned long long)(wide * 2);
}

int main() {
  int width;
  hipDeviceGetAttribute(&width, hipDeviceAttributeWarpSize, 0);
  unsigned long long *device;
  std::vector<unsigned long long> got(128 * kChecks);
  hipMalloc(&device, got.size() * 8);
  probe<<<1, 128>>>(device);
  hipMemcpy(got.data(), device, got.size() * 8, hipMemcpyDeviceToHost);
  int wrong = 0;
  unsigned long long all = width == 64 ? ~0ull : 0xffffffffull, thirds = 0, odd = 0;
  for (int l = 0; l < width; ++l) {
    thirds |= (unsigned long long)(l % 3 == 0) << l;
    odd |= (unsigned long long)(l & 1) << l;
  }
  for (int t = 0; t < 128; ++t) {
    unsigned long long l = t % width, *g = &got[t * kChecks];
    unsigned long long want[kChecks] = {
        thirds, 50, l ^ 3, l % 16 < 2 ? l : l - 2, l % 16 > 13 ? l : l + 2, 3, 0xffull << (l / 8 * 8), (unsigned long long)width,
        l & 1 ? odd : all & ~odd, 40, width - 1 - l, (unsigned long long)(width * (width - 1) / 2), l, (l ^ 1) * 2 + 1};
    for (int c = 0; c < kChecks; ++c)
      if (g[c] != want[c]) {
        if (wrong++ < 5) std::printf("thread %d check %d: got %llx, want %llx\n", t, c, g[c], want[c]);
      }
  }
  std::printf("%s\n", wrong ? "FAIL" : "PASS");
  hipFree(device);
}
