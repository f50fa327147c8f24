// rocport_bf16.h - HIP's bfloat16 for sources that the host's compiler compiles, too.
// SPDX-License-Identifier: Apache-2.0
//
// hip/hip_bf16.h of ROCm 6 includes warp functions whose bodies name builtins of AMD's GPUs. g++ and clang know none of them
// in a C++ source, so that a .cpp which reaches bfloat16 through a common header does not compile; cuda_bf16.h is readable
// there. The builtins are declared for such a compiler, and never defined: the warp functions can be read, not called.
// __hip_bfloat16, its conversions and its arithmetic are HIP's own and work on the host.
#ifndef ROCPORT_BF16_H
#define ROCPORT_BF16_H

#include "rocport_host.h"

#if defined(ROCPORT_HOST_ONLY)

#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>

#define ROCPORT_ABSENT(type, name) \
  template <class... Arguments>    \
  type name(Arguments...);
ROCPORT_ABSENT(int, __builtin_amdgcn_ds_bpermute)
ROCPORT_ABSENT(int, __builtin_amdgcn_ds_permute)
ROCPORT_ABSENT(int, __builtin_amdgcn_ds_swizzle)
ROCPORT_ABSENT(int, __builtin_amdgcn_mbcnt_hi)
ROCPORT_ABSENT(int, __builtin_amdgcn_mbcnt_lo)
ROCPORT_ABSENT(int, __builtin_amdgcn_mov_dpp)
ROCPORT_ABSENT(unsigned long long, __builtin_amdgcn_ballot_w64)
#undef ROCPORT_ABSENT

#if !defined(__AMDGCN_WAVEFRONT_SIZE)
#define __AMDGCN_WAVEFRONT_SIZE 64
#define ROCPORT_BF16_SIZE
#endif
#include <hip/hip_bf16.h>
#if defined(ROCPORT_BF16_SIZE)
#undef __AMDGCN_WAVEFRONT_SIZE
#undef ROCPORT_BF16_SIZE
#endif

#else
#include <hip/hip_bf16.h>
#endif

#endif  // ROCPORT_BF16_H
