// SPDX-License-Identifier: Apache-2.0
// What the forms of instructions call: bits, numbers and conversions as the ISA documents name them (with x_ before),
// lane loops, memory. Everything inlines into the form that uses it.
#ifndef ROCPORT_ISA_LANES_H
#define ROCPORT_ISA_LANES_H
#include <math.h>
#include <string.h>

#include "wave.h"

typedef _Float16 f16;
typedef __int128 i128;
#define AT static inline __attribute__((always_inline))
#define AT_INLINE inline __attribute__((always_inline))

template <class T, class F> AT T bitcast(F f) {
  static_assert(sizeof(T) == sizeof(F), "");
  T t;
  __builtin_memcpy(&t, &f, sizeof t);
  return t;
}
AT float as_f32(u64 b) { return bitcast<float>((u32)b); }
AT double as_f64(u64 b) { return bitcast<double>(b); }
AT f16 as_f16(u64 b) { return bitcast<f16>((u16)b); }
AT float as_bf16(u64 b) { return bitcast<float>((u32)(b << 16)); }
AT u32 bits(float x) { return bitcast<u32>(x); }
AT u64 bits(double x) { return bitcast<u64>(x); }
AT u32 bits(f16 x) { return bitcast<u16>(x); }
// To bfloat16: nearest even; a NaN stays one.
AT u32 bf16_bits(float x) {
  u32 b = bits(x);
  return x != x ? (b >> 16) | 0x40u : (b + 0x7fffu + (b >> 16 & 1)) >> 16;
}
AT u64 mask(u64 n) { return n >= 64 ? ~0ull : (1ull << n) - 1; }
AT i64 sext(u64 x, int n) { return n <= 0 ? 0 : (i64)(x << (64 - n)) >> (64 - n); }
AT u64 get_bits(u32 x, int low, int n) { return n <= 0 ? 0 : (u64)(low >= 32 ? 0 : x >> low) & mask(n); }
AT u64 get_bits(u64 x, int low, int n) { return n <= 0 ? 0 : (low >= 64 ? 0 : x >> low) & mask(n); }
AT u128 get_bits(u128 x, int low, int n) { return (u128)((u64)(x >> low) & mask(n)); }
AT u32 set_bits(u32 x, int low, int n, u64 b) { u32 m = (u32)mask(n) << low; return (x & ~m) | ((u32)b << low & m); }
AT u64 set_bits(u64 x, int low, int n, u64 b) { u64 m = mask(n) << low; return (x & ~m) | (b << low & m); }
AT u128 set_bits(u128 x, int low, int n, u64 b) { u128 m = (u128)mask(n) << low; return (x & ~m) | ((u128)b << low & m); }
AT u64 reverse_bits(u64 x, int n) { return __builtin_bitreverse64(x) >> (64 - n); }
template <class T> AT T shl(T a, u64 n) { return n >= sizeof(T) * 8 ? T(0) : T(a << n); }
template <class T> AT T shr(T a, u64 n) { return n >= sizeof(T) * 8 ? (a < T(0) ? T(-1) : T(0)) : T(a >> n); }
template <class T> AT T x_div(T a, T b) { return b == 0 ? T(0) : T(a / b); }
template <class T> AT T x_mod(T a, T b) { return b == 0 ? T(0) : T(a % b); }

// Numbers

AT i32 x_exponent(float x) { return bits(x) >> 23 & 255; }
AT i32 x_exponent(double x) { return bits(x) >> 52 & 2047; }
AT i32 x_exponent(f16 x) { return bits(x) >> 10 & 31; }
AT u32 x_sign(float x) { return bits(x) >> 31; }
AT u32 x_sign(double x) { return bits(x) >> 63; }
AT u32 x_sign(f16 x) { return bits(x) >> 15; }
AT float x_abs(float x) { return as_f32(bits(x) & 0x7fffffffu); }
AT double x_abs(double x) { return as_f64(bits(x) & ~(1ull << 63)); }
AT f16 x_abs(f16 x) { return as_f16(bits(x) & 0x7fff); }
AT i32 x_abs(i32 x) { return x < 0 ? (i32)(0u - (u32)x) : x; }
AT u32 x_isNAN(float x) { return (bits(x) & 0x7fffffffu) > 0x7f800000u; }
AT u32 x_isNAN(double x) { return (bits(x) & ~(1ull << 63)) > 0x7ffull << 52; }
AT u32 x_isNAN(f16 x) { return (bits(x) & 0x7fff) > 0x7c00; }
AT u32 x_isQuietNAN(float x) { return x_isNAN(x) && (bits(x) >> 22 & 1); }
AT u32 x_isQuietNAN(double x) { return x_isNAN(x) && (bits(x) >> 51 & 1); }
AT u32 x_isQuietNAN(f16 x) { return x_isNAN(x) && (bits(x) >> 9 & 1); }
template <class T> AT u32 x_isSignalNAN(T x) { return x_isNAN(x) && !x_isQuietNAN(x); }
AT float x_cvtToQuietNAN(float x) { return as_f32(bits(x) | 1u << 22); }
AT double x_cvtToQuietNAN(double x) { return as_f64(bits(x) | 1ull << 51); }
AT f16 x_cvtToQuietNAN(f16 x) { return as_f16(bits(x) | 1u << 9); }
AT u32 x_isdenormal(float x) { return !(bits(x) >> 23 & 255) && (bits(x) & 0x7fffff); }
AT u32 x_isdenormal(double x) { return !(bits(x) >> 52 & 2047) && (bits(x) & mask(52)); }
AT u32 x_isdenormal(f16 x) { return !(bits(x) >> 10 & 31) && (bits(x) & 0x3ff); }
AT float x_floor(float x) { return __builtin_floorf(x); }
AT double x_floor(double x) { return __builtin_floor(x); }
AT float x_trunc(float x) { return __builtin_truncf(x); }
AT double x_trunc(double x) { return __builtin_trunc(x); }
AT float x_ceil(float x) { return __builtin_ceilf(x); }
AT double x_ceil(double x) { return __builtin_ceil(x); }
AT float x_rndne(float x) { return __builtin_roundevenf(x); }
AT double x_rndne(double x) { return __builtin_roundeven(x); }
AT float x_sqrt(float x) { return __builtin_sqrtf(x); }
AT double x_sqrt(double x) { return __builtin_sqrt(x); }
AT float x_rcp(float x) { return 1.0f / x; }
AT double x_rcp(double x) { return 1.0 / x; }
AT float x_rsq(float x) { return (float)(1.0 / __builtin_sqrt((double)x)); }
AT double x_rsq(double x) { return 1.0 / __builtin_sqrt(x); }
AT float x_log2(float x) { return log2f(x); }
AT double x_log2(double x) { return log2(x); }
AT float x_exp2(float x) { return exp2f(x); }
AT double x_exp2(double x) { return exp2(x); }
AT float x_sin(float x) { return (float)sin((double)x); }
AT double x_sin(double x) { return sin(x); }
AT float x_cos(float x) { return (float)cos((double)x); }
AT double x_cos(double x) { return cos(x); }
AT float x_pow(float a, float b) { return a == 2.0f ? exp2f(b) : powf(a, b); }
AT double x_pow(double a, double b) { return a == 2.0 ? exp2(b) : pow(a, b); }
#define RP_HALF(N) AT f16 x_##N(f16 x) { return (f16)x_##N((float)x); }
RP_HALF(floor) RP_HALF(trunc) RP_HALF(ceil) RP_HALF(rndne) RP_HALF(sqrt) RP_HALF(rcp) RP_HALF(rsq)
RP_HALF(log2) RP_HALF(exp2) RP_HALF(sin) RP_HALF(cos)
AT f16 x_pow(f16 a, f16 b) { return (f16)x_pow((float)a, (float)b); }
AT float x_fract(float x) { return x - x_floor(x); }
AT double x_fract(double x) { return x - x_floor(x); }
AT f16 x_fract(f16 x) { return (f16)x_fract((float)x); }
AT float x_fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
AT double x_fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
// Rounded once: the sum is first rounded to odd, so that the last rounding sees on which side of the middle it lies.
AT f16 x_fma(f16 a, f16 b, f16 c) {
  double p = (double)(float)a * (double)(float)b, q = (double)(float)c, s = p + q;
  double t = s - p, error = (p - (s - t)) + (q - t);
  u64 sb = bits(s);
  if (error != 0 && error == error && !(sb & 1)) sb += (error > 0) == (s > 0) ? 1 : -1;
  double odd = as_f64(sb);
  float f = (float)odd;
  u32 fb = bits(f);
  if ((double)f != odd && odd == odd) {
    if (__builtin_fabs((double)f) > __builtin_fabs(odd)) fb -= 1;
    fb |= 1;
  }
  return (f16)as_f32(fb);
}
// x * 2**n, rounded once: n is split so that only the last product can be inexact.
AT double x_ldexp(double x, i64 n) {
  n = n > 4200 ? 4200 : n < -4200 ? -4200 : n;
  i64 a = n < -1022 ? -1022 : n > 1023 ? 1023 : n;
  n -= a;
  i64 b = n < -1022 ? -1022 : n > 1023 ? 1023 : n;
  n -= b;
  i64 c = n < -1022 ? -1022 : n > 1023 ? 1023 : n;
  if (a == -1022 && b != 0) {  // keep the first products exact
    double up = x * as_f64((u64)(1023 + 600) << 52);
    return b < -1600 + 1022 ? x * 0.0 : up * as_f64((u64)(1023 + a) << 52) * as_f64((u64)(1023 + (b - 600 < -1022 ? -1022 : b - 600)) << 52);
  }
  return x * as_f64((u64)(1023 + a) << 52) * as_f64((u64)(1023 + b) << 52) * as_f64((u64)(1023 + c) << 52);
}
AT float x_ldexp(float x, i64 n) {
  // A float times a power of two between 2**-400 and 2**400 is exact as a double; beyond, it over- or underflows alike.
  n = n > 400 ? 400 : n < -400 ? -400 : n;
  return (float)((double)x * as_f64((u64)(1023 + n) << 52));
}
AT f16 x_ldexp(f16 x, i64 n) { n = n > 80 ? 80 : n < -80 ? -80 : n; return (f16)((float)x * as_f32((u32)(127 + n) << 23)); }
AT double x_mantissa(double x) {
  if (!(x_abs(x) < INFINITY) || x == 0) return x;
  u64 b = bits(x_isdenormal(x) ? x * 0x1p54 : x);
  return as_f64((b & ~(0x7ffull << 52)) | 1022ull << 52);
}
AT float x_mantissa(float x) {
  if (!(x_abs(x) < INFINITY) || x == 0) return x;
  u32 b = bits(x_isdenormal(x) ? x * 0x1p24f : x);
  return as_f32((b & ~(0xffu << 23)) | 126u << 23);
}
AT f16 x_mantissa(f16 x) { return (f16)x_mantissa((float)x); }
template <class T> AT u32 x_isEven(T x) { double d = (double)x; return __builtin_floor(d / 2) * 2 == d; }
AT u32 x_countbits(u64 x) { return __builtin_popcountll(x); }
AT u32 x_countbits(u32 x) { return __builtin_popcount(x); }
AT u32 x_bitCount(u64 x) { return __builtin_popcountll(x); }
AT u32 x_count_ones(u64 x) { return __builtin_popcountll(x); }
AT u32 x_clz(u32 x) { return x ? __builtin_clz(x) : ~0u; }
AT u32 x_clz(u64 x) { return x ? __builtin_clzll(x) : ~0u; }
AT u32 x_ctz(u32 x) { return x ? __builtin_ctz(x) : ~0u; }
AT u32 x_ctz(u64 x) { return x ? __builtin_ctzll(x) : ~0u; }

// The lesser and the greater of two as V_MIN and V_MAX take them: a number wins over a NaN, -0 is less than +0.
template <class T> AT T x_fmin(T a, T b) {
  T r = a < b ? a : b;
  r = a == b ? (x_sign(a) ? a : b) : r;
  r = x_isNAN(b) ? (x_isNAN(a) ? x_cvtToQuietNAN(a) : a) : r;
  return x_isNAN(a) && !x_isNAN(b) ? b : r;
}
template <class T> AT T x_fmax(T a, T b) {
  T r = a > b ? a : b;
  r = a == b ? (x_sign(a) ? b : a) : r;
  r = x_isNAN(b) ? (x_isNAN(a) ? x_cvtToQuietNAN(a) : a) : r;
  return x_isNAN(a) && !x_isNAN(b) ? b : r;
}
// IEEE 754-2019 minimum and maximum: a NaN wins.
template <class T> AT T x_minimum(T a, T b) { return x_isNAN(a) ? x_cvtToQuietNAN(a) : x_isNAN(b) ? x_cvtToQuietNAN(b) : x_fmin(a, b); }
template <class T> AT T x_maximum(T a, T b) { return x_isNAN(a) ? x_cvtToQuietNAN(a) : x_isNAN(b) ? x_cvtToQuietNAN(b) : x_fmax(a, b); }
template <class T> AT T x_fmed(T a, T b, T c) {
  if (x_isNAN(a) || x_isNAN(b) || x_isNAN(c)) return x_fmin(x_fmin(a, b), c);
  return x_fmax(x_fmin(a, b), x_fmin(x_fmax(a, b), c));
}
template <class T> AT T x_legacy_mul(T a, T b) { return a == 0 || b == 0 ? T(0) : T(a * b); }
#define RP_MINMAX(S, T) \
  AT T x_v_min_##S(T a, T b) { return a < b ? a : b; } \
  AT T x_v_max_##S(T a, T b) { return a > b ? a : b; } \
  AT T x_v_min3_##S(T a, T b, T c) { return x_v_min_##S(x_v_min_##S(a, b), c); } \
  AT T x_v_max3_##S(T a, T b, T c) { return x_v_max_##S(x_v_max_##S(a, b), c); }
RP_MINMAX(i32, i32) RP_MINMAX(u32, u32) RP_MINMAX(i16, i32) RP_MINMAX(u16, u32)
#define RP_FMINMAX(S, T) \
  AT T x_v_min_##S(T a, T b) { return x_fmin(a, b); } \
  AT T x_v_max_##S(T a, T b) { return x_fmax(a, b); } \
  AT T x_v_min_num_##S(T a, T b) { return x_fmin(a, b); } \
  AT T x_v_max_num_##S(T a, T b) { return x_fmax(a, b); } \
  AT T x_v_minimum_##S(T a, T b) { return x_minimum(a, b); } \
  AT T x_v_maximum_##S(T a, T b) { return x_maximum(a, b); } \
  AT T x_v_min3_##S(T a, T b, T c) { return x_fmin(x_fmin(a, b), c); } \
  AT T x_v_max3_##S(T a, T b, T c) { return x_fmax(x_fmax(a, b), c); } \
  AT T x_v_min3_num_##S(T a, T b, T c) { return x_fmin(x_fmin(a, b), c); } \
  AT T x_v_max3_num_##S(T a, T b, T c) { return x_fmax(x_fmax(a, b), c); } \
  AT T x_v_minimum3_##S(T a, T b, T c) { return x_minimum(x_minimum(a, b), c); } \
  AT T x_v_maximum3_##S(T a, T b, T c) { return x_maximum(x_maximum(a, b), c); }
RP_FMINMAX(f32, float) RP_FMINMAX(f16, f16) RP_FMINMAX(f64, double)

// Conversions; to integers they saturate and a NaN gives 0.

AT i32 x_f32_to_i32(float x) { return x != x ? 0 : x >= 2147483648.0f ? 0x7fffffff : x < -2147483648.0f ? (i32)0x80000000 : (i32)x; }
AT u32 x_f32_to_u32(float x) { return !(x > 0) ? 0 : x >= 4294967296.0f ? ~0u : (u32)x; }
AT i32 x_f64_to_i32(double x) { return x != x ? 0 : x >= 2147483647.0 ? 0x7fffffff : x <= -2147483648.0 ? (i32)0x80000000 : (i32)x; }
AT u32 x_f64_to_u32(double x) { return !(x > 0) ? 0 : x >= 4294967295.0 ? ~0u : (u32)x; }
AT i32 x_f16_to_i16(f16 h) { float x = (float)h; return x != x ? 0 : x >= 32767.0f ? 32767 : x <= -32768.0f ? -32768 : (i32)x; }
AT u32 x_f16_to_u16(f16 h) { float x = (float)h; return !(x > 0) ? 0 : x >= 65535.0f ? 65535 : (u32)x; }
AT u32 x_f32_to_u8(float x) { return !(x > 0) ? 0 : x >= 255.0f ? 255 : (u32)x; }
AT i32 x_v_cvt_i16_f32(float x) { return x != x ? 0 : x >= 32767.0f ? 32767 : x <= -32768.0f ? -32768 : (i32)x; }
AT u32 x_v_cvt_u16_f32(float x) { return !(x > 0) ? 0 : x >= 65535.0f ? 65535 : (u32)x; }
AT float x_u32_to_f32(u32 x) { return (float)x; }
AT float x_i32_to_f32(i32 x) { return (float)x; }
AT double x_u32_to_f64(u32 x) { return x; }
AT double x_i32_to_f64(i32 x) { return x; }
AT f16 x_u16_to_f16(u32 x) { return (f16)(float)x; }
AT f16 x_i16_to_f16(i32 x) { return (f16)(float)x; }
AT double x_f32_to_f64(float x) { return x; }
AT float x_f64_to_f32(double x) { return (float)x; }
AT float x_f16_to_f32(f16 x) { return (float)x; }
AT f16 x_f32_to_f16(float x) { return (f16)x; }
AT f16 x_f32_to_f16_rtz(float x) {
  f16 h = (f16)x;
  if (x_abs(x) < INFINITY && x_abs((float)h) > x_abs(x)) h = as_f16(bits(h) - 1);
  return h;
}
AT float x_bf16_to_f32(float x) { return x; }
AT float x_f32_to_bf16(float x) { return as_bf16(bf16_bits(x)); }
AT i32 x_i8_to_i32(i32 x) { return x; }
AT i32 x_i8_to_i32(u32 x) { return (i8)x; }
AT u32 x_u8_to_u32(u32 x) { return x; }
AT u32 x_u16_to_u32(u32 x) { return x; }
AT i32 x_i16_to_i32(i32 x) { return x; }
AT i32 x_i4_to_i32(i32 x) { return x; }
AT i32 x_i4_to_i32(u32 x) { return (i32)sext(x, 4); }
AT u32 x_u4_to_u32(u32 x) { return x; }
AT u32 x_u32_to_u16(u32 x) { return x > 65535 ? 65535 : x; }
AT i32 x_i32_to_i16(i32 x) { return x > 32767 ? 32767 : x < -32768 ? -32768 : x; }
// Sums of differences of bytes; the masked one leaves out those whose reference is zero.
template <bool MASKED> AT u32 differences(u32 a, u32 b, u32 sum) {
  for (int k = 0; k < 32; k += 8) {
    const u32 x = a >> k & 255, y = b >> k & 255;
    if (!MASKED || y) sum += x > y ? x - y : y - x;
  }
  return sum;
}
AT u32 x_v_sad_u8(u32 a, u32 b, u32 c) { return differences<false>(a, b, c); }
AT u32 x_v_msad_u8(u32 a, u32 b, u32 c) { return differences<true>(a, b, c); }
// 53 bits of 2/pi from a place that a number's exponent and the segment choose; beyond the table 0 (LLVM's
// InstCombine folds it so).
AT double x_trig_preop(double x, u32 segment) {
  static const u32 two_over_pi[] = {
    0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab, 0xdebbc561, 0xb7246e3a, 0x424dd2e0,
    0x06492eea, 0x09d1921c, 0xfe1deb1c, 0xb129a73e, 0xe88235f5, 0x2ebb4484, 0xe99c7026, 0xb45f7e41, 0x3991d639, 0x835339f4,
    0x9c845f8b, 0xbdf9283b, 0x1ff897ff, 0xde05980f, 0xef2f118b, 0x5a0a6d1f, 0x6d367ecf, 0x27cb09b7, 0x4f463f66, 0x9e5fea2d,
    0x7527bac7, 0xebe5f17b, 0x3d0739f7, 0x8a5292ea, 0x6bfb5fb1, 0x1f8d5d08, 0x56033046, 0xfc7b6bab, 0xf0cfbc20,
  };
  const u32 e = bits(x) >> 52 & 2047, shift = (segment & 31) * 53 + (e > 1077 ? e - 1077 : 0), at = shift / 32;
  if (at + 2 >= sizeof two_over_pi / 4) return 0;
  u64 high = (u64)two_over_pi[at] << 32 | two_over_pi[at + 1];
  if (shift % 32) high = high << shift % 32 | two_over_pi[at + 2] >> (32 - shift % 32);
  return __builtin_ldexp((double)(high >> 11), -53 - (int)shift + (e >= 1968 ? 128 : 0));
}
AT i32 x_snorm16(float x) { return x != x ? 0 : (i32)__builtin_rintf((x > 1 ? 1.0f : x < -1 ? -1.0f : x) * 32767.0f); }
AT u32 x_unorm16(float x) { return !(x > 0) ? 0 : (u32)__builtin_rintf((x > 1 ? 1.0f : x) * 65535.0f); }
AT i32 x_f32_to_snorm(float x) { return x_snorm16(x); }
AT i32 x_f16_to_snorm(f16 x) { return x_snorm16((float)x); }
AT u32 x_f32_to_unorm(float x) { return x_unorm16(x); }
AT u32 x_f16_to_unorm(f16 x) { return x_unorm16((float)x); }
// Byte 0-7 of the pair {high, low}, or by `select`: 8-11 the sign of byte 1, 3, 5, 7; 12 zero; above, 0xff.
AT u32 permute_byte(u64 data, u32 select) {
  u32 byte = (u32)(data >> ((select & 7) * 8)) & 255;
  u32 sign = (data >> (((select & 3) * 2 + 1) * 8 + 7) & 1) ? 255 : 0;
  return select >= 13 ? 255 : select == 12 ? 0 : select >= 8 ? sign : byte;
}
AT u32 x_byte_permute(u32 high, u32 low, u32 select) {
  u64 data = (u64)high << 32 | low;
  return permute_byte(data, select & 255) | permute_byte(data, select >> 8 & 255) << 8 |
         permute_byte(data, select >> 16 & 255) << 16 | permute_byte(data, select >> 24) << 24;
}
// 8-bit floats. E exponent bits; FNUZ: bias one more, no infinities, NaN is 0x80 (gfx942); else OCP (gfx950, gfx12).
template <int E, bool FNUZ> AT float from_f8(u32 b) {
  const int M = 7 - E, bias = (1 << (E - 1)) - 1 + FNUZ;
  u32 e = b >> M & ((1 << E) - 1), m = b & ((1 << M) - 1);
  float sign = b >> 7 & 1 ? -1.0f : 1.0f;
  if (FNUZ ? (b & 255) == 128 : E == 5 ? e == 31 && m : (b & 127) == 127) return NAN;
  if (!FNUZ && E == 5 && e == 31) return sign * INFINITY;
  return e ? sign * as_f32((e - bias + 127) << 23 | m << (23 - M)) : sign * (float)m * as_f32((u32)(127 + 1 - bias - M) << 23);
}
// `random`: 0 rounds to nearest even; else stochastic rounding adds its upper bits below the last place.
template <int E, bool FNUZ> AT u32 to_f8(float x, bool stochastic = false, u32 random = 0) {
  const int M = 7 - E, bias = (1 << (E - 1)) - 1 + FNUZ;
  u32 sign = bits(x) >> 31 << 7;
  u32 nan = FNUZ ? 128 : sign | 127, top = FNUZ ? 127 : E == 5 ? 0x7b : 0x7e;
  if (x_isNAN(x)) return nan;
  if (x_abs(x) == INFINITY) return FNUZ ? nan : E == 5 ? sign | 0x7c : nan;
  u32 b = bits(x) & 0x7fffffff;
  int e = (int)(b >> 23) - 127 + bias;
  u64 m = (b >> 23 ? 1u << 23 : 0) | (b & 0x7fffff);
  int drop = 23 - M + (e < 1 ? 1 - e : 0);
  if (drop > 40) drop = 40;
  u64 half = 1ull << (drop - 1), rest = m & mask(drop), r = m >> drop;
  if (stochastic) r = (m + ((u64)random << 8 >> (40 - drop) & mask(drop))) >> drop;
  else if (rest > half || (rest == half && (r & 1))) r++;
  // r holds the implicit bit when normal; adding it to the exponent field carries by itself.
  u32 out = e < 1 ? (u32)r : ((u32)(e - 1) << M) + (u32)r;
  if (out > top) return FNUZ ? nan : E == 5 ? sign | 0x7c : nan;
  return out == 0 && FNUZ ? 0 : sign | out;
}
AT float x_fp8_to_f32(u32 b) { return from_f8<4, true>(b); }
AT float x_bf8_to_f32(u32 b) { return from_f8<5, true>(b); }
AT float x_fp8o_to_f32(u32 b) { return from_f8<4, false>(b); }
AT float x_bf8o_to_f32(u32 b) { return from_f8<5, false>(b); }
AT u32 x_f32_to_fp8(float x) { return to_f8<4, true>(x); }
AT u32 x_f32_to_bf8(float x) { return to_f8<5, true>(x); }
AT u32 x_f32_to_fp8o(float x) { return to_f8<4, false>(x); }
AT u32 x_f32_to_bf8o(float x) { return to_f8<5, false>(x); }
AT u32 x_f32_to_fp8_sr(float x, u32 r) { return to_f8<4, true>(x, true, r); }
AT u32 x_f32_to_bf8_sr(float x, u32 r) { return to_f8<5, true>(x, true, r); }

// Floats of 6 and 4 bits (OCP MX: E2M3, E3M2, E2M1): no infinities, no NaN. `step`: what the lowest bit of a denormal is.
template <int E, int M> AT float from_f6(u32 b) {
  const int bias = (1 << (E - 1)) - 1;
  const u32 e = b >> M & ((1 << E) - 1), m = b & ((1 << M) - 1);
  const float x = e ? as_f32((e - bias + 127) << 23 | m << (23 - M)) : (float)m * as_f32((u32)(127 + 1 - bias - M) << 23);
  return b >> (E + M) & 1 ? -x : x;
}
AT float x_fp6_to_f32(u32 b) { return from_f6<2, 3>(b); }
AT float x_bf6_to_f32(u32 b) { return from_f6<3, 2>(b); }
AT float x_fp4_to_f32(u32 b) { return from_f6<2, 1>(b); }
// To them: nearest even, or with random bits below the last place; what is too large, and a NaN, becomes the largest.
template <int E, int M> AT u32 to_f6(float x, bool stochastic, u32 random) {
  const int bias = (1 << (E - 1)) - 1;
  const u32 sign = bits(x) >> 31 << (E + M), top = (1u << (E + M)) - 1;
  if (x_isNAN(x)) return top;
  const u32 b = bits(x) & 0x7fffffff;
  const int e = (int)(b >> 23) - 127 + bias;
  const u64 m = (b >> 23 ? 1u << 23 : 0) | (b & 0x7fffff);
  int drop = 23 - M + (e < 1 ? 1 - e : 0);
  if (drop > 40) drop = 40;
  const u64 half = 1ull << (drop - 1), rest = m & mask(drop);
  u64 r = m >> drop;
  if (stochastic) r = (m + ((u64)random << 8 >> (40 - drop) & mask(drop))) >> drop;
  else if (rest > half || (rest == half && (r & 1))) r++;
  const u64 out = e < 1 ? r : ((u64)(e - 1) << M) + r;
  return sign | (u32)(out > top ? top : out);
}
AT u32 x_to_fp8(float x, bool s, u32 r) { return to_f8<4, false>(x, s, r); }
AT u32 x_to_bf8(float x, bool s, u32 r) { return to_f8<5, false>(x, s, r); }
AT u32 x_to_fp6(float x, bool s, u32 r) { return to_f6<2, 3>(x, s, r); }
AT u32 x_to_bf6(float x, bool s, u32 r) { return to_f6<3, 2>(x, s, r); }
AT u32 x_to_fp4(float x, bool s, u32 r) { return to_f6<2, 1>(x, s, r); }
// A number times and over the power of two that an exponent field names; 255 is a NaN.
AT float scaled_up(float x, u32 e) { return e == 255 ? NAN : x_ldexp(x, (i64)e - 127); }
AT float scaled_down(float x, u32 e) { return e == 255 ? NAN : x_ldexp(x, 127 - (i64)e); }
AT i32 sign4(u32 b) { return (i32)(b << 28) >> 28; }
// Element k of so many bits each, packed without gaps in the registers of one lane.
template <int BITS, int W> AT u32 element(const u32 *row, int lane, int k) {
  const int at = k * BITS;
  u64 v = row[at / 32 * W + lane];
  if (at % 32 + BITS > 32) v |= (u64)row[(at / 32 + 1) * W + lane] << 32;
  return (u32)(v >> (at % 32)) & ((1u << BITS) - 1);
}
// Scales of matrix instructions: E8M0 exponents, added; 255 is a NaN.
enum { RP_NO_SCALE = 1 << 20 };
AT i32 scale_of(u32 a, u32 b) { return a == 255 || b == 255 ? RP_NO_SCALE : (i32)(a + b) - 254; }
AT float scaled(float x, i32 n) { return n == RP_NO_SCALE ? NAN : n ? x_ldexp(x, n) : x; }

// Lanes

template <int W> AT u64 exec_of(const rp_wave *w) {
  return W == 64 ? (u64)w->s[RP_EXEC] | (u64)w->s[RP_EXEC + 1] << 32 : w->s[RP_EXEC];
}
template <int W> AT u64 vcc_of(const rp_wave *w) {
  return W == 64 ? (u64)w->s[RP_VCC] | (u64)w->s[RP_VCC + 1] << 32 : w->s[RP_VCC];
}
template <int W> AT void set_mask(rp_wave *w, u32 at, u64 m) {
  w->s[at] = (u32)m;
  if (W == 64 && at != RP_NULL) w->s[at + 1] = (u32)(m >> 32);
}
template <int W> AT u64 get_mask(const rp_wave *w, u32 at) {
  return W == 64 ? (u64)w->s[at] | (u64)w->s[at + 1] << 32 : w->s[at];
}
// AVX-512 by clang's builtins: immintrin.h takes a second to parse.
typedef i32 sixteen __attribute__((vector_size(64), aligned(4)));
// Writes the lanes of `ex` of one row.
template <int W> AT void write_row(u32 *row, const u32 *values, u64 ex) {
#ifdef __AVX512F__
  for (int c = 0; c < W; c += 16)
    __builtin_ia32_storedqusi512_mask((int *)(row + c), *(const sixteen *)(values + c), (u16)(ex >> c));
#else
  for (int l = 0; l < W; l++) row[l] = ex >> l & 1 ? values[l] : row[l];
#endif
}
// One bit a lane, from 0/1 words.
template <int W> AT u64 pack_bits(const u32 *values) {
#ifdef __AVX512F__
  u64 m = 0;
  for (int c = 0; c < W; c += 16) {
    const sixteen x = *(const sixteen *)(values + c);
    m |= (u64)__builtin_ia32_cmpd512_mask(x, (sixteen){}, 4, (u16)-1) << c;  // 4: not equal
  }
  return m;
#else
  u64 m = 0;
  for (int l = 0; l < W; l++) m |= (u64)(values[l] != 0) << l;
  return m;
#endif
}
template <int W> AT void unpack_bits(u32 *values, u64 m) {
  for (int l = 0; l < W; l++) values[l] = (u32)(m >> l) & 1;
}
#define ROW(K) (w->v + op->o[K])
// How far M0 moves a register operand, in words; what leaves the registers stays at the first.
template <int W> AT u32 indexed_row(const rp_wave *w) { return (w->s[RP_M0] & 255) * W; }
#define EACH_LANE _Pragma("clang loop vectorize(assume_safety)") for (int l = 0; l < W; l++)
#define ACTIVE_LANES for (u64 left_ = ex; left_; left_ &= left_ - 1) if (const int l = __builtin_ctzll(left_); true)

// A scalar operand: an immediate, or an index of the wave's scalar state.
AT u32 uniform32(const rp_wave *w, u32 immediate, u32 a) { return immediate ? a : w->s[a]; }
AT u64 uniform64(const rp_wave *w, u32 immediate, u32 a, u32 high) {
  return immediate ? a | (u64)high << 32 : w->s[a] | (u64)w->s[a + 1] << 32;
}
AT u32 clamp_i32(i64 x) { return (u32)(x > 2147483647 ? 2147483647 : x < -2147483648ll ? -2147483648ll : x); }
AT u32 x_set_byte(u32 word, u32 at, u32 byte) { return set_bits(word, 8 * (at & 3), 8, byte); }

// MODE: rounding in bits 3:0 (float, then double and half), denormals in 7:4. The host rounds and flushes by MXCSR,
// which knows one setting: a wave's own is set while it runs, that of doubles around their forms.
AT u32 csr_of(u32 round, u32 denormal) {
  static const u8 rounding[4] = {0, 2, 1, 3};  // nearest, up, down, zero -> MXCSR.RC
  return 0x1f80u | (u32)rounding[round & 3] << 13 | (denormal & 1 ? 0 : 0x40u) | (denormal & 2 ? 0 : 0x8000u);
}
AT void set_csr(rp_wave *w) {
  w->csr = csr_of(w->mode, w->mode >> 4);
  w->csr_double = csr_of(w->mode >> 2, w->mode >> 6);
  __builtin_ia32_ldmxcsr(w->csr);
}
struct Doubles {
  const rp_wave *w;
  AT_INLINE Doubles(const rp_wave *w) : w(w) { if (__builtin_expect(w->csr != w->csr_double, 0)) __builtin_ia32_ldmxcsr(w->csr_double); }
  AT_INLINE ~Doubles() { if (__builtin_expect(w->csr != w->csr_double, 0)) __builtin_ia32_ldmxcsr(w->csr); }
};
AT u64 rp_clock(rp_wave *w) { return w->clock + w->executed; }
AT u32 get_hwreg(rp_wave *w, u32 id, u32 low, u32 n) {
  u32 value = id == 1 ? w->mode : id == 4 || id == 23 || id == 24 ? w->hwid : id == 29 ? (u32)rp_clock(w) : 0;
  return (u32)get_bits(value, low, n);
}
AT void set_hwreg(rp_wave *w, u32 id, u32 low, u32 n, u32 value) {
  if (id != 1) return;
  w->mode = set_bits(w->mode, low, n, value);
  set_csr(w);
}
// The op at an address that the program computed.
static inline const rp_op *rp_jump(rp_wave *w, const rp_op *op, u64 address) {
  const u64 pc = address - w->image;
  u32 a = 0, b = w->kernel->op_count;
  while (a < b) {
    u32 m = (a + b) / 2;
    if (w->kernel->ops[m].pc < pc) a = m + 1; else b = m;
  }
  if (a < w->kernel->op_count && w->kernel->ops[a].pc == pc) return w->kernel->ops + a;
  w->address = address;
  return rp_stop_at(w, op, RP_BAD_JUMP);
}

// The lane that DPP control `c` reads from for lane l, or -1.
template <int W, bool GFX9> AT int dpp_lane(int c, int l) {
  int row = l & ~15, i = l & 15, k = c & 15;
  if (c < 0x100) return (l & ~3) | (c >> (2 * (l & 3)) & 3);
  switch (c & 0x1f0) {
    case 0x100: return i + k < 16 ? l + k : -1;
    case 0x110: return i >= k ? l - k : -1;
    case 0x120: return row | ((i - k) & 15);
    case 0x150: return row | k;
    case 0x160: return row | (i ^ k);
  }
  switch (c) {
    case 0x130: return l + 1 < W ? l + 1 : -1;
    case 0x134: return (l + 1) % W;
    case 0x138: return l - 1;
    case 0x13c: return (l + W - 1) % W;
    case 0x140: return row | (15 - i);
    case 0x141: return (l & ~7) | (7 - (l & 7));
    case 0x142: return l >= 16 ? row - 1 : -1;
    case 0x143: return l >= 32 ? 31 : -1;
  }
  return -1;
}

// Fills `out` with what DPP brings to each lane and answers which lanes may be written.
// masks: row mask 3:0, bank mask 7:4, bound_ctrl 8, fetch inactive 9.
template <int W, bool GFX9, int WORDS> AT u64 dpp16(u32 *out, const u32 *row, u32 control, u32 masks, u64 ex) {
  u64 ok = 0;
  for (int l = 0; l < W; l++) {
    int q = dpp_lane<W, GFX9>((int)control, l);
    bool valid = q >= 0 && ((masks >> 9 & 1) || (ex >> q & 1));
    bool write = (masks >> (l >> 4 & 3) & 1) && (masks >> (4 + ((l & 15) >> 2)) & 1) && (valid || (masks >> 8 & 1));
    ok |= (u64)write << l;
    for (int k = 0; k < WORDS; k++) out[k * W + l] = valid ? row[k * W + q] : 0;
  }
  return ok;
}
template <int W, int WORDS> AT u64 dpp8(u32 *out, const u32 *row, u32 select, u64 ex) {
  for (int l = 0; l < W; l++) {
    int q = (l & ~7) | (select >> (3 * (l & 7)) & 7);
    for (int k = 0; k < WORDS; k++) out[k * W + l] = ex >> q & 1 ? row[k * W + q] : 0;
  }
  return ~0ull;
}

// Memory

AT u8 *lds_at(rp_wave *w, u32 a, u32 n) { return (u64)a + n <= w->lds_bytes ? w->lds + a : 0; }
AT u8 *scratch_at(rp_wave *w, int l, u32 a, u32 n) {
  return (u64)a + n <= w->scratch_bytes ? w->scratch + (u64)l * w->scratch_bytes + a : 0;
}
// Where an access of n bytes goes; 0 when it lies outside LDS or scratch. Global addresses are host addresses.
AT u8 *global_at(rp_wave *, int, u64 a, u32) { return (u8 *)a; }
AT u8 *flat_at(rp_wave *w, int l, u64 a, u32 n) {
  u32 high = (u32)(a >> 32);
  if (__builtin_expect(high == RP_SHARED_APERTURE, 0)) return lds_at(w, (u32)a, n);
  if (__builtin_expect(high == RP_PRIVATE_APERTURE, 0)) return scratch_at(w, l, (u32)a, n);
  return (u8 *)a;
}
// The same for forms of watched launches: the engine learns of every access. translate.py puts these names in.
AT u8 *seen(rp_wave *w, u8 *p, u32 n) {
  rp_watch *watch = w->watch;
  if (p && watch && watch->count < 256) {
    rp_access &a = watch->seen[watch->count++];
    a.place = p;
    a.bytes = n < 16 ? n : 16;
    __builtin_memcpy(a.before, p, a.bytes);
  }
  return p;
}
AT u8 *lds_seen(rp_wave *w, u32 a, u32 n) { return seen(w, lds_at(w, a, n), n); }
AT u8 *scratch_seen(rp_wave *w, int l, u32 a, u32 n) { return scratch_at(w, l, a, n); }
AT u8 *global_seen(rp_wave *w, int, u64 a, u32 n) { return seen(w, (u8 *)a, n); }
AT u8 *flat_seen(rp_wave *w, int l, u64 a, u32 n) {
  return (u32)(a >> 32) == RP_PRIVATE_APERTURE ? flat_at(w, l, a, n) : seen(w, flat_at(w, l, a, n), n);
}
template <class T> AT T peek(const u8 *p) { T t; __builtin_memcpy(&t, p, sizeof t); return t; }
template <class T> AT void poke(u8 *p, T t) { __builtin_memcpy(p, &t, sizeof t); }
const rp_op *rp_out_of_range(rp_wave *w, const rp_op *op, int lane, u64 address);
#define OUTSIDE(LANE, ADDRESS) do { w->lane = (LANE); w->address = (ADDRESS); return rp_stop_at(w, op, RP_FAULT); } while (0)

// A buffer resource. Scratch through a descriptor: the aperture in its base.
struct Buffer {
  rp_wave *w;
  u64 base;
  u32 stride, records, soffset;
  AT_INLINE Buffer(rp_wave *w, u32 q, u32 soffset)
      : w(w), base((w->s[q] | (u64)w->s[q + 1] << 32) & 0xffffffffffffull), stride(w->s[q + 1] >> 16 & 0x3fff),
        records(w->s[q + 2]), soffset(soffset) {}
  // Where lane l's n bytes are, 0 out of bounds.
  AT_INLINE u8 *at(int l, u32 index, u32 offset, u32 n) const {
    if (base >> 32 == RP_PRIVATE_APERTURE) return scratch_at(w, l, offset + soffset, n);
    if (stride ? index >= records : (u64)offset + n > records) return 0;
    return (u8 *)(base + soffset + (u64)index * stride + offset);
  }
  AT_INLINE u8 *seen_at(int l, u32 index, u32 offset, u32 n) const {
    u8 *p = at(l, index, offset, n);
    return base >> 32 == RP_PRIVATE_APERTURE ? p : seen(w, p, n);
  }
};
AT u32 pk_add_f16(u32 a, u32 b) { return bits((f16)(as_f16(a) + as_f16(b))) | bits((f16)(as_f16(a >> 16) + as_f16(b >> 16))) << 16; }
AT u32 pk_add_bf16(u32 a, u32 b) { return bf16_bits(as_bf16(a) + as_bf16(b)) | bf16_bits(as_bf16(a >> 16) + as_bf16(b >> 16)) << 16; }
AT float as_xf32(u32 b) { return as_f32(b & 0xffffe000u); }
AT int swizzle_lane(u32 offset, int l) {
  if (offset & 0x8000) return (l & ~3) | (offset >> (2 * (l & 3)) & 3);
  return (l & 32) | ((((l & 31) & (offset & 31)) | (offset >> 5 & 31)) ^ (offset >> 10 & 31));
}
// Whether all lanes run and their 32-bit addresses follow each other by four bytes.
template <int W> AT bool consecutive(const u32 *a, u64 ex) {
  if (ex != (W == 64 ? ~0ull : 0xffffffffull) || a[0] > 0xffffff00u) return false;
  u32 wrong = 0;
  for (int l = 0; l < W; l++) wrong |= a[l] ^ (a[0] + 4 * l);
  return !wrong;
}
template <int W> AT bool lane_by_lane(const u32 *, u64) { return false; }
template <int W> AT bool consecutive_wide(const u32 *a, u64 ex) {
  if (!consecutive<W>(a, ex)) return false;
  u32 wrong = 0;
  for (int l = 0; l < W; l++) wrong |= a[W + l] ^ a[W];
  return !wrong;
}

// One read-modify-write. `f` maps the old value to the new one; real when other threads may see the place.
template <class T, class F> AT T update(u8 *p, bool shared, F f) {
  T *q = (T *)p;
  if (!shared || ((u64)p & (sizeof(T) - 1))) {
    T old = peek<T>(p);
    poke<T>(p, f(old));
    return old;
  }
  T old = __atomic_load_n(q, __ATOMIC_RELAXED);
  for (;;) {
    T next = f(old);
    if (__atomic_compare_exchange_n(q, &old, next, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) return old;
  }
}
#endif
