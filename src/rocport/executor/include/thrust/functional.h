// SPDX-License-Identifier: Apache-2.0
// Thrust comes from CCCL; what rocThrust still has and CCCL dropped is added here.
#pragma once

#include <iostream>

#include_next <thrust/functional.h>

#include <thrust/version.h>

#if THRUST_VERSION >= 300000
namespace thrust {
template <class A, class R> struct unary_function {
  using argument_type = A;
  using result_type = R;
};
template <class A, class B, class R> struct binary_function {
  using first_argument_type = A;
  using second_argument_type = B;
  using result_type = R;
};
}  // namespace thrust
#endif
