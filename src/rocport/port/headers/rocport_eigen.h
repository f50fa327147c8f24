// rocport_eigen.h - lets Eigen's half be read for AMD GPUs beside HIP's bfloat16.
// SPDX-License-Identifier: Apache-2.0
//
// HIP's functions of half lie in a namespace without a name, those of bfloat16 at file scope, where they hide the
// former from Eigen's `::hlog(a)`. Included before Eigen; only HIP's compiler reads it.
#ifndef ROCPORT_EIGEN_H
#define ROCPORT_EIGEN_H

#if defined(__HIPCC__)
#include <hip/hip_fp16.h>
#include <type_traits>

// For what derives from HIP's half, as Eigen's does.
template <class T, class = typename std::enable_if<std::is_base_of<__half_raw, T>::value && !std::is_same<T, __half>::value>::type>
__device__ inline __half hlog(const T& x) {
  return hlog(static_cast<__half>(static_cast<const __half_raw&>(x)));
}
#endif

#endif  // ROCPORT_EIGEN_H
