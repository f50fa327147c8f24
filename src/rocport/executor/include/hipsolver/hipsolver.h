// SPDX-License-Identifier: Apache-2.0
// hipSOLVER: LU, Cholesky and triangular solves, dense, over the plain loops of rpx/blas.h; symmetric eigenvalues by Jacobi.
#pragma once

#include "hipblas/hipblas.h"

typedef enum hipsolverStatus_t {
  HIPSOLVER_STATUS_SUCCESS, HIPSOLVER_STATUS_NOT_INITIALIZED, HIPSOLVER_STATUS_ALLOC_FAILED, HIPSOLVER_STATUS_INVALID_VALUE, HIPSOLVER_STATUS_MAPPING_ERROR,
  HIPSOLVER_STATUS_EXECUTION_FAILED, HIPSOLVER_STATUS_INTERNAL_ERROR, HIPSOLVER_STATUS_NOT_SUPPORTED, HIPSOLVER_STATUS_ARCH_MISMATCH,
  HIPSOLVER_STATUS_HANDLE_IS_NULLPTR, HIPSOLVER_STATUS_INVALID_ENUM, HIPSOLVER_STATUS_UNKNOWN
} hipsolverStatus_t;
typedef hipblasHandle_t hipsolverHandle_t;
typedef hipblasHandle_t hipsolverDnHandle_t;
typedef hipblasFillMode_t hipsolverFillMode_t;
typedef hipblasOperation_t hipsolverOperation_t;
typedef hipblasSideMode_t hipsolverSideMode_t;
typedef enum hipsolverEigMode_t { HIPSOLVER_EIG_MODE_NOVECTOR = 201, HIPSOLVER_EIG_MODE_VECTOR = 202 } hipsolverEigMode_t;
#define HIPSOLVER_OP_N HIPBLAS_OP_N
#define HIPSOLVER_OP_T HIPBLAS_OP_T
#define HIPSOLVER_OP_C HIPBLAS_OP_C
#define HIPSOLVER_FILL_MODE_UPPER HIPBLAS_FILL_MODE_UPPER
#define HIPSOLVER_FILL_MODE_LOWER HIPBLAS_FILL_MODE_LOWER
#define HIPSOLVER_SIDE_LEFT HIPBLAS_SIDE_LEFT
#define HIPSOLVER_SIDE_RIGHT HIPBLAS_SIDE_RIGHT

inline hipsolverStatus_t hipsolverCreate(hipsolverHandle_t *h) { hipblasCreate(h); return HIPSOLVER_STATUS_SUCCESS; }
inline hipsolverStatus_t hipsolverDestroy(hipsolverHandle_t h) { hipblasDestroy(h); return HIPSOLVER_STATUS_SUCCESS; }
inline hipsolverStatus_t hipsolverSetStream(hipsolverHandle_t h, hipStream_t s) { h->stream = s; return HIPSOLVER_STATUS_SUCCESS; }
inline hipsolverStatus_t hipsolverDnCreate(hipsolverDnHandle_t *h) { return hipsolverCreate(h); }
inline hipsolverStatus_t hipsolverDnDestroy(hipsolverDnHandle_t h) { return hipsolverDestroy(h); }
inline hipsolverStatus_t hipsolverDnSetStream(hipsolverDnHandle_t h, hipStream_t s) { return hipsolverSetStream(h, s); }

namespace rpx {
// Eigenvalues of a real symmetric matrix in ascending order by cyclic Jacobi rotations; vectors replace the matrix.
template <class T> int jacobi(bool vectors, bool upper, int n, T *a, int lda, T *w) {
  std::vector<double> m((std::size_t)n * n), v((std::size_t)n * n, 0.0);
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i) m[i + j * n] = (upper ? i <= j : i >= j) ? a[i + j * lda] : a[j + i * lda];
  for (int i = 0; i < n; ++i) v[i + i * n] = 1;
  for (int sweep = 0; sweep < 100; ++sweep) {
    double off = 0;
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < j; ++i) off += m[i + j * n] * m[i + j * n];
    if (off < 1e-300) break;
    for (int p = 0; p < n; ++p)
      for (int q = p + 1; q < n; ++q) {
        if (m[p + q * n] == 0) continue;
        double theta = (m[q + q * n] - m[p + p * n]) / (2 * m[p + q * n]), t = (theta >= 0 ? 1 : -1) / (std::fabs(theta) + std::sqrt(theta * theta + 1));
        double c = 1 / std::sqrt(t * t + 1), s = t * c;
        for (int k = 0; k < n; ++k) {
          double x = m[k + p * n], y = m[k + q * n];
          m[k + p * n] = c * x - s * y;
          m[k + q * n] = s * x + c * y;
        }
        for (int k = 0; k < n; ++k) {
          double x = m[p + k * n], y = m[q + k * n];
          m[p + k * n] = c * x - s * y;
          m[q + k * n] = s * x + c * y;
          double vx = v[k + p * n], vy = v[k + q * n];
          v[k + p * n] = c * vx - s * vy;
          v[k + q * n] = s * vx + c * vy;
        }
      }
  }
  std::vector<int> order(n);
  for (int i = 0; i < n; ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](int x, int y) { return m[x + x * n] < m[y + y * n]; });
  for (int j = 0; j < n; ++j) {
    w[j] = static_cast<T>(m[order[j] + order[j] * n]);
    for (int i = 0; vectors && i < n; ++i) a[i + j * lda] = static_cast<T>(v[i + order[j] * n]);
  }
  return 0;
}
}  // namespace rpx

#define RPX_SOLVER(P, T)                                                                                                                        \
  inline hipsolverStatus_t hipsolverDn##P##potrf_bufferSize(hipsolverHandle_t, hipsolverFillMode_t, int, T *, int, int *work) { *work = 1; return HIPSOLVER_STATUS_SUCCESS; } \
  inline hipsolverStatus_t hipsolverDn##P##potrf(hipsolverHandle_t, hipsolverFillMode_t uplo, int n, T *a, int lda, T *, int, int *info) {       \
    *info = rpx::blas::potrf(uplo == HIPSOLVER_FILL_MODE_UPPER, n, a, lda);                                                                     \
    return HIPSOLVER_STATUS_SUCCESS;                                                                                                            \
  }                                                                                                                                             \
  inline hipsolverStatus_t hipsolver##P##potrf_bufferSize(hipsolverHandle_t, hipsolverFillMode_t, int, T *, int, int *work) { *work = 1; return HIPSOLVER_STATUS_SUCCESS; } \
  inline hipsolverStatus_t hipsolver##P##potrf(hipsolverHandle_t h, hipsolverFillMode_t u, int n, T *a, int lda, T *w, int l, int *info) { return hipsolverDn##P##potrf(h, u, n, a, lda, w, l, info); } \
  inline hipsolverStatus_t hipsolverDn##P##potrs(hipsolverHandle_t, hipsolverFillMode_t uplo, int n, int nrhs, const T *a, int lda, T *b, int ldb, int *info) { \
    const bool upper = uplo == HIPSOLVER_FILL_MODE_UPPER;                                                                                       \
    const T one = rpx::blas::Element<T>::store(1);                                                                                              \
    rpx::blas::trsm(true, upper, upper ? rpx::blas::kConjugate : rpx::blas::kNone, false, n, nrhs, one, a, lda, b, ldb);                        \
    rpx::blas::trsm(true, upper, upper ? rpx::blas::kNone : rpx::blas::kConjugate, false, n, nrhs, one, a, lda, b, ldb);                        \
    *info = 0;                                                                                                                                  \
    return HIPSOLVER_STATUS_SUCCESS;                                                                                                            \
  }                                                                                                                                             \
  inline hipsolverStatus_t hipsolverDn##P##getrf_bufferSize(hipsolverHandle_t, int, int, T *, int, int *work) { *work = 1; return HIPSOLVER_STATUS_SUCCESS; } \
  inline hipsolverStatus_t hipsolverDn##P##getrf(hipsolverHandle_t, int m, int n, T *a, int lda, T *, int *pivot, int *info) {                  \
    *info = rpx::blas::getrf(m, n, a, lda, pivot);                                                                                              \
    return HIPSOLVER_STATUS_SUCCESS;                                                                                                            \
  }                                                                                                                                             \
  inline hipsolverStatus_t hipsolver##P##getrf_bufferSize(hipsolverHandle_t, int, int, T *, int, int *work) { *work = 1; return HIPSOLVER_STATUS_SUCCESS; } \
  inline hipsolverStatus_t hipsolver##P##getrf(hipsolverHandle_t h, int m, int n, T *a, int lda, T *w, int, int *pivot, int *info) { return hipsolverDn##P##getrf(h, m, n, a, lda, w, pivot, info); } \
  inline hipsolverStatus_t hipsolverDn##P##getrs(hipsolverHandle_t, hipsolverOperation_t t, int n, int nrhs, const T *a, int lda, const int *pivot, T *b, int ldb, int *info) { \
    rpx::blas::getrs(rpx::op(t), n, nrhs, a, lda, pivot, b, ldb);                                                                               \
    *info = 0;                                                                                                                                  \
    return HIPSOLVER_STATUS_SUCCESS;                                                                                                            \
  }
RPX_SOLVER(S, float)
RPX_SOLVER(D, double)
RPX_SOLVER(C, hipFloatComplex)
RPX_SOLVER(Z, hipDoubleComplex)
#undef RPX_SOLVER
#define RPX_SOLVER(P, T)                                                                                                                         \
  inline hipsolverStatus_t hipsolverDn##P##syevd_bufferSize(hipsolverHandle_t, hipsolverEigMode_t, hipsolverFillMode_t, int, const T *, int, const T *, int *work) { *work = 1; return HIPSOLVER_STATUS_SUCCESS; } \
  inline hipsolverStatus_t hipsolverDn##P##syevd(hipsolverHandle_t, hipsolverEigMode_t mode, hipsolverFillMode_t uplo, int n, T *a, int lda, T *w, T *, int, int *info) { \
    *info = rpx::jacobi(mode == HIPSOLVER_EIG_MODE_VECTOR, uplo == HIPSOLVER_FILL_MODE_UPPER, n, a, lda, w);                                     \
    return HIPSOLVER_STATUS_SUCCESS;                                                                                                             \
  }
RPX_SOLVER(S, float)
RPX_SOLVER(D, double)
#undef RPX_SOLVER
