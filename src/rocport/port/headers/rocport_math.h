// rocport_math.h - math functions that CUDA gives the host, too.
// SPDX-License-Identifier: Apache-2.0
//
// CUDA's headers declare rsqrtf, sinpi, normcdf, umin and others for host and device; HIP has the first ones for the device
// only, and umin and its like not at all. The host functions below have CUDA's names in the global namespace, beside HIP's
// device functions of the same name.
#ifndef ROCPORT_MATH_H
#define ROCPORT_MATH_H

#if !defined(__HIPCC_RTC__)
#include <hip/hip_runtime.h>
#include <math.h>

// The CPU executor (`rocport run`) has one set of functions for both sides.
#if defined(__cplusplus) && !defined(ROCPORT_ON_CPU)
#define ROCPORT_HOST __host__ inline

ROCPORT_HOST double rsqrt(double x) { return 1.0 / sqrt(x); }
ROCPORT_HOST float rsqrt(float x) { return static_cast<float>(1.0 / sqrt(static_cast<double>(x))); }
ROCPORT_HOST float rsqrtf(float x) { return static_cast<float>(1.0 / sqrt(static_cast<double>(x))); }
ROCPORT_HOST double rcbrt(double x) { return 1.0 / cbrt(x); }
ROCPORT_HOST float rcbrtf(float x) { return static_cast<float>(1.0 / cbrt(static_cast<double>(x))); }
ROCPORT_HOST double rhypot(double x, double y) { return 1.0 / hypot(x, y); }
ROCPORT_HOST float rhypotf(float x, float y) {
  return static_cast<float>(1.0 / hypot(static_cast<double>(x), static_cast<double>(y)));
}
ROCPORT_HOST double norm3d(double x, double y, double z) { return hypot(hypot(x, y), z); }
ROCPORT_HOST float norm3df(float x, float y, float z) {
  return static_cast<float>(norm3d(static_cast<double>(x), static_cast<double>(y), static_cast<double>(z)));
}
// The argument is brought into [-1, 1] half turns first, where the product with pi loses nothing that counts.
ROCPORT_HOST double sinpi(double x) {
  const double turned = remainder(x, 2.0);
  return turned == rint(turned) ? copysign(0.0, x) : sin(3.14159265358979323846 * turned);
}
ROCPORT_HOST double cospi(double x) {
  const double turned = fabs(remainder(x, 2.0));
  return turned == 0.5 ? 0.0 : cos(3.14159265358979323846 * turned);
}
ROCPORT_HOST float sinpif(float x) { return static_cast<float>(sinpi(static_cast<double>(x))); }
ROCPORT_HOST float cospif(float x) { return static_cast<float>(cospi(static_cast<double>(x))); }
ROCPORT_HOST double normcdf(double x) { return 0.5 * erfc(-0.70710678118654752440 * x); }
ROCPORT_HOST float normcdff(float x) { return static_cast<float>(normcdf(static_cast<double>(x))); }
ROCPORT_HOST float fdividef(float x, float y) { return x / y; }

#undef ROCPORT_HOST
#endif
#endif

#if defined(__cplusplus)
// CUDA's overloads of sincos and sincospi for float; one that the headers declare is preferred.
template <class T>
__host__ __device__ inline auto sincos(T x, T* sine, T* cosine) -> decltype(sincosf(x, sine, cosine)) {
  return sincosf(x, sine, cosine);
}
template <class T>
__device__ inline auto sincospi(T x, T* sine, T* cosine) -> decltype(sincospif(x, sine, cosine)) {
  return sincospif(x, sine, cosine);
}
#endif

namespace rocport {

#define ROCPORT_MINMAX(name, type)                                                                                       \
  __host__ __device__ inline type name##min(type a, type b) { return a < b ? a : b; }                                   \
  __host__ __device__ inline type name##max(type a, type b) { return a > b ? a : b; }
ROCPORT_MINMAX(u, unsigned)
ROCPORT_MINMAX(ll, long long)
ROCPORT_MINMAX(ull, unsigned long long)
#undef ROCPORT_MINMAX

}  // namespace rocport

#endif  // ROCPORT_MATH_H
