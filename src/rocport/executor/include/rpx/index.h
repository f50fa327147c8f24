// SPDX-License-Identifier: Apache-2.0
// dim3 and the built-in index variables.
#pragma once

#include "rpx/config.h"

template <class T, unsigned int N> struct HIP_vector_type;
using uint3 = HIP_vector_type<unsigned int, 3>;

struct dim3 {
  std::uint32_t x, y, z;
  constexpr dim3(std::uint32_t x_ = 1, std::uint32_t y_ = 1, std::uint32_t z_ = 1) : x(x_), y(y_), z(z_) {}
  inline dim3(const uint3 &v);
  inline operator uint3() const;
};

namespace rpx {

struct Index3 {
  std::uint32_t x, y, z;
  operator dim3() const { return dim3(x, y, z); }
  inline operator uint3() const;
};

}  // namespace rpx

// Declared const on purpose: within one GPU thread they never change, so the compiler may keep them in registers across
// stores and lane meetings. The scheduler changes them only between threads, and enters each thread by a call the
// compiler cannot see through (rpx::ThreadBody). The runtime defines them, as variables.
#ifndef RPX_RUNTIME
extern const rpx::Index3 threadIdx, blockIdx, blockDim, gridDim;

// HIP's older names for them.
#define hipThreadIdx_x threadIdx.x
#define hipThreadIdx_y threadIdx.y
#define hipThreadIdx_z threadIdx.z
#define hipBlockIdx_x blockIdx.x
#define hipBlockIdx_y blockIdx.y
#define hipBlockIdx_z blockIdx.z
#define hipBlockDim_x blockDim.x
#define hipBlockDim_y blockDim.y
#define hipBlockDim_z blockDim.z
#define hipGridDim_x gridDim.x
#define hipGridDim_y gridDim.y
#define hipGridDim_z gridDim.z
#endif
