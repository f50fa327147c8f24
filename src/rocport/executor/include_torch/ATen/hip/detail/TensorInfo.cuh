// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <ATen/cuda/detail/TensorInfo.cuh>
