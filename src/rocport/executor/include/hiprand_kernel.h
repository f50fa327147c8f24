// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "hiprand/hiprand_kernel.h"
