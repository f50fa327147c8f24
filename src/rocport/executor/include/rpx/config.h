// SPDX-License-Identifier: Apache-2.0
// Attributes and the CUDA/HIP keywords, spelled for a host C++ compiler.
//
// `__global__`, `__host__`, `__device__`, `__shared__`, `__forceinline__` and `__noinline__` are no macros: they pass through the preprocessor
// and are rewritten afterwards (rocport.executor.rewrite), where the declaration around them can be seen.
#pragma once

#include <cstddef>
#include <cstdint>

#if !defined(__x86_64__) && !defined(__aarch64__)
#error "rocport executor: this host architecture has no fiber switch; x86-64 and aarch64 have one"
#endif

// A generated header that gives the host what HIP gives the device only asks for this.
#define ROCPORT_ON_CPU 1
#define RPX_INLINE inline __attribute__((always_inline))

// The functions of the library headers: inline here; the ISA runtime builds shared libraries of the same text, where
// they are the library's own symbols.
#ifndef RPX_API
#define RPX_API inline
#endif
// What such a library does where its stream is being captured: 0, the call runs; 1, it is recorded; 2, it is refused.
#ifndef RPX_CAPTURED
#define RPX_CAPTURED(stream) 0
#endif
#define RPX_SERVED_ON(stream, refusal) \
  if (const int rpx_captured = RPX_CAPTURED(stream)) return rpx_captured == 1 ? static_cast<decltype(refusal)>(0) : refusal;
#define RPX_SERVED(handle, refusal) if (handle) { RPX_SERVED_ON((handle)->stream, refusal) }

// A meeting point of lanes. A call must stay one call: lanes are matched by return address, and a compiler that copies
// the call into two branches would keep lanes apart that meet on the device.
#if defined(__clang__)
#define RPX_CONVERGENT __attribute__((noinline, convergent))
#else
#define RPX_CONVERGENT __attribute__((noinline, noclone))
#endif

#define __constant__
#define __managed__
#define __grid_constant__
#define __launch_bounds__(...)
#define __hidden
#define __inline_hint__
#define __maxnreg__(...)
#define __cluster_dims__(...)
#ifndef __restrict
#define __restrict __restrict__
#endif
#define __align__(n) __attribute__((aligned(n)))
