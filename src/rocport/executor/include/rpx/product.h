// SPDX-License-Identifier: Apache-2.0
// Products of large matrices by the BLAS and LAPACK that ROCPORT_BLAS names (an OpenBLAS, as numpy carries one), else by
// blocked loops. Both sum in the elements' own type, as a GPU does.
#pragma once

#include <dlfcn.h>

#include <algorithm>
#include <complex>
#include <cstdlib>
#include <string>
#include <vector>

// The BLAS where the environment names none; empty: none.
#ifndef RPX_BLAS_LIBRARY
#define RPX_BLAS_LIBRARY ""
#endif

namespace rpx {
namespace blas {

template <class W> struct Letter;
template <> struct Letter<float> { static constexpr char value = 's'; };
template <> struct Letter<double> { static constexpr char value = 'd'; };
template <> struct Letter<std::complex<float>> { static constexpr char value = 'c'; };
template <> struct Letter<std::complex<double>> { static constexpr char value = 'z'; };

// Calls a function of the BLAS or LAPACK by its Fortran name; false where none is there. Builds name them apart: scipy's
// wheels put `scipy_` in front, and `64_` behind where integers have 64 bits. Every integer is a pointer to a long: the
// processors that this runs on (x86-64, aarch64) are little-endian, so a build with 32 bits reads it, too.
inline void *blas_function(const std::string &name) {
  static void *const library = [] {
    const char *named = std::getenv("ROCPORT_BLAS");
    if (!named) named = RPX_BLAS_LIBRARY;
    return *named ? dlopen(named, RTLD_NOW | RTLD_LOCAL) : nullptr;
  }();
  for (const char *before : {"scipy_", ""})
    for (const char *behind : {"_64_", "_"})
      if (void *found = library ? dlsym(library, (before + name + behind).c_str()) : nullptr) return found;
  return nullptr;
}
template <class... A> bool fortran(char type, const char *name, A... arguments) {
  void *const function = blas_function(type + std::string(name));
  if (!function) return false;
  // Fortran takes the length of each text after the arguments; all are one character long.
  reinterpret_cast<void (*)(A..., std::size_t, std::size_t, std::size_t)>(function)(arguments..., 1, 1, 1);
  return true;
}

// result = op(A) op(B), m by n, without gaps; t and u: 'N', 'T' or 'C'.
template <class W>
void product_in_blocks(char t, char u, long m, long n, long k, const W *a, long lda, const W *b, long ldb, W *result) {
  constexpr long kRows = 256, kDepth = 128, kColumns = 4;
  auto value = [](char op, const W *p, long ld, long i, long j) {
    W v = op == 'N' ? p[i + j * ld] : p[j + i * ld];
    if constexpr (!std::is_floating_point<W>::value) return op == 'C' ? std::conj(v) : v;
    else return v;
  };
  std::fill_n(result, m * n, W(0));
  std::vector<W> block(kRows * kDepth);
  for (long p0 = 0; p0 < k; p0 += kDepth) {
    const long depth = std::min(kDepth, k - p0);
    for (long i0 = 0; i0 < m; i0 += kRows) {
      const long rows = std::min(kRows, m - i0);
      for (long p = 0; p < depth; ++p)
        for (long i = 0; i < rows; ++i) block[i + p * kRows] = value(t, a, lda, i0 + i, p0 + p);
      for (long j0 = 0; j0 < n; j0 += kColumns)
        for (long p = 0; p < depth; ++p) {
          const W *x = block.data() + p * kRows;
          for (long j = j0; j < std::min(j0 + kColumns, n); ++j) {
            const W y = value(u, b, ldb, p0 + p, j);
            W *column = result + i0 + j * m;
            for (long i = 0; i < rows; ++i) column[i] += x[i] * y;
          }
        }
    }
  }
}

template <class W>
void product(char t, char u, long m, long n, long k, const W *a, long lda, const W *b, long ldb, W *result) {
  const W one(1), zero(0);
  if (!fortran(Letter<W>::value, "gemm", &t, &u, &m, &n, &k, &one, a, &lda, b, &ldb, &zero, result, &m))
    product_in_blocks(t, u, m, n, k, a, lda, b, ldb, result);
}

// Row exchanges as a LAPACK of 32- or 64-bit integers wrote them, as 32-bit ones.
inline void narrow(const std::vector<long> &wide, int *narrow) {
  const int *halves = reinterpret_cast<const int *>(wide.data());
  // An index is at least 1 and below 2^31: the upper half of a wide one is zero.
  const bool is_wide = wide.size() < 2 || !halves[1];
  for (std::size_t i = 0; i < wide.size(); ++i) narrow[i] = is_wide ? static_cast<int>(wide[i]) : halves[i];
}

}  // namespace blas
}  // namespace rpx
