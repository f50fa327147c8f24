// The groups of HIP that rocport_cg.h hands on: one block is the grid. SPDX-License-Identifier: Apache-2.0
#pragma once
#include <hip/hip_runtime.h>

namespace cooperative_groups {
struct grid_group {
  void sync() const { __syncthreads(); }
  bool is_valid() const { return true; }
};
inline grid_group this_grid() { return {}; }
struct multi_grid_group {};
inline multi_grid_group this_multi_grid() { return {}; }
}  // namespace cooperative_groups
