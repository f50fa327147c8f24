// SPDX-License-Identifier: Apache-2.0
// hip_bfloat16: the older bfloat16 type, whose bits are public.
#pragma once

#include <ostream>

#include "hip/hip_bf16.h"

struct hip_bfloat16 {
  std::uint16_t data;
  enum truncate_t { truncate };
  hip_bfloat16() = default;
  explicit hip_bfloat16(float v) : data(rpx::bfloat16_bits(v)) {}
  explicit hip_bfloat16(float v, truncate_t) : data(static_cast<std::uint16_t>(rpx::bit_copy<std::uint32_t>(v) >> 16)) {}
  static hip_bfloat16 round_to_bfloat16(float v) { return hip_bfloat16(v); }
  static hip_bfloat16 round_to_bfloat16(float v, truncate_t t) { return hip_bfloat16(v, t); }
  operator float() const { return rpx::bfloat16_value(data); }
  hip_bfloat16 &operator=(float v) {
    data = rpx::bfloat16_bits(v);
    return *this;
  }
  explicit operator bool() const { return float(*this) != 0; }
};
static_assert(sizeof(hip_bfloat16) == 2, "hip_bfloat16 is two bytes");
inline std::ostream &operator<<(std::ostream &os, const hip_bfloat16 &h) { return os << float(h); }
inline hip_bfloat16 operator+(hip_bfloat16 a) { return a; }
inline hip_bfloat16 operator-(hip_bfloat16 a) { return hip_bfloat16(-float(a)); }
inline hip_bfloat16 operator+(hip_bfloat16 a, hip_bfloat16 b) { return hip_bfloat16(float(a) + float(b)); }
inline hip_bfloat16 operator-(hip_bfloat16 a, hip_bfloat16 b) { return hip_bfloat16(float(a) - float(b)); }
inline hip_bfloat16 operator*(hip_bfloat16 a, hip_bfloat16 b) { return hip_bfloat16(float(a) * float(b)); }
inline hip_bfloat16 operator/(hip_bfloat16 a, hip_bfloat16 b) { return hip_bfloat16(float(a) / float(b)); }
inline bool operator<(hip_bfloat16 a, hip_bfloat16 b) { return float(a) < float(b); }
inline bool operator>(hip_bfloat16 a, hip_bfloat16 b) { return float(a) > float(b); }
inline bool operator<=(hip_bfloat16 a, hip_bfloat16 b) { return float(a) <= float(b); }
inline bool operator>=(hip_bfloat16 a, hip_bfloat16 b) { return float(a) >= float(b); }
inline bool operator==(hip_bfloat16 a, hip_bfloat16 b) { return float(a) == float(b); }
inline bool operator!=(hip_bfloat16 a, hip_bfloat16 b) { return float(a) != float(b); }
inline hip_bfloat16 &operator+=(hip_bfloat16 &a, hip_bfloat16 b) { return a = a + b; }
inline hip_bfloat16 &operator-=(hip_bfloat16 &a, hip_bfloat16 b) { return a = a - b; }
inline hip_bfloat16 &operator*=(hip_bfloat16 &a, hip_bfloat16 b) { return a = a * b; }
inline hip_bfloat16 &operator/=(hip_bfloat16 &a, hip_bfloat16 b) { return a = a / b; }
inline hip_bfloat16 &operator++(hip_bfloat16 &a) { return a = hip_bfloat16(float(a) + 1.0f); }
inline hip_bfloat16 operator++(hip_bfloat16 &a, int) {
  hip_bfloat16 before = a;
  ++a;
  return before;
}
namespace std {
inline bool isinf(hip_bfloat16 a) { return !(~a.data & 0x7f80) && !(a.data & 0x7f); }
inline bool isnan(hip_bfloat16 a) { return !(~a.data & 0x7f80) && (a.data & 0x7f); }
}  // namespace std
