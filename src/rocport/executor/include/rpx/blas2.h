// SPDX-License-Identifier: Apache-2.0
// hipBLAS's triangular, symmetric and Hermitian operations of levels 2 and 3, over plain loops.
#pragma once

namespace rpx {
namespace blas {

// Element (i, j) of a matrix of which one triangle is stored.
template <class T> typename Element<T>::Sum stored(const T *a, long lda, bool upper, bool hermitian, long i, long j) {
  using E = Element<T>;
  const bool own = upper ? i <= j : i >= j;
  auto v = E::load(own ? a[i + j * lda] : a[j + i * lda]);
  return hermitian && !own ? conj(v) : v;
}
// Element (i, j) of a triangular matrix under op.
template <class T> typename Element<T>::Sum triangular(const T *a, long lda, bool upper, Op t, bool unit, long i, long j) {
  using Sum = typename Element<T>::Sum;
  if (t != kNone) std::swap(i, j);
  if (upper ? i > j : i < j) return Sum(0);
  if (i == j && unit) return Sum(1);
  auto v = Element<T>::load(a[i + j * lda]);
  return t == kConjugate ? conj(v) : v;
}

// A += alpha x y^T + (second ? alpha' y x^T : 0), in one triangle.
template <class T>
void rank(bool upper, bool hermitian, bool second, long n, T alpha, const T *x, long ix, const T *y, long iy, T *a, long lda) {
  using E = Element<T>;
  x = start(x, n, ix), y = start(y, n, iy);
  auto other = [&](auto v) { return hermitian ? conj(v) : v; };
  for (long j = 0; j < n; ++j)
    for (long i = upper ? 0 : j; i <= (upper ? j : n - 1); ++i) {
      auto sum = E::load(a[i + j * lda]) + E::load(alpha) * E::load(x[i * ix]) * other(E::load(y[j * iy]));
      if (second) sum += other(E::load(alpha)) * E::load(y[i * iy]) * other(E::load(x[j * ix]));
      a[i + j * lda] = E::store(sum);
    }
}
template <class T> void trmv(bool upper, Op t, bool unit, long n, const T *a, long lda, T *x, long ix) {
  using E = Element<T>;
  x = start(x, n, ix);
  std::vector<typename E::Sum> y(static_cast<std::size_t>(n));
  for (long i = 0; i < n; ++i)
    for (long j = 0; j < n; ++j) y[i] += triangular(a, lda, upper, t, unit, i, j) * E::load(x[j * ix]);
  for (long i = 0; i < n; ++i) x[i * ix] = E::store(y[i]);
}
// C = alpha op(A) B, or alpha B op(A), A triangular. C may be B.
template <class T>
void trmm(bool left, bool upper, Op t, bool unit, long m, long n, T alpha, const T *a, long lda, const T *b, long ldb, T *c, long ldc) {
  using E = Element<T>;
  std::vector<typename E::Sum> r(static_cast<std::size_t>(m * n));
  for (long j = 0; j < n; ++j)
    for (long i = 0; i < m; ++i)
      for (long k = 0; k < (left ? m : n); ++k)
        r[i + j * m] += left ? triangular(a, lda, upper, t, unit, i, k) * E::load(b[k + j * ldb]) : E::load(b[i + k * ldb]) * triangular(a, lda, upper, t, unit, k, j);
  for (long j = 0; j < n; ++j)
    for (long i = 0; i < m; ++i) c[i + j * ldc] = E::store(E::load(alpha) * r[i + j * m]);
}
// C = alpha A B + beta C, or alpha B A + beta C, A symmetric or Hermitian.
template <class T>
void symm(bool left, bool upper, bool hermitian, long m, long n, T alpha, const T *a, long lda, const T *b, long ldb, T beta, T *c, long ldc) {
  using E = Element<T>;
  using Sum = typename E::Sum;
  for (long j = 0; j < n; ++j)
    for (long i = 0; i < m; ++i) {
      Sum sum(0);
      for (long k = 0; k < (left ? m : n); ++k)
        sum += left ? stored(a, lda, upper, hermitian, i, k) * E::load(b[k + j * ldb]) : E::load(b[i + k * ldb]) * stored(a, lda, upper, hermitian, k, j);
      sum = E::load(alpha) * sum;
      if (!(E::load(beta) == Sum(0))) sum += E::load(beta) * E::load(c[i + j * ldc]);
      c[i + j * ldc] = E::store(sum);
    }
}
// C = alpha op(A) op(B)^T + alpha' op(B) op(A)^T + beta C, in one triangle.
template <class T>
void syr2k(bool upper, bool hermitian, Op t, long n, long k, T alpha, const T *a, long lda, const T *b, long ldb, T beta, T *c, long ldc) {
  using E = Element<T>;
  using Sum = typename E::Sum;
  auto other = [&](Sum v) { return hermitian ? conj(v) : v; };
  for (long j = 0; j < n; ++j)
    for (long i = upper ? 0 : j; i <= (upper ? j : n - 1); ++i) {
      Sum sum(0);
      for (long p = 0; p < k; ++p) {
        Sum ai = E::load(t == kNone ? a[i + p * lda] : a[p + i * lda]), aj = E::load(t == kNone ? a[j + p * lda] : a[p + j * lda]);
        Sum bi = E::load(t == kNone ? b[i + p * ldb] : b[p + i * ldb]), bj = E::load(t == kNone ? b[j + p * ldb] : b[p + j * ldb]);
        sum += t == kNone ? E::load(alpha) * ai * other(bj) + other(E::load(alpha)) * bi * other(aj)
                          : E::load(alpha) * other(ai) * bj + other(E::load(alpha)) * other(bi) * aj;
      }
      if (!(E::load(beta) == Sum(0))) sum += E::load(beta) * E::load(c[i + j * ldc]);
      c[i + j * ldc] = E::store(sum);
    }
}

}  // namespace blas
}  // namespace rpx

#define RPX_UPPER (uplo == HIPBLAS_FILL_MODE_UPPER)
#define RPX_DONE HIPBLAS_STATUS_SUCCESS
#define RPX_BLAS2(P, T)                                                                                                                               \
  RPX_API hipblasStatus_t hipblas##P##trmv(hipblasHandle_t rpx_h, hipblasFillMode_t uplo, hipblasOperation_t t, hipblasDiagType_t d, int n, const T *a, int lda, T *x, int ix) { RPX_SERVED(rpx_h, HIPBLAS_STATUS_NOT_SUPPORTED) \
    return rpx::blas::trmv(RPX_UPPER, rpx::op(t), d == HIPBLAS_DIAG_UNIT, n, a, lda, x, ix), RPX_DONE;                                                \
  }                                                                                                                                                   \
  RPX_API hipblasStatus_t hipblas##P##trmm(hipblasHandle_t rpx_h, hipblasSideMode_t side, hipblasFillMode_t uplo, hipblasOperation_t t, hipblasDiagType_t d, int m, int n, const T *alpha, const T *a, int lda, const T *b, int ldb, T *c, int ldc) { RPX_SERVED(rpx_h, HIPBLAS_STATUS_NOT_SUPPORTED) \
    return rpx::blas::trmm(side == HIPBLAS_SIDE_LEFT, RPX_UPPER, rpx::op(t), d == HIPBLAS_DIAG_UNIT, m, n, *alpha, a, lda, b, ldb, c, ldc), RPX_DONE;  \
  }                                                                                                                                                   \
  RPX_API hipblasStatus_t hipblas##P##symm(hipblasHandle_t rpx_h, hipblasSideMode_t side, hipblasFillMode_t uplo, int m, int n, const T *alpha, const T *a, int lda, const T *b, int ldb, const T *beta, T *c, int ldc) { RPX_SERVED(rpx_h, HIPBLAS_STATUS_NOT_SUPPORTED) \
    return rpx::blas::symm(side == HIPBLAS_SIDE_LEFT, RPX_UPPER, false, m, n, *alpha, a, lda, b, ldb, *beta, c, ldc), RPX_DONE;                       \
  }                                                                                                                                                   \
  RPX_API hipblasStatus_t hipblas##P##syr2k(hipblasHandle_t rpx_h, hipblasFillMode_t uplo, hipblasOperation_t t, int n, int k, const T *alpha, const T *a, int lda, const T *b, int ldb, const T *beta, T *c, int ldc) { RPX_SERVED(rpx_h, HIPBLAS_STATUS_NOT_SUPPORTED) \
    return rpx::blas::syr2k(RPX_UPPER, false, rpx::op(t), n, k, *alpha, a, lda, b, ldb, *beta, c, ldc), RPX_DONE;                                     \
  }                                                                                                                                                   \
  RPX_API hipblasStatus_t hipblas##P##syrkx(hipblasHandle_t rpx_h, hipblasFillMode_t uplo, hipblasOperation_t t, int n, int k, const T *alpha, const T *a, int lda, const T *b, int ldb, const T *beta, T *c, int ldc) { RPX_SERVED(rpx_h, HIPBLAS_STATUS_NOT_SUPPORTED) \
    return rpx::blas::syrkx(RPX_UPPER, rpx::op(t), n, k, *alpha, a, lda, b, ldb, *beta, c, ldc, false), RPX_DONE;                                     \
  }                                                                                                                                                   \
  RPX_API hipblasStatus_t hipblas##P##syr(hipblasHandle_t rpx_h, hipblasFillMode_t uplo, int n, const T *alpha, const T *x, int ix, T *a, int lda) { RPX_SERVED(rpx_h, HIPBLAS_STATUS_NOT_SUPPORTED)          \
    return rpx::blas::rank(RPX_UPPER, false, false, n, *alpha, x, ix, x, ix, a, lda), RPX_DONE;                                                       \
  }                                                                                                                                                   \
  RPX_API hipblasStatus_t hipblas##P##syr2(hipblasHandle_t rpx_h, hipblasFillMode_t uplo, int n, const T *alpha, const T *x, int ix, const T *y, int iy, T *a, int lda) { RPX_SERVED(rpx_h, HIPBLAS_STATUS_NOT_SUPPORTED) \
    return rpx::blas::rank(RPX_UPPER, false, true, n, *alpha, x, ix, y, iy, a, lda), RPX_DONE;                                                        \
  }
RPX_BLAS2(S, float)
RPX_BLAS2(D, double)
RPX_BLAS2(C, hipblasComplex)
RPX_BLAS2(Z, hipblasDoubleComplex)
#undef RPX_BLAS2
#define RPX_HERMITIAN(P, T, R)                                                                                                                        \
  RPX_API hipblasStatus_t hipblas##P##her(hipblasHandle_t rpx_h, hipblasFillMode_t uplo, int n, const R *alpha, const T *x, int ix, T *a, int lda) { RPX_SERVED(rpx_h, HIPBLAS_STATUS_NOT_SUPPORTED)          \
    return rpx::blas::rank(RPX_UPPER, true, false, n, T(*alpha, R(0)), x, ix, x, ix, a, lda), RPX_DONE;                                               \
  }                                                                                                                                                   \
  RPX_API hipblasStatus_t hipblas##P##her2(hipblasHandle_t rpx_h, hipblasFillMode_t uplo, int n, const T *alpha, const T *x, int ix, const T *y, int iy, T *a, int lda) { RPX_SERVED(rpx_h, HIPBLAS_STATUS_NOT_SUPPORTED) \
    return rpx::blas::rank(RPX_UPPER, true, true, n, *alpha, x, ix, y, iy, a, lda), RPX_DONE;                                                         \
  }                                                                                                                                                   \
  RPX_API hipblasStatus_t hipblas##P##hemm(hipblasHandle_t rpx_h, hipblasSideMode_t side, hipblasFillMode_t uplo, int m, int n, const T *alpha, const T *a, int lda, const T *b, int ldb, const T *beta, T *c, int ldc) { RPX_SERVED(rpx_h, HIPBLAS_STATUS_NOT_SUPPORTED) \
    return rpx::blas::symm(side == HIPBLAS_SIDE_LEFT, RPX_UPPER, true, m, n, *alpha, a, lda, b, ldb, *beta, c, ldc), RPX_DONE;                        \
  }                                                                                                                                                   \
  RPX_API hipblasStatus_t hipblas##P##herk(hipblasHandle_t rpx_h, hipblasFillMode_t uplo, hipblasOperation_t t, int n, int k, const R *alpha, const T *a, int lda, const R *beta, T *c, int ldc) { RPX_SERVED(rpx_h, HIPBLAS_STATUS_NOT_SUPPORTED) \
    return rpx::blas::syrk(RPX_UPPER, rpx::op(t), n, k, T(*alpha, R(0)), a, lda, T(*beta, R(0)), c, ldc, true), RPX_DONE;                             \
  }                                                                                                                                                   \
  RPX_API hipblasStatus_t hipblas##P##herkx(hipblasHandle_t rpx_h, hipblasFillMode_t uplo, hipblasOperation_t t, int n, int k, const T *alpha, const T *a, int lda, const T *b, int ldb, const R *beta, T *c, int ldc) { RPX_SERVED(rpx_h, HIPBLAS_STATUS_NOT_SUPPORTED) \
    return rpx::blas::syrkx(RPX_UPPER, rpx::op(t), n, k, *alpha, a, lda, b, ldb, T(*beta, R(0)), c, ldc, true), RPX_DONE;                             \
  }                                                                                                                                                   \
  RPX_API hipblasStatus_t hipblas##P##her2k(hipblasHandle_t rpx_h, hipblasFillMode_t uplo, hipblasOperation_t t, int n, int k, const T *alpha, const T *a, int lda, const T *b, int ldb, const R *beta, T *c, int ldc) { RPX_SERVED(rpx_h, HIPBLAS_STATUS_NOT_SUPPORTED) \
    return rpx::blas::syr2k(RPX_UPPER, true, rpx::op(t), n, k, *alpha, a, lda, b, ldb, T(*beta, R(0)), c, ldc), RPX_DONE;                             \
  }
RPX_HERMITIAN(C, hipblasComplex, float)
RPX_HERMITIAN(Z, hipblasDoubleComplex, double)
#undef RPX_HERMITIAN
#undef RPX_UPPER
#undef RPX_DONE
