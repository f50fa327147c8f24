// rocport_vector.h - structured bindings of CUDA's vector types: `auto [x, y] = make_float2(1, 2);`.
// SPDX-License-Identifier: Apache-2.0
//
// CUDA's vector types are plain structs. HIP's are classes around a union, which a structured binding cannot look into:
// it takes the components by the tuple protocol, which HIP's headers do not give them.
#ifndef ROCPORT_VECTOR_H
#define ROCPORT_VECTOR_H

#if defined(__cplusplus) && defined(__clang__) && !defined(__HIPCC_RTC__) && !defined(ROCPORT_ON_CPU)
#include <hip/hip_vector_types.h>

#include <tuple>

#include "rocport_host.h"

template <class T, unsigned N>
struct std::tuple_size<HIP_vector_type<T, N>> : std::integral_constant<std::size_t, N> {};
template <std::size_t I, class T, unsigned N>
struct std::tuple_element<I, HIP_vector_type<T, N>> {
  using type = T;
};

// The component of number I; found through its argument's type, which is declared outside any namespace as this is.
template <std::size_t I, class T, unsigned N>
__host__ __device__ inline T& get(HIP_vector_type<T, N>& vector) {
  if constexpr (I == 0) return vector.x;
  if constexpr (I == 1) return vector.y;
  if constexpr (I == 2) return vector.z;
  if constexpr (I == 3) return vector.w;
}
template <std::size_t I, class T, unsigned N>
__host__ __device__ inline const T& get(const HIP_vector_type<T, N>& vector) {
  return get<I>(const_cast<HIP_vector_type<T, N>&>(vector));
}
template <std::size_t I, class T, unsigned N>
__host__ __device__ inline T&& get(HIP_vector_type<T, N>&& vector) {
  return static_cast<T&&>(get<I>(vector));
}
#endif

#endif  // ROCPORT_VECTOR_H
