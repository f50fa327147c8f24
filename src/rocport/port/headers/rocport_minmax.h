// rocport_minmax.h - min and max of a signed and an unsigned integer, as CUDA has them.
// SPDX-License-Identifier: Apache-2.0
//
// CUDA overloads min and max for a signed and an unsigned integer of one size and compares them as unsigned: min(-1, 5u) is
// 5u. HIP has no such overload and takes its template over double: -1.0, of a type that is no array index, and with 64 bits
// digits are lost. On the host HIP has them for int alone. The names are in parentheses because a macro of that name may be
// defined.
#ifndef ROCPORT_MINMAX_H
#define ROCPORT_MINMAX_H

#if !defined(__HIPCC_RTC__)
#include <hip/hip_runtime.h>
#endif

// A CUDA compiler has them, a plain C++ compiler sees none of CUDA's.
#if defined(__HIPCC__) && !defined(__NVCC__) && !defined(ROCPORT_ON_CPU)

#define ROCPORT_MINMAX(where, first, second, common)                                               \
  where inline common(min)(first a, second b) {                              \
    return static_cast<common>(a) < static_cast<common>(b) ? static_cast<common>(a) : static_cast<common>(b); \
  }                                                                                        \
  where inline common(max)(first a, second b) {                              \
    return static_cast<common>(a) > static_cast<common>(b) ? static_cast<common>(a) : static_cast<common>(b); \
  }

typedef unsigned long rocport_ulong;
typedef unsigned long long rocport_ulonglong;
ROCPORT_MINMAX(__host__ __device__, int, unsigned, unsigned)
ROCPORT_MINMAX(__host__ __device__, unsigned, int, unsigned)
ROCPORT_MINMAX(__host__ __device__, long, rocport_ulong, rocport_ulong)
ROCPORT_MINMAX(__host__ __device__, rocport_ulong, long, rocport_ulong)
ROCPORT_MINMAX(__host__ __device__, long long, rocport_ulonglong, rocport_ulonglong)
ROCPORT_MINMAX(__host__ __device__, rocport_ulonglong, long long, rocport_ulonglong)
ROCPORT_MINMAX(__host__, unsigned, unsigned, unsigned)
ROCPORT_MINMAX(__host__, long, long, long)
ROCPORT_MINMAX(__host__, rocport_ulong, rocport_ulong, rocport_ulong)
ROCPORT_MINMAX(__host__, long long, long long, long long)
ROCPORT_MINMAX(__host__, rocport_ulonglong, rocport_ulonglong, rocport_ulonglong)
ROCPORT_MINMAX(__host__, float, float, float)
ROCPORT_MINMAX(__host__, double, double, double)
ROCPORT_MINMAX(__host__, float, double, double)
ROCPORT_MINMAX(__host__, double, float, double)
#undef ROCPORT_MINMAX


#endif

#endif  // ROCPORT_MINMAX_H
