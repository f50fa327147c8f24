// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <rpx_torch/device.h>
