// SPDX-License-Identifier: Apache-2.0
// Read before every file of an extension: PyTorch's headers as a CPU build has them, then what a ROCm build adds. A HIP
// compiler (the ISA executor) reads them as on ROCm.
#pragma once

#ifdef ROCPORT_SOURCE_LEVEL
#undef __HIPCC__
#undef __HIP__
#define RPX_DEVICE
#else
#define USE_ROCM 1
#define RPX_DEVICE __device__
#endif

#include <torch/extension.h>
#include <torch/library.h>
#include <torch/script.h>

#ifdef ROCPORT_SOURCE_LEVEL
#define __HIPCC__ 1
#define __HIP__ 1
#define USE_ROCM 1
#endif

#include <hip/hip_runtime.h>

#include <rpx_torch/device.h>

#ifdef ROCPORT_SOURCE_LEVEL
// The width is a run-time setting here; where it has to be a constant, each width gets a build.
#undef C10_WARP_SIZE
#undef C10_WARP_SIZE_LOWER_BOUND
#undef C10_WARP_SIZE_UPPER_BOUND
#define C10_WARP_SIZE warpSize
#ifdef ROCPORT_FIXED_WAVE
#define C10_WARP_SIZE_LOWER_BOUND ROCPORT_FIXED_WAVE
#define C10_WARP_SIZE_UPPER_BOUND ROCPORT_FIXED_WAVE
#else
#define C10_WARP_SIZE_LOWER_BOUND 32
#define C10_WARP_SIZE_UPPER_BOUND 64
#endif
#endif
