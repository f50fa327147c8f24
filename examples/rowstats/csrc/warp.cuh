#pragma once
#include <cuda_runtime.h>

constexpr int WARP = 32;
#define FULL_MASK 0xffffffffu

__device__ __forceinline__ unsigned lane_id() {
  unsigned lane;
  asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
  return lane;
}

template <typename T>
__device__ __forceinline__ T warp_sum(T value) {
#pragma unroll
  for (int offset = WARP / 2; offset > 0; offset >>= 1) {
    value += __shfl_down_sync(FULL_MASK, value, offset);
  }
  return value;
}

// Number of lanes below this one whose predicate holds.
__device__ __forceinline__ int rank_in_warp(bool predicate) {
  const unsigned votes = __ballot_sync(FULL_MASK, predicate);
  return __popc(votes & ((1u << lane_id()) - 1));
}
