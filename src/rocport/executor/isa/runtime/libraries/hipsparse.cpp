// SPDX-License-Identifier: Apache-2.0
// libhipsparse: the executor's hipsparse with the library's own symbols.
#include "captured.h"

#include "hipblas/hipblas.h"
#undef RPX_API
#define RPX_API extern "C"
#include "hipsparse/hipsparse.h"
