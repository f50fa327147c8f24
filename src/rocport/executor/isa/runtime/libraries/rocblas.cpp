// SPDX-License-Identifier: Apache-2.0
// librocblas: the executor's rocblas with the library's own symbols.
#include "captured.h"

#include "hipblas/hipblas.h"
#undef RPX_API
#define RPX_API extern "C"
#include "rocblas/rocblas.h"
