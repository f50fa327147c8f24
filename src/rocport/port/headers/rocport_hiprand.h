// rocport_hiprand.h - hipRAND's host API for C as well as for C++.
// SPDX-License-Identifier: Apache-2.0
//
// hipRAND's and rocRAND's headers take HIP's half type for granted, which HIP declares for C++ only: a C source that
// includes them does not compile. The type is declared here for C; no function of C's takes a value of it.
#ifndef ROCPORT_HIPRAND_H
#define ROCPORT_HIPRAND_H

#if !defined(__cplusplus)
#include <hip/hip_fp16.h>
#include <hip/hip_runtime_api.h>
typedef struct {
  unsigned short bits;
} rocport_half_of_c;
#define __half rocport_half_of_c
#endif

#include <hiprand/hiprand.h>

#if !defined(__cplusplus)
#undef __half
#endif

#endif  // ROCPORT_HIPRAND_H
