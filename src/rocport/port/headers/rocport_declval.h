// rocport_declval.h - std::declval in device code.
// SPDX-License-Identifier: Apache-2.0
//
// nvcc looks at the execution space of a function where it is called, not where it is named in decltype, sizeof or
// noexcept. clang looks for an overload in both: std::declval, a function of the host's, is none in a function that is the
// device's alone. This declares one for the device; nothing defines it, as nothing defines the host's.
#ifndef ROCPORT_DECLVAL_H
#define ROCPORT_DECLVAL_H

#if defined(__HIPCC__) && !defined(__HIPCC_RTC__) && !defined(__NVCC__) && !defined(ROCPORT_ON_CPU)

#include <hip/hip_runtime.h>

#include <type_traits>
#include <utility>

namespace std {
template <class T>
__device__ typename add_rvalue_reference<T>::type declval() noexcept;
}  // namespace std

#endif

#endif  // ROCPORT_DECLVAL_H
