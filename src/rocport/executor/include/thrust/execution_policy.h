// SPDX-License-Identifier: Apache-2.0
// thrust::hip::par and its kin over the plain C++ system.
#pragma once

#include_next <thrust/execution_policy.h>

#include <thrust/functional.h>
#include <thrust/system/cpp/execution_policy.h>

#ifndef RPX_THRUST_HIP
#define RPX_THRUST_HIP
namespace thrust {
namespace hip {
// Streams and allocators have no meaning here: everything is done when the call returns.
struct policy : thrust::system::cpp::detail::par_t {
  template <class S> const policy &on(S) const { return *this; }
  template <class A> const policy &operator()(A &&) const { return *this; }
};
static const policy par{};
static const policy par_nosync{};
}  // namespace hip
namespace hip_rocprim = hip;
namespace cuda = hip;
}  // namespace thrust
#endif
