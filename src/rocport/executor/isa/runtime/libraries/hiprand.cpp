// SPDX-License-Identifier: Apache-2.0
// libhiprand: the executor's hiprand with the library's own symbols.
#include "captured.h"

#define RPX_API extern "C"
#include "hiprand/hiprand.h"
