// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "internal.h"
#include "hip/hip_runtime_api.h"

namespace rpx {

struct ErrorText {
  hipError_t code;
  const char *name, *text;
};
extern const ErrorText kErrors[];
extern const int kErrorCount;

constexpr int kComputeUnits = 4;

hipError_t fail(hipError_t error);  // remembers it for hipGetLastError

}  // namespace rpx
