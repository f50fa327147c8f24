// SPDX-License-Identifier: Apache-2.0
// <hip/hip_runtime.h> of the CPU executor: runtime API, index variables, wave and block intrinsics, atomics, math.
#pragma once

#define HIP_INCLUDE_HIP_HIP_RUNTIME_H

#ifndef __HIP__
#define __HIP__ 1
#endif
#ifndef __HIPCC__
#define __HIPCC__ 1
#endif
#ifndef __HIP_PLATFORM_AMD__
#define __HIP_PLATFORM_AMD__ 1
#endif
#define __HIP_PLATFORM_HCC__ 1
#define __HIP_DEVICE_COMPILE__ 1
#define __HIP_ARCH_HAS_DOUBLES__ 1
#define __HIP_ARCH_HAS_WARP_SHUFFLE__ 1
#define __HIP_ARCH_HAS_WARP_BALLOT__ 1
#define __HIP_ARCH_HAS_GLOBAL_INT32_ATOMICS__ 1

#include <assert.h>
#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <tuple>
#include <type_traits>

#include "hip/hip_runtime_api.h"
#include "hip/hip_vector_types.h"
#include "rpx/atomics.h"
#include "rpx/launch.h"
#include "rpx/math.h"
#include "rpx/wave.h"
#include "rpx/clock.h"
