// rocport_simd.h - CUDA's SIMD-within-a-word intrinsics: two 16-bit or four 8-bit integers in an unsigned.
// SPDX-License-Identifier: Apache-2.0
//
// `__vaddus4` is `rocport::vaddus4`: the same letters say the operation, u or s whether the parts are unsigned or signed
// (a second s: saturated), and the digit how many parts there are. The compiler finds the packed instructions a target has.
#ifndef ROCPORT_SIMD_H
#define ROCPORT_SIMD_H

#include "rocport_compat.h"

namespace rocport {

namespace detail {

template <int Parts, class Function>
ROCPORT_DEVICE unsigned by_parts(Function function) {
  constexpr int bits = 32 / Parts;
  constexpr unsigned ones = Parts == 4 ? 0xffu : 0xffffu;
  unsigned result = 0u;
#pragma unroll
  for (int i = 0; i < Parts; ++i) result |= (static_cast<unsigned>(function(i * bits)) & ones) << (i * bits);
  return result;
}

// The part that starts at a bit, sign- or zero-extended.
template <int Parts>
ROCPORT_DEVICE int signed_part(unsigned word, int at) {
  return Parts == 4 ? static_cast<int>(static_cast<signed char>(word >> at)) : static_cast<int>(static_cast<short>(word >> at));
}
template <int Parts>
ROCPORT_DEVICE int unsigned_part(unsigned word, int at) {
  return static_cast<int>((word >> at) & (Parts == 4 ? 0xffu : 0xffffu));
}
template <int Parts>
ROCPORT_DEVICE int clamp_signed(int value) {
  constexpr int highest = Parts == 4 ? 127 : 32767;
  return value > highest ? highest : (value < -highest - 1 ? -highest - 1 : value);
}
template <int Parts>
ROCPORT_DEVICE int clamp_unsigned(int value) {
  constexpr int highest = Parts == 4 ? 255 : 65535;
  return value > highest ? highest : (value < 0 ? 0 : value);
}

}  // namespace detail

// One intrinsic for two and for four parts; x and y are a part of each operand.
#define ROCPORT_SIMD_UNARY(name, expression)                                       \
  ROCPORT_DEVICE unsigned name##2(unsigned a) {                                    \
    constexpr int parts = 2;                                                       \
    return detail::by_parts<parts>([=](int at) {                                   \
      const int x = detail::signed_part<parts>(a, at);                             \
      return expression;                                                           \
    });                                                                            \
  }                                                                                \
  ROCPORT_DEVICE unsigned name##4(unsigned a) {                                    \
    constexpr int parts = 4;                                                       \
    return detail::by_parts<parts>([=](int at) {                                   \
      const int x = detail::signed_part<parts>(a, at);                             \
      return expression;                                                           \
    });                                                                            \
  }
#define ROCPORT_SIMD_PARTS(name, part, number, expression)                         \
  ROCPORT_DEVICE unsigned name##number(unsigned a, unsigned b) {                   \
    constexpr int parts = number;                                                  \
    return detail::by_parts<parts>([=](int at) {                                   \
      const int x = detail::part<parts>(a, at), y = detail::part<parts>(b, at);    \
      return expression;                                                           \
    });                                                                            \
  }
#define ROCPORT_SIMD_BINARY(name, part, expression) \
  ROCPORT_SIMD_PARTS(name, part, 2, expression)     \
  ROCPORT_SIMD_PARTS(name, part, 4, expression)
// A comparison: all ones (vcmp), or one (vset), in the parts where it holds.
#define ROCPORT_SIMD_COMPARE(name, part, comparison)                 \
  ROCPORT_SIMD_BINARY(vcmp##name, part, (comparison) ? -1 : 0)       \
  ROCPORT_SIMD_BINARY(vset##name, part, (comparison) ? 1 : 0)
// The sum of the parts' absolute differences.
#define ROCPORT_SIMD_SAD(name, part, number)                                       \
  ROCPORT_DEVICE unsigned name##number(unsigned a, unsigned b) {                   \
    unsigned sum = 0u;                                                             \
    for (int at = 0; at < 32; at += 32 / number) {                                 \
      const int x = detail::part<number>(a, at), y = detail::part<number>(b, at);  \
      sum += static_cast<unsigned>(x > y ? x - y : y - x);                         \
    }                                                                              \
    return sum;                                                                    \
  }

ROCPORT_SIMD_UNARY(vneg, -x)
ROCPORT_SIMD_UNARY(vnegss, detail::clamp_signed<parts>(-x))
ROCPORT_SIMD_UNARY(vabs, x < 0 ? -x : x)
ROCPORT_SIMD_UNARY(vabsss, detail::clamp_signed<parts>(x < 0 ? -x : x))

ROCPORT_SIMD_BINARY(vadd, unsigned_part, x + y)
ROCPORT_SIMD_BINARY(vsub, unsigned_part, x - y)
ROCPORT_SIMD_BINARY(vaddss, signed_part, detail::clamp_signed<parts>(x + y))
ROCPORT_SIMD_BINARY(vaddus, unsigned_part, detail::clamp_unsigned<parts>(x + y))
ROCPORT_SIMD_BINARY(vsubss, signed_part, detail::clamp_signed<parts>(x - y))
ROCPORT_SIMD_BINARY(vsubus, unsigned_part, detail::clamp_unsigned<parts>(x - y))
ROCPORT_SIMD_BINARY(vavgs, signed_part, (x + y + (x + y >= 0 ? 1 : 0)) >> 1)
ROCPORT_SIMD_BINARY(vavgu, unsigned_part, (x + y + 1) >> 1)
ROCPORT_SIMD_BINARY(vhaddu, unsigned_part, (x + y) >> 1)
ROCPORT_SIMD_BINARY(vmaxs, signed_part, x > y ? x : y)
ROCPORT_SIMD_BINARY(vmaxu, unsigned_part, x > y ? x : y)
ROCPORT_SIMD_BINARY(vmins, signed_part, x < y ? x : y)
ROCPORT_SIMD_BINARY(vminu, unsigned_part, x < y ? x : y)
ROCPORT_SIMD_BINARY(vabsdiffs, signed_part, x > y ? x - y : y - x)
ROCPORT_SIMD_BINARY(vabsdiffu, unsigned_part, x > y ? x - y : y - x)
ROCPORT_SIMD_SAD(vsads, signed_part, 2)
ROCPORT_SIMD_SAD(vsads, signed_part, 4)
ROCPORT_SIMD_SAD(vsadu, unsigned_part, 2)
ROCPORT_SIMD_SAD(vsadu, unsigned_part, 4)

ROCPORT_SIMD_COMPARE(eq, unsigned_part, x == y)
ROCPORT_SIMD_COMPARE(ne, unsigned_part, x != y)
ROCPORT_SIMD_COMPARE(ges, signed_part, x >= y)
ROCPORT_SIMD_COMPARE(geu, unsigned_part, x >= y)
ROCPORT_SIMD_COMPARE(gts, signed_part, x > y)
ROCPORT_SIMD_COMPARE(gtu, unsigned_part, x > y)
ROCPORT_SIMD_COMPARE(les, signed_part, x <= y)
ROCPORT_SIMD_COMPARE(leu, unsigned_part, x <= y)
ROCPORT_SIMD_COMPARE(lts, signed_part, x < y)
ROCPORT_SIMD_COMPARE(ltu, unsigned_part, x < y)

// ---- Minimum and maximum (CUDA 12) -----------------------------------------------------------------------------------

// Of 32-bit numbers: of three, with a sum, clamped at zero (`relu`), and with a flag that says whether `a` was taken.
template <class T>
ROCPORT_DEVICE T vmax_of(T a, T b) {
  return a > b ? a : b;
}
template <class T>
ROCPORT_DEVICE T vmin_of(T a, T b) {
  return a < b ? a : b;
}
ROCPORT_DEVICE int vimax3_s32(int a, int b, int c) { return vmax_of(vmax_of(a, b), c); }
ROCPORT_DEVICE int vimin3_s32(int a, int b, int c) { return vmin_of(vmin_of(a, b), c); }
ROCPORT_DEVICE unsigned vimax3_u32(unsigned a, unsigned b, unsigned c) { return vmax_of(vmax_of(a, b), c); }
ROCPORT_DEVICE unsigned vimin3_u32(unsigned a, unsigned b, unsigned c) { return vmin_of(vmin_of(a, b), c); }
ROCPORT_DEVICE int vimax3_s32_relu(int a, int b, int c) { return vmax_of(vimax3_s32(a, b, c), 0); }
ROCPORT_DEVICE int vimin3_s32_relu(int a, int b, int c) { return vmax_of(vimin3_s32(a, b, c), 0); }
ROCPORT_DEVICE int vimax_s32_relu(int a, int b) { return vmax_of(vmax_of(a, b), 0); }
ROCPORT_DEVICE int vimin_s32_relu(int a, int b) { return vmax_of(vmin_of(a, b), 0); }
ROCPORT_DEVICE int wrapping_sum(int a, int b) { return static_cast<int>(static_cast<unsigned>(a) + static_cast<unsigned>(b)); }
ROCPORT_DEVICE int viaddmax_s32(int a, int b, int c) { return vmax_of(wrapping_sum(a, b), c); }
ROCPORT_DEVICE int viaddmin_s32(int a, int b, int c) { return vmin_of(wrapping_sum(a, b), c); }
ROCPORT_DEVICE unsigned viaddmax_u32(unsigned a, unsigned b, unsigned c) { return vmax_of(a + b, c); }
ROCPORT_DEVICE unsigned viaddmin_u32(unsigned a, unsigned b, unsigned c) { return vmin_of(a + b, c); }
ROCPORT_DEVICE int viaddmax_s32_relu(int a, int b, int c) { return vmax_of(viaddmax_s32(a, b, c), 0); }
ROCPORT_DEVICE int viaddmin_s32_relu(int a, int b, int c) { return vmax_of(viaddmin_s32(a, b, c), 0); }
ROCPORT_DEVICE int vibmax_s32(int a, int b, bool* first) { return (*first = a >= b) ? a : b; }
ROCPORT_DEVICE int vibmin_s32(int a, int b, bool* first) { return (*first = a <= b) ? a : b; }
ROCPORT_DEVICE unsigned vibmax_u32(unsigned a, unsigned b, bool* first) { return (*first = a >= b) ? a : b; }
ROCPORT_DEVICE unsigned vibmin_u32(unsigned a, unsigned b, bool* first) { return (*first = a <= b) ? a : b; }

// Of pairs of 16-bit numbers.
ROCPORT_DEVICE unsigned relu_s16x2(unsigned a) { return vmaxs2(a, 0u); }
ROCPORT_DEVICE unsigned vimax3_s16x2(unsigned a, unsigned b, unsigned c) { return vmaxs2(vmaxs2(a, b), c); }
ROCPORT_DEVICE unsigned vimin3_s16x2(unsigned a, unsigned b, unsigned c) { return vmins2(vmins2(a, b), c); }
ROCPORT_DEVICE unsigned vimax3_u16x2(unsigned a, unsigned b, unsigned c) { return vmaxu2(vmaxu2(a, b), c); }
ROCPORT_DEVICE unsigned vimin3_u16x2(unsigned a, unsigned b, unsigned c) { return vminu2(vminu2(a, b), c); }
ROCPORT_DEVICE unsigned vimax3_s16x2_relu(unsigned a, unsigned b, unsigned c) { return relu_s16x2(vimax3_s16x2(a, b, c)); }
ROCPORT_DEVICE unsigned vimin3_s16x2_relu(unsigned a, unsigned b, unsigned c) { return relu_s16x2(vimin3_s16x2(a, b, c)); }
ROCPORT_DEVICE unsigned vimax_s16x2_relu(unsigned a, unsigned b) { return relu_s16x2(vmaxs2(a, b)); }
ROCPORT_DEVICE unsigned vimin_s16x2_relu(unsigned a, unsigned b) { return relu_s16x2(vmins2(a, b)); }
ROCPORT_DEVICE unsigned viaddmax_s16x2(unsigned a, unsigned b, unsigned c) { return vmaxs2(vadd2(a, b), c); }
ROCPORT_DEVICE unsigned viaddmin_s16x2(unsigned a, unsigned b, unsigned c) { return vmins2(vadd2(a, b), c); }
ROCPORT_DEVICE unsigned viaddmax_u16x2(unsigned a, unsigned b, unsigned c) { return vmaxu2(vadd2(a, b), c); }
ROCPORT_DEVICE unsigned viaddmin_u16x2(unsigned a, unsigned b, unsigned c) { return vminu2(vadd2(a, b), c); }
ROCPORT_DEVICE unsigned viaddmax_s16x2_relu(unsigned a, unsigned b, unsigned c) { return relu_s16x2(viaddmax_s16x2(a, b, c)); }
ROCPORT_DEVICE unsigned viaddmin_s16x2_relu(unsigned a, unsigned b, unsigned c) { return relu_s16x2(viaddmin_s16x2(a, b, c)); }

#define ROCPORT_SIMD_FLAGGED(name, compare, choose)                                     \
  ROCPORT_DEVICE unsigned name(unsigned a, unsigned b, bool* high, bool* low) {         \
    const unsigned taken = compare(a, b);                                               \
    *high = (taken >> 16) != 0u;                                                        \
    *low = (taken & 0xffffu) != 0u;                                                     \
    return choose(a, b);                                                                \
  }
ROCPORT_SIMD_FLAGGED(vibmax_s16x2, vcmpges2, vmaxs2)
ROCPORT_SIMD_FLAGGED(vibmin_s16x2, vcmples2, vmins2)
ROCPORT_SIMD_FLAGGED(vibmax_u16x2, vcmpgeu2, vmaxu2)
ROCPORT_SIMD_FLAGGED(vibmin_u16x2, vcmpleu2, vminu2)

#undef ROCPORT_SIMD_FLAGGED
#undef ROCPORT_SIMD_SAD
#undef ROCPORT_SIMD_COMPARE
#undef ROCPORT_SIMD_BINARY
#undef ROCPORT_SIMD_PARTS
#undef ROCPORT_SIMD_UNARY

}  // namespace rocport

#endif  // ROCPORT_SIMD_H
