// SPDX-License-Identifier: Apache-2.0
// hipCUB on the CPU executor, written from its public interface.
#pragma once

#include "hipcub/block.hpp"
#include "hipcub/device.hpp"
#include "hipcub/util.hpp"
#include "hipcub/warp.hpp"
