// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>

#include "internal_api.h"

struct ihipStream_t {
  unsigned flags = 0;
  int priority = 0;
  hipGraph_t capture = nullptr;  // operations go here instead of running
  bool owns_capture = false;
};

struct ihipEvent_t {
  std::chrono::steady_clock::time_point when{};
  bool recorded = false;
  hipGraph_t capture = nullptr;  // recorded while this graph was being captured
};

namespace rpx {

bool capturing(hipStream_t stream);
void record(hipStream_t stream, hipGraphNodeType type, std::function<void()> run);
void end_captures_into(hipGraph_t graph);  // every stream that joined the capture leaves it

}  // namespace rpx
