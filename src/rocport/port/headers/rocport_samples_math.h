// rocport_samples_math.h - what programs take from helper_math.h of CUDA's samples, on AMD.
// SPDX-License-Identifier: Apache-2.0
//
// HIP's vector types have their operators themselves, on vectors and scalars, for host and device: defining them again
// makes every use ambiguous. Here is the rest: make_ functions that widen, narrow and convert, and the functions of
// graphics on float2, float3 and float4.
#ifndef ROCPORT_SAMPLES_MATH_H
#define ROCPORT_SAMPLES_MATH_H

#include <hip/hip_runtime.h>

#include <math.h>

#define ROCPORT_FN inline __host__ __device__

typedef unsigned int uint;
typedef unsigned short ushort;

// --- make_

#define ROCPORT_MAKE(T, S, U, V)                                                                                   \
  ROCPORT_FN T##2 make_##T##2(S s) { return make_##T##2(s, s); }                                                   \
  ROCPORT_FN T##3 make_##T##3(S s) { return make_##T##3(s, s, s); }                                                \
  ROCPORT_FN T##4 make_##T##4(S s) { return make_##T##4(s, s, s, s); }                                             \
  ROCPORT_FN T##2 make_##T##2(T##3 a) { return make_##T##2(a.x, a.y); }                                            \
  ROCPORT_FN T##2 make_##T##2(T##4 a) { return make_##T##2(a.x, a.y); }                                            \
  ROCPORT_FN T##3 make_##T##3(T##2 a) { return make_##T##3(a.x, a.y, S(0)); }                                      \
  ROCPORT_FN T##3 make_##T##3(T##2 a, S s) { return make_##T##3(a.x, a.y, s); }                                    \
  ROCPORT_FN T##3 make_##T##3(T##4 a) { return make_##T##3(a.x, a.y, a.z); }                                       \
  ROCPORT_FN T##4 make_##T##4(T##3 a) { return make_##T##4(a.x, a.y, a.z, S(0)); }                                 \
  ROCPORT_FN T##4 make_##T##4(T##3 a, S s) { return make_##T##4(a.x, a.y, a.z, s); }                               \
  ROCPORT_FN T##2 make_##T##2(U##2 a) { return make_##T##2(S(a.x), S(a.y)); }                                      \
  ROCPORT_FN T##3 make_##T##3(U##3 a) { return make_##T##3(S(a.x), S(a.y), S(a.z)); }                              \
  ROCPORT_FN T##4 make_##T##4(U##4 a) { return make_##T##4(S(a.x), S(a.y), S(a.z), S(a.w)); }                      \
  ROCPORT_FN T##2 make_##T##2(V##2 a) { return make_##T##2(S(a.x), S(a.y)); }                                      \
  ROCPORT_FN T##3 make_##T##3(V##3 a) { return make_##T##3(S(a.x), S(a.y), S(a.z)); }                              \
  ROCPORT_FN T##4 make_##T##4(V##4 a) { return make_##T##4(S(a.x), S(a.y), S(a.z), S(a.w)); }

ROCPORT_MAKE(float, float, int, uint)
ROCPORT_MAKE(int, int, float, uint)
ROCPORT_MAKE(uint, uint, float, int)
#undef ROCPORT_MAKE

// --- one component at a time

#define ROCPORT_EACH1(name, T, call)                                                                 \
  ROCPORT_FN T##2 name(T##2 a) { return make_##T##2(call(a.x), call(a.y)); }                         \
  ROCPORT_FN T##3 name(T##3 a) { return make_##T##3(call(a.x), call(a.y), call(a.z)); }              \
  ROCPORT_FN T##4 name(T##4 a) { return make_##T##4(call(a.x), call(a.y), call(a.z), call(a.w)); }
#define ROCPORT_EACH2(name, T, call)                                                                         \
  ROCPORT_FN T##2 name(T##2 a, T##2 b) { return make_##T##2(call(a.x, b.x), call(a.y, b.y)); }               \
  ROCPORT_FN T##3 name(T##3 a, T##3 b) {                                                                     \
    return make_##T##3(call(a.x, b.x), call(a.y, b.y), call(a.z, b.z));                                      \
  }                                                                                                          \
  ROCPORT_FN T##4 name(T##4 a, T##4 b) {                                                                     \
    return make_##T##4(call(a.x, b.x), call(a.y, b.y), call(a.z, b.z), call(a.w, b.w));                      \
  }

namespace rocport {
namespace samples {
template <class T>
ROCPORT_FN T least(T a, T b) {
  return b < a ? b : a;
}
template <class T>
ROCPORT_FN T most(T a, T b) {
  return a < b ? b : a;
}
template <class T>
ROCPORT_FN T size(T a) {
  return a < T(0) ? -a : a;
}
ROCPORT_FN float part(float v) { return v - floorf(v); }
}  // namespace samples
}  // namespace rocport

ROCPORT_EACH2(fminf, float, ::fminf)
ROCPORT_EACH2(fmaxf, float, ::fmaxf)
ROCPORT_EACH2(fmodf, float, ::fmodf)
ROCPORT_EACH1(floorf, float, ::floorf)
ROCPORT_EACH1(fabs, float, ::fabsf)
ROCPORT_EACH1(fracf, float, rocport::samples::part)
ROCPORT_FN float fracf(float v) { return rocport::samples::part(v); }
ROCPORT_EACH2(min, int, rocport::samples::least)
ROCPORT_EACH2(max, int, rocport::samples::most)
ROCPORT_EACH2(min, uint, rocport::samples::least)
ROCPORT_EACH2(max, uint, rocport::samples::most)
ROCPORT_EACH1(abs, int, rocport::samples::size)
#undef ROCPORT_EACH1
#undef ROCPORT_EACH2

// --- clamp

#define ROCPORT_CLAMP(T, S)                                                                                  \
  ROCPORT_FN S clamp(S v, S a, S b) { return rocport::samples::most(a, rocport::samples::least(v, b)); }     \
  ROCPORT_FN T##2 clamp(T##2 v, T##2 a, T##2 b) {                                                            \
    return make_##T##2(clamp(v.x, a.x, b.x), clamp(v.y, a.y, b.y));                                          \
  }                                                                                                          \
  ROCPORT_FN T##3 clamp(T##3 v, T##3 a, T##3 b) {                                                            \
    return make_##T##3(clamp(v.x, a.x, b.x), clamp(v.y, a.y, b.y), clamp(v.z, a.z, b.z));                    \
  }                                                                                                          \
  ROCPORT_FN T##4 clamp(T##4 v, T##4 a, T##4 b) {                                                            \
    return make_##T##4(clamp(v.x, a.x, b.x), clamp(v.y, a.y, b.y), clamp(v.z, a.z, b.z), clamp(v.w, a.w, b.w)); \
  }                                                                                                          \
  ROCPORT_FN T##2 clamp(T##2 v, S a, S b) { return clamp(v, make_##T##2(a), make_##T##2(b)); }               \
  ROCPORT_FN T##3 clamp(T##3 v, S a, S b) { return clamp(v, make_##T##3(a), make_##T##3(b)); }               \
  ROCPORT_FN T##4 clamp(T##4 v, S a, S b) { return clamp(v, make_##T##4(a), make_##T##4(b)); }               \
  ROCPORT_FN S dot(T##2 a, T##2 b) { return a.x * b.x + a.y * b.y; }                                         \
  ROCPORT_FN S dot(T##3 a, T##3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }                             \
  ROCPORT_FN S dot(T##4 a, T##4 b) { return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w; }

ROCPORT_CLAMP(float, float)
ROCPORT_CLAMP(int, int)
ROCPORT_CLAMP(uint, uint)
#undef ROCPORT_CLAMP

// --- lengths and mixes

#if !defined(__cpp_lib_interpolate)
ROCPORT_FN float lerp(float a, float b, float t) { return a + t * (b - a); }
#endif
ROCPORT_FN float smoothstep(float a, float b, float x) {
  const float t = clamp((x - a) / (b - a), 0.0f, 1.0f);
  return t * t * (3.0f - 2.0f * t);
}

#define ROCPORT_VECTOR(T)                                                      \
  ROCPORT_FN T lerp(T a, T b, float t) { return a + (b - a) * t; }             \
  ROCPORT_FN float length(T v) { return sqrtf(dot(v, v)); }                    \
  ROCPORT_FN T normalize(T v) { return v * (1.0f / sqrtf(dot(v, v))); }        \
  ROCPORT_FN T smoothstep(T a, T b, T x) {                                     \
    const T t = clamp((x - a) / (b - a), 0.0f, 1.0f);                          \
    return t * t * (3.0f - 2.0f * t);                                          \
  }

ROCPORT_VECTOR(float2)
ROCPORT_VECTOR(float3)
ROCPORT_VECTOR(float4)
#undef ROCPORT_VECTOR

ROCPORT_FN float3 reflect(float3 i, float3 n) { return i - n * (2.0f * dot(n, i)); }
ROCPORT_FN float3 cross(float3 a, float3 b) {
  return make_float3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

#undef ROCPORT_FN
#endif  // ROCPORT_SAMPLES_MATH_H
