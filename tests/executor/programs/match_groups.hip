// SPDX-License-Identifier: Apache-2.0
// Lanes with equal keys find each other and add up once a group: votes in a loop, as without a match instruction.
#include "check.h"

__global__ void count(const int *keys, int n, int *bins, int *leaders) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % warpSize;
  int key = i < n ? keys[i] : -1;
  unsigned long long left = __ballot(key >= 0), same = 0;
  while (left) {
    int first = __ffsll(left) - 1;
    int wanted = __shfl(key, first);
    unsigned long long members = __ballot(key == wanted) & left;
    if (key == wanted) same = members;
    left &= ~members;
  }
  if (key >= 0 && __ffsll(same) - 1 == lane) {
    atomicAdd(&bins[key], __popcll(same));
    atomicAdd(leaders, 1);
  }
}

int main() {
  const int n = 500;
  int width, groups = 0;
  HIP(hipDeviceGetAttribute(&width, hipDeviceAttributeWarpSize, 0));
  std::vector<int> keys = Numbers(29).ints(n, 12), want(12);
  for (int start = 0; start < n; start += width) {
    std::vector<int> seen(12);
    for (int i = start; i < std::min(n, start + width); ++i) {
      ++want[keys[i]];
      groups += !seen[keys[i]]++;
    }
  }
  Buffer<int> a(keys), bins(12, 0), leaders(1, 0);
  count<<<4, 128>>>(a, n, bins, leaders);
  return verdict(wrong(bins.read(), want) + (leaders.read()[0] != groups));
}
