// SPDX-License-Identifier: Apache-2.0
// CUB's names over hipCUB's.
#pragma once

#include "hipcub/hipcub.hpp"

#define CUB_RUNTIME_FUNCTION
#define CubDebugExit(e) (e)
#define CUB_PTX_WARP_THREADS HIPCUB_WARP_THREADS

namespace cub {
using namespace hipcub;
}  // namespace cub
