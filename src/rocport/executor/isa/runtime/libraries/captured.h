// SPDX-License-Identifier: Apache-2.0
// The executor's library headers as a library of the ISA runtime: their functions are symbols, and refuse to work in a
// captured stream.
#pragma once

struct ihipStream_t;
namespace rt { bool refused_in_capture(ihipStream_t *stream, const char *what); }

#define RPX_CAPTURED(stream) rt::refused_in_capture((stream), __func__)
