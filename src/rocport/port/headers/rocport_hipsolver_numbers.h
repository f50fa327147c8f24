// rocport_hipsolver_numbers.h - enumerators from CUDA's numbers, which are others in HIP.
// SPDX-License-Identifier: Apache-2.0
//
// A number of HIP's stays as it is: none means one enumerator in CUDA and another in HIP. One that is neither stays,
// too, and the library refuses it. Written by tools/refresh_enum_numbers.py of rocport.
#ifndef ROCPORT_HIPSOLVER_NUMBERS_H
#define ROCPORT_HIPSOLVER_NUMBERS_H

#include <hipsolver/hipsolver.h>

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
struct cuda_numbers<hipsolverAlgMode_t> {
  static constexpr hipsolverAlgMode_t take(long long number) {
    return number == 0 ? HIPSOLVER_ALG_0
           : number == 1 ? HIPSOLVER_ALG_1
           : static_cast<hipsolverAlgMode_t>(number);
  }
};

template <>
struct cuda_numbers<hipsolverDeterministicMode_t> {
  static constexpr hipsolverDeterministicMode_t take(long long number) {
    return number == 1 ? HIPSOLVER_DETERMINISTIC_RESULTS
           : number == 2 ? HIPSOLVER_ALLOW_NON_DETERMINISTIC_RESULTS
           : static_cast<hipsolverDeterministicMode_t>(number);
  }
};

template <>
struct cuda_numbers<hipsolverEigMode_t> {
  static constexpr hipsolverEigMode_t take(long long number) {
    return number == 0 ? HIPSOLVER_EIG_MODE_NOVECTOR
           : number == 1 ? HIPSOLVER_EIG_MODE_VECTOR
           : static_cast<hipsolverEigMode_t>(number);
  }
};

template <>
struct cuda_numbers<hipsolverEigRange_t> {
  static constexpr hipsolverEigRange_t take(long long number) {
    return number == 1001 ? HIPSOLVER_EIG_RANGE_ALL
           : number == 1002 ? HIPSOLVER_EIG_RANGE_I
           : number == 1003 ? HIPSOLVER_EIG_RANGE_V
           : static_cast<hipsolverEigRange_t>(number);
  }
};

template <>
struct cuda_numbers<hipsolverEigType_t> {
  static constexpr hipsolverEigType_t take(long long number) {
    return number == 1 ? HIPSOLVER_EIG_TYPE_1
           : number == 2 ? HIPSOLVER_EIG_TYPE_2
           : number == 3 ? HIPSOLVER_EIG_TYPE_3
           : static_cast<hipsolverEigType_t>(number);
  }
};

}  // namespace rocport

#endif  // ROCPORT_HIPSOLVER_NUMBERS_H
