// rocport_compat.h - CUDA device functions that HIP does not have, with CUDA's meaning.
// SPDX-License-Identifier: Apache-2.0
//
// What a port calls in place of CUDA's cache hints, directed rounding, dot products, block- and system-wide atomics and
// of the PTX instructions that inline assembly used. Everything is plain C++ over Clang builtins, does not depend on the
// width of a wavefront, and compiles for every gfx target from gfx900 on.
//
// Conventions: a function is named after the CUDA intrinsic without its underscores (`__ldcs` is `rocport::ldcs`) or after
// the PTX instruction (`prmt`). Where it differs from CUDA in a corner, its comment says so.
#ifndef ROCPORT_COMPAT_H
#define ROCPORT_COMPAT_H

#if !defined(__HIPCC_RTC__)
#include <hip/hip_runtime.h>
#endif

#include "rocport_host.h"

#ifndef ROCPORT_DEVICE
#define ROCPORT_DEVICE __device__ inline __attribute__((always_inline))
#endif

// An asm statement that the port could not translate. A device function may hold one and be called by nobody: clang
// reports the call below only for functions that a kernel reaches, and says which kernel.
#if defined(ROCPORT_ON_CPU) || defined(__HIPCC_RTC__)
#define ROCPORT_REFUSED(...) __VA_ARGS__
#else
#define ROCPORT_REFUSED(...) ::rocport::ptx_without_a_translation()
#endif

namespace rocport {

__host__ inline void ptx_without_a_translation() { __builtin_trap(); }

// ---- Bits ------------------------------------------------------------------------------------------------------------

// The bits of `from` as a `To` of the same size.
template <class To, class From>
__host__ __device__ inline __attribute__((always_inline)) To bit_cast(const From& from) {
  static_assert(sizeof(To) == sizeof(From), "bit_cast between types of different sizes");
  To to;
  __builtin_memcpy(static_cast<void*>(&to), static_cast<const void*>(&from), sizeof(To));
  return to;
}

// PTX shl and shr: a shift by the width or more gives 0, or the sign.
template <class T>
ROCPORT_DEVICE T shl_clamp(T value, unsigned count) {
  return count >= 8u * sizeof(T) ? T(0) : T(value << count);
}
template <class T>
ROCPORT_DEVICE T shr_clamp(T value, unsigned count) {
  return count >= 8u * sizeof(T) ? T(value < T(0) ? T(-1) : T(0)) : T(value >> count);
}

// `value << count` and `value >> count` as NVIDIA's instructions shift: by the width or more, 0 or the sign is left.
template <class T>
__host__ __device__ constexpr auto shift_left(T value, unsigned count) -> decltype(value << 0u) {
  return count >= 8u * sizeof(value << 0u) ? decltype(value << 0u)(0) : value << count;
}
template <class T>
__host__ __device__ constexpr auto shift_right(T value, unsigned count) -> decltype(value >> 0u) {
  return count >= 8u * sizeof(value >> 0u) ? value < T(0) ? decltype(value >> 0u)(-1) : decltype(value >> 0u)(0) : value >> count;
}

// PTX bfe: `length` bits of `value` from bit `start`; the signed form extends the sign.
template <class T>
ROCPORT_DEVICE T bfe(T value, unsigned start, unsigned length) {
  const unsigned width = 8u * sizeof(T);
  start &= 255u;
  length &= 255u;
  if (length == 0u) return T(0);
  if (start >= width) return T(value < T(0) ? T(-1) : T(0));
  if (length > width - start) length = width - start;
  const unsigned left = width - start - length;
  using Bits = decltype(value + 0);
  return T(T(Bits(static_cast<unsigned long long>(value) << left)) >> (width - length));
}

// PTX bfi: `base` with `length` bits from bit `start` on replaced by the low bits of `field`.
template <class T>
ROCPORT_DEVICE T bfi(T field, T base, unsigned start, unsigned length) {
  const unsigned width = 8u * sizeof(T);
  start &= 255u;
  length &= 255u;
  if (start >= width || length == 0u) return base;
  if (length > width - start) length = width - start;
  const unsigned long long ones = length >= 64u ? ~0ull : (1ull << length) - 1ull;
  const unsigned long long mask = ones << start;
  return T((static_cast<unsigned long long>(base) & ~mask) | ((static_cast<unsigned long long>(field) << start) & mask));
}

// PTX bfind: position of the highest bit that is set (of a negative number: that is clear), or ~0.
ROCPORT_DEVICE unsigned bfind(unsigned value) { return value == 0u ? ~0u : 31u - __clz(static_cast<int>(value)); }
ROCPORT_DEVICE unsigned bfind(int value) { return bfind(static_cast<unsigned>(value < 0 ? ~value : value)); }
ROCPORT_DEVICE unsigned bfind(unsigned long long value) {
  return value == 0ull ? ~0u : 63u - __clzll(static_cast<long long>(value));
}
ROCPORT_DEVICE unsigned bfind(long long value) { return bfind(static_cast<unsigned long long>(value < 0 ? ~value : value)); }

// PTX prmt: four bytes chosen from the eight of `b:a`; bit 3 of a selector spreads the byte's sign instead.
ROCPORT_DEVICE unsigned prmt(unsigned a, unsigned b, unsigned selector) {
  const unsigned long long bytes = (static_cast<unsigned long long>(b) << 32) | a;
  unsigned result = 0u;
#pragma unroll
  for (unsigned i = 0u; i < 4u; ++i) {
    const unsigned nibble = selector >> (4u * i);
    unsigned byte = static_cast<unsigned>(bytes >> (8u * (nibble & 7u))) & 255u;
    if (nibble & 8u) byte = (byte & 128u) ? 255u : 0u;
    result |= byte << (8u * i);
  }
  return result;
}
// The modes of prmt: forward and backward extraction, replication, edge clamping.
ROCPORT_DEVICE unsigned prmt_f4e(unsigned a, unsigned b, unsigned n) {
  n &= 3u;
  return static_cast<unsigned>(((static_cast<unsigned long long>(b) << 32) | a) >> (8u * n));
}
ROCPORT_DEVICE unsigned prmt_b4e(unsigned a, unsigned b, unsigned n) {
  n &= 3u;
  return prmt(a, b, n | (((n + 7u) & 7u) << 4) | (((n + 6u) & 7u) << 8) | (((n + 5u) & 7u) << 12));
}
ROCPORT_DEVICE unsigned prmt_rc8(unsigned a, unsigned, unsigned n) { return ((a >> (8u * (n & 3u))) & 255u) * 0x01010101u; }
ROCPORT_DEVICE unsigned prmt_rc16(unsigned a, unsigned, unsigned n) { return ((a >> (16u * (n & 1u))) & 0xffffu) * 0x00010001u; }
ROCPORT_DEVICE unsigned prmt_ecl(unsigned a, unsigned b, unsigned n) {
  n &= 3u;
  const unsigned selector[4] = {0x3210u, 0x3211u, 0x3222u, 0x3333u};
  return prmt(a, b, selector[n]);
}
ROCPORT_DEVICE unsigned prmt_ecr(unsigned a, unsigned b, unsigned n) {
  n &= 3u;
  const unsigned selector[4] = {0x0000u, 0x1110u, 0x2210u, 0x3210u};
  return prmt(a, b, selector[n]);
}

// PTX lop3: any function of three bits; bit (4a + 2b + c) of Table is its value.
template <unsigned Table>
ROCPORT_DEVICE unsigned lop3(unsigned a, unsigned b, unsigned c) {
  return ((Table & 1u) ? (~a & ~b & ~c) : 0u) | ((Table & 2u) ? (~a & ~b & c) : 0u) |
         ((Table & 4u) ? (~a & b & ~c) : 0u) | ((Table & 8u) ? (~a & b & c) : 0u) |
         ((Table & 16u) ? (a & ~b & ~c) : 0u) | ((Table & 32u) ? (a & ~b & c) : 0u) |
         ((Table & 64u) ? (a & b & ~c) : 0u) | ((Table & 128u) ? (a & b & c) : 0u);
}

// ---- Integers --------------------------------------------------------------------------------------------------------

ROCPORT_DEVICE int add_sat(int a, int b) {
  int sum;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return a < 0 ? -2147483647 - 1 : 2147483647;
}
ROCPORT_DEVICE int sub_sat(int a, int b) {
  int difference;
  if (!__builtin_sub_overflow(a, b, &difference)) return difference;
  return a < 0 ? -2147483647 - 1 : 2147483647;
}

// a + b + carry; `out`, where given, gets the carry.
template <class T>
ROCPORT_DEVICE T add_carry(T a, T b, unsigned carry, unsigned* out = nullptr) {
  const T sum = T(a + b);
  const T total = T(sum + T(carry));
  if (out) *out = unsigned(sum < a) | unsigned(total < sum);
  return total;
}
// a - b - borrow; `out`, where given, gets the borrow.
template <class T>
ROCPORT_DEVICE T sub_borrow(T a, T b, unsigned borrow, unsigned* out = nullptr) {
  const T difference = T(a - b);
  const T total = T(difference - T(borrow));
  if (out) *out = unsigned(a < b) | unsigned(difference < T(borrow));
  return total;
}

// PTX cvt.sat: an integer clamped to the range of another integer type.
template <class To, class From>
ROCPORT_DEVICE To convert_sat(From value) {
  const bool to_signed = To(-1) < To(0);
  const bool from_signed = From(-1) < From(0);
  const unsigned bits = 8u * sizeof(To) - (to_signed ? 1u : 0u);
  const unsigned long long highest = bits >= 64u ? ~0ull : (1ull << bits) - 1ull;
  if (from_signed && value < From(0)) {
    if (!to_signed) return To(0);
    const long long lowest = -static_cast<long long>(highest) - 1;
    return static_cast<long long>(value) < lowest ? To(lowest) : To(value);
  }
  return static_cast<unsigned long long>(value) > highest ? To(highest) : To(value);
}

// c + the sum of the products of four bytes.
ROCPORT_DEVICE int dp4a(int a, int b, int c) {
#pragma unroll
  for (int i = 0; i < 32; i += 8) c += static_cast<signed char>(a >> i) * static_cast<signed char>(b >> i);
  return c;
}
ROCPORT_DEVICE unsigned dp4a(unsigned a, unsigned b, unsigned c) {
#pragma unroll
  for (int i = 0; i < 32; i += 8) c += ((a >> i) & 255u) * ((b >> i) & 255u);
  return c;
}
// Unsigned bytes times signed ones.
ROCPORT_DEVICE int dp4a_us(unsigned a, int b, int c) {
#pragma unroll
  for (int i = 0; i < 32; i += 8) c += static_cast<int>((a >> i) & 255u) * static_cast<signed char>(b >> i);
  return c;
}
ROCPORT_DEVICE int dp4a(char4 a, char4 b, int c) { return dp4a(bit_cast<int>(a), bit_cast<int>(b), c); }
ROCPORT_DEVICE unsigned dp4a(uchar4 a, uchar4 b, unsigned c) {
  return dp4a(bit_cast<unsigned>(a), bit_cast<unsigned>(b), c);
}

// c + the two 16-bit parts of a times two bytes of b: the lower two, or the upper two.
ROCPORT_DEVICE int dp2a_lo(int a, int b, int c) {
  return c + static_cast<short>(a) * static_cast<signed char>(b) + (a >> 16) * static_cast<signed char>(b >> 8);
}
ROCPORT_DEVICE int dp2a_hi(int a, int b, int c) { return dp2a_lo(a, b >> 16, c); }
ROCPORT_DEVICE unsigned dp2a_lo(unsigned a, unsigned b, unsigned c) {
  return c + (a & 0xffffu) * (b & 255u) + (a >> 16) * ((b >> 8) & 255u);
}
ROCPORT_DEVICE unsigned dp2a_hi(unsigned a, unsigned b, unsigned c) { return dp2a_lo(a, b >> 16, c); }
ROCPORT_DEVICE int dp2a_lo(short2 a, char4 b, int c) { return dp2a_lo(bit_cast<int>(a), bit_cast<int>(b), c); }
ROCPORT_DEVICE int dp2a_hi(short2 a, char4 b, int c) { return dp2a_hi(bit_cast<int>(a), bit_cast<int>(b), c); }
ROCPORT_DEVICE unsigned dp2a_lo(ushort2 a, uchar4 b, unsigned c) {
  return dp2a_lo(bit_cast<unsigned>(a), bit_cast<unsigned>(b), c);
}
ROCPORT_DEVICE unsigned dp2a_hi(ushort2 a, uchar4 b, unsigned c) {
  return dp2a_hi(bit_cast<unsigned>(a), bit_cast<unsigned>(b), c);
}

// c + the distance of a and b, which HIP's subtracts as ints.
ROCPORT_DEVICE unsigned sad(int a, int b, unsigned c) {
  const unsigned x = static_cast<unsigned>(a), y = static_cast<unsigned>(b);
  return c + (a > b ? x - y : y - x);
}

// c + the absolute differences of four unsigned bytes.
ROCPORT_DEVICE unsigned sad_u8x4(unsigned a, unsigned b, unsigned c) {
#pragma unroll
  for (int i = 0; i < 32; i += 8) {
    const unsigned x = (a >> i) & 255u, y = (b >> i) & 255u;
    c += x > y ? x - y : y - x;
  }
  return c;
}

// threadIdx and its like as a whole, which CUDA gives to a uint3 and a dim3 alike.
struct coordinates {
  unsigned int x, y, z;
  template <class T>
  __host__ __device__ explicit coordinates(const T& of) : x(of.x), y(of.y), z(of.z) {}
  __host__ __device__ operator uint3() const { return make_uint3(x, y, z); }
  __host__ __device__ operator dim3() const { return dim3(x, y, z); }
};

// CUDA's takes a long long alone. HIP has two, and a uint64_t or an int is neither.
ROCPORT_DEVICE int ffsll(long long value) { return __ffsll(value); }

// The n-th set bit of `mask`, counted from bit `base` up (offset > 0) or down (offset < 0); ~0 where there is none.
ROCPORT_DEVICE unsigned fns(unsigned mask, unsigned base, int offset) {
  if (offset == 0) return (base < 32u && ((mask >> base) & 1u)) ? base : ~0u;
  const int step = offset > 0 ? 1 : -1;
  int left = offset > 0 ? offset : -offset;
  for (int bit = static_cast<int>(base); bit >= 0 && bit < 32; bit += step) {
    if (((mask >> bit) & 1u) && --left == 0) return static_cast<unsigned>(bit);
  }
  return ~0u;
}

// ---- Floating point --------------------------------------------------------------------------------------------------

// min and max that give NaN where an operand is NaN.
template <class T>
ROCPORT_DEVICE T fmin_nan(T a, T b) {
  return a != a ? a : (b != b ? b : (a < b ? a : (b < a ? b : (signbit(a) ? a : b))));
}
template <class T>
ROCPORT_DEVICE T fmax_nan(T a, T b) {
  return a != a ? a : (b != b ? b : (a > b ? a : (b > a ? b : (signbit(a) ? b : a))));
}

namespace detail {

enum rounding { down, up, to_zero };

template <class T>
struct bits_of;
template <>
struct bits_of<float> {
  using type = unsigned;
};
template <>
struct bits_of<double> {
  using type = unsigned long long;
};

// The neighbour of a number that is not NaN, towards +infinity or -infinity.
template <class T>
ROCPORT_DEVICE T neighbour(T value, bool upward) {
  using Bits = typename bits_of<T>::type;
  const Bits sign = Bits(1) << (8 * sizeof(T) - 1);
  Bits bits = bit_cast<Bits>(value);
  if ((bits & ~sign) == 0) return bit_cast<T>(Bits(upward ? 1 : (sign | 1)));
  const bool grows = ((bits & sign) == 0) == upward;
  return bit_cast<T>(grows ? Bits(bits + 1) : Bits(bits - 1));
}

// `nearest` is a result rounded to nearest and `above` the sign of (exact result - nearest): the result rounded otherwise.
template <class T>
ROCPORT_DEVICE T directed(T nearest, int above, rounding mode) {
  if (above == 0 || nearest != nearest) return nearest;
  const bool upward = mode == up || (mode == to_zero && (nearest < T(0) || (nearest == T(0) && above < 0)));
  if (mode == to_zero && nearest == T(0)) return nearest;
  if (upward) return above > 0 ? neighbour(nearest, true) : nearest;
  return above < 0 ? neighbour(nearest, false) : nearest;
}

template <class T>
ROCPORT_DEVICE int sign_of(T value) {
  return value > T(0) ? 1 : (value < T(0) ? -1 : 0);
}

template <class T>
ROCPORT_DEVICE bool finite(T value) {
  return value - value == T(0);
}

// An overflow of finite operands: the exact result lies inside.
template <class T>
ROCPORT_DEVICE int inside(T infinite) {
  return infinite > T(0) ? -1 : 1;
}

// One operation, which is never merged into a fused multiply-add.
#define ROCPORT_UNFUSED(T, name, op) \
  ROCPORT_DEVICE T name(T a, T b) {  \
    _Pragma("clang fp contract(off)") return a op b; \
  }
ROCPORT_UNFUSED(float, add_rn, +)
ROCPORT_UNFUSED(double, add_rn, +)
ROCPORT_UNFUSED(float, sub_rn, -)
ROCPORT_UNFUSED(double, sub_rn, -)
ROCPORT_UNFUSED(float, mul_rn, *)
ROCPORT_UNFUSED(double, mul_rn, *)
#undef ROCPORT_UNFUSED
ROCPORT_DEVICE float fma_rn(float a, float b, float c) { return fmaf(a, b, c); }
ROCPORT_DEVICE double fma_rn(double a, double b, double c) { return fma(a, b, c); }

// The error of a sum, exactly (Dekker's Fast2Sum; nothing in it can overflow when the sum did not).
template <class T>
ROCPORT_DEVICE T sum_error(T a, T b, T sum) {
  const bool first_larger = (a < T(0) ? -a : a) >= (b < T(0) ? -b : b);
  const T large = first_larger ? a : b, small = first_larger ? b : a;
  return add_rn(small, -add_rn(sum, -large));
}

template <class T>
ROCPORT_DEVICE T add(T a, T b, rounding mode) {
  const T sum = add_rn(a, b);
  if (!finite(sum)) return finite(a) && finite(b) ? directed(sum, inside(sum), mode) : sum;
  // Rounded down, an exact zero is negative unless both operands are positive zeros.
  if (sum == T(0) && mode == down && (signbit(a) || signbit(b))) return T(-0.0);
  return directed(sum, sign_of(sum_error(a, b, sum)), mode);
}

// Sign of a * b + c - rounded for floats; a product of floats is exact in double.
ROCPORT_DEVICE int residual(float a, float b, float c, float rounded) {
  const double product = __dmul_rn(static_cast<double>(a), static_cast<double>(b));
  const double wide = __dadd_rn(product, static_cast<double>(c));
  const double lost = sum_error(product, static_cast<double>(c), wide);
  const int first = sign_of(__dadd_rn(wide, -static_cast<double>(rounded)));
  return first != 0 ? first : sign_of(lost);
}

ROCPORT_DEVICE float mul(float a, float b, rounding mode) {
  const float product = mul_rn(a, b);
  if (!finite(product)) return finite(a) && finite(b) ? directed(product, inside(product), mode) : product;
  const double exact = __dmul_rn(static_cast<double>(a), static_cast<double>(b));
  const int above = sign_of(__dadd_rn(exact, -static_cast<double>(product)));
  if (product == 0.0f && above != 0) {
    if (mode == up) return above > 0 ? neighbour(0.0f, true) : -0.0f;
    if (mode == down) return above < 0 ? neighbour(0.0f, false) : 0.0f;
    return product;
  }
  return directed(product, above, mode);
}

// Operands scaled to [1, 2) by powers of two, so that the error of the product is exact.
ROCPORT_DEVICE double mul(double a, double b, rounding mode) {
  const double product = mul_rn(a, b);
  if (product != product || a == 0.0 || b == 0.0) return product;
  if (!finite(product)) return finite(a) && finite(b) ? directed(product, inside(product), mode) : product;
  int ea, eb;
  const double x = frexp(a, &ea), y = frexp(b, &eb);
  const double scaled = mul_rn(x, y);
  const double lost = fma_rn(x, y, -scaled);
  if (product == 0.0) return directed(product, sign_of(scaled), mode);
  const int first = sign_of(add_rn(scaled, -ldexp(product, -ea - eb)));
  return directed(product, first != 0 ? first : sign_of(lost), mode);
}

ROCPORT_DEVICE float div(float a, float b, rounding mode) {
  const float quotient = __fdiv_rn(a, b);
  if (quotient != quotient || b == 0.0f || a == 0.0f || !finite(b)) return quotient;
  if (!finite(quotient)) return finite(a) ? directed(quotient, inside(quotient), mode) : quotient;
  const double back = __dmul_rn(static_cast<double>(quotient), static_cast<double>(b));
  return directed(quotient, sign_of(__dadd_rn(static_cast<double>(a), -back)) * (b < 0.0f ? -1 : 1), mode);
}

ROCPORT_DEVICE double div(double a, double b, rounding mode) {
  const double quotient = __ddiv_rn(a, b);
  if (quotient != quotient || b == 0.0 || a == 0.0 || !finite(b)) return quotient;
  if (!finite(quotient)) return finite(a) ? directed(quotient, inside(quotient), mode) : quotient;
  int ea, eb;
  const double x = frexp(a, &ea), y = frexp(b, &eb);
  if (quotient == 0.0) return directed(quotient, sign_of(x) * sign_of(y), mode);
  return directed(quotient, sign_of(fma_rn(-ldexp(quotient, eb - ea), y, x)) * sign_of(y), mode);
}

ROCPORT_DEVICE float sqrt(float a, rounding mode) {
  const float root = __fsqrt_rn(a);
  if (!(root > 0.0f) || !finite(root)) return root;
  const double square = __dmul_rn(static_cast<double>(root), static_cast<double>(root));
  return directed(root, sign_of(__dadd_rn(static_cast<double>(a), -square)), mode);
}

ROCPORT_DEVICE double sqrt(double a, rounding mode) {
  const double root = __dsqrt_rn(a);
  if (!(root > 0.0) || !finite(root)) return root;
  int e;
  double x = frexp(a, &e);
  if (e & 1) {
    x = ldexp(x, 1);
    e -= 1;
  }
  const double scaled = ldexp(root, -e / 2);
  return directed(root, sign_of(fma_rn(-scaled, scaled, x)), mode);
}

ROCPORT_DEVICE float fma_directed(float a, float b, float c, rounding mode) {
  const float result = fma_rn(a, b, c);
  if (!finite(result)) {
    return finite(a) && finite(b) && finite(c) ? directed(result, inside(result), mode) : result;
  }
  const int above = residual(a, b, c, result);
  if (result == 0.0f && above == 0) {
    const bool negative = (signbit(a) != signbit(b)) || signbit(c);
    return mode == down && negative ? -0.0f : result;
  }
  return directed(result, above, mode);
}

// The error of a fused multiply-add as two numbers whose leading one decides the sign (Boldo and Muller, "Exact and
// approximated error of the FMA", 2011). Operands whose product or sum leaves the normal range may round to nearest.
ROCPORT_DEVICE double fma_directed(double a, double b, double c, rounding mode) {
  const double result = fma_rn(a, b, c);
  if (!finite(result)) {
    return finite(a) && finite(b) && finite(c) ? directed(result, inside(result), mode) : result;
  }
  const double product = mul_rn(a, b);
  const double low = fma_rn(a, b, -product);
  const double first = add_rn(c, low);
  const double first_low = sum_error(c, low, first);
  const double second = add_rn(product, first);
  const double second_low = sum_error(product, first, second);
  const double gap = add_rn(add_rn(second, -result), second_low);
  const int above = sign_of(add_rn(gap, first_low));
  if (result == 0.0 && above == 0) {
    const bool negative = (signbit(a) != signbit(b)) || signbit(c);
    return mode == down && negative ? -0.0 : result;
  }
  return directed(result, above, mode);
}

}  // namespace detail

// Conversions of a whole number as PTX's cvt: the nearest end for what is out of range, the highest bit for NaN.
namespace detail {
template <class To, class Bits, class From>
ROCPORT_DEVICE To clamped(From whole) {
  const Bits highest = Bits(1) << (8u * sizeof(To) - 1u);
  const bool has_sign = To(-1) < To(0);
  const From end = has_sign ? From(highest) : From(2) * From(highest);
  if (whole != whole) return To(highest);
  if (whole >= end) return To(has_sign ? highest - 1u : ~Bits(0));
  if (whole < (has_sign ? -end : From(0))) return To(has_sign ? highest : Bits(0));
  return To(whole);
}
}  // namespace detail
#define ROCPORT_CLAMPED(name, To, Bits, From, floor, rint, ceil, trunc)                        \
  ROCPORT_DEVICE To name##_rd(From value) { return detail::clamped<To, Bits>(floor(value)); } \
  ROCPORT_DEVICE To name##_rn(From value) { return detail::clamped<To, Bits>(rint(value)); }  \
  ROCPORT_DEVICE To name##_ru(From value) { return detail::clamped<To, Bits>(ceil(value)); }  \
  ROCPORT_DEVICE To name##_rz(From value) { return detail::clamped<To, Bits>(trunc(value)); }
ROCPORT_CLAMPED(double2ll, long long, unsigned long long, double, ::floor, ::rint, ::ceil, ::trunc)
ROCPORT_CLAMPED(double2ull, unsigned long long, unsigned long long, double, ::floor, ::rint, ::ceil, ::trunc)
ROCPORT_CLAMPED(double2int, int, unsigned, double, ::floor, ::rint, ::ceil, ::trunc)
ROCPORT_CLAMPED(double2uint, unsigned, unsigned, double, ::floor, ::rint, ::ceil, ::trunc)
ROCPORT_CLAMPED(float2ll, long long, unsigned long long, float, ::floorf, ::rintf, ::ceilf, ::truncf)
ROCPORT_CLAMPED(float2ull, unsigned long long, unsigned long long, float, ::floorf, ::rintf, ::ceilf, ::truncf)
#undef ROCPORT_CLAMPED

// Between 0 and 1, and 0 for NaN, which HIP's __saturatef hands on.
ROCPORT_DEVICE float saturatef(float value) { return value > 0.0f ? (value < 1.0f ? value : 1.0f) : 0.0f; }

// Float and double operations rounded to nearest, each by itself.
ROCPORT_DEVICE float fadd_rn(float a, float b) { return detail::add_rn(a, b); }
ROCPORT_DEVICE float fsub_rn(float a, float b) { return detail::sub_rn(a, b); }
ROCPORT_DEVICE float fmul_rn(float a, float b) { return detail::mul_rn(a, b); }
ROCPORT_DEVICE double dadd_rn(double a, double b) { return detail::add_rn(a, b); }
ROCPORT_DEVICE double dsub_rn(double a, double b) { return detail::sub_rn(a, b); }
ROCPORT_DEVICE double dmul_rn(double a, double b) { return detail::mul_rn(a, b); }

// Float and double operations rounded down (rd), up (ru) or towards zero (rz). The AMD device libraries round to nearest;
// these correct the result by the sign of its exact error, so they are right for every input, at several times the cost.
ROCPORT_DEVICE float fadd_rd(float a, float b) { return detail::add(a, b, detail::down); }
ROCPORT_DEVICE float fadd_ru(float a, float b) { return detail::add(a, b, detail::up); }
ROCPORT_DEVICE float fadd_rz(float a, float b) { return detail::add(a, b, detail::to_zero); }
ROCPORT_DEVICE float fsub_rd(float a, float b) { return detail::add(a, -b, detail::down); }
ROCPORT_DEVICE float fsub_ru(float a, float b) { return detail::add(a, -b, detail::up); }
ROCPORT_DEVICE float fsub_rz(float a, float b) { return detail::add(a, -b, detail::to_zero); }
ROCPORT_DEVICE float fmul_rd(float a, float b) { return detail::mul(a, b, detail::down); }
ROCPORT_DEVICE float fmul_ru(float a, float b) { return detail::mul(a, b, detail::up); }
ROCPORT_DEVICE float fmul_rz(float a, float b) { return detail::mul(a, b, detail::to_zero); }
ROCPORT_DEVICE float fdiv_rd(float a, float b) { return detail::div(a, b, detail::down); }
ROCPORT_DEVICE float fdiv_ru(float a, float b) { return detail::div(a, b, detail::up); }
ROCPORT_DEVICE float fdiv_rz(float a, float b) { return detail::div(a, b, detail::to_zero); }
ROCPORT_DEVICE float frcp_rd(float a) { return detail::div(1.0f, a, detail::down); }
ROCPORT_DEVICE float frcp_ru(float a) { return detail::div(1.0f, a, detail::up); }
ROCPORT_DEVICE float frcp_rz(float a) { return detail::div(1.0f, a, detail::to_zero); }
ROCPORT_DEVICE float fsqrt_rd(float a) { return detail::sqrt(a, detail::down); }
ROCPORT_DEVICE float fsqrt_ru(float a) { return detail::sqrt(a, detail::up); }
ROCPORT_DEVICE float fsqrt_rz(float a) { return detail::sqrt(a, detail::to_zero); }
ROCPORT_DEVICE float fmaf_rd(float a, float b, float c) { return detail::fma_directed(a, b, c, detail::down); }
ROCPORT_DEVICE float fmaf_ru(float a, float b, float c) { return detail::fma_directed(a, b, c, detail::up); }
ROCPORT_DEVICE float fmaf_rz(float a, float b, float c) { return detail::fma_directed(a, b, c, detail::to_zero); }
ROCPORT_DEVICE double dadd_rd(double a, double b) { return detail::add(a, b, detail::down); }
ROCPORT_DEVICE double dadd_ru(double a, double b) { return detail::add(a, b, detail::up); }
ROCPORT_DEVICE double dadd_rz(double a, double b) { return detail::add(a, b, detail::to_zero); }
ROCPORT_DEVICE double dsub_rd(double a, double b) { return detail::add(a, -b, detail::down); }
ROCPORT_DEVICE double dsub_ru(double a, double b) { return detail::add(a, -b, detail::up); }
ROCPORT_DEVICE double dsub_rz(double a, double b) { return detail::add(a, -b, detail::to_zero); }
ROCPORT_DEVICE double dmul_rd(double a, double b) { return detail::mul(a, b, detail::down); }
ROCPORT_DEVICE double dmul_ru(double a, double b) { return detail::mul(a, b, detail::up); }
ROCPORT_DEVICE double dmul_rz(double a, double b) { return detail::mul(a, b, detail::to_zero); }
ROCPORT_DEVICE double ddiv_rd(double a, double b) { return detail::div(a, b, detail::down); }
ROCPORT_DEVICE double ddiv_ru(double a, double b) { return detail::div(a, b, detail::up); }
ROCPORT_DEVICE double ddiv_rz(double a, double b) { return detail::div(a, b, detail::to_zero); }
ROCPORT_DEVICE double drcp_rd(double a) { return detail::div(1.0, a, detail::down); }
ROCPORT_DEVICE double drcp_ru(double a) { return detail::div(1.0, a, detail::up); }
ROCPORT_DEVICE double drcp_rz(double a) { return detail::div(1.0, a, detail::to_zero); }
ROCPORT_DEVICE double dsqrt_rd(double a) { return detail::sqrt(a, detail::down); }
ROCPORT_DEVICE double dsqrt_ru(double a) { return detail::sqrt(a, detail::up); }
ROCPORT_DEVICE double dsqrt_rz(double a) { return detail::sqrt(a, detail::to_zero); }
ROCPORT_DEVICE double fma_rd(double a, double b, double c) { return detail::fma_directed(a, b, c, detail::down); }
ROCPORT_DEVICE double fma_ru(double a, double b, double c) { return detail::fma_directed(a, b, c, detail::up); }
ROCPORT_DEVICE double fma_rz(double a, double b, double c) { return detail::fma_directed(a, b, c, detail::to_zero); }

// ---- Loads and stores ------------------------------------------------------------------------------------------------

namespace detail {

template <unsigned Bytes>
struct word;
template <>
struct word<1u> {
  typedef unsigned char __attribute__((may_alias)) type;
};
template <>
struct word<2u> {
  typedef unsigned short __attribute__((may_alias)) type;
};
template <>
struct word<4u> {
  typedef unsigned __attribute__((may_alias)) type;
};
template <>
struct word<8u> {
  typedef unsigned long long __attribute__((may_alias)) type;
};
template <>
struct word<16u> {
  typedef unsigned __attribute__((may_alias, ext_vector_type(4))) type;
};

// The widest piece of at most `Limit` bytes that T is made of and aligned to.
template <class T, unsigned Limit>
struct piece {
  static constexpr unsigned size = alignof(T) < Limit ? alignof(T) : Limit;
  typedef typename word<size>::type type;
  static constexpr unsigned count = sizeof(T) / size;
};

}  // namespace detail

// __ldcs, __stcs: data read or written once; nontemporal accesses.
template <class T>
ROCPORT_DEVICE T ldcs(const T* from) {
  using Piece = detail::piece<T, 16u>;
  typename Piece::type pieces[Piece::count];
#pragma unroll
  for (unsigned i = 0u; i < Piece::count; ++i) {
    pieces[i] = __builtin_nontemporal_load(reinterpret_cast<const typename Piece::type*>(from) + i);
  }
  T value;
  __builtin_memcpy(static_cast<void*>(&value), pieces, sizeof(T));
  return value;
}
template <class T, class U>
ROCPORT_DEVICE void stcs(T* to, U from) {
  using Piece = detail::piece<T, 16u>;
  const T value = from;
  typename Piece::type pieces[Piece::count];
  __builtin_memcpy(pieces, static_cast<const void*>(&value), sizeof(T));
#pragma unroll
  for (unsigned i = 0u; i < Piece::count; ++i) {
    __builtin_nontemporal_store(pieces[i], reinterpret_cast<typename Piece::type*>(to) + i);
  }
}

// A load or store that other blocks, or the host, see: atomic piece by piece, each at most 8 bytes. Order is that of the
// whole access.
template <int Order, int Scope, class T>
ROCPORT_DEVICE T load(const T* from) {
  using Piece = detail::piece<T, 8u>;
  typename Piece::type pieces[Piece::count];
#pragma unroll
  for (unsigned i = 0u; i < Piece::count; ++i) {
    pieces[i] = __hip_atomic_load(reinterpret_cast<const typename Piece::type*>(from) + i, Order, Scope);
  }
  T value;
  __builtin_memcpy(static_cast<void*>(&value), pieces, sizeof(T));
  return value;
}
template <int Order, int Scope, class T, class U>
ROCPORT_DEVICE void store(T* to, U from) {
  using Piece = detail::piece<T, 8u>;
  const T value = from;
  typename Piece::type pieces[Piece::count];
  __builtin_memcpy(pieces, static_cast<const void*>(&value), sizeof(T));
#pragma unroll
  for (unsigned i = 0u; i < Piece::count; ++i) {
    __hip_atomic_store(reinterpret_cast<typename Piece::type*>(to) + i, pieces[i], Order, Scope);
  }
}

// __ldcg, __stcg: cached where all blocks meet, not in the cache of one compute unit.
template <class T>
ROCPORT_DEVICE T ldcg(const T* from) {
  return load<__ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT>(from);
}
template <class T, class U>
ROCPORT_DEVICE void stcg(T* to, U value) {
  store<__ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT>(to, value);
}
// __ldcv, __stwt: read again, or written through, at every access.
template <class T>
ROCPORT_DEVICE T ldcv(const T* from) {
  return load<__ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM>(from);
}
template <class T, class U>
ROCPORT_DEVICE void stwt(T* to, U value) {
  store<__ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM>(to, value);
}
// __ldca, __ldlu, __stwb: the default policy, or a hint that changes no value.
template <class T>
ROCPORT_DEVICE T ldca(const T* from) {
  return *from;
}
template <class T>
ROCPORT_DEVICE T ldlu(const T* from) {
  return *from;
}
template <class T, class U>
ROCPORT_DEVICE void stwb(T* to, U value) {
  *to = value;
}

// ---- State spaces ----------------------------------------------------------------------------------------------------

// A generic pointer from an address in shared memory (LDS), which has 32 bits. Where HIP runs on something else than a
// GPU, it says how itself.
template <class T>
ROCPORT_DEVICE T* shared_pointer(unsigned address) {
#if defined(ROCPORT_SHARED_POINTER)
  return (T*)ROCPORT_SHARED_POINTER(address);
#else
  return (T*)(__attribute__((address_space(3))) T*)static_cast<size_t>(address);
#endif
}
ROCPORT_DEVICE size_t cvta_generic_to_shared(const void* pointer) {
#if defined(ROCPORT_SHARED_ADDRESS)
  return ROCPORT_SHARED_ADDRESS(pointer);
#else
  return (size_t)(__attribute__((address_space(3))) const void*)pointer;
#endif
}
ROCPORT_DEVICE void* cvta_shared_to_generic(size_t address) { return shared_pointer<char>(static_cast<unsigned>(address)); }
ROCPORT_DEVICE size_t cvta_generic_to_global(const void* pointer) { return reinterpret_cast<size_t>(pointer); }
ROCPORT_DEVICE void* cvta_global_to_generic(size_t address) { return reinterpret_cast<void*>(address); }
ROCPORT_DEVICE bool is_shared(const void* pointer) { return __builtin_amdgcn_is_shared((const __attribute__((address_space(0))) void*)pointer); }
ROCPORT_DEVICE bool is_local(const void* pointer) { return __builtin_amdgcn_is_private((const __attribute__((address_space(0))) void*)pointer); }
ROCPORT_DEVICE bool is_global(const void* pointer) { return !is_shared(pointer) && !is_local(pointer); }

// PTX cp.async without the overlap: `Bytes` bytes to shared memory, of which `given` are copied and the rest is zero.
template <unsigned Bytes>
ROCPORT_DEVICE void copy_async(void* to, const void* from, unsigned given = Bytes) {
  static_assert(Bytes == 4u || Bytes == 8u || Bytes == 16u, "cp.async copies 4, 8 or 16 bytes");
  typename detail::word<Bytes>::type value = {};
  if (given >= Bytes) {
    value = *static_cast<const typename detail::word<Bytes>::type*>(from);
  } else {
    unsigned char bytes[Bytes];
#pragma unroll
    for (unsigned i = 0u; i < Bytes; ++i) bytes[i] = i < given ? static_cast<const unsigned char*>(from)[i] : 0;
    __builtin_memcpy(&value, bytes, Bytes);
  }
  *static_cast<typename detail::word<Bytes>::type*>(to) = value;
}

// ---- Atomics ---------------------------------------------------------------------------------------------------------

template <int Order, int Scope, class T>
ROCPORT_DEVICE T atomic_add(T* address, T value) {
  return __hip_atomic_fetch_add(address, value, Order, Scope);
}
template <int Order, int Scope, class T>
ROCPORT_DEVICE T atomic_min(T* address, T value) {
  return __hip_atomic_fetch_min(address, value, Order, Scope);
}
template <int Order, int Scope, class T>
ROCPORT_DEVICE T atomic_max(T* address, T value) {
  return __hip_atomic_fetch_max(address, value, Order, Scope);
}
template <int Order, int Scope, class T>
ROCPORT_DEVICE T atomic_and(T* address, T value) {
  return __hip_atomic_fetch_and(address, value, Order, Scope);
}
template <int Order, int Scope, class T>
ROCPORT_DEVICE T atomic_or(T* address, T value) {
  return __hip_atomic_fetch_or(address, value, Order, Scope);
}
template <int Order, int Scope, class T>
ROCPORT_DEVICE T atomic_xor(T* address, T value) {
  return __hip_atomic_fetch_xor(address, value, Order, Scope);
}
template <int Order, int Scope, class T>
ROCPORT_DEVICE T atomic_exch(T* address, T value) {
  return __hip_atomic_exchange(address, value, Order, Scope);
}
template <int Order, int Scope, class T>
ROCPORT_DEVICE T atomic_cas(T* address, T compare, T value) {
  // A failed exchange cannot release.
  constexpr int failed = Order == __ATOMIC_RELEASE || Order == __ATOMIC_RELAXED ? __ATOMIC_RELAXED : __ATOMIC_ACQUIRE;
  __hip_atomic_compare_exchange_strong(address, &compare, value, Order, failed, Scope);
  return compare;
}
// Of a vector: each element by itself, as CUDA's.
template <int Order, int Scope>
ROCPORT_DEVICE float2 atomic_add(float2* address, float2 value) {
  const float x = atomic_add<Order, Scope>(&address->x, value.x);
  return make_float2(x, atomic_add<Order, Scope>(&address->y, value.y));
}
template <int Order, int Scope>
ROCPORT_DEVICE float4 atomic_add(float4* address, float4 value) {
  const float x = atomic_add<Order, Scope>(&address->x, value.x);
  const float y = atomic_add<Order, Scope>(&address->y, value.y);
  const float z = atomic_add<Order, Scope>(&address->z, value.z);
  return make_float4(x, y, z, atomic_add<Order, Scope>(&address->w, value.w));
}
// CUDA's wrapping increment and decrement: ((old >= value) ? 0 : old + 1) and ((old == 0 || old > value) ? value : old - 1).
template <int Order, int Scope>
ROCPORT_DEVICE unsigned atomic_inc(unsigned* address, unsigned value) {
  unsigned old = __hip_atomic_load(address, __ATOMIC_RELAXED, Scope), seen;
  do {
    seen = old;
    old = atomic_cas<Order, Scope>(address, seen, seen >= value ? 0u : seen + 1u);
  } while (old != seen);
  return old;
}
template <int Order, int Scope>
ROCPORT_DEVICE unsigned atomic_dec(unsigned* address, unsigned value) {
  unsigned old = __hip_atomic_load(address, __ATOMIC_RELAXED, Scope), seen;
  do {
    seen = old;
    old = atomic_cas<Order, Scope>(address, seen, seen == 0u || seen > value ? value : seen - 1u);
  } while (old != seen);
  return old;
}

// CUDA's atomics over a block and over the system.
#define ROCPORT_SCOPED_ATOMIC(name, operation, suffix, scope)                                     \
  template <class T, class U>                                                                     \
  ROCPORT_DEVICE T atomic##name##_##suffix(T* address, U value) {                                 \
    return operation<__ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_##scope>(address, static_cast<T>(value)); \
  }
#define ROCPORT_SCOPED_ATOMICS(suffix, scope)                                                        \
  ROCPORT_SCOPED_ATOMIC(Add, atomic_add, suffix, scope)                                              \
  ROCPORT_SCOPED_ATOMIC(Min, atomic_min, suffix, scope)                                              \
  ROCPORT_SCOPED_ATOMIC(Max, atomic_max, suffix, scope)                                              \
  ROCPORT_SCOPED_ATOMIC(And, atomic_and, suffix, scope)                                              \
  ROCPORT_SCOPED_ATOMIC(Or, atomic_or, suffix, scope)                                                \
  ROCPORT_SCOPED_ATOMIC(Xor, atomic_xor, suffix, scope)                                              \
  ROCPORT_SCOPED_ATOMIC(Exch, atomic_exch, suffix, scope)                                            \
  template <class T, class U>                                                                        \
  ROCPORT_DEVICE T atomicSub_##suffix(T* address, U value) {                                         \
    return atomic_add<__ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_##scope>(address, T(T(0) - static_cast<T>(value))); \
  }                                                                                                  \
  ROCPORT_DEVICE unsigned atomicInc_##suffix(unsigned* address, unsigned value) {                    \
    return atomic_inc<__ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_##scope>(address, value);                 \
  }                                                                                                  \
  ROCPORT_DEVICE unsigned atomicDec_##suffix(unsigned* address, unsigned value) {                    \
    return atomic_dec<__ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_##scope>(address, value);                 \
  }                                                                                                  \
  template <class T, class U, class V>                                                               \
  ROCPORT_DEVICE T atomicCAS_##suffix(T* address, U compare, V value) {                              \
    return atomic_cas<__ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_##scope>(address, static_cast<T>(compare), \
                                                                    static_cast<T>(value));          \
  }
ROCPORT_SCOPED_ATOMICS(block, WORKGROUP)
ROCPORT_SCOPED_ATOMICS(system, SYSTEM)
#undef ROCPORT_SCOPED_ATOMICS
#undef ROCPORT_SCOPED_ATOMIC

// ---- Time ------------------------------------------------------------------------------------------------------------

// PTX %globaltimer in nanoseconds. AMD GPUs count at 100 MHz, so it moves in steps of 10 ns, from an arbitrary start.
ROCPORT_DEVICE unsigned long long globaltimer() { return static_cast<unsigned long long>(wall_clock64()) * 10ull; }

// __nanosleep: the wavefront sleeps for about `ns` nanoseconds.
ROCPORT_DEVICE void nanosleep(unsigned ns) {
  const long long start = wall_clock64();
  const long long ticks = ns / 10u;
  do {
    __builtin_amdgcn_s_sleep(1);
  } while (wall_clock64() - start < ticks);
}

// Programmatic dependent launch: HIP starts a kernel after the one before it has ended, so nothing is waited for.
ROCPORT_DEVICE void no_launch_to_wait_for() {}

}  // namespace rocport

#if defined(__HIPCC__)
// CUDA's atomicCAS of 16 bits, which HIP lacks. A template, so that one of HIP's or of the project's own comes first.
template <class T, typename ::std::enable_if<::std::is_same<T, unsigned short>::value, int>::type = 0>
__device__ inline unsigned short atomicCAS(T* address, unsigned short compare, unsigned short value) {
  return rocport::atomic_cas<__ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT>(address, compare, value);
}

// CUDA's bitwise atomics of long long, which HIP has for unsigned long long only. Templates for the same reason.
#define ROCPORT_LONG_ATOMIC(name, operation)                                                              \
  template <class T, typename ::std::enable_if<::std::is_same<T, long long>::value, int>::type = 0>       \
  __device__ inline long long name(T* address, long long value) {                                         \
    return rocport::operation<__ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT>(address, value);                \
  }
ROCPORT_LONG_ATOMIC(atomicAnd, atomic_and)
ROCPORT_LONG_ATOMIC(atomicOr, atomic_or)
ROCPORT_LONG_ATOMIC(atomicXor, atomic_xor)
#undef ROCPORT_LONG_ATOMIC

// CUDA's atomicAdd of a vector, which HIP lacks: each element by itself, as CUDA's. A template for the same reason.
template <class T, typename ::std::enable_if<::std::is_same<T, float2>::value, int>::type = 0>
__device__ inline float2 atomicAdd(T* address, float2 value) {
  const float x = atomicAdd(&address->x, value.x);
  return make_float2(x, atomicAdd(&address->y, value.y));
}

template <class T, typename ::std::enable_if<::std::is_same<T, float4>::value, int>::type = 0>
__device__ inline float4 atomicAdd(T* address, float4 value) {
  const float x = atomicAdd(&address->x, value.x);
  const float y = atomicAdd(&address->y, value.y);
  const float z = atomicAdd(&address->z, value.z);
  return make_float4(x, y, z, atomicAdd(&address->w, value.w));
}
#endif

#endif  // ROCPORT_COMPAT_H
