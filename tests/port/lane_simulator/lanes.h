// Runs a function as the threads of one block. SPDX-License-Identifier: Apache-2.0
#pragma once
#include <hip/hip_runtime.h>

#include <functional>

namespace lanes {
// Runs `function` once for each thread of the block, in wavefronts of `wavefront` lanes.
void run(dim3 block, unsigned wavefront, const std::function<void()>& function);
// Puts the calling thread on a branch: wavefront operations do not meet those of threads on other branches.
void set_branch(int tag);
}  // namespace lanes
