// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "hip/hip_runtime.h"
