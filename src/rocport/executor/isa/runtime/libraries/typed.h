// SPDX-License-Identifier: Apache-2.0
// Elements by their type at run time, for the libraries that are written against ROCm's own headers.
#pragma once

#define __HIP_PLATFORM_AMD__ 1
#include <hip/library_types.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "rpx/fp8.h"

namespace typed {

// A matrix's or a tensor's numbers, read and written one at a time. Integers of 32 bits are exact in a double.
class Elements {
 public:
  Elements(const void *data, hipDataType type) : data_(const_cast<char *>(static_cast<const char *>(data))), type_(type) {}

  hipDataType type() const { return type_; }
  // 0: a type that is not served.
  static std::size_t bytes(hipDataType type) {
    switch (type) {
      case HIP_R_64F: return 8;
      case HIP_R_32F:
      case HIP_R_32I: return 4;
      case HIP_R_16F:
      case HIP_R_16BF: return 2;
      case HIP_R_8I:
      case HIP_R_8F_E4M3:
      case HIP_R_8F_E5M2:
      case HIP_R_8F_E4M3_FNUZ:
      case HIP_R_8F_E5M2_FNUZ: return 1;
      default: return 0;
    }
  }
  double operator[](std::size_t i) const {
    switch (type_) {
      case HIP_R_64F: return at<double>(i);
      case HIP_R_32F: return at<float>(i);
      case HIP_R_32I: return at<std::int32_t>(i);
      case HIP_R_16F: return at<_Float16>(i);
      case HIP_R_16BF: return from_bits(static_cast<std::uint32_t>(at<std::uint16_t>(i)) << 16);
      case HIP_R_8I: return at<std::int8_t>(i);
      default: return rpx::fp8_value(at<std::uint8_t>(i), small());
    }
  }
  void set(std::size_t i, double v) const {
    switch (type_) {
      case HIP_R_64F: return put(i, v);
      case HIP_R_32F: return put(i, static_cast<float>(v));
      case HIP_R_32I: return put(i, integer<std::int32_t>(v));
      case HIP_R_16F: return put(i, static_cast<_Float16>(v));
      case HIP_R_16BF: return put(i, bfloat16(static_cast<float>(v)));
      case HIP_R_8I: return put(i, integer<std::int8_t>(v));
      default: return put(i, rpx::fp8_bits(v, true, small()));
    }
  }

 private:
  template <class T> static T integer(double v) {  // to nearest, ties to even, within the type's range; a NaN is 0
    using Limits = std::numeric_limits<T>;
    return v != v ? T(0) : static_cast<T>(std::nearbyint(std::max<double>(Limits::min(), std::min<double>(v, Limits::max()))));
  }
  static float from_bits(std::uint32_t bits) {
    float v;
    std::memcpy(&v, &bits, sizeof v);
    return v;
  }
  static std::uint16_t bfloat16(float v) {  // to nearest, ties to even; a NaN stays one
    std::uint32_t bits;
    std::memcpy(&bits, &v, sizeof bits);
    return static_cast<std::uint16_t>(v != v ? bits >> 16 | 64 : (bits + 0x7fff + (bits >> 16 & 1)) >> 16);
  }
  rpx::Fp8Format small() const {
    switch (type_) {
      case HIP_R_8F_E5M2: return rpx::kE5M2;
      case HIP_R_8F_E4M3_FNUZ: return rpx::kE4M3Fnuz;
      case HIP_R_8F_E5M2_FNUZ: return rpx::kE5M2Fnuz;
      default: return rpx::kE4M3;
    }
  }
  template <class T> T at(std::size_t i) const {
    T v;
    std::memcpy(static_cast<void *>(&v), data_ + i * sizeof(T), sizeof(T));
    return v;
  }
  template <class T> void put(std::size_t i, T v) const { std::memcpy(data_ + i * sizeof(T), static_cast<const void *>(&v), sizeof(T)); }

  char *data_;
  hipDataType type_;
};

}  // namespace typed
