// SPDX-License-Identifier: Apache-2.0
// libhipsolver: the executor's hipsolver with the library's own symbols.
#include "captured.h"

#include "hipblas/hipblas.h"
#undef RPX_API
#define RPX_API extern "C"
#include "hipsolver/hipsolver.h"
