// SPDX-License-Identifier: Apache-2.0
// Device math: what <cmath> lacks, the fast and the explicitly rounded forms, integer intrinsics and bit casts.
#pragma once

#include <cfenv>
#include <cmath>
#include <cstdlib>
#include <limits>

#include <math.h>
#include <stdlib.h>

#include "rpx/atomics.h"

// ---- minimum, maximum, absolute value for every mix of arithmetic types --------------------------------------------

namespace rpx {
template <class A, class B>
using Both = std::enable_if_t<std::is_arithmetic<A>::value && std::is_arithmetic<B>::value, std::common_type_t<A, B>>;
}  // namespace rpx


RPX_INLINE constexpr int min(int a, int b) { return b < a ? b : a; }
RPX_INLINE constexpr int max(int a, int b) { return a < b ? b : a; }
RPX_INLINE constexpr unsigned int min(unsigned int a, unsigned int b) { return b < a ? b : a; }
RPX_INLINE constexpr unsigned int max(unsigned int a, unsigned int b) { return a < b ? b : a; }
RPX_INLINE constexpr long min(long a, long b) { return b < a ? b : a; }
RPX_INLINE constexpr long max(long a, long b) { return a < b ? b : a; }
RPX_INLINE constexpr unsigned long min(unsigned long a, unsigned long b) { return b < a ? b : a; }
RPX_INLINE constexpr unsigned long max(unsigned long a, unsigned long b) { return a < b ? b : a; }
RPX_INLINE constexpr long long min(long long a, long long b) { return b < a ? b : a; }
RPX_INLINE constexpr long long max(long long a, long long b) { return a < b ? b : a; }
RPX_INLINE constexpr unsigned long long min(unsigned long long a, unsigned long long b) { return b < a ? b : a; }
RPX_INLINE constexpr unsigned long long max(unsigned long long a, unsigned long long b) { return a < b ? b : a; }
RPX_INLINE float min(float a, float b) { return std::fmin(a, b); }
RPX_INLINE float max(float a, float b) { return std::fmax(a, b); }
RPX_INLINE double min(double a, double b) { return std::fmin(a, b); }
RPX_INLINE double max(double a, double b) { return std::fmax(a, b); }
template <class A, class B, std::enable_if_t<!std::is_same<A, B>::value, int> = 0>
RPX_INLINE constexpr rpx::Both<A, B> min(A a, B b) {
  using C = rpx::Both<A, B>;
  return static_cast<C>(b) < static_cast<C>(a) ? static_cast<C>(b) : static_cast<C>(a);
}
template <class A, class B, std::enable_if_t<!std::is_same<A, B>::value, int> = 0>
RPX_INLINE constexpr rpx::Both<A, B> max(A a, B b) {
  using C = rpx::Both<A, B>;
  return static_cast<C>(a) < static_cast<C>(b) ? static_cast<C>(b) : static_cast<C>(a);
}
RPX_INLINE unsigned umin(unsigned a, unsigned b) { return b < a ? b : a; }
RPX_INLINE unsigned umax(unsigned a, unsigned b) { return a < b ? b : a; }
RPX_INLINE long long llmin(long long a, long long b) { return b < a ? b : a; }
RPX_INLINE long long llmax(long long a, long long b) { return a < b ? b : a; }

// ---- functions the C library lacks ---------------------------------------------------------------------------------

#define RPX_PI 3.14159265358979323846

RPX_INLINE double rsqrt(double x) { return 1.0 / std::sqrt(x); }
RPX_INLINE float rsqrtf(float x) { return static_cast<float>(1.0f / std::sqrt(x)); }
RPX_INLINE float rsqrt(float x) { return rsqrtf(x); }
RPX_INLINE double rcbrt(double x) { return 1.0 / std::cbrt(x); }
RPX_INLINE float rcbrtf(float x) { return static_cast<float>(rcbrt(static_cast<double>(x))); }
RPX_INLINE double sinpi(double x) { return std::sin(RPX_PI * std::fmod(x, 2.0)); }
RPX_INLINE float sinpif(float x) { return static_cast<float>(sinpi(static_cast<double>(x))); }
RPX_INLINE double cospi(double x) { return std::cos(RPX_PI * std::fmod(x, 2.0)); }
RPX_INLINE float cospif(float x) { return static_cast<float>(cospi(static_cast<double>(x))); }
RPX_INLINE double rhypot(double x, double y) { return 1.0 / std::hypot(x, y); }
RPX_INLINE float rhypotf(float x, float y) { return static_cast<float>(rhypot(static_cast<double>(x), static_cast<double>(y))); }
RPX_INLINE double norm3d(double x, double y, double z) { return std::sqrt(x * x + y * y + z * z); }
RPX_INLINE float norm3df(float x, float y, float z) { return static_cast<float>(norm3d(static_cast<double>(x), static_cast<double>(y), static_cast<double>(z))); }
RPX_INLINE double rnorm3d(double x, double y, double z) { return 1.0 / std::sqrt(x * x + y * y + z * z); }
RPX_INLINE float rnorm3df(float x, float y, float z) { return static_cast<float>(rnorm3d(static_cast<double>(x), static_cast<double>(y), static_cast<double>(z))); }
RPX_INLINE double norm4d(double x, double y, double z, double w) { return std::sqrt(x * x + y * y + z * z + w * w); }
RPX_INLINE float norm4df(float x, float y, float z, float w) { return static_cast<float>(norm4d(static_cast<double>(x), static_cast<double>(y), static_cast<double>(z), static_cast<double>(w))); }
RPX_INLINE double rnorm4d(double x, double y, double z, double w) { return 1.0 / std::sqrt(x * x + y * y + z * z + w * w); }
RPX_INLINE float rnorm4df(float x, float y, float z, float w) { return static_cast<float>(rnorm4d(static_cast<double>(x), static_cast<double>(y), static_cast<double>(z), static_cast<double>(w))); }
RPX_INLINE double normcdf(double x) { return 0.5 * std::erfc(-x * 0.70710678118654752440); }
RPX_INLINE float normcdff(float x) { return static_cast<float>(normcdf(static_cast<double>(x))); }
RPX_INLINE double erfcx(double x) { return x < 25 ? std::exp(x * x) * std::erfc(x) : 0.56418958354775628695 / x * (1 - 0.5 / (x * x)); }
RPX_INLINE float erfcxf(float x) { return static_cast<float>(erfcx(static_cast<double>(x))); }
RPX_INLINE double erfinv(double y) {
  if (!(y > -1 && y < 1)) return y == 1 ? HUGE_VAL : y == -1 ? -HUGE_VAL : NAN;
  // Giles' single-precision start, then Newton steps to double precision.
  double w = -std::log((1 - y) * (1 + y)), p;
  if (w < 5) {
    w -= 2.5;
    p = 2.81022636e-08;
    for (double c : {3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087, -0.00125372503, -0.00417768164, 0.246640727, 1.50140941})
      p = p * w + c;
  } else {
    w = std::sqrt(w) - 3;
    p = -0.000200214257;
    for (double c : {0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773, -0.0076224613, 0.00943887047, 1.00167406, 2.83297682})
      p = p * w + c;
  }
  double x = p * y;
  for (int i = 0; i < 3; ++i) x -= (std::erf(x) - y) / (1.12837916709551257390 * std::exp(-x * x));
  return x;
}
RPX_INLINE float erfinvf(float y) { return static_cast<float>(erfinv(static_cast<double>(y))); }
RPX_INLINE double erfcinv(double y) { return y > 0.1 ? erfinv(1 - y) : [&] {
    double x = y > 0 ? std::sqrt(-std::log(y * 1.772453850905516 * std::sqrt(-std::log(y)))) : HUGE_VAL;
    for (int i = 0; i < 6 && x < HUGE_VAL; ++i) x += (std::erfc(x) - y) / (1.12837916709551257390 * std::exp(-x * x));
    return x;
  }(); }
RPX_INLINE float erfcinvf(float y) { return static_cast<float>(erfcinv(static_cast<double>(y))); }
RPX_INLINE double normcdfinv(double y) { return -1.41421356237309504880 * erfcinv(2 * y); }
RPX_INLINE float normcdfinvf(float y) { return static_cast<float>(normcdfinv(static_cast<double>(y))); }
RPX_INLINE double cyl_bessel_i0(double x) { return std::cyl_bessel_i(0.0, x); }
RPX_INLINE double cyl_bessel_i1(double x) { return std::cyl_bessel_i(1.0, x); }
RPX_INLINE float cyl_bessel_i0f(float x) { return std::cyl_bessel_if(0.0f, x); }
RPX_INLINE float cyl_bessel_i1f(float x) { return std::cyl_bessel_if(1.0f, x); }
RPX_INLINE void sincos(float x, float *s, float *c) {
  *s = std::sin(x);
  *c = std::cos(x);
}
RPX_INLINE void sincospi(double x, double *s, double *c) {
  *s = sinpi(x);
  *c = cospi(x);
}
RPX_INLINE void sincospif(float x, float *s, float *c) {
  *s = sinpif(x);
  *c = cospif(x);
}
RPX_INLINE double norm(int n, const double *v) {
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += v[i] * v[i];
  return std::sqrt(sum);
}
RPX_INLINE float normf(int n, const float *v) {
  float sum = 0;
  for (int i = 0; i < n; ++i) sum += v[i] * v[i];
  return std::sqrt(sum);
}
RPX_INLINE float fdividef(float a, float b) { return a / b; }
RPX_INLINE float __saturatef(float x) { return x > 0 ? (x < 1 ? x : 1.0f) : 0.0f; }
RPX_INLINE float saturate(float x) { return __saturatef(x); }

// ---- fast forms: at least as accurate here as on the device --------------------------------------------------------

RPX_INLINE float __sinf(float x) { return std::sin(x); }
RPX_INLINE float __cosf(float x) { return std::cos(x); }
RPX_INLINE float __tanf(float x) { return std::tan(x); }
RPX_INLINE float __expf(float x) { return std::exp(x); }
RPX_INLINE float __exp10f(float x) { return ::exp10f(x); }
RPX_INLINE float __exp2f(float x) { return std::exp2(x); }
RPX_INLINE float __logf(float x) { return std::log(x); }
RPX_INLINE float __log2f(float x) { return std::log2(x); }
RPX_INLINE float __log10f(float x) { return std::log10(x); }
RPX_INLINE float __tanhf(float x) { return std::tanh(x); }
RPX_INLINE float __rsqrtf(float x) { return 1.0f / std::sqrt(x); }
RPX_INLINE float __powf(float x, float y) { return std::pow(x, y); }
RPX_INLINE float __fdividef(float x, float y) { return x / y; }
RPX_INLINE void __sincosf(float x, float *s, float *c) { sincos(x, s, c); }
RPX_INLINE float __builtin_amdgcn_rcpf(float x) { return 1.0f / x; }
RPX_INLINE double __builtin_amdgcn_rcp(double x) { return 1.0 / x; }
RPX_INLINE float __builtin_amdgcn_rsqf(float x) { return 1.0f / std::sqrt(x); }
RPX_INLINE double __builtin_amdgcn_rsq(double x) { return 1.0 / std::sqrt(x); }
RPX_INLINE float __builtin_amdgcn_sqrtf(float x) { return std::sqrt(x); }
RPX_INLINE float __builtin_amdgcn_exp2f(float x) { return std::exp2(x); }
RPX_INLINE float __builtin_amdgcn_logf(float x) { return std::log2(x); }
RPX_INLINE float __builtin_amdgcn_sinf(float x) { return static_cast<float>(std::sin(2 * RPX_PI * x)); }
RPX_INLINE float __builtin_amdgcn_cosf(float x) { return static_cast<float>(std::cos(2 * RPX_PI * x)); }
RPX_INLINE float __builtin_amdgcn_fractf(float x) { return x - std::floor(x); }
RPX_INLINE float __builtin_amdgcn_fmed3f(float a, float b, float c) { return std::fmax(std::fmin(a, b), std::fmin(std::fmax(a, b), c)); }
RPX_INLINE float __builtin_amdgcn_ldexpf(float x, int e) { return std::ldexp(x, e); }
RPX_INLINE double __builtin_amdgcn_ldexp(double x, int e) { return std::ldexp(x, e); }
RPX_INLINE bool __builtin_amdgcn_class(double, int) { return false; }

// ---- arithmetic in a named rounding mode ---------------------------------------------------------------------------

namespace rpx {

// The operands pass through volatile, so that nothing is computed before the mode is set or after it is restored.
template <class T, class F> inline __attribute__((noinline)) T rounded(int mode, F f) {
  const int before = std::fegetround();
  std::fesetround(mode);
  volatile T result = f();
  std::fesetround(before);
  return result;
}

}  // namespace rpx

RPX_INLINE float __fadd_rn(float a, float b) { return a + b; }
RPX_INLINE float __fsub_rn(float a, float b) { return a - b; }
RPX_INLINE float __fmul_rn(float a, float b) { return a * b; }
RPX_INLINE float __fdiv_rn(float a, float b) { return a / b; }
RPX_INLINE float __frcp_rn(float a) { return float(1) / a; }
RPX_INLINE float __fsqrt_rn(float a) { return std::sqrt(a); }
RPX_INLINE float __fmaf_rn(float a, float b, float c) { return std::fma(a, b, c); }
inline float __fadd_rz(float a, float b) {
  volatile float va = a;
  volatile float vb = b;
  return rpx::rounded<float>(FE_TOWARDZERO, [&] { return static_cast<float>(va + vb); });
}
inline float __fsub_rz(float a, float b) {
  volatile float va = a;
  volatile float vb = b;
  return rpx::rounded<float>(FE_TOWARDZERO, [&] { return static_cast<float>(va - vb); });
}
inline float __fmul_rz(float a, float b) {
  volatile float va = a;
  volatile float vb = b;
  return rpx::rounded<float>(FE_TOWARDZERO, [&] { return static_cast<float>(va * vb); });
}
inline float __fdiv_rz(float a, float b) {
  volatile float va = a;
  volatile float vb = b;
  return rpx::rounded<float>(FE_TOWARDZERO, [&] { return static_cast<float>(va / vb); });
}
inline float __frcp_rz(float a) {
  volatile float va = a;
  return rpx::rounded<float>(FE_TOWARDZERO, [&] { return static_cast<float>(float(1) / va); });
}
inline float __fsqrt_rz(float a) {
  volatile float va = a;
  return rpx::rounded<float>(FE_TOWARDZERO, [&] { return static_cast<float>(std::sqrt(va)); });
}
inline float __fmaf_rz(float a, float b, float c) {
  volatile float va = a;
  volatile float vb = b;
  volatile float vc = c;
  return rpx::rounded<float>(FE_TOWARDZERO, [&] { return static_cast<float>(std::fma(float(va), float(vb), float(vc))); });
}
inline float __fadd_ru(float a, float b) {
  volatile float va = a;
  volatile float vb = b;
  return rpx::rounded<float>(FE_UPWARD, [&] { return static_cast<float>(va + vb); });
}
inline float __fsub_ru(float a, float b) {
  volatile float va = a;
  volatile float vb = b;
  return rpx::rounded<float>(FE_UPWARD, [&] { return static_cast<float>(va - vb); });
}
inline float __fmul_ru(float a, float b) {
  volatile float va = a;
  volatile float vb = b;
  return rpx::rounded<float>(FE_UPWARD, [&] { return static_cast<float>(va * vb); });
}
inline float __fdiv_ru(float a, float b) {
  volatile float va = a;
  volatile float vb = b;
  return rpx::rounded<float>(FE_UPWARD, [&] { return static_cast<float>(va / vb); });
}
inline float __frcp_ru(float a) {
  volatile float va = a;
  return rpx::rounded<float>(FE_UPWARD, [&] { return static_cast<float>(float(1) / va); });
}
inline float __fsqrt_ru(float a) {
  volatile float va = a;
  return rpx::rounded<float>(FE_UPWARD, [&] { return static_cast<float>(std::sqrt(va)); });
}
inline float __fmaf_ru(float a, float b, float c) {
  volatile float va = a;
  volatile float vb = b;
  volatile float vc = c;
  return rpx::rounded<float>(FE_UPWARD, [&] { return static_cast<float>(std::fma(float(va), float(vb), float(vc))); });
}
inline float __fadd_rd(float a, float b) {
  volatile float va = a;
  volatile float vb = b;
  return rpx::rounded<float>(FE_DOWNWARD, [&] { return static_cast<float>(va + vb); });
}
inline float __fsub_rd(float a, float b) {
  volatile float va = a;
  volatile float vb = b;
  return rpx::rounded<float>(FE_DOWNWARD, [&] { return static_cast<float>(va - vb); });
}
inline float __fmul_rd(float a, float b) {
  volatile float va = a;
  volatile float vb = b;
  return rpx::rounded<float>(FE_DOWNWARD, [&] { return static_cast<float>(va * vb); });
}
inline float __fdiv_rd(float a, float b) {
  volatile float va = a;
  volatile float vb = b;
  return rpx::rounded<float>(FE_DOWNWARD, [&] { return static_cast<float>(va / vb); });
}
inline float __frcp_rd(float a) {
  volatile float va = a;
  return rpx::rounded<float>(FE_DOWNWARD, [&] { return static_cast<float>(float(1) / va); });
}
inline float __fsqrt_rd(float a) {
  volatile float va = a;
  return rpx::rounded<float>(FE_DOWNWARD, [&] { return static_cast<float>(std::sqrt(va)); });
}
inline float __fmaf_rd(float a, float b, float c) {
  volatile float va = a;
  volatile float vb = b;
  volatile float vc = c;
  return rpx::rounded<float>(FE_DOWNWARD, [&] { return static_cast<float>(std::fma(float(va), float(vb), float(vc))); });
}
RPX_INLINE double __dadd_rn(double a, double b) { return a + b; }
RPX_INLINE double __dsub_rn(double a, double b) { return a - b; }
RPX_INLINE double __dmul_rn(double a, double b) { return a * b; }
RPX_INLINE double __ddiv_rn(double a, double b) { return a / b; }
RPX_INLINE double __drcp_rn(double a) { return double(1) / a; }
RPX_INLINE double __dsqrt_rn(double a) { return std::sqrt(a); }
RPX_INLINE double __fma_rn(double a, double b, double c) { return std::fma(a, b, c); }
inline double __dadd_rz(double a, double b) {
  volatile double va = a;
  volatile double vb = b;
  return rpx::rounded<double>(FE_TOWARDZERO, [&] { return static_cast<double>(va + vb); });
}
inline double __dsub_rz(double a, double b) {
  volatile double va = a;
  volatile double vb = b;
  return rpx::rounded<double>(FE_TOWARDZERO, [&] { return static_cast<double>(va - vb); });
}
inline double __dmul_rz(double a, double b) {
  volatile double va = a;
  volatile double vb = b;
  return rpx::rounded<double>(FE_TOWARDZERO, [&] { return static_cast<double>(va * vb); });
}
inline double __ddiv_rz(double a, double b) {
  volatile double va = a;
  volatile double vb = b;
  return rpx::rounded<double>(FE_TOWARDZERO, [&] { return static_cast<double>(va / vb); });
}
inline double __drcp_rz(double a) {
  volatile double va = a;
  return rpx::rounded<double>(FE_TOWARDZERO, [&] { return static_cast<double>(double(1) / va); });
}
inline double __dsqrt_rz(double a) {
  volatile double va = a;
  return rpx::rounded<double>(FE_TOWARDZERO, [&] { return static_cast<double>(std::sqrt(va)); });
}
inline double __fma_rz(double a, double b, double c) {
  volatile double va = a;
  volatile double vb = b;
  volatile double vc = c;
  return rpx::rounded<double>(FE_TOWARDZERO, [&] { return static_cast<double>(std::fma(double(va), double(vb), double(vc))); });
}
inline double __dadd_ru(double a, double b) {
  volatile double va = a;
  volatile double vb = b;
  return rpx::rounded<double>(FE_UPWARD, [&] { return static_cast<double>(va + vb); });
}
inline double __dsub_ru(double a, double b) {
  volatile double va = a;
  volatile double vb = b;
  return rpx::rounded<double>(FE_UPWARD, [&] { return static_cast<double>(va - vb); });
}
inline double __dmul_ru(double a, double b) {
  volatile double va = a;
  volatile double vb = b;
  return rpx::rounded<double>(FE_UPWARD, [&] { return static_cast<double>(va * vb); });
}
inline double __ddiv_ru(double a, double b) {
  volatile double va = a;
  volatile double vb = b;
  return rpx::rounded<double>(FE_UPWARD, [&] { return static_cast<double>(va / vb); });
}
inline double __drcp_ru(double a) {
  volatile double va = a;
  return rpx::rounded<double>(FE_UPWARD, [&] { return static_cast<double>(double(1) / va); });
}
inline double __dsqrt_ru(double a) {
  volatile double va = a;
  return rpx::rounded<double>(FE_UPWARD, [&] { return static_cast<double>(std::sqrt(va)); });
}
inline double __fma_ru(double a, double b, double c) {
  volatile double va = a;
  volatile double vb = b;
  volatile double vc = c;
  return rpx::rounded<double>(FE_UPWARD, [&] { return static_cast<double>(std::fma(double(va), double(vb), double(vc))); });
}
inline double __dadd_rd(double a, double b) {
  volatile double va = a;
  volatile double vb = b;
  return rpx::rounded<double>(FE_DOWNWARD, [&] { return static_cast<double>(va + vb); });
}
inline double __dsub_rd(double a, double b) {
  volatile double va = a;
  volatile double vb = b;
  return rpx::rounded<double>(FE_DOWNWARD, [&] { return static_cast<double>(va - vb); });
}
inline double __dmul_rd(double a, double b) {
  volatile double va = a;
  volatile double vb = b;
  return rpx::rounded<double>(FE_DOWNWARD, [&] { return static_cast<double>(va * vb); });
}
inline double __ddiv_rd(double a, double b) {
  volatile double va = a;
  volatile double vb = b;
  return rpx::rounded<double>(FE_DOWNWARD, [&] { return static_cast<double>(va / vb); });
}
inline double __drcp_rd(double a) {
  volatile double va = a;
  return rpx::rounded<double>(FE_DOWNWARD, [&] { return static_cast<double>(double(1) / va); });
}
inline double __dsqrt_rd(double a) {
  volatile double va = a;
  return rpx::rounded<double>(FE_DOWNWARD, [&] { return static_cast<double>(std::sqrt(va)); });
}
inline double __fma_rd(double a, double b, double c) {
  volatile double va = a;
  volatile double vb = b;
  volatile double vc = c;
  return rpx::rounded<double>(FE_DOWNWARD, [&] { return static_cast<double>(std::fma(double(va), double(vb), double(vc))); });
}
RPX_INLINE float __frsqrt_rn(float a) { return 1.0f / std::sqrt(a); }
RPX_INLINE float __fmaf_ieee_rn(float a, float b, float c) { return std::fma(a, b, c); }

// ---- conversions ---------------------------------------------------------------------------------------------------

namespace rpx {

// CUDA and HIP saturate; a plain C++ conversion out of range is undefined.
template <class I, class F> RPX_INLINE I to_integer(F x) {
  if (x != x) return 0;
  if (x >= std::ldexp(F(1), std::numeric_limits<I>::digits)) return std::numeric_limits<I>::max();
  if (x <= static_cast<F>(std::numeric_limits<I>::min())) return std::numeric_limits<I>::min();
  return static_cast<I>(x);
}

}  // namespace rpx

RPX_INLINE int __float2int_rn(float x) { return rpx::to_integer<int>(std::rint(x)); }
RPX_INLINE int __float2int_rz(float x) { return rpx::to_integer<int>(std::trunc(x)); }
RPX_INLINE int __float2int_ru(float x) { return rpx::to_integer<int>(std::ceil(x)); }
RPX_INLINE int __float2int_rd(float x) { return rpx::to_integer<int>(std::floor(x)); }
RPX_INLINE unsigned int __float2uint_rn(float x) { return rpx::to_integer<unsigned int>(std::rint(x)); }
RPX_INLINE unsigned int __float2uint_rz(float x) { return rpx::to_integer<unsigned int>(std::trunc(x)); }
RPX_INLINE unsigned int __float2uint_ru(float x) { return rpx::to_integer<unsigned int>(std::ceil(x)); }
RPX_INLINE unsigned int __float2uint_rd(float x) { return rpx::to_integer<unsigned int>(std::floor(x)); }
RPX_INLINE long long __float2ll_rn(float x) { return rpx::to_integer<long long>(std::rint(x)); }
RPX_INLINE long long __float2ll_rz(float x) { return rpx::to_integer<long long>(std::trunc(x)); }
RPX_INLINE long long __float2ll_ru(float x) { return rpx::to_integer<long long>(std::ceil(x)); }
RPX_INLINE long long __float2ll_rd(float x) { return rpx::to_integer<long long>(std::floor(x)); }
RPX_INLINE unsigned long long __float2ull_rn(float x) { return rpx::to_integer<unsigned long long>(std::rint(x)); }
RPX_INLINE unsigned long long __float2ull_rz(float x) { return rpx::to_integer<unsigned long long>(std::trunc(x)); }
RPX_INLINE unsigned long long __float2ull_ru(float x) { return rpx::to_integer<unsigned long long>(std::ceil(x)); }
RPX_INLINE unsigned long long __float2ull_rd(float x) { return rpx::to_integer<unsigned long long>(std::floor(x)); }
RPX_INLINE int __double2int_rn(double x) { return rpx::to_integer<int>(std::rint(x)); }
RPX_INLINE int __double2int_rz(double x) { return rpx::to_integer<int>(std::trunc(x)); }
RPX_INLINE int __double2int_ru(double x) { return rpx::to_integer<int>(std::ceil(x)); }
RPX_INLINE int __double2int_rd(double x) { return rpx::to_integer<int>(std::floor(x)); }
RPX_INLINE unsigned int __double2uint_rn(double x) { return rpx::to_integer<unsigned int>(std::rint(x)); }
RPX_INLINE unsigned int __double2uint_rz(double x) { return rpx::to_integer<unsigned int>(std::trunc(x)); }
RPX_INLINE unsigned int __double2uint_ru(double x) { return rpx::to_integer<unsigned int>(std::ceil(x)); }
RPX_INLINE unsigned int __double2uint_rd(double x) { return rpx::to_integer<unsigned int>(std::floor(x)); }
RPX_INLINE long long __double2ll_rn(double x) { return rpx::to_integer<long long>(std::rint(x)); }
RPX_INLINE long long __double2ll_rz(double x) { return rpx::to_integer<long long>(std::trunc(x)); }
RPX_INLINE long long __double2ll_ru(double x) { return rpx::to_integer<long long>(std::ceil(x)); }
RPX_INLINE long long __double2ll_rd(double x) { return rpx::to_integer<long long>(std::floor(x)); }
RPX_INLINE unsigned long long __double2ull_rn(double x) { return rpx::to_integer<unsigned long long>(std::rint(x)); }
RPX_INLINE unsigned long long __double2ull_rz(double x) { return rpx::to_integer<unsigned long long>(std::trunc(x)); }
RPX_INLINE unsigned long long __double2ull_ru(double x) { return rpx::to_integer<unsigned long long>(std::ceil(x)); }
RPX_INLINE unsigned long long __double2ull_rd(double x) { return rpx::to_integer<unsigned long long>(std::floor(x)); }
RPX_INLINE float __int2float_rn(int x) { return static_cast<float>(x); }
inline float __int2float_rz(int x) {
  volatile int v = x;
  return rpx::rounded<float>(FE_TOWARDZERO, [&] { return static_cast<float>(v); });
}
inline float __int2float_ru(int x) {
  volatile int v = x;
  return rpx::rounded<float>(FE_UPWARD, [&] { return static_cast<float>(v); });
}
inline float __int2float_rd(int x) {
  volatile int v = x;
  return rpx::rounded<float>(FE_DOWNWARD, [&] { return static_cast<float>(v); });
}
RPX_INLINE double __int2double_rn(int x) { return x; }
RPX_INLINE float __uint2float_rn(unsigned int x) { return static_cast<float>(x); }
inline float __uint2float_rz(unsigned int x) {
  volatile unsigned int v = x;
  return rpx::rounded<float>(FE_TOWARDZERO, [&] { return static_cast<float>(v); });
}
inline float __uint2float_ru(unsigned int x) {
  volatile unsigned int v = x;
  return rpx::rounded<float>(FE_UPWARD, [&] { return static_cast<float>(v); });
}
inline float __uint2float_rd(unsigned int x) {
  volatile unsigned int v = x;
  return rpx::rounded<float>(FE_DOWNWARD, [&] { return static_cast<float>(v); });
}
RPX_INLINE double __uint2double_rn(unsigned int x) { return x; }
RPX_INLINE float __ll2float_rn(long long x) { return static_cast<float>(x); }
inline float __ll2float_rz(long long x) {
  volatile long long v = x;
  return rpx::rounded<float>(FE_TOWARDZERO, [&] { return static_cast<float>(v); });
}
inline float __ll2float_ru(long long x) {
  volatile long long v = x;
  return rpx::rounded<float>(FE_UPWARD, [&] { return static_cast<float>(v); });
}
inline float __ll2float_rd(long long x) {
  volatile long long v = x;
  return rpx::rounded<float>(FE_DOWNWARD, [&] { return static_cast<float>(v); });
}
RPX_INLINE double __ll2double_rn(long long x) { return static_cast<double>(x); }
inline double __ll2double_rz(long long x) {
  volatile long long v = x;
  return rpx::rounded<double>(FE_TOWARDZERO, [&] { return static_cast<double>(v); });
}
inline double __ll2double_ru(long long x) {
  volatile long long v = x;
  return rpx::rounded<double>(FE_UPWARD, [&] { return static_cast<double>(v); });
}
inline double __ll2double_rd(long long x) {
  volatile long long v = x;
  return rpx::rounded<double>(FE_DOWNWARD, [&] { return static_cast<double>(v); });
}
RPX_INLINE float __ull2float_rn(unsigned long long x) { return static_cast<float>(x); }
inline float __ull2float_rz(unsigned long long x) {
  volatile unsigned long long v = x;
  return rpx::rounded<float>(FE_TOWARDZERO, [&] { return static_cast<float>(v); });
}
inline float __ull2float_ru(unsigned long long x) {
  volatile unsigned long long v = x;
  return rpx::rounded<float>(FE_UPWARD, [&] { return static_cast<float>(v); });
}
inline float __ull2float_rd(unsigned long long x) {
  volatile unsigned long long v = x;
  return rpx::rounded<float>(FE_DOWNWARD, [&] { return static_cast<float>(v); });
}
RPX_INLINE double __ull2double_rn(unsigned long long x) { return static_cast<double>(x); }
inline double __ull2double_rz(unsigned long long x) {
  volatile unsigned long long v = x;
  return rpx::rounded<double>(FE_TOWARDZERO, [&] { return static_cast<double>(v); });
}
inline double __ull2double_ru(unsigned long long x) {
  volatile unsigned long long v = x;
  return rpx::rounded<double>(FE_UPWARD, [&] { return static_cast<double>(v); });
}
inline double __ull2double_rd(unsigned long long x) {
  volatile unsigned long long v = x;
  return rpx::rounded<double>(FE_DOWNWARD, [&] { return static_cast<double>(v); });
}
RPX_INLINE float __double2float_rn(double x) { return static_cast<float>(x); }
inline float __double2float_rz(double x) {
  volatile double v = x;
  return rpx::rounded<float>(FE_TOWARDZERO, [&] { return static_cast<float>(v); });
}
inline float __double2float_ru(double x) {
  volatile double v = x;
  return rpx::rounded<float>(FE_UPWARD, [&] { return static_cast<float>(v); });
}
inline float __double2float_rd(double x) {
  volatile double v = x;
  return rpx::rounded<float>(FE_DOWNWARD, [&] { return static_cast<float>(v); });
}

// ---- bit casts ------------------------------------------------------------------------------------------------------

RPX_INLINE int __float_as_int(float x) { return rpx::bit_copy<int>(x); }
RPX_INLINE unsigned int __float_as_uint(float x) { return rpx::bit_copy<unsigned int>(x); }
RPX_INLINE float __int_as_float(int x) { return rpx::bit_copy<float>(x); }
RPX_INLINE float __uint_as_float(unsigned int x) { return rpx::bit_copy<float>(x); }
RPX_INLINE long long __double_as_longlong(double x) { return rpx::bit_copy<long long>(x); }
RPX_INLINE double __longlong_as_double(long long x) { return rpx::bit_copy<double>(x); }
RPX_INLINE unsigned long long __double_as_ulonglong(double x) { return rpx::bit_copy<unsigned long long>(x); }
RPX_INLINE double __ulonglong_as_double(unsigned long long x) { return rpx::bit_copy<double>(x); }
RPX_INLINE int __double2hiint(double x) { return static_cast<int>(rpx::bit_copy<std::uint64_t>(x) >> 32); }
RPX_INLINE int __double2loint(double x) { return static_cast<int>(rpx::bit_copy<std::uint64_t>(x)); }
RPX_INLINE double __hiloint2double(int hi, int lo) {
  return rpx::bit_copy<double>(static_cast<std::uint64_t>(static_cast<unsigned>(hi)) << 32 | static_cast<unsigned>(lo));
}

// ---- integer intrinsics --------------------------------------------------------------------------------------------

RPX_INLINE int __popc(unsigned x) { return __builtin_popcount(x); }
RPX_INLINE int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
RPX_INLINE int __clz(int x) { return x ? __builtin_clz(static_cast<unsigned>(x)) : 32; }
RPX_INLINE int __clzll(long long x) { return x ? __builtin_clzll(static_cast<unsigned long long>(x)) : 64; }
template <class T> RPX_INLINE int __ffs(T x) { return __builtin_ffs(static_cast<int>(x)); }
template <class T> RPX_INLINE int __ffsll(T x) { return __builtin_ffsll(static_cast<long long>(x)); }
RPX_INLINE unsigned __brev(unsigned x) {
  x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
  x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
  x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
  return __builtin_bswap32(x);
}
RPX_INLINE unsigned long long __brevll(unsigned long long x) {
  return static_cast<unsigned long long>(__brev(static_cast<unsigned>(x))) << 32 | __brev(static_cast<unsigned>(x >> 32));
}
RPX_INLINE int __mul24(int a, int b) { return (a << 8 >> 8) * (b << 8 >> 8); }
RPX_INLINE unsigned __umul24(unsigned a, unsigned b) { return (a & 0xffffffu) * (b & 0xffffffu); }
RPX_INLINE int mul24(int a, int b) { return __mul24(a, b); }
RPX_INLINE int __mulhi(int a, int b) { return static_cast<int>(static_cast<long long>(a) * b >> 32); }
RPX_INLINE unsigned __umulhi(unsigned a, unsigned b) { return static_cast<unsigned>(static_cast<unsigned long long>(a) * b >> 32); }
RPX_INLINE long long __mul64hi(long long a, long long b) { return static_cast<long long>(static_cast<__int128>(a) * b >> 64); }
RPX_INLINE unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return static_cast<unsigned long long>(static_cast<unsigned __int128>(a) * b >> 64);
}
RPX_INLINE int __hadd(int a, int b) { return static_cast<int>((static_cast<long long>(a) + b) >> 1); }
RPX_INLINE int __rhadd(int a, int b) { return static_cast<int>((static_cast<long long>(a) + b + 1) >> 1); }
RPX_INLINE unsigned __uhadd(unsigned a, unsigned b) { return static_cast<unsigned>((static_cast<unsigned long long>(a) + b) >> 1); }
RPX_INLINE unsigned __urhadd(unsigned a, unsigned b) { return static_cast<unsigned>((static_cast<unsigned long long>(a) + b + 1) >> 1); }
RPX_INLINE unsigned __sad(int a, int b, unsigned c) { return c + static_cast<unsigned>(a < b ? b - a : a - b); }
RPX_INLINE unsigned __usad(unsigned a, unsigned b, unsigned c) { return c + (a < b ? b - a : a - b); }
RPX_INLINE unsigned __byte_perm(unsigned a, unsigned b, unsigned selector) {
  unsigned long long both = static_cast<unsigned long long>(b) << 32 | a;
  unsigned result = 0;
  for (int i = 0; i < 4; ++i) {
    unsigned s = selector >> (4 * i) & 15;
    unsigned byte = static_cast<unsigned>(both >> (8 * (s & 7))) & 255;
    if (s & 8) byte = byte & 128 ? 255 : 0;
    result |= byte << (8 * i);
  }
  return result;
}
RPX_INLINE unsigned __funnelshift_l(unsigned lo, unsigned hi, unsigned n) {
  return static_cast<unsigned>((static_cast<unsigned long long>(hi) << 32 | lo) << (n & 31) >> 32);
}
RPX_INLINE unsigned __funnelshift_r(unsigned lo, unsigned hi, unsigned n) {
  return static_cast<unsigned>((static_cast<unsigned long long>(hi) << 32 | lo) >> (n & 31));
}
RPX_INLINE unsigned __funnelshift_lc(unsigned lo, unsigned hi, unsigned n) { return n >= 32 ? lo : __funnelshift_l(lo, hi, n); }
RPX_INLINE unsigned __funnelshift_rc(unsigned lo, unsigned hi, unsigned n) { return n >= 32 ? hi : __funnelshift_r(lo, hi, n); }
RPX_INLINE unsigned __builtin_amdgcn_alignbit(unsigned hi, unsigned lo, unsigned n) { return __funnelshift_r(lo, hi, n); }
RPX_INLINE unsigned __builtin_amdgcn_alignbyte(unsigned hi, unsigned lo, unsigned n) { return __funnelshift_r(lo, hi, 8 * (n & 3)); }
RPX_INLINE unsigned __builtin_amdgcn_ubfe(unsigned x, unsigned at, unsigned n) { return n ? x >> at & (~0u >> (32 - n)) : 0; }
RPX_INLINE int __builtin_amdgcn_sbfe(int x, unsigned at, unsigned n) { return n ? x << (32 - n - at) >> (32 - n) : 0; }
RPX_INLINE unsigned __bitextract_u32(unsigned x, unsigned at, unsigned n) { return __builtin_amdgcn_ubfe(x, at, n); }
RPX_INLINE unsigned __bitinsert_u32(unsigned x, unsigned y, unsigned at, unsigned n) {
  unsigned mask = n >= 32 ? ~0u : ((1u << n) - 1) << at;
  return (x & ~mask) | (y << at & mask);
}

namespace rpx {
template <class A, class B> RPX_INLINE int dot4(unsigned a, unsigned b, int c) {
  for (int i = 0; i < 4; ++i) c += static_cast<A>(a >> (8 * i)) * static_cast<B>(b >> (8 * i));
  return c;
}
template <class F> RPX_INLINE unsigned by_byte(unsigned a, unsigned b, F f) {
  unsigned result = 0;
  for (int i = 0; i < 4; ++i)
    result |= (static_cast<unsigned>(f(static_cast<std::uint8_t>(a >> (8 * i)), static_cast<std::uint8_t>(b >> (8 * i)))) & 255u) << (8 * i);
  return result;
}
template <class F> RPX_INLINE unsigned by_half(unsigned a, unsigned b, F f) {
  unsigned lo = static_cast<unsigned>(f(static_cast<std::uint16_t>(a), static_cast<std::uint16_t>(b))) & 0xffffu;
  unsigned hi = static_cast<unsigned>(f(static_cast<std::uint16_t>(a >> 16), static_cast<std::uint16_t>(b >> 16))) & 0xffffu;
  return hi << 16 | lo;
}
}  // namespace rpx
RPX_INLINE int __dp4a(int a, int b, int c) { return rpx::dot4<std::int8_t, std::int8_t>(static_cast<unsigned>(a), static_cast<unsigned>(b), c); }
RPX_INLINE unsigned __dp4a(unsigned a, unsigned b, unsigned c) { return static_cast<unsigned>(rpx::dot4<std::uint8_t, std::uint8_t>(a, b, static_cast<int>(c))); }
RPX_INLINE int __builtin_amdgcn_sdot4(int a, int b, int c, bool) { return __dp4a(a, b, c); }
RPX_INLINE unsigned __builtin_amdgcn_udot4(unsigned a, unsigned b, unsigned c, bool) { return __dp4a(a, b, c); }
RPX_INLINE int __builtin_amdgcn_sudot4(bool sa, int a, bool sb, int b, int c, bool) {
  for (int i = 0; i < 4; ++i) {
    int x = sa ? static_cast<std::int8_t>(a >> (8 * i)) : static_cast<std::uint8_t>(a >> (8 * i));
    int y = sb ? static_cast<std::int8_t>(b >> (8 * i)) : static_cast<std::uint8_t>(b >> (8 * i));
    c += x * y;
  }
  return c;
}

RPX_INLINE unsigned __vadd4(unsigned x, unsigned y) { return rpx::by_byte(x, y, [](std::uint8_t a, std::uint8_t b) { return a + b; }); }
RPX_INLINE unsigned __vsub4(unsigned x, unsigned y) { return rpx::by_byte(x, y, [](std::uint8_t a, std::uint8_t b) { return a - b; }); }
RPX_INLINE unsigned __vminu4(unsigned x, unsigned y) { return rpx::by_byte(x, y, [](std::uint8_t a, std::uint8_t b) { return a < b ? a : b; }); }
RPX_INLINE unsigned __vmaxu4(unsigned x, unsigned y) { return rpx::by_byte(x, y, [](std::uint8_t a, std::uint8_t b) { return a < b ? b : a; }); }
RPX_INLINE unsigned __vmins4(unsigned x, unsigned y) { return rpx::by_byte(x, y, [](std::uint8_t a, std::uint8_t b) { return std::int8_t(a) < std::int8_t(b) ? a : b; }); }
RPX_INLINE unsigned __vmaxs4(unsigned x, unsigned y) { return rpx::by_byte(x, y, [](std::uint8_t a, std::uint8_t b) { return std::int8_t(a) < std::int8_t(b) ? b : a; }); }
RPX_INLINE unsigned __vabsdiffu4(unsigned x, unsigned y) { return rpx::by_byte(x, y, [](std::uint8_t a, std::uint8_t b) { return a < b ? b - a : a - b; }); }
RPX_INLINE unsigned __vavgu4(unsigned x, unsigned y) { return rpx::by_byte(x, y, [](std::uint8_t a, std::uint8_t b) { return (a + b + 1) / 2; }); }
RPX_INLINE unsigned __vcmpeq4(unsigned x, unsigned y) { return rpx::by_byte(x, y, [](std::uint8_t a, std::uint8_t b) { return a == b ? 255 : 0; }); }
RPX_INLINE unsigned __vcmpne4(unsigned x, unsigned y) { return rpx::by_byte(x, y, [](std::uint8_t a, std::uint8_t b) { return a != b ? 255 : 0; }); }
RPX_INLINE unsigned __vcmpgtu4(unsigned x, unsigned y) { return rpx::by_byte(x, y, [](std::uint8_t a, std::uint8_t b) { return a > b ? 255 : 0; }); }
RPX_INLINE unsigned __vcmpltu4(unsigned x, unsigned y) { return rpx::by_byte(x, y, [](std::uint8_t a, std::uint8_t b) { return a < b ? 255 : 0; }); }
RPX_INLINE unsigned __vcmpgts4(unsigned x, unsigned y) { return rpx::by_byte(x, y, [](std::uint8_t a, std::uint8_t b) { return std::int8_t(a) > std::int8_t(b) ? 255 : 0; }); }
RPX_INLINE unsigned __vcmplts4(unsigned x, unsigned y) { return rpx::by_byte(x, y, [](std::uint8_t a, std::uint8_t b) { return std::int8_t(a) < std::int8_t(b) ? 255 : 0; }); }
RPX_INLINE unsigned __vseteq4(unsigned x, unsigned y) { return rpx::by_byte(x, y, [](std::uint8_t a, std::uint8_t b) { return a == b; }); }
RPX_INLINE unsigned __vsetne4(unsigned x, unsigned y) { return rpx::by_byte(x, y, [](std::uint8_t a, std::uint8_t b) { return a != b; }); }
RPX_INLINE unsigned __vcmpgeu4(unsigned x, unsigned y) { return rpx::by_byte(x, y, [](std::uint8_t a, std::uint8_t b) { return a >= b ? 255 : 0; }); }
RPX_INLINE unsigned __vaddus4(unsigned x, unsigned y) { return rpx::by_byte(x, y, [](std::uint8_t a, std::uint8_t b) { return a + b > 255 ? 255 : a + b; }); }
RPX_INLINE unsigned __vsubus4(unsigned x, unsigned y) { return rpx::by_byte(x, y, [](std::uint8_t a, std::uint8_t b) { return a > b ? a - b : 0; }); }
RPX_INLINE unsigned __vsubss4(unsigned x, unsigned y) { return rpx::by_byte(x, y, [](std::uint8_t a, std::uint8_t b) { int d = std::int8_t(a) - std::int8_t(b); return d > 127 ? 127 : d < -128 ? -128 : d; }); }
RPX_INLINE unsigned __vadd2(unsigned x, unsigned y) { return rpx::by_half(x, y, [](std::uint16_t a, std::uint16_t b) { return a + b; }); }
RPX_INLINE unsigned __vsub2(unsigned x, unsigned y) { return rpx::by_half(x, y, [](std::uint16_t a, std::uint16_t b) { return a - b; }); }
RPX_INLINE unsigned __vminu2(unsigned x, unsigned y) { return rpx::by_half(x, y, [](std::uint16_t a, std::uint16_t b) { return a < b ? a : b; }); }
RPX_INLINE unsigned __vmaxu2(unsigned x, unsigned y) { return rpx::by_half(x, y, [](std::uint16_t a, std::uint16_t b) { return a < b ? b : a; }); }
RPX_INLINE unsigned __vmins2(unsigned x, unsigned y) { return rpx::by_half(x, y, [](std::uint16_t a, std::uint16_t b) { return std::int16_t(a) < std::int16_t(b) ? a : b; }); }
RPX_INLINE unsigned __vmaxs2(unsigned x, unsigned y) { return rpx::by_half(x, y, [](std::uint16_t a, std::uint16_t b) { return std::int16_t(a) < std::int16_t(b) ? b : a; }); }
RPX_INLINE unsigned __vabsdiffu2(unsigned x, unsigned y) { return rpx::by_half(x, y, [](std::uint16_t a, std::uint16_t b) { return a < b ? b - a : a - b; }); }
RPX_INLINE unsigned __vavgu2(unsigned x, unsigned y) { return rpx::by_half(x, y, [](std::uint16_t a, std::uint16_t b) { return (a + b + 1) / 2; }); }
RPX_INLINE unsigned __vcmpeq2(unsigned x, unsigned y) { return rpx::by_half(x, y, [](std::uint16_t a, std::uint16_t b) { return a == b ? 65535 : 0; }); }
RPX_INLINE unsigned __vcmpne2(unsigned x, unsigned y) { return rpx::by_half(x, y, [](std::uint16_t a, std::uint16_t b) { return a != b ? 65535 : 0; }); }
RPX_INLINE unsigned __vcmpgtu2(unsigned x, unsigned y) { return rpx::by_half(x, y, [](std::uint16_t a, std::uint16_t b) { return a > b ? 65535 : 0; }); }
RPX_INLINE unsigned __vcmpltu2(unsigned x, unsigned y) { return rpx::by_half(x, y, [](std::uint16_t a, std::uint16_t b) { return a < b ? 65535 : 0; }); }
RPX_INLINE unsigned __vcmpgts2(unsigned x, unsigned y) { return rpx::by_half(x, y, [](std::uint16_t a, std::uint16_t b) { return std::int16_t(a) > std::int16_t(b) ? 65535 : 0; }); }
RPX_INLINE unsigned __vcmplts2(unsigned x, unsigned y) { return rpx::by_half(x, y, [](std::uint16_t a, std::uint16_t b) { return std::int16_t(a) < std::int16_t(b) ? 65535 : 0; }); }
RPX_INLINE unsigned __vseteq2(unsigned x, unsigned y) { return rpx::by_half(x, y, [](std::uint16_t a, std::uint16_t b) { return a == b; }); }
RPX_INLINE unsigned __vsetne2(unsigned x, unsigned y) { return rpx::by_half(x, y, [](std::uint16_t a, std::uint16_t b) { return a != b; }); }
RPX_INLINE unsigned __vcmpgeu2(unsigned x, unsigned y) { return rpx::by_half(x, y, [](std::uint16_t a, std::uint16_t b) { return a >= b ? 65535 : 0; }); }
RPX_INLINE unsigned __vaddus2(unsigned x, unsigned y) { return rpx::by_half(x, y, [](std::uint16_t a, std::uint16_t b) { return a + b > 65535 ? 65535 : a + b; }); }
RPX_INLINE unsigned __vsubus2(unsigned x, unsigned y) { return rpx::by_half(x, y, [](std::uint16_t a, std::uint16_t b) { return a > b ? a - b : 0; }); }

// ---- loads and stores with cache hints: plain accesses here ----------------------------------------------------------

template <class T> RPX_INLINE T __ldg(const T *p) { return *p; }
template <class T> RPX_INLINE T __ldca(const T *p) { return *p; }
template <class T> RPX_INLINE T __ldcg(const T *p) { return *p; }
template <class T> RPX_INLINE T __ldcs(const T *p) { return *p; }
template <class T> RPX_INLINE T __ldlu(const T *p) { return *p; }
template <class T> RPX_INLINE T __ldcv(const T *p) { return *p; }
template <class T, class U> RPX_INLINE void __stcg(T *p, U v) { *p = v; }
template <class T, class U> RPX_INLINE void __stcs(T *p, U v) { *p = v; }
template <class T, class U> RPX_INLINE void __stwb(T *p, U v) { *p = v; }
template <class T, class U> RPX_INLINE void __stwt(T *p, U v) { *p = v; }
