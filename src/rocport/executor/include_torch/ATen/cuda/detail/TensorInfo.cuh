// SPDX-License-Identifier: Apache-2.0
// PyTorch's own, whose CUDA keywords nobody rewrites in a system header.
#pragma once
#ifdef ROCPORT_SOURCE_LEVEL
#pragma push_macro("__forceinline__")
#pragma push_macro("__host__")
#pragma push_macro("__device__")
#pragma push_macro("__global__")
#define __forceinline__ inline
#define __host__
#define __device__
#define __global__
#include_next <ATen/cuda/detail/TensorInfo.cuh>
#pragma pop_macro("__forceinline__")
#pragma pop_macro("__host__")
#pragma pop_macro("__device__")
#pragma pop_macro("__global__")
#else
#include_next <ATen/cuda/detail/TensorInfo.cuh>
#endif
