// rocport_hipblas.h - hipBLAS with the interface that cuBLAS has.
// SPDX-License-Identifier: Apache-2.0
//
// hipBLAS of ROCm 5 and 6 has two interfaces: an old one with types of its own, and one whose Ex functions take hipDataType
// and hipblasComputeType_t, and whose complex and half types are HIP's. Macros choose the latter, which is cuBLAS's and
// the only one since ROCm 7; with the last of them hipblasDoubleComplex, which code written for AMD names, is HIP's type
// too. They count only before the first include of hipblas.h.
#ifndef ROCPORT_HIPBLAS_H
#define ROCPORT_HIPBLAS_H

#ifndef HIPBLAS_V2
#define HIPBLAS_V2
#endif
#ifndef HIPBLAS_USE_HIP_HALF
#define HIPBLAS_USE_HIP_HALF
#endif
#ifndef ROCM_MATHLIBS_API_USE_HIP_COMPLEX
#define ROCM_MATHLIBS_API_USE_HIP_COMPLEX
#endif
#include <hipblas/hipblas.h>

#if defined(__cplusplus)
namespace rocport {

// cuBLAS's overloads for old programs take the compute type as a data type, too.
inline hipblasComputeType_t compute_type(hipDataType type) {
  switch (type) {
    case HIP_R_16F:
      return HIPBLAS_COMPUTE_16F;
    case HIP_R_32F:
      return HIPBLAS_COMPUTE_32F;
    case HIP_R_64F:
      return HIPBLAS_COMPUTE_64F;
    case HIP_R_32I:
      return HIPBLAS_COMPUTE_32I;
    default:
      return static_cast<hipblasComputeType_t>(-1);  // refused by hipBLAS
  }
}

inline hipblasComputeType_t compute_type(hipblasComputeType_t type) { return type; }

// The runtime's version, which for cuBLAS is that of the runtime it was built with.
inline size_t cudart_version() {
  int version = 0;
  return hipRuntimeGetVersion(&version) == hipSuccess ? static_cast<size_t>(version) : 0;
}

}  // namespace rocport
#endif

#endif  // ROCPORT_HIPBLAS_H
