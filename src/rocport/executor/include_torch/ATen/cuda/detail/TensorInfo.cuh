// SPDX-License-Identifier: Apache-2.0
// PyTorch's own, whose CUDA keywords nobody rewrites in a system header.
#pragma once
#define __forceinline__ inline
#define __host__
#define __device__
#define __global__
#include_next <ATen/cuda/detail/TensorInfo.cuh>
#undef __forceinline__
#undef __host__
#undef __device__
#undef __global__
