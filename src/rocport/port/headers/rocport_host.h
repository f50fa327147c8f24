// rocport_host.h - lets a plain C++ compiler read headers that hold device functions.
// SPDX-License-Identifier: Apache-2.0
//
// A source that no GPU compiler sees may reach a generated header through a common one. A CUDA compiler's headers are
// readable there, because they leave the device's part out; the functions of ours stay declared, so that templates which
// call them can be read. For that the compiler has to know HIP's device functions and builtins by name. None of the
// functions below is defined: host code cannot call them, and none of it is there in a HIP compilation. Attributes that a
// CUDA compiler's headers define for the host, too, are here.
#ifndef ROCPORT_HOST_H
#define ROCPORT_HOST_H

// The CPU executor and a CUDA compiler have the device functions themselves.
#if !defined(__HIPCC__) && !defined(__HIPCC_RTC__) && !defined(__CUDACC__) && !defined(ROCPORT_ON_CPU)
#define ROCPORT_HOST_ONLY 1

#ifndef __align__
#define __align__(n) __attribute__((aligned(n)))
#endif
#ifndef __launch_bounds__
#define __launch_bounds__(...)
#endif
#ifndef __managed__
#define __managed__
#endif

#ifdef __cplusplus
#include <cmath>

#ifndef __HIP_MEMORY_SCOPE_SYSTEM
#define __HIP_MEMORY_SCOPE_SINGLETHREAD 1
#define __HIP_MEMORY_SCOPE_WAVEFRONT 2
#define __HIP_MEMORY_SCOPE_WORKGROUP 3
#define __HIP_MEMORY_SCOPE_AGENT 4
#define __HIP_MEMORY_SCOPE_SYSTEM 5
#endif

namespace rocport {

using std::signbit;

struct absent_index {
  unsigned x, y, z;
};
extern const absent_index threadIdx, blockIdx, blockDim, gridDim;

#define ROCPORT_ABSENT(type, name) \
  template <class... Arguments>    \
  type name(Arguments...);
ROCPORT_ABSENT(int, __builtin_amdgcn_ds_bpermute)
ROCPORT_ABSENT(int, __builtin_amdgcn_ds_permute)
ROCPORT_ABSENT(int, __builtin_amdgcn_is_private)
ROCPORT_ABSENT(int, __builtin_amdgcn_is_shared)
ROCPORT_ABSENT(int, __builtin_amdgcn_mbcnt_hi)
ROCPORT_ABSENT(int, __builtin_amdgcn_mbcnt_lo)
ROCPORT_ABSENT(int, __builtin_amdgcn_mov_dpp)
ROCPORT_ABSENT(int, __builtin_amdgcn_s_sleep)
ROCPORT_ABSENT(int, __clz)
ROCPORT_ABSENT(int, __clzll)
ROCPORT_ABSENT(int, __ffs)
ROCPORT_ABSENT(int, __ffsll)
ROCPORT_ABSENT(int, __float2int_rd)
ROCPORT_ABSENT(int, __float2int_rn)
ROCPORT_ABSENT(int, __float2int_ru)
ROCPORT_ABSENT(int, __float2int_rz)
ROCPORT_ABSENT(int, __hip_atomic_compare_exchange_strong)
ROCPORT_ABSENT(int, __hip_atomic_exchange)
ROCPORT_ABSENT(int, __hip_atomic_fetch_add)
ROCPORT_ABSENT(int, __hip_atomic_load)
ROCPORT_ABSENT(int, __hip_atomic_store)
ROCPORT_ABSENT(int, __lane_id)
ROCPORT_ABSENT(int, __popc)
ROCPORT_ABSENT(int, __popcll)
ROCPORT_ABSENT(int, __shfl)
ROCPORT_ABSENT(int, __syncthreads)
ROCPORT_ABSENT(int, __threadfence)
ROCPORT_ABSENT(int, __threadfence_block)
ROCPORT_ABSENT(int, __threadfence_system)
ROCPORT_ABSENT(unsigned, __float2uint_rd)
ROCPORT_ABSENT(unsigned, __float2uint_rn)
ROCPORT_ABSENT(unsigned, __float2uint_ru)
ROCPORT_ABSENT(unsigned, __float2uint_rz)
ROCPORT_ABSENT(unsigned long long, __ballot)
ROCPORT_ABSENT(unsigned long long, __builtin_amdgcn_ballot_w64)
ROCPORT_ABSENT(unsigned long long, __float2ull_rd)
ROCPORT_ABSENT(unsigned long long, __float2ull_rn)
ROCPORT_ABSENT(unsigned long long, __float2ull_ru)
ROCPORT_ABSENT(unsigned long long, __float2ull_rz)
ROCPORT_ABSENT(unsigned long long, wall_clock64)
ROCPORT_ABSENT(long long, __float2ll_rd)
ROCPORT_ABSENT(long long, __float2ll_rn)
ROCPORT_ABSENT(long long, __float2ll_ru)
ROCPORT_ABSENT(long long, __float2ll_rz)
ROCPORT_ABSENT(float, __double2float_rz)
ROCPORT_ABSENT(float, __fadd_rn)
ROCPORT_ABSENT(float, __fdiv_rn)
ROCPORT_ABSENT(float, __fmul_rn)
ROCPORT_ABSENT(float, __fsqrt_rn)
ROCPORT_ABSENT(float, __fsub_rn)
ROCPORT_ABSENT(double, __dadd_rn)
ROCPORT_ABSENT(double, __ddiv_rn)
ROCPORT_ABSENT(double, __dmul_rn)
ROCPORT_ABSENT(double, __dsqrt_rn)
ROCPORT_ABSENT(double, __dsub_rn)
ROCPORT_ABSENT(double, __ll2double_rz)
ROCPORT_ABSENT(double, __ull2double_rz)
#undef ROCPORT_ABSENT

}  // namespace rocport

#endif
#endif
#endif  // ROCPORT_HOST_H
