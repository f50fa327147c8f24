// SPDX-License-Identifier: Apache-2.0
// rocThrust includes these on the way; programs rely on it.
#pragma once
#include <thrust/functional.h>

#include_next <thrust/device_vector.h>

#include <thrust/distance.h>
#include <thrust/execution_policy.h>
#include <thrust/extrema.h>
#include <thrust/pair.h>
#include <thrust/tuple.h>
#include <thrust/system_error.h>
