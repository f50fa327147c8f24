// SPDX-License-Identifier: Apache-2.0
// What half and bfloat16 have in common.
#pragma once

#include <cmath>
#include <type_traits>

#include "hip/hip_vector_types.h"
#include "rpx/atomics.h"
#include "rpx/math.h"

// Copies from and to volatile objects are templates: the type stays trivially copyable, as HIP's is.
// Constructors and conversions of a 16-bit float whose bits are rounded by FROM(float or double) and read by TO.
#define RPX_SMALL_FLOAT_MEMBERS(H, FROM, TO)                                                                    \
  H() = default;                                                                                                \
  RPX_INLINE H(float v) : FROM(v) {}                                                                            \
  RPX_INLINE H(double v) : FROM(v) {}                                                                           \
  RPX_INLINE H(int v) : FROM((double)v) {}                                                                      \
  RPX_INLINE H(unsigned v) : FROM((double)v) {}                                                                 \
  RPX_INLINE H(short v) : FROM((float)v) {}                                                                     \
  RPX_INLINE H(unsigned short v) : FROM((float)v) {}                                                            \
  RPX_INLINE H(long v) : FROM((double)v) {}                                                                     \
  RPX_INLINE H(unsigned long v) : FROM((double)v) {}                                                            \
  RPX_INLINE H(long long v) : FROM((double)v) {}                                                                \
  RPX_INLINE H(unsigned long long v) : FROM((double)v) {}                                                       \
  RPX_INLINE H(bool v) : FROM((float)v) {}                                                                      \
  RPX_INLINE H(char v) : FROM((float)v) {}                                                                      \
  RPX_INLINE H(signed char v) : FROM((float)v) {}                                                               \
  RPX_INLINE H(unsigned char v) : FROM((float)v) {}                                                             \
  H(const H &) = default;                                                                                       \
  H &operator=(const H &) = default;                                                                            \
  template <class V, std::enable_if_t<std::is_same<V, volatile H>::value || std::is_same<V, const volatile H>::value, int> = 0> \
  RPX_INLINE H(V &o) : bits(o.bits) {}                                                                          \
  template <class V, std::enable_if_t<std::is_same<V, H>::value, int> = 0>                                      \
  RPX_INLINE void operator=(const V &o) volatile { bits = o.bits; }                                             \
  RPX_INLINE operator float() const { return TO; }                                                              \
  RPX_INLINE operator float() const volatile { return static_cast<const H &>(const_cast<const H &>(*this)); }   \
  RPX_INLINE explicit operator double() const { return (double)(float)*this; }                                  \
  RPX_INLINE explicit operator bool() const { return (float)*this != 0; }                                       \
  RPX_INLINE explicit operator int() const { return (int)(float)*this; }                                        \
  RPX_INLINE explicit operator unsigned() const { return (unsigned)(float)*this; }                              \
  RPX_INLINE explicit operator long() const { return (long)(float)*this; }                                      \
  RPX_INLINE explicit operator long long() const { return (long long)(float)*this; }                            \
  RPX_INLINE explicit operator unsigned long() const { return (unsigned long)(float)*this; }                    \
  RPX_INLINE explicit operator unsigned long long() const { return (unsigned long long)(float)*this; }          \
  RPX_INLINE explicit operator short() const { return (short)(float)*this; }                                    \
  RPX_INLINE explicit operator unsigned short() const { return (unsigned short)(float)*this; }                  \
  RPX_INLINE explicit operator char() const { return (char)(float)*this; }                                      \
  RPX_INLINE explicit operator signed char() const { return (signed char)(float)*this; }                        \
  RPX_INLINE explicit operator unsigned char() const { return (unsigned char)(float)*this; }

// ---- one 16-bit float type's operators and functions -----------------------------------------------------------------
// H: scalar, H2: pair. Arithmetic is done in float and rounded once, which is exact rounding for + - * / and sqrt.

#define RPX_SMALL_FLOAT_OPERATORS(H, H2)                                                                        \
  RPX_INLINE H operator+(H a, H b) { return H(float(a) + float(b)); }                                           \
  RPX_INLINE H operator-(H a, H b) { return H(float(a) - float(b)); }                                           \
  RPX_INLINE H operator*(H a, H b) { return H(float(a) * float(b)); }                                           \
  RPX_INLINE H operator/(H a, H b) { return H(float(a) / float(b)); }                                           \
  RPX_INLINE H operator-(H a) { return H(-float(a)); }                                                          \
  RPX_INLINE H operator+(H a) { return a; }                                                                     \
  RPX_INLINE H &operator+=(H &a, H b) { return a = a + b; }                                                     \
  RPX_INLINE H &operator-=(H &a, H b) { return a = a - b; }                                                     \
  RPX_INLINE H &operator*=(H &a, H b) { return a = a * b; }                                                     \
  RPX_INLINE H &operator/=(H &a, H b) { return a = a / b; }                                                     \
  RPX_INLINE H &operator++(H &a) { return a = H(float(a) + 1.0f); }                                             \
  RPX_INLINE H &operator--(H &a) { return a = H(float(a) - 1.0f); }                                             \
  RPX_INLINE bool operator==(H a, H b) { return float(a) == float(b); }                                         \
  RPX_INLINE bool operator!=(H a, H b) { return float(a) != float(b); }                                         \
  RPX_INLINE bool operator<(H a, H b) { return float(a) < float(b); }                                           \
  RPX_INLINE bool operator>(H a, H b) { return float(a) > float(b); }                                           \
  RPX_INLINE bool operator<=(H a, H b) { return float(a) <= float(b); }                                         \
  RPX_INLINE bool operator>=(H a, H b) { return float(a) >= float(b); }                                         \
  RPX_INLINE H2 operator+(H2 a, H2 b) { return H2(a.x + b.x, a.y + b.y); }                                      \
  RPX_INLINE H2 operator-(H2 a, H2 b) { return H2(a.x - b.x, a.y - b.y); }                                      \
  RPX_INLINE H2 operator*(H2 a, H2 b) { return H2(a.x * b.x, a.y * b.y); }                                      \
  RPX_INLINE H2 operator/(H2 a, H2 b) { return H2(a.x / b.x, a.y / b.y); }                                      \
  RPX_INLINE H2 operator-(H2 a) { return H2(-a.x, -a.y); }                                                      \
  RPX_INLINE H2 &operator+=(H2 &a, H2 b) { return a = a + b; }                                                  \
  RPX_INLINE H2 &operator-=(H2 &a, H2 b) { return a = a - b; }                                                  \
  RPX_INLINE H2 &operator*=(H2 &a, H2 b) { return a = a * b; }                                                  \
  RPX_INLINE H2 &operator/=(H2 &a, H2 b) { return a = a / b; }                                                  \
  RPX_INLINE bool operator==(H2 a, H2 b) { return a.x == b.x && a.y == b.y; }                                   \
  RPX_INLINE bool operator!=(H2 a, H2 b) { return !(a == b); }

#define RPX_SMALL_FLOAT_ARITHMETIC(H, H2)                                                                       \
  RPX_INLINE H __hadd(H a, H b) { return a + b; }                                                               \
  RPX_INLINE H __hsub(H a, H b) { return a - b; }                                                               \
  RPX_INLINE H __hmul(H a, H b) { return a * b; }                                                               \
  RPX_INLINE H __hdiv(H a, H b) { return a / b; }                                                               \
  RPX_INLINE H __hadd_rn(H a, H b) { return a + b; }                                                            \
  RPX_INLINE H __hsub_rn(H a, H b) { return a - b; }                                                            \
  RPX_INLINE H __hmul_rn(H a, H b) { return a * b; }                                                            \
  RPX_INLINE H __hadd_sat(H a, H b) { return H(__saturatef(float(a) + float(b))); }                             \
  RPX_INLINE H __hsub_sat(H a, H b) { return H(__saturatef(float(a) - float(b))); }                             \
  RPX_INLINE H __hmul_sat(H a, H b) { return H(__saturatef(float(a) * float(b))); }                             \
  RPX_INLINE H __hneg(H a) { return -a; }                                                                       \
  RPX_INLINE H __habs(H a) { return H(std::fabs(float(a))); }                                                   \
  RPX_INLINE H __hfma(H a, H b, H c) { return H(double(float(a)) * double(float(b)) + double(float(c))); }      \
  RPX_INLINE H __hfma_relu(H a, H b, H c) { H r = __hfma(a, b, c); return float(r) > 0 ? r : H(0.0f); }         \
  RPX_INLINE H __hfma_sat(H a, H b, H c) { return H(__saturatef(float(__hfma(a, b, c)))); }                     \
  RPX_INLINE bool __heq(H a, H b) { return a == b; }                                                            \
  RPX_INLINE bool __hne(H a, H b) { return a != b; }                                                            \
  RPX_INLINE bool __hlt(H a, H b) { return a < b; }                                                             \
  RPX_INLINE bool __hgt(H a, H b) { return a > b; }                                                             \
  RPX_INLINE bool __hle(H a, H b) { return a <= b; }                                                            \
  RPX_INLINE bool __hge(H a, H b) { return a >= b; }                                                            \
  RPX_INLINE bool __hequ(H a, H b) { return !(a < b) && !(a > b); }                                             \
  RPX_INLINE bool __hltu(H a, H b) { return !(a >= b); }                                                        \
  RPX_INLINE bool __hgtu(H a, H b) { return !(a <= b); }                                                        \
  RPX_INLINE bool __hisnan(H a) { return a != a; }                                                              \
  RPX_INLINE int __hisinf(H a) { return std::isinf(float(a)) ? (float(a) > 0 ? 1 : -1) : 0; }                   \
  RPX_INLINE H __hmax(H a, H b) { return H(std::fmax(float(a), float(b))); }                                    \
  RPX_INLINE H __hmin(H a, H b) { return H(std::fmin(float(a), float(b))); }                                    \
  RPX_INLINE H max(H a, H b) { return __hmax(a, b); }                                                           \
  RPX_INLINE H min(H a, H b) { return __hmin(a, b); }                                                           \
  RPX_INLINE H2 __hadd2(H2 a, H2 b) { return a + b; }                                                           \
  RPX_INLINE H2 __hsub2(H2 a, H2 b) { return a - b; }                                                           \
  RPX_INLINE H2 __hmul2(H2 a, H2 b) { return a * b; }                                                           \
  RPX_INLINE H2 __h2div(H2 a, H2 b) { return a / b; }                                                           \
  RPX_INLINE H2 h2div(H2 a, H2 b) { return a / b; }                                                             \
  RPX_INLINE H2 __hadd2_rn(H2 a, H2 b) { return a + b; }                                                        \
  RPX_INLINE H2 __hneg2(H2 a) { return -a; }                                                                    \
  RPX_INLINE H2 __habs2(H2 a) { return H2(__habs(a.x), __habs(a.y)); }                                          \
  RPX_INLINE H2 __hfma2(H2 a, H2 b, H2 c) { return H2(__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)); }          \
  RPX_INLINE H2 __hfma2_relu(H2 a, H2 b, H2 c) { return H2(__hfma_relu(a.x, b.x, c.x), __hfma_relu(a.y, b.y, c.y)); } \
  RPX_INLINE H2 __hmax2(H2 a, H2 b) { return H2(__hmax(a.x, b.x), __hmax(a.y, b.y)); }                          \
  RPX_INLINE H2 __hmin2(H2 a, H2 b) { return H2(__hmin(a.x, b.x), __hmin(a.y, b.y)); }                          \
  RPX_INLINE H2 __heq2(H2 a, H2 b) { return H2(H(float(a.x == b.x)), H(float(a.y == b.y))); }                   \
  RPX_INLINE H2 __hne2(H2 a, H2 b) { return H2(H(float(a.x != b.x)), H(float(a.y != b.y))); }                   \
  RPX_INLINE H2 __hlt2(H2 a, H2 b) { return H2(H(float(a.x < b.x)), H(float(a.y < b.y))); }                     \
  RPX_INLINE H2 __hgt2(H2 a, H2 b) { return H2(H(float(a.x > b.x)), H(float(a.y > b.y))); }                     \
  RPX_INLINE H2 __hle2(H2 a, H2 b) { return H2(H(float(a.x <= b.x)), H(float(a.y <= b.y))); }                   \
  RPX_INLINE H2 __hge2(H2 a, H2 b) { return H2(H(float(a.x >= b.x)), H(float(a.y >= b.y))); }                   \
  RPX_INLINE bool __hbeq2(H2 a, H2 b) { return a == b; }                                                        \
  RPX_INLINE bool __hbne2(H2 a, H2 b) { return a.x != b.x && a.y != b.y; }                                      \
  RPX_INLINE bool __hblt2(H2 a, H2 b) { return a.x < b.x && a.y < b.y; }                                        \
  RPX_INLINE bool __hbgt2(H2 a, H2 b) { return a.x > b.x && a.y > b.y; }                                        \
  RPX_INLINE bool __hble2(H2 a, H2 b) { return a.x <= b.x && a.y <= b.y; }                                      \
  RPX_INLINE bool __hbge2(H2 a, H2 b) { return a.x >= b.x && a.y >= b.y; }

#define RPX_SMALL_FLOAT_MATH_1(H, H2, name, expression)                                                         \
  RPX_INLINE H h##name(H v) { const float x = float(v); return H(float(expression)); }                          \
  RPX_INLINE H2 h2##name(H2 v) { return H2(h##name(v.x), h##name(v.y)); }
#define RPX_SMALL_FLOAT_MATH(H, H2)                           \
  RPX_SMALL_FLOAT_MATH_1(H, H2, exp, std::exp(x))             \
  RPX_SMALL_FLOAT_MATH_1(H, H2, exp2, std::exp2(x))           \
  RPX_SMALL_FLOAT_MATH_1(H, H2, exp10, ::exp10f(x))           \
  RPX_SMALL_FLOAT_MATH_1(H, H2, log, std::log(x))             \
  RPX_SMALL_FLOAT_MATH_1(H, H2, log2, std::log2(x))           \
  RPX_SMALL_FLOAT_MATH_1(H, H2, log10, std::log10(x))         \
  RPX_SMALL_FLOAT_MATH_1(H, H2, sin, std::sin(x))             \
  RPX_SMALL_FLOAT_MATH_1(H, H2, cos, std::cos(x))             \
  RPX_SMALL_FLOAT_MATH_1(H, H2, tanh, std::tanh(x))           \
  RPX_SMALL_FLOAT_MATH_1(H, H2, sqrt, std::sqrt(x))           \
  RPX_SMALL_FLOAT_MATH_1(H, H2, rsqrt, 1.0f / std::sqrt(x))   \
  RPX_SMALL_FLOAT_MATH_1(H, H2, rcp, 1.0f / x)                \
  RPX_SMALL_FLOAT_MATH_1(H, H2, ceil, std::ceil(x))           \
  RPX_SMALL_FLOAT_MATH_1(H, H2, floor, std::floor(x))         \
  RPX_SMALL_FLOAT_MATH_1(H, H2, rint, std::rint(x))           \
  RPX_SMALL_FLOAT_MATH_1(H, H2, trunc, std::trunc(x))
