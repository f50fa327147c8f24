// SPDX-License-Identifier: Apache-2.0
// HIP source for nvcc, where HIP's own headers for NVIDIA are not installed: what is not just another name.
#pragma once
#include <cuda_runtime.h>
#define HIP_SYMBOL(name) name
#define HIP_DYNAMIC_SHARED(type, name) extern __shared__ type name[];
#define hipLaunchKernelGGL(kernel, grid, block, shared, stream, ...) kernel<<<grid, block, shared, stream>>>(__VA_ARGS__)
#define __HIP_PLATFORM_NVIDIA__ 1
template <class T> __device__ T
rocport_shfl(T v, int lane, int width = 32) { return __shfl_sync(__activemask(), v, lane, width); }
template <class T> __device__ T
rocport_shfl_up(T v, unsigned d, int width = 32) { return __shfl_up_sync(__activemask(), v, d, width); }
template <class T> __device__ T
rocport_shfl_down(T v, unsigned d, int width = 32) { return __shfl_down_sync(__activemask(), v, d, width); }
template <class T> __device__ T
rocport_shfl_xor(T v, int m, int width = 32) { return __shfl_xor_sync(__activemask(), v, m, width); }
static __device__ inline unsigned long long rocport_ballot(int p) { return __ballot_sync(__activemask(), p); }
static __device__ inline int rocport_any(int p) { return __any_sync(__activemask(), p); }
static __device__ inline int rocport_all(int p) { return __all_sync(__activemask(), p); }
static __device__ inline unsigned rocport_lane_id() {
  unsigned lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  return lane;
}
#define __shfl rocport_shfl
#define __shfl_up rocport_shfl_up
#define __shfl_down rocport_shfl_down
#define __shfl_xor rocport_shfl_xor
#define __ballot rocport_ballot
#define __any rocport_any
#define __all rocport_all
#define __lane_id rocport_lane_id
