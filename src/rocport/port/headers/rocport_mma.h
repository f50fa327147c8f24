// rocport_mma.h - the matrix instructions of a CUDA warp on AMD wavefronts of 32 or 64 lanes.
// SPDX-License-Identifier: Apache-2.0
//
// mma.sync, ldmatrix, stmatrix and movmatrix as PTX defines them (PTX ISA 8.5, sections 9.7.14.5 and 9.7.15), and
// nvcuda::wmma. Each warp of 32 lanes computes by itself, on either half of a 64-lane wavefront: operands travel by
// shuffles, products are summed by fused multiply-adds in the order of k. Every lane of the warp must take part.
//
// What it costs: an m16n8k16 of 16-bit values is 32 shuffles and 64 multiply-adds a lane, where AMD's own matrix
// instructions (MFMA, WMMA: rocWMMA, Composable Kernel) take a few cycles. It is right first; a kernel that lives from its
// matrix units is to be written again for them.
//
// Sums: 16-bit floats, tf32 and fp8 in float, one rounding a product; NVIDIA's order and rounding are unspecified. tf32
// operands are cut to ten bits of mantissa. Integers wrap, or saturate at the end with .satfinite.
#ifndef ROCPORT_MMA_H
#define ROCPORT_MMA_H

#include "rocport_compat.h"
#include "rocport_warp.h"

// A plain C++ compiler sees none of it: HIP gives it half as a type without functions.
#if !defined(ROCPORT_HOST_ONLY)

#if !defined(__HIPCC_RTC__)
#include <hip/hip_bf16.h>
#include <hip/hip_fp16.h>
#endif

namespace rocport {
namespace mma {

// ---- Elements: how many a 32-bit register holds, and their values ----------------------------------------------------

struct f16 {
  using sum = float;
  static constexpr int count = 2;
  ROCPORT_DEVICE static float value(unsigned word, int i) {
    return __half2float(bit_cast<__half>(static_cast<unsigned short>(word >> (16 * i))));
  }
};
struct bf16 {
  using sum = float;
  static constexpr int count = 2;
  ROCPORT_DEVICE static float value(unsigned word, int i) {
    return bit_cast<float>(i ? word & 0xffff0000u : word << 16);
  }
};
struct tf32 {
  using sum = float;
  static constexpr int count = 1;
  ROCPORT_DEVICE static float value(unsigned word, int) { return bit_cast<float>(word & 0xffffe000u); }
};
struct s8 {
  using sum = int;
  static constexpr int count = 4;
  ROCPORT_DEVICE static int value(unsigned word, int i) { return static_cast<signed char>(word >> (8 * i)); }
};
struct u8 {
  using sum = int;
  static constexpr int count = 4;
  ROCPORT_DEVICE static int value(unsigned word, int i) { return static_cast<unsigned char>(word >> (8 * i)); }
};
// fp8 as NVIDIA has it (OCP): four exponent bits and no infinity, or five exponent bits and the top of a half.
struct e4m3 {
  using sum = float;
  static constexpr int count = 4;
  ROCPORT_DEVICE static float value(unsigned word, int i) {
    const unsigned byte = (word >> (8 * i)) & 0xffu, magnitude = byte & 0x7fu, sign = (byte & 0x80u) << 24;
    if (magnitude == 0x7fu) return bit_cast<float>(sign | 0x7fc00000u);
    const float scaled = bit_cast<float>(magnitude << 20) * 0x1p120f;  // exponent bias 7 in float's bias 127
    return bit_cast<float>(bit_cast<unsigned>(scaled) | sign);
  }
};
struct e5m2 {
  using sum = float;
  static constexpr int count = 4;
  ROCPORT_DEVICE static float value(unsigned word, int i) {
    return __half2float(bit_cast<__half>(static_cast<unsigned short>(((word >> (8 * i)) & 0xffu) << 8)));
  }
};

namespace detail {

ROCPORT_DEVICE float add(float a, float b, float sum) { return fmaf(a, b, sum); }
ROCPORT_DEVICE int add(int a, int b, int sum) {
  return static_cast<int>(static_cast<unsigned>(sum) + static_cast<unsigned>(a * b));
}
ROCPORT_DEVICE int saturated(int a, int b) {
  const long long sum = static_cast<long long>(a) + b;
  return sum > 2147483647ll ? 2147483647 : sum < -2147483648ll ? -2147483647 - 1 : static_cast<int>(sum);
}

// What a lane holds of a row or a column, from another lane of the warp.
ROCPORT_DEVICE unsigned from(unsigned word, unsigned lane) { return rocport::detail::read_lane(word, lane); }

}  // namespace detail

// ---- mma.sync.m16n8 --------------------------------------------------------------------------------------------------

// d += a * b for 16x8 results, a in row-major and b in column-major order; k is 4 * A::count * Words. Lane 4g+t holds of a
// the rows g and g+8, of b the column g, of d the columns 2t and 2t+1 of the rows g (d[0], d[1]) and g+8 (d[2], d[3]).
template <class A, class B, int Words>
ROCPORT_DEVICE void m16n8(typename A::sum (&d)[4], const unsigned (&a)[2 * Words], const unsigned (&b)[Words]) {
  static_assert(A::count == B::count, "both factors have elements of one size");
  const unsigned lane = lane_id(), row = lane & ~3u, column = (lane & 3u) << 3;
#pragma unroll
  for (int word = 0; word < Words; ++word) {
#pragma unroll
    for (unsigned t = 0u; t < 4u; ++t) {
      const unsigned upper = detail::from(a[2 * word], row | t), lower = detail::from(a[2 * word + 1], row | t);
      const unsigned left = detail::from(b[word], column | t), right = detail::from(b[word], column | 4u | t);
#pragma unroll
      for (int i = 0; i < A::count; ++i) {
        d[0] = detail::add(A::value(upper, i), B::value(left, i), d[0]);
        d[1] = detail::add(A::value(upper, i), B::value(right, i), d[1]);
        d[2] = detail::add(A::value(lower, i), B::value(left, i), d[2]);
        d[3] = detail::add(A::value(lower, i), B::value(right, i), d[3]);
      }
    }
  }
}

// The same with sums that end at the largest and smallest int: `.satfinite`.
template <class A, class B, int Words>
ROCPORT_DEVICE void m16n8_satfinite(int (&d)[4], const unsigned (&a)[2 * Words], const unsigned (&b)[Words]) {
  int products[4] = {};
  m16n8<A, B, Words>(products, a, b);
#pragma unroll
  for (int i = 0; i < 4; ++i) d[i] = detail::saturated(d[i], products[i]);
}

// The same with halves as sums, two in a register: d[0] holds the row g, d[1] the row g+8.
template <class A, class B, int Words>
ROCPORT_DEVICE void m16n8_half(unsigned (&d)[2], const unsigned (&a)[2 * Words], const unsigned (&b)[Words]) {
  float sums[4] = {f16::value(d[0], 0), f16::value(d[0], 1), f16::value(d[1], 0), f16::value(d[1], 1)};
  m16n8<A, B, Words>(sums, a, b);
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    d[i] = bit_cast<unsigned short>(__float2half(sums[2 * i])) |
           static_cast<unsigned>(bit_cast<unsigned short>(__float2half(sums[2 * i + 1]))) << 16;
  }
}

// mma.sync.m8n8k4 of doubles: lane 4g+t holds a(g, t), b(t, g) and of d the columns 2t and 2t+1 of the row g.
ROCPORT_DEVICE void m8n8k4(double (&d)[2], double a, double b) {
  const unsigned lane = lane_id(), row = lane & ~3u, column = (lane & 3u) << 3;
#pragma unroll
  for (unsigned t = 0u; t < 4u; ++t) {
    const double left = rocport::detail::read_lane(a, row | t);
    d[0] = fma(left, rocport::detail::read_lane(b, column | t), d[0]);
    d[1] = fma(left, rocport::detail::read_lane(b, column | 4u | t), d[1]);
  }
}

// ---- ldmatrix, stmatrix, movmatrix -----------------------------------------------------------------------------------

// 8x8 matrices of 16-bit elements. The lanes 8j to 8j+7 give the addresses (in shared memory, as 32 bits) of the rows of
// matrix j. Lane l holds the elements 2(l%4) and 2(l%4)+1 of row l/4; transposed, of column l/4.
template <int Count>
ROCPORT_DEVICE void ldmatrix(unsigned (&d)[Count], unsigned address) {
  const unsigned lane = lane_id();
#pragma unroll
  for (unsigned j = 0u; j < Count; ++j) {
    d[j] = *shared_pointer<const unsigned>(detail::from(address, 8u * j + (lane >> 2)) + 4u * (lane & 3u));
  }
}
template <int Count>
ROCPORT_DEVICE void ldmatrix_trans(unsigned (&d)[Count], unsigned address) {
  const unsigned lane = lane_id(), row = 2u * (lane & 3u), offset = 2u * (lane >> 2);
#pragma unroll
  for (unsigned j = 0u; j < Count; ++j) {
    const unsigned first = *shared_pointer<const unsigned short>(detail::from(address, 8u * j + row) + offset);
    const unsigned second = *shared_pointer<const unsigned short>(detail::from(address, 8u * j + row + 1u) + offset);
    d[j] = first | second << 16;
  }
}
template <int Count>
ROCPORT_DEVICE void stmatrix(unsigned address, const unsigned (&values)[Count]) {
  const unsigned lane = lane_id();
#pragma unroll
  for (unsigned j = 0u; j < Count; ++j) {
    *shared_pointer<unsigned>(detail::from(address, 8u * j + (lane >> 2)) + 4u * (lane & 3u)) = values[j];
  }
}
template <int Count>
ROCPORT_DEVICE void stmatrix_trans(unsigned address, const unsigned (&values)[Count]) {
  const unsigned lane = lane_id(), row = 2u * (lane & 3u), offset = 2u * (lane >> 2);
#pragma unroll
  for (unsigned j = 0u; j < Count; ++j) {
    *shared_pointer<unsigned short>(detail::from(address, 8u * j + row) + offset) =
        static_cast<unsigned short>(values[j]);
    *shared_pointer<unsigned short>(detail::from(address, 8u * j + row + 1u) + offset) =
        static_cast<unsigned short>(values[j] >> 16);
  }
}
ROCPORT_DEVICE unsigned movmatrix_trans(unsigned value) {
  const unsigned lane = lane_id(), row = 2u * (lane & 3u), column = lane >> 2, shift = 16u * (column & 1u);
  const unsigned first = detail::from(value, 4u * row + (column >> 1)) >> shift;
  const unsigned second = detail::from(value, 4u * (row + 1u) + (column >> 1)) >> shift;
  return (first & 0xffffu) | second << 16;
}

}  // namespace mma

// ---- nvcuda::wmma ----------------------------------------------------------------------------------------------------

namespace wmma {

struct matrix_a {};
struct matrix_b {};
struct accumulator {};
struct row_major {};
struct col_major {};
enum layout_t { mem_row_major, mem_col_major };
namespace precision {
struct tf32 {};
}  // namespace precision

namespace detail {

template <class T>
struct stored {
  using type = T;
};
template <>
struct stored<precision::tf32> {
  using type = float;
};

// Type in which products are summed.
template <class T>
struct summed {
  using type = float;
};
template <>
struct summed<signed char> {
  using type = int;
};
template <>
struct summed<unsigned char> {
  using type = int;
};
template <>
struct summed<double> {
  using type = double;
};

template <class Sum, class T>
ROCPORT_DEVICE Sum widened(const T& value) {
  return static_cast<Sum>(value);
}
template <>
ROCPORT_DEVICE float widened<float, __half>(const __half& value) {
  return __half2float(value);
}
template <>
ROCPORT_DEVICE float widened<float, __hip_bfloat16>(const __hip_bfloat16& value) {
  return __bfloat162float(value);
}
template <class T, class Sum>
ROCPORT_DEVICE T narrowed(Sum value) {
  return static_cast<T>(value);
}
template <>
ROCPORT_DEVICE __half narrowed<__half, float>(float value) {
  return __float2half(value);
}
ROCPORT_DEVICE float product(float a, float b, float sum) { return fmaf(a, b, sum); }
ROCPORT_DEVICE double product(double a, double b, double sum) { return fma(a, b, sum); }
ROCPORT_DEVICE int product(int a, int b, int sum) { return mma::detail::add(a, b, sum); }

// Which element a lane holds at `i`. The accumulator is dealt out in rows of N, so that a lane keeps one column; the
// factors lie so that each step of k asks one register of one lane.
template <class Use, int M, int N, int K>
struct place;
template <int M, int N, int K>
struct place<accumulator, M, N, K> {
  static constexpr int count = M * N / 32, rows = M, columns = N;
  ROCPORT_DEVICE static int row(int lane, int i) { return lane / N + 32 / N * i; }
  ROCPORT_DEVICE static int column(int lane, int) { return lane % N; }
};
template <int M, int N, int K>
struct place<matrix_b, M, N, K> {
  static constexpr int count = K * N / 32, rows = K, columns = N;
  ROCPORT_DEVICE static int row(int lane, int i) { return lane / N + 32 / N * i; }
  ROCPORT_DEVICE static int column(int lane, int) { return lane % N; }
  ROCPORT_DEVICE static int lane(int column, int k) { return k % (32 / N) * N + column; }
  static constexpr int index(int k) { return k / (32 / N); }
};
template <int M, int N, int K>
struct place<matrix_a, M, N, K> {
  static constexpr int count = M * K / 32, rows = M, columns = K;
  static constexpr int wide = K >= N ? K / N : 1, packed = K >= N ? 1 : N / K;
  ROCPORT_DEVICE static int row(int lane, int i) {
    return lane / N + 32 / N * (i / wide * packed + lane % N / (N / packed));
  }
  ROCPORT_DEVICE static int column(int lane, int i) { return i % wide * N + lane % N % (N / packed); }
  // `step` is the accumulator's index, which counts the rows a lane has.
  ROCPORT_DEVICE static int lane(int first, int step, int k) { return first * N + k % N + step % packed * (N / packed); }
  static constexpr int index(int step, int k) { return step / packed * wide + k / N; }
};

}  // namespace detail

template <class Use, int M, int N, int K, class T, class Layout = void>
struct fragment {
  using element_type = typename detail::stored<T>::type;
  using storage_element_type = element_type;
  using at = detail::place<Use, M, N, K>;
  static constexpr int num_elements = at::count, num_storage_elements = at::count;
  element_type x[at::count];
};

template <class Use, int M, int N, int K, class T, class Layout, class V>
ROCPORT_DEVICE void fill_fragment(fragment<Use, M, N, K, T, Layout>& f, const V& value) {
#pragma unroll
  for (int i = 0; i < f.num_elements; ++i) f.x[i] = value;
}

namespace detail {

template <bool Rows, class F, class P>
ROCPORT_DEVICE void load(F& f, const P* from, unsigned stride) {
  const int lane = static_cast<int>(lane_id());
#pragma unroll
  for (int i = 0; i < F::num_elements; ++i) {
    const unsigned row = F::at::row(lane, i), column = F::at::column(lane, i);
    f.x[i] = from[Rows ? row * stride + column : column * stride + row];
  }
}

}  // namespace detail

template <class Use, int M, int N, int K, class T, class P>
ROCPORT_DEVICE void load_matrix_sync(fragment<Use, M, N, K, T, row_major>& f, const P* from, unsigned stride) {
  detail::load<true>(f, from, stride);
}
template <class Use, int M, int N, int K, class T, class P>
ROCPORT_DEVICE void load_matrix_sync(fragment<Use, M, N, K, T, col_major>& f, const P* from, unsigned stride) {
  detail::load<false>(f, from, stride);
}
template <int M, int N, int K, class T, class P>
ROCPORT_DEVICE void load_matrix_sync(fragment<accumulator, M, N, K, T>& f, const P* from, unsigned stride,
                                     layout_t layout) {
  if (layout == mem_row_major) {
    detail::load<true>(f, from, stride);
  } else {
    detail::load<false>(f, from, stride);
  }
}
template <int M, int N, int K, class T, class P>
ROCPORT_DEVICE void store_matrix_sync(P* to, const fragment<accumulator, M, N, K, T>& f, unsigned stride,
                                      layout_t layout) {
  using at = typename fragment<accumulator, M, N, K, T>::at;
  const int lane = static_cast<int>(lane_id());
#pragma unroll
  for (int i = 0; i < at::count; ++i) {
    const unsigned row = at::row(lane, i), column = at::column(lane, i);
    to[layout == mem_row_major ? row * stride + column : column * stride + row] = f.x[i];
  }
}

// d = a * b + c.
template <int M, int N, int K, class A, class LayoutA, class B, class LayoutB, class D, class C>
ROCPORT_DEVICE void mma_sync(fragment<accumulator, M, N, K, D>& d, const fragment<matrix_a, M, N, K, A, LayoutA>& a,
                             const fragment<matrix_b, M, N, K, B, LayoutB>& b,
                             const fragment<accumulator, M, N, K, C>& c, bool = false) {
  using sum = typename detail::summed<A>::type;
  using in_a = detail::place<matrix_a, M, N, K>;
  using in_b = detail::place<matrix_b, M, N, K>;
  constexpr int count = detail::place<accumulator, M, N, K>::count;
  const int lane = static_cast<int>(lane_id()), first = lane / N, column = lane % N;
  sum total[count];
#pragma unroll
  for (int i = 0; i < count; ++i) total[i] = detail::widened<sum>(c.x[i]);
#pragma unroll
  for (int k = 0; k < K; ++k) {
    const auto right = rocport::detail::read_lane(b.x[in_b::index(k)], in_b::lane(column, k));
#pragma unroll
    for (int i = 0; i < count; ++i) {
      const auto left = rocport::detail::read_lane(a.x[in_a::index(i, k)], in_a::lane(first, i, k));
      total[i] = detail::product(detail::widened<sum>(left), detail::widened<sum>(right), total[i]);
    }
  }
#pragma unroll
  for (int i = 0; i < count; ++i) d.x[i] = detail::narrowed<D>(total[i]);
}

// A float rounded to tf32, to nearest and ties away from zero, as cvt.rna.tf32 does.
ROCPORT_DEVICE float __float_to_tf32(float value) {
  const unsigned bits = bit_cast<unsigned>(value);
  return (bits & 0x7f800000u) == 0x7f800000u ? value : bit_cast<float>((bits + 0x1000u) & 0xffffe000u);
}

}  // namespace wmma
}  // namespace rocport

namespace nvcuda {
namespace wmma = rocport::wmma;
}

#endif  // ROCPORT_HOST_ONLY
#endif  // ROCPORT_MMA_H
