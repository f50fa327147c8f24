// SPDX-License-Identifier: Apache-2.0
// Plain loops behind hipBLAS and rocBLAS: column-major, double accumulation for single precision. Large products are
// those of rpx/product.h.
#pragma once

#include <cmath>
#include <cstddef>
#include <type_traits>
#include <vector>

#include "hip/hip_bf16.h"
#include "hip/hip_complex.h"
#include "hip/hip_fp16.h"
#include "hip/library_types.h"
#include "rpx/product.h"

namespace rpx {
namespace blas {

// Arithmetic on each element type: what to accumulate in (and in large products: integers in double are exact to 2^53),
// conversion both ways.
template <class T> struct Element {
  using Sum = std::conditional_t<std::is_integral<T>::value, long long, double>;
  using Work = std::conditional_t<std::is_same<T, float>::value, float, double>;
  static Sum load(T v) { return static_cast<Sum>(v); }
  static T store(Sum v) { return static_cast<T>(v); }
};
template <> struct Element<__half> {
  using Sum = double;
  using Work = float;
  static double load(__half v) { return static_cast<float>(v); }
  static __half store(double v) { return __half(static_cast<float>(v)); }
};
template <> struct Element<__hip_bfloat16> {
  using Sum = double;
  using Work = float;
  static double load(__hip_bfloat16 v) { return static_cast<float>(v); }
  static __hip_bfloat16 store(double v) { return __hip_bfloat16(static_cast<float>(v)); }
};
struct Complex {
  double re, im;
  Complex(double r = 0, double i = 0) : re(r), im(i) {}
  Complex operator+(Complex b) const { return {re + b.re, im + b.im}; }
  Complex operator-(Complex b) const { return {re - b.re, im - b.im}; }
  Complex operator*(Complex b) const { return {re * b.re - im * b.im, re * b.im + im * b.re}; }
  Complex operator/(Complex b) const {
    double n = b.re * b.re + b.im * b.im;
    return {(re * b.re + im * b.im) / n, (im * b.re - re * b.im) / n};
  }
  Complex &operator+=(Complex b) { return *this = *this + b; }
  Complex &operator-=(Complex b) { return *this = *this - b; }
  bool operator==(Complex b) const { return re == b.re && im == b.im; }
};
template <class R> struct Element<HIP_vector_type<R, 2>> {
  using Sum = Complex;
  using Work = std::complex<R>;
  static Complex load(HIP_vector_type<R, 2> v) { return {v.x, v.y}; }
  static HIP_vector_type<R, 2> store(Complex v) { return HIP_vector_type<R, 2>(static_cast<R>(v.re), static_cast<R>(v.im)); }
};
inline double conj(double v) { return v; }
inline long long conj(long long v) { return v; }
inline Complex conj(Complex v) { return {v.re, -v.im}; }
inline double magnitude(double v) { return std::fabs(v); }
inline double magnitude(long long v) { return std::fabs(static_cast<double>(v)); }
inline double magnitude(Complex v) { return std::fabs(v.re) + std::fabs(v.im); }
inline double square(double v) { return v * v; }
inline double square(long long v) { return static_cast<double>(v) * static_cast<double>(v); }
inline double square(Complex v) { return v.re * v.re + v.im * v.im; }

enum Op { kNone, kTranspose, kConjugate };

// Element types that BLAS and LAPACK know.
template <class T> constexpr bool kOfBlas = sizeof(typename Element<T>::Work) == sizeof(T) && !std::is_integral<T>::value;

inline char letter(Op op) { return op == kNone ? 'N' : op == kTranspose ? 'T' : 'C'; }
template <class Sum, class W> Sum from_work(W v) {
  if constexpr (std::is_same<Sum, Complex>::value) return {v.real(), v.imag()};
  else return static_cast<Sum>(v);
}
// A matrix in the type that a large product is computed in: as it lies, where it is of this type, else in `copy`.
template <class W, class T> const W *as_work(long rows, long columns, const T *p, long ld, std::vector<W> &copy) {
  if constexpr (std::is_same<W, T>::value || (!std::is_floating_point<W>::value && sizeof(W) == sizeof(T))) {
    return reinterpret_cast<const W *>(p);
  } else {
    copy.resize(static_cast<std::size_t>(rows * columns));
    for (long j = 0; j < columns; ++j)
      for (long i = 0; i < rows; ++i) {
        const auto v = Element<T>::load(p[i + j * ld]);
        if constexpr (std::is_floating_point<W>::value) copy[static_cast<std::size_t>(i + j * rows)] = static_cast<W>(v);
        else copy[static_cast<std::size_t>(i + j * rows)] = W(static_cast<typename W::value_type>(v.re), static_cast<typename W::value_type>(v.im));
      }
    return copy.data();
  }
}
// Multiplications up to which loops make a product; they sum single precision in double.
constexpr long kSmall = 64 * 64 * 64;
// The order up to which loops factorize.
constexpr long kSmallOrder = 64;

// C = alpha op(A) op(B) + beta C. A and B may be narrower than C. Where C lies over A or B, it is written last: BLAS
// leaves that undefined, a GPU's tiles often get it right, and programs rely on it.
template <class A, class B, class C, class S>
void gemm(Op ta, Op tb, long m, long n, long k, S alpha, const A *a, long lda, const B *b, long ldb, S beta, C *c, long ldc) {
  using Sum = typename Element<C>::Sum;
  auto over = [&](const void *p, long ld, long columns, std::size_t bytes) {
    const char *begin = static_cast<const char *>(p), *own = reinterpret_cast<const char *>(c);
    return begin < own + static_cast<std::size_t>(ldc * n) * sizeof(C) && own < begin + static_cast<std::size_t>(ld * columns) * bytes;
  };
  const bool late = over(a, lda, ta == kNone ? k : m, sizeof(A)) || over(b, ldb, tb == kNone ? n : k, sizeof(B));
  std::vector<Sum> column(static_cast<std::size_t>(m > 0 ? m : 0)), all;
  auto store = [&](long j, auto value) {
    for (long i = 0; i < m; ++i) {
      Sum v = Sum(alpha) * value(i);
      // BLAS: with beta zero, C need not hold numbers.
      if (!(Sum(beta) == Sum(0))) v += Sum(beta) * Sum(Element<C>::load(c[i + j * ldc]));
      c[i + j * ldc] = Element<C>::store(v);
    }
  };
  if (m * n * k > kSmall) {
    using W = typename Element<C>::Work;
    std::vector<W> from_a, from_b, result(static_cast<std::size_t>(m * n));
    const long ra = ta == kNone ? m : k, ca = ta == kNone ? k : m, rb = tb == kNone ? k : n, cb = tb == kNone ? n : k;
    const W *x = as_work(ra, ca, a, lda, from_a), *y = as_work(rb, cb, b, ldb, from_b);
    product(letter(ta), letter(tb), m, n, k, x, from_a.empty() ? lda : ra, y, from_b.empty() ? ldb : rb, result.data());
    for (long j = 0; j < n; ++j) store(j, [&](long i) { return from_work<Sum>(result[static_cast<std::size_t>(i + j * m)]); });
    return;
  }
  if (late) all.reserve(static_cast<std::size_t>(m * n));
  for (long j = 0; j < n; ++j) {
    for (long i = 0; i < m; ++i) column[i] = Sum(0);
    for (long p = 0; p < k; ++p) {
      Sum y = Sum(Element<B>::load(tb == kNone ? b[p + j * ldb] : b[j + p * ldb]));
      if (tb == kConjugate) y = conj(y);
      if (ta == kNone) {
        const A *ap = a + p * lda;
        for (long i = 0; i < m; ++i) column[i] += Sum(Element<A>::load(ap[i])) * y;
      } else {
        for (long i = 0; i < m; ++i) {
          Sum x = Sum(Element<A>::load(a[p + i * lda]));
          column[i] += (ta == kConjugate ? conj(x) : x) * y;
        }
      }
    }
    if (late) all.insert(all.end(), column.begin(), column.end());
    else store(j, [&](long i) { return column[static_cast<std::size_t>(i)]; });
  }
  for (long j = 0; late && j < n; ++j) store(j, [&](long i) { return all[static_cast<std::size_t>(i + j * m)]; });
}

template <class T> void gemv(Op t, long m, long n, T alpha, const T *a, long lda, const T *x, long incx, T beta, T *y, long incy) {
  using E = Element<T>;
  using Sum = typename E::Sum;
  const long rows = t == kNone ? m : n, inner = t == kNone ? n : m;
  for (long i = 0; i < rows; ++i) {
    Sum sum(0);
    for (long j = 0; j < inner; ++j) {
      Sum v = E::load(t == kNone ? a[i + j * lda] : a[j + i * lda]);
      sum += (t == kConjugate ? conj(v) : v) * E::load(x[j * incx]);
    }
    sum = E::load(alpha) * sum;
    if (!(E::load(beta) == Sum(0))) sum += E::load(beta) * E::load(y[i * incy]);
    y[i * incy] = E::store(sum);
  }
}

// Solves op(A) X = alpha B (left) or X op(A) = alpha B; B becomes X.
template <class T> void trsm(bool left, bool upper, Op t, bool unit, long m, long n, T alpha, const T *a, long lda, T *b, long ldb) {
  using E = Element<T>;
  using Sum = typename E::Sum;
  const long order = left ? m : n, others = left ? n : m;
  if constexpr (kOfBlas<T>) {
    const char side = left ? 'L' : 'R', triangle = upper ? 'U' : 'L', op = letter(t), diagonal = unit ? 'U' : 'N';
    if (order > kSmallOrder && fortran(Letter<typename E::Work>::value, "trsm", &side, &triangle, &op, &diagonal, &m, &n, &alpha, a, &lda, b, &ldb)) return;
  }
  auto at = [&](long i, long j) {  // op(A)
    Sum v = E::load(t == kNone ? a[i + j * lda] : a[j + i * lda]);
    return t == kConjugate ? conj(v) : v;
  };
  const bool op_upper = upper == (t == kNone);
  for (long q = 0; q < others; ++q) {
    auto element = [&](long i) -> T & { return left ? b[i + q * ldb] : b[q + i * ldb]; };
    std::vector<Sum> x(static_cast<std::size_t>(order));
    for (long i = 0; i < order; ++i) x[i] = E::load(alpha) * E::load(element(i));
    // Left solves from the triangle's closed end; right is the same with the transposed operator.
    const bool backward = left ? op_upper : !op_upper;
    for (long s = 0; s < order; ++s) {
      const long i = backward ? order - 1 - s : s;
      for (long r = 0; r < s; ++r) {
        const long j = backward ? order - 1 - r : r;
        x[i] -= (left ? at(i, j) : at(j, i)) * x[j];
      }
      if (!unit) x[i] = x[i] / at(i, i);
    }
    for (long i = 0; i < order; ++i) element(i) = E::store(x[i]);
  }
}

template <class T> void syrkx(bool upper, Op t, long n, long k, T alpha, const T *a, long lda, const T *b, long ldb, T beta, T *c, long ldc, bool hermitian) {
  using E = Element<T>;
  using Sum = typename E::Sum;
  for (long j = 0; j < n; ++j)
    for (long i = upper ? 0 : j; i < (upper ? j + 1 : n); ++i) {
      Sum sum(0);
      for (long p = 0; p < k; ++p) {
        Sum x = E::load(t == kNone ? a[i + p * lda] : a[p + i * lda]), y = E::load(t == kNone ? b[j + p * ldb] : b[p + j * ldb]);
        if (hermitian) (t == kNone ? y : x) = conj(t == kNone ? y : x);
        sum += x * y;
      }
      sum = E::load(alpha) * sum;
      if (!(E::load(beta) == Sum(0))) sum += E::load(beta) * E::load(c[i + j * ldc]);
      if (hermitian && i == j) sum = Sum(0.5) * (sum + conj(sum));  // its real part
      c[i + j * ldc] = E::store(sum);
    }
}
template <class T> void syrk(bool upper, Op t, long n, long k, T alpha, const T *a, long lda, T beta, T *c, long ldc, bool hermitian) {
  if constexpr (kOfBlas<T>) {
    const char triangle = upper ? 'U' : 'L', op = letter(t);
    if (!hermitian && n > kSmallOrder && fortran(Letter<typename Element<T>::Work>::value, "syrk", &triangle, &op, &n, &k, &alpha, a, &lda, &beta, c, &ldc)) return;
  }
  syrkx(upper, t, n, k, alpha, a, lda, a, lda, beta, c, ldc, hermitian);
}

// LU with partial pivoting; pivots are 1-based rows (none when `pivot` is null). Returns the first zero pivot, 1-based, or 0.
template <class T> int getrf(long m, long n, T *a, long lda, int *pivot) {
  using E = Element<T>;
  if constexpr (kOfBlas<T>) {
    std::vector<long> rows(static_cast<std::size_t>(std::min(m, n)));
    long failed = 0;
    if (pivot && rows.size() > kSmallOrder && fortran(Letter<typename E::Work>::value, "getrf", &m, &n, a, &lda, rows.data(), &failed)) {
      narrow(rows, pivot);
      return static_cast<int>(failed);
    }
  }
  int info = 0;
  for (long j = 0; j < (m < n ? m : n); ++j) {
    long best = j;
    if (pivot) {
      for (long i = j + 1; i < m; ++i)
        if (magnitude(E::load(a[i + j * lda])) > magnitude(E::load(a[best + j * lda]))) best = i;
      pivot[j] = static_cast<int>(best + 1);
      if (best != j)
        for (long c = 0; c < n; ++c) std::swap(a[j + c * lda], a[best + c * lda]);
    }
    auto d = E::load(a[j + j * lda]);
    if (magnitude(d) == 0) {
      if (!info) info = static_cast<int>(j + 1);
      continue;
    }
    for (long i = j + 1; i < m; ++i) {
      auto f = E::load(a[i + j * lda]) / d;
      a[i + j * lda] = E::store(f);
      for (long c = j + 1; c < n; ++c) a[i + c * lda] = E::store(E::load(a[i + c * lda]) - f * E::load(a[j + c * lda]));
    }
  }
  return info;
}

template <class T> void getrs(Op t, long n, long nrhs, const T *a, long lda, const int *pivot, T *b, long ldb) {
  auto swap_rows = [&](long i) {
    long p = pivot ? pivot[i] - 1 : i;
    if (p != i)
      for (long c = 0; c < nrhs; ++c) std::swap(b[i + c * ldb], b[p + c * ldb]);
  };
  const T one = Element<T>::store(typename Element<T>::Sum(1));
  if (t == kNone) {
    for (long i = 0; i < n; ++i) swap_rows(i);
    trsm(true, false, kNone, true, n, nrhs, one, a, lda, b, ldb);
    trsm(true, true, kNone, false, n, nrhs, one, a, lda, b, ldb);
  } else {
    trsm(true, true, t, false, n, nrhs, one, a, lda, b, ldb);
    trsm(true, false, t, true, n, nrhs, one, a, lda, b, ldb);
    for (long i = n - 1; i >= 0; --i) swap_rows(i);
  }
}

template <class T> int getri(long n, const T *a, long lda, const int *pivot, T *c, long ldc) {
  for (long j = 0; j < n; ++j)
    for (long i = 0; i < n; ++i) c[i + j * ldc] = Element<T>::store(typename Element<T>::Sum(i == j ? 1 : 0));
  getrs(kNone, n, n, a, lda, pivot, c, ldc);
  return 0;
}

template <class T> int potrf(bool upper, long n, T *a, long lda) {
  using E = Element<T>;
  using Sum = typename E::Sum;
  if constexpr (kOfBlas<T>) {
    const char triangle = upper ? 'U' : 'L';
    long failed = 0;
    if (n > kSmallOrder && fortran(Letter<typename E::Work>::value, "potrf", &triangle, &n, a, &lda, &failed)) return static_cast<int>(failed);
  }
  auto at = [&](long i, long j) -> T & { return upper ? a[j + i * lda] : a[i + j * lda]; };  // of the lower factor
  auto value = [&](long i, long j) { return upper ? conj(E::load(at(i, j))) : E::load(at(i, j)); };
  auto put = [&](long i, long j, Sum v) { at(i, j) = E::store(upper ? conj(v) : v); };
  for (long j = 0; j < n; ++j) {
    Sum d = value(j, j);
    for (long p = 0; p < j; ++p) d -= value(j, p) * conj(value(j, p));
    double root = magnitude(d);
    if (!(root > 0) || (std::is_same<Sum, double>::value && !(*reinterpret_cast<double *>(&d) > 0))) return static_cast<int>(j + 1);
    root = std::sqrt(root);
    put(j, j, Sum(root));
    for (long i = j + 1; i < n; ++i) {
      Sum s = value(i, j);
      for (long p = 0; p < j; ++p) s -= value(i, p) * conj(value(j, p));
      put(i, j, s / Sum(root));
    }
  }
  return 0;
}

// Calls f(pointer of the named element type); false for a type that is not served.
template <class F> bool with_type(hipDataType type, F f) {
  switch (static_cast<int>(type)) {
    case HIP_R_32F: f(static_cast<float *>(nullptr)); return true;
    case HIP_R_64F: f(static_cast<double *>(nullptr)); return true;
    case HIP_R_16F: f(static_cast<__half *>(nullptr)); return true;
    case HIP_R_16BF: f(static_cast<__hip_bfloat16 *>(nullptr)); return true;
    case HIP_R_8I: f(static_cast<signed char *>(nullptr)); return true;
    case HIP_R_32I: f(static_cast<int *>(nullptr)); return true;
    case HIP_C_32F: f(static_cast<hipFloatComplex *>(nullptr)); return true;
    case HIP_C_64F: f(static_cast<hipDoubleComplex *>(nullptr)); return true;
    default: return false;
  }
}
template <class T> struct IsComplex : std::false_type {};
template <class R> struct IsComplex<HIP_vector_type<R, 2>> : std::true_type {};

// A scalar of the compute type, as a double (or complex) ready for gemm.
inline Complex scalar(const void *p, hipDataType type) {
  Complex result;
  with_type(type, [&](auto *t) {
    using T = std::remove_pointer_t<decltype(t)>;
    auto v = Element<T>::load(*static_cast<const T *>(p));
    if constexpr (IsComplex<T>::value) result = v;
    else result = Complex(static_cast<double>(v));
  });
  return result;
}

// gemm over run-time types. False when the combination is not served.
inline bool gemm_typed(Op ta, Op tb, long m, long n, long k, Complex alpha, const void *a, hipDataType at, long lda, const void *b, hipDataType bt,
                       long ldb, Complex beta, void *c, hipDataType ct, long ldc) {
  bool served = false;
  with_type(at, [&](auto *x) {
    using A = std::remove_pointer_t<decltype(x)>;
    if (bt != at) return;
    with_type(ct, [&](auto *z) {
      using C = std::remove_pointer_t<decltype(z)>;
      if constexpr (IsComplex<A>::value == IsComplex<C>::value) {
        using Sum = typename Element<C>::Sum;
        served = true;
        if constexpr (IsComplex<C>::value)
          gemm(ta, tb, m, n, k, alpha, static_cast<const A *>(a), lda, static_cast<const A *>(b), ldb, beta, static_cast<C *>(c), ldc);
        else
          gemm(ta, tb, m, n, k, static_cast<Sum>(alpha.re), static_cast<const A *>(a), lda, static_cast<const A *>(b), ldb, static_cast<Sum>(beta.re), static_cast<C *>(c), ldc);
      }
    });
  });
  return served;
}
inline std::size_t type_bytes(hipDataType type) {
  std::size_t bytes = 0;
  with_type(type, [&](auto *t) { bytes = sizeof(*t); });
  return bytes;
}

}  // namespace blas
}  // namespace rpx
