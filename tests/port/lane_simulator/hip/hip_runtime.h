// The part of HIP that the generated headers use, for the host compiler: one fiber a thread, wavefronts of 32 or 64 lanes.
// SPDX-License-Identifier: Apache-2.0
//
// A lane that reaches a wavefront operation waits until every lane of its wavefront waits or has ended. Then the lanes that
// stand at the same place (same call, same branch tag) as the lowest waiting lane execute together: they are the active
// lanes, the others are not. Reading an inactive lane gives 0xDEADBEEF, so that nothing can rely on it.
#pragma once

// It stands for a HIP compiler: the device functions are here.
#define __HIPCC__ 1
#include <cstddef>
#include <cstdint>

#define __device__
#define __host__
#define __global__
#define __shared__ static
#define __forceinline__ inline __attribute__((always_inline))

struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};

namespace lanes {
struct Index { unsigned x, y, z; };
extern thread_local unsigned current;  // thread of the block, 0..block_size-1
extern thread_local unsigned width;    // lanes of a wavefront
extern thread_local dim3 block;
Index thread_index();
}  // namespace lanes

#define threadIdx (::lanes::thread_index())
#define blockIdx (::lanes::Index{0, 0, 0})
#define blockDim (::lanes::block)
#define gridDim (::dim3(1, 1, 1))

int __shfl(int value, int lane, int width);
unsigned long long __ballot(int predicate);
void __syncthreads();
inline unsigned __lane_id() { return ::lanes::current % ::lanes::width; }
inline int __popc(unsigned value) { return __builtin_popcount(value); }
inline int __ffs(int value) { return __builtin_ffs(value); }
template <class T>
T atomicAdd(T* place, T value) {  // one fiber runs at a time
  const T old = *place;
  *place += value;
  return old;
}
inline void __threadfence_block() {}
inline void __threadfence() {}

enum hipError_t { hipSuccess, hipErrorInvalidDevice = 101 };
enum hipDeviceAttribute_t { hipDeviceAttributeWarpSize };
inline hipError_t hipDeviceGetAttribute(int* value, hipDeviceAttribute_t, int device) {
  if (device != 0) return hipErrorInvalidDevice;
  *value = static_cast<int>(::lanes::width);
  return hipSuccess;
}
