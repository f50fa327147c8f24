// SPDX-License-Identifier: Apache-2.0
// libhipfft: the executor's hipfft with the library's own symbols.
#include "captured.h"

#define RPX_API extern "C"
#include "hipfft/hipfftXt.h"
