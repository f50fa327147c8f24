// rocport_hiprand_numbers.h - enumerators from CUDA's numbers, which are others in HIP.
// SPDX-License-Identifier: Apache-2.0
//
// A number of HIP's stays as it is: none means one enumerator in CUDA and another in HIP. One that is neither stays,
// too, and the library refuses it. Written by tools/refresh_enum_numbers.py of rocport.
#ifndef ROCPORT_HIPRAND_NUMBERS_H
#define ROCPORT_HIPRAND_NUMBERS_H

#include "rocport_hiprand.h"

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
struct cuda_numbers<hiprandRngType_t> {
  static constexpr hiprandRngType_t take(long long number) {
    return number == 100 ? HIPRAND_RNG_PSEUDO_DEFAULT
           : number == 101 ? HIPRAND_RNG_PSEUDO_XORWOW
           : number == 121 ? HIPRAND_RNG_PSEUDO_MRG32K3A
           : number == 141 ? HIPRAND_RNG_PSEUDO_MTGP32
           : number == 142 ? HIPRAND_RNG_PSEUDO_MT19937
           : number == 161 ? HIPRAND_RNG_PSEUDO_PHILOX4_32_10
           : number == 200 ? HIPRAND_RNG_QUASI_DEFAULT
           : number == 201 ? HIPRAND_RNG_QUASI_SOBOL32
           : number == 202 ? HIPRAND_RNG_QUASI_SCRAMBLED_SOBOL32
           : number == 203 ? HIPRAND_RNG_QUASI_SOBOL64
           : number == 204 ? HIPRAND_RNG_QUASI_SCRAMBLED_SOBOL64
           : static_cast<hiprandRngType_t>(number);
  }
};

}  // namespace rocport

#endif  // ROCPORT_HIPRAND_NUMBERS_H
