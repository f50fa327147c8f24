// rocport_hipblas_numbers.h - enumerators from CUDA's numbers, which are others in HIP.
// SPDX-License-Identifier: Apache-2.0
//
// A number of HIP's stays as it is: none means one enumerator in CUDA and another in HIP. One that is neither stays,
// too, and the library refuses it. Written by tools/refresh_enum_numbers.py of rocport.
#ifndef ROCPORT_HIPBLAS_NUMBERS_H
#define ROCPORT_HIPBLAS_NUMBERS_H

#include "rocport_hipblas.h"

#ifndef ROCPORT_FROM_CUDA
#define ROCPORT_FROM_CUDA
namespace rocport {
template <class E>
struct cuda_numbers;
template <class E, class N>
constexpr E from_cuda(N number) {
  return cuda_numbers<E>::take(static_cast<long long>(number));
}
}  // namespace rocport
#endif

namespace rocport {

template <>
struct cuda_numbers<hipblasComputeType_t> {
  static constexpr hipblasComputeType_t take(long long number) {
    return number == 64 ? HIPBLAS_COMPUTE_16F
           : number == 65 ? HIPBLAS_COMPUTE_16F_PEDANTIC
           : number == 68 ? HIPBLAS_COMPUTE_32F
           : number == 69 ? HIPBLAS_COMPUTE_32F_PEDANTIC
           : number == 74 ? HIPBLAS_COMPUTE_32F_FAST_16F
           : number == 75 ? HIPBLAS_COMPUTE_32F_FAST_16BF
           : number == 77 ? HIPBLAS_COMPUTE_32F_FAST_TF32
           : number == 70 ? HIPBLAS_COMPUTE_64F
           : number == 71 ? HIPBLAS_COMPUTE_64F_PEDANTIC
           : number == 72 ? HIPBLAS_COMPUTE_32I
           : number == 73 ? HIPBLAS_COMPUTE_32I_PEDANTIC
           : static_cast<hipblasComputeType_t>(number);
  }
};

template <>
struct cuda_numbers<hipblasDiagType_t> {
  static constexpr hipblasDiagType_t take(long long number) {
    return number == 0 ? HIPBLAS_DIAG_NON_UNIT
           : number == 1 ? HIPBLAS_DIAG_UNIT
           : static_cast<hipblasDiagType_t>(number);
  }
};

template <>
struct cuda_numbers<hipblasFillMode_t> {
  static constexpr hipblasFillMode_t take(long long number) {
    return number == 0 ? HIPBLAS_FILL_MODE_LOWER
           : number == 1 ? HIPBLAS_FILL_MODE_UPPER
           : number == 2 ? HIPBLAS_FILL_MODE_FULL
           : static_cast<hipblasFillMode_t>(number);
  }
};

template <>
struct cuda_numbers<hipblasOperation_t> {
  static constexpr hipblasOperation_t take(long long number) {
    return number == 0 ? HIPBLAS_OP_N
           : number == 1 ? HIPBLAS_OP_T
           : number == 2 ? HIPBLAS_OP_C
           : static_cast<hipblasOperation_t>(number);
  }
};

template <>
struct cuda_numbers<hipblasSideMode_t> {
  static constexpr hipblasSideMode_t take(long long number) {
    return number == 0 ? HIPBLAS_SIDE_LEFT
           : number == 1 ? HIPBLAS_SIDE_RIGHT
           : static_cast<hipblasSideMode_t>(number);
  }
};

}  // namespace rocport

#endif  // ROCPORT_HIPBLAS_NUMBERS_H
