// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <thrust/execution_policy.h>
