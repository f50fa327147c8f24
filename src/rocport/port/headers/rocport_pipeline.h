// rocport_pipeline.h - the primitives of CUDA's cuda_pipeline.h, without asynchronous copies.
// SPDX-License-Identifier: Apache-2.0
//
// A copy is done where it is asked for, so that nothing is left to wait for: what CUDA promises after the wait holds from
// the call on. Right everywhere; the overlap of copying and computing is lost.
#ifndef ROCPORT_PIPELINE_H
#define ROCPORT_PIPELINE_H

#include "rocport_host.h"

#if !defined(ROCPORT_HOST_ONLY)
#include <hip/hip_runtime.h>

// `size` bytes (4, 8 or 16) from global to shared memory; the last `zeros` of them are filled with zeros instead.
__device__ inline __attribute__((always_inline)) void __pipeline_memcpy_async(
    void* __restrict__ to, const void* __restrict__ from, size_t size, size_t zeros = 0) {
  char* bytes = static_cast<char*>(to);
  if (zeros == 0) {
    to = __builtin_assume_aligned(to, 4);
    from = __builtin_assume_aligned(from, 4);
    switch (size) {
      case 16: __builtin_memcpy(__builtin_assume_aligned(to, 16), __builtin_assume_aligned(from, 16), 16); return;
      case 8: __builtin_memcpy(__builtin_assume_aligned(to, 8), __builtin_assume_aligned(from, 8), 8); return;
      case 4: __builtin_memcpy(to, from, 4); return;
      default: break;
    }
  }
  const char* source = static_cast<const char*>(from);
  for (size_t at = 0; at < size; ++at) bytes[at] = at + zeros < size ? source[at] : char(0);
}
__device__ inline void __pipeline_commit() {}
__device__ inline void __pipeline_wait_prior(size_t) {}

#endif
#endif  // ROCPORT_PIPELINE_H
