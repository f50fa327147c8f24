// SPDX-License-Identifier: Apache-2.0
// The executor's library headers as a library of the ISA runtime: their functions are symbols, and a captured stream
// records their calls.
#pragma once

struct ihipStream_t;
namespace rt { int in_capture(ihipStream_t *stream, const char *what); }

#define RPX_CAPTURED(stream) rt::in_capture((stream), __func__)
