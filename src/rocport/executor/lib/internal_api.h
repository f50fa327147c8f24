// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

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

// The kernel that a loaded file registered under this name; null: none.
const void *find_kernel(const char *name, const char *file);
// Addresses of a kernel's arguments within a buffer that holds them one after another, aligned as in a struct.
std::vector<void *> spread_arguments(const void *kernel, void *buffer);

}  // namespace rpx
