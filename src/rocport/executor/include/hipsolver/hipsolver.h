// SPDX-License-Identifier: Apache-2.0
// hipSOLVER: LU, Cholesky and triangular solves, dense, over the plain loops of rpx/blas.h; symmetric eigenvalues and singular values by Jacobi, QR, least squares.
#pragma once

#include "hipblas/hipblas.h"
#include "rpx/dense.h"

typedef enum hipsolverStatus_t {
  HIPSOLVER_STATUS_SUCCESS, HIPSOLVER_STATUS_NOT_INITIALIZED, HIPSOLVER_STATUS_ALLOC_FAILED, HIPSOLVER_STATUS_INVALID_VALUE, HIPSOLVER_STATUS_MAPPING_ERROR,
  HIPSOLVER_STATUS_EXECUTION_FAILED, HIPSOLVER_STATUS_INTERNAL_ERROR, HIPSOLVER_STATUS_NOT_SUPPORTED, HIPSOLVER_STATUS_ARCH_MISMATCH,
  HIPSOLVER_STATUS_HANDLE_IS_NULLPTR, HIPSOLVER_STATUS_INVALID_ENUM, HIPSOLVER_STATUS_UNKNOWN, HIPSOLVER_STATUS_ZERO_PIVOT, HIPSOLVER_STATUS_MATRIX_TYPE_NOT_SUPPORTED
} hipsolverStatus_t;
typedef hipblasHandle_t hipsolverHandle_t;
typedef hipblasHandle_t hipsolverDnHandle_t;
typedef hipblasFillMode_t hipsolverFillMode_t;
typedef hipblasOperation_t hipsolverOperation_t;
typedef hipblasSideMode_t hipsolverSideMode_t;
#define hipsolverVersionMajor 2
#define hipsolverVersionMinor 4
typedef enum hipsolverEigType_t { HIPSOLVER_EIG_TYPE_1 = 211, HIPSOLVER_EIG_TYPE_2, HIPSOLVER_EIG_TYPE_3 } hipsolverEigType_t;
typedef enum hipsolverEigRange_t { HIPSOLVER_EIG_RANGE_ALL = 221, HIPSOLVER_EIG_RANGE_V, HIPSOLVER_EIG_RANGE_I } hipsolverEigRange_t;
typedef struct rpx_syevj_info { double tolerance, residual; int most, sweeps, sort; } *hipsolverSyevjInfo_t;
typedef enum hipsolverAlgMode_t { HIPSOLVER_ALG_0 = 231, HIPSOLVER_ALG_1 = 232 } hipsolverAlgMode_t;
typedef enum hipsolverDeterministicMode_t { HIPSOLVER_DETERMINISTIC_RESULTS = 241, HIPSOLVER_ALLOW_NON_DETERMINISTIC_RESULTS = 242 } hipsolverDeterministicMode_t;
typedef enum hipsolverEigMode_t { HIPSOLVER_EIG_MODE_NOVECTOR = 201, HIPSOLVER_EIG_MODE_VECTOR = 202 } hipsolverEigMode_t;
#define HIPSOLVER_OP_N HIPBLAS_OP_N
#define HIPSOLVER_OP_T HIPBLAS_OP_T
#define HIPSOLVER_OP_C HIPBLAS_OP_C
#define HIPSOLVER_FILL_MODE_UPPER HIPBLAS_FILL_MODE_UPPER
#define HIPSOLVER_FILL_MODE_LOWER HIPBLAS_FILL_MODE_LOWER
#define HIPSOLVER_SIDE_LEFT HIPBLAS_SIDE_LEFT
#define HIPSOLVER_SIDE_RIGHT HIPBLAS_SIDE_RIGHT

RPX_API hipsolverStatus_t hipsolverCreate(hipsolverHandle_t *h) { hipblasCreate(h); return HIPSOLVER_STATUS_SUCCESS; }
RPX_API hipsolverStatus_t hipsolverDestroy(hipsolverHandle_t h) { hipblasDestroy(h); return HIPSOLVER_STATUS_SUCCESS; }
RPX_API hipsolverStatus_t hipsolverSetStream(hipsolverHandle_t h, hipStream_t s) { h->stream = s; return HIPSOLVER_STATUS_SUCCESS; }
RPX_API hipsolverStatus_t hipsolverDnCreate(hipsolverDnHandle_t *h) { return hipsolverCreate(h); }
RPX_API hipsolverStatus_t hipsolverDnDestroy(hipsolverDnHandle_t h) { return hipsolverDestroy(h); }
RPX_API hipsolverStatus_t hipsolverDnSetStream(hipsolverDnHandle_t h, hipStream_t s) { return hipsolverSetStream(h, s); }
RPX_API hipsolverStatus_t hipsolverGetStream(hipsolverHandle_t h, hipStream_t *s) { return *s = h->stream, HIPSOLVER_STATUS_SUCCESS; }
RPX_API hipsolverStatus_t hipsolverDnGetStream(hipsolverDnHandle_t h, hipStream_t *s) { return hipsolverGetStream(h, s); }
// Sums have one order here, whatever is asked for.
RPX_API hipsolverStatus_t hipsolverSetDeterministicMode(hipsolverHandle_t, hipsolverDeterministicMode_t) { return HIPSOLVER_STATUS_SUCCESS; }
RPX_API hipsolverStatus_t hipsolverGetDeterministicMode(hipsolverHandle_t, hipsolverDeterministicMode_t *mode) { return *mode = HIPSOLVER_DETERMINISTIC_RESULTS, HIPSOLVER_STATUS_SUCCESS; }
RPX_API hipsolverStatus_t hipsolverDnSetDeterministicMode(hipsolverHandle_t h, hipsolverDeterministicMode_t mode) { return hipsolverSetDeterministicMode(h, mode); }
RPX_API hipsolverStatus_t hipsolverDnGetDeterministicMode(hipsolverHandle_t h, hipsolverDeterministicMode_t *mode) { return hipsolverGetDeterministicMode(h, mode); }

#define RPX_SOLVER(P, T)                                                                                                                        \
  RPX_API hipsolverStatus_t hipsolverDn##P##potrf_bufferSize(hipsolverHandle_t, hipsolverFillMode_t, int, T *, int, int *work) { *work = 1; return HIPSOLVER_STATUS_SUCCESS; } \
  RPX_API hipsolverStatus_t hipsolverDn##P##potrf(hipsolverHandle_t rpx_h, hipsolverFillMode_t uplo, int n, T *a, int lda, T *, int, int *info) { RPX_SERVED(rpx_h, HIPSOLVER_STATUS_NOT_SUPPORTED)       \
    *info = rpx::blas::potrf(uplo == HIPSOLVER_FILL_MODE_UPPER, n, a, lda);                                                                     \
    return HIPSOLVER_STATUS_SUCCESS;                                                                                                            \
  }                                                                                                                                             \
  RPX_API hipsolverStatus_t hipsolver##P##potrf_bufferSize(hipsolverHandle_t, hipsolverFillMode_t, int, T *, int, int *work) { *work = 1; return HIPSOLVER_STATUS_SUCCESS; } \
  RPX_API hipsolverStatus_t hipsolver##P##potrf(hipsolverHandle_t h, hipsolverFillMode_t u, int n, T *a, int lda, T *w, int l, int *info) { RPX_SERVED(h, HIPSOLVER_STATUS_NOT_SUPPORTED) return hipsolverDn##P##potrf(h, u, n, a, lda, w, l, info); } \
  RPX_API hipsolverStatus_t hipsolverDn##P##potrs(hipsolverHandle_t rpx_h, hipsolverFillMode_t uplo, int n, int nrhs, const T *a, int lda, T *b, int ldb, int *info) { RPX_SERVED(rpx_h, HIPSOLVER_STATUS_NOT_SUPPORTED) \
    const bool upper = uplo == HIPSOLVER_FILL_MODE_UPPER;                                                                                       \
    const T one = rpx::blas::Element<T>::store(1);                                                                                              \
    rpx::blas::trsm(true, upper, upper ? rpx::blas::kConjugate : rpx::blas::kNone, false, n, nrhs, one, a, lda, b, ldb);                        \
    rpx::blas::trsm(true, upper, upper ? rpx::blas::kNone : rpx::blas::kConjugate, false, n, nrhs, one, a, lda, b, ldb);                        \
    *info = 0;                                                                                                                                  \
    return HIPSOLVER_STATUS_SUCCESS;                                                                                                            \
  }                                                                                                                                             \
  RPX_API hipsolverStatus_t hipsolverDn##P##getrf_bufferSize(hipsolverHandle_t, int, int, T *, int, int *work) { *work = 1; return HIPSOLVER_STATUS_SUCCESS; } \
  RPX_API hipsolverStatus_t hipsolverDn##P##getrf(hipsolverHandle_t rpx_h, int m, int n, T *a, int lda, T *, int *pivot, int *info) { RPX_SERVED(rpx_h, HIPSOLVER_STATUS_NOT_SUPPORTED)                  \
    *info = rpx::blas::getrf(m, n, a, lda, pivot);                                                                                              \
    return HIPSOLVER_STATUS_SUCCESS;                                                                                                            \
  }                                                                                                                                             \
  RPX_API hipsolverStatus_t hipsolver##P##getrf_bufferSize(hipsolverHandle_t, int, int, T *, int, int *work) { *work = 1; return HIPSOLVER_STATUS_SUCCESS; } \
  RPX_API hipsolverStatus_t hipsolver##P##getrf(hipsolverHandle_t h, int m, int n, T *a, int lda, T *w, int, int *pivot, int *info) { RPX_SERVED(h, HIPSOLVER_STATUS_NOT_SUPPORTED) return hipsolverDn##P##getrf(h, m, n, a, lda, w, pivot, info); } \
  RPX_API hipsolverStatus_t hipsolverDn##P##getrs(hipsolverHandle_t rpx_h, hipsolverOperation_t t, int n, int nrhs, const T *a, int lda, const int *pivot, T *b, int ldb, int *info) { RPX_SERVED(rpx_h, HIPSOLVER_STATUS_NOT_SUPPORTED) \
    rpx::blas::getrs(rpx::op(t), n, nrhs, a, lda, pivot, b, ldb);                                                                               \
    *info = 0;                                                                                                                                  \
    return HIPSOLVER_STATUS_SUCCESS;                                                                                                            \
  }
RPX_SOLVER(S, float)
RPX_SOLVER(D, double)
RPX_SOLVER(C, hipFloatComplex)
RPX_SOLVER(Z, hipDoubleComplex)
#undef RPX_SOLVER
#define RPX_SOLVER(P, T)                                                                                                                                   \
  RPX_API hipsolverStatus_t hipsolverDn##P##potrfBatched(hipsolverHandle_t h, hipsolverFillMode_t uplo, int n, T *a[], int lda, int *info, int count) { RPX_SERVED(h, HIPSOLVER_STATUS_NOT_SUPPORTED) \
    for (int i = 0; i < count; ++i) info[i] = rpx::blas::potrf(uplo == HIPSOLVER_FILL_MODE_UPPER, n, a[i], lda);                                           \
    return HIPSOLVER_STATUS_SUCCESS;                                                                                                                       \
  }                                                                                                                                                        \
  RPX_API hipsolverStatus_t hipsolver##P##potrfBatched_bufferSize(hipsolverHandle_t, hipsolverFillMode_t, int, T *[], int, int *work, int) { return *work = 1, HIPSOLVER_STATUS_SUCCESS; } \
  RPX_API hipsolverStatus_t hipsolver##P##potrfBatched(hipsolverHandle_t h, hipsolverFillMode_t uplo, int n, T *a[], int lda, T *, int, int *info, int count) { RPX_SERVED(h, HIPSOLVER_STATUS_NOT_SUPPORTED) return hipsolverDn##P##potrfBatched(h, uplo, n, a, lda, info, count); } \
  RPX_API hipsolverStatus_t hipsolverDn##P##potrsBatched(hipsolverHandle_t h, hipsolverFillMode_t uplo, int n, int nrhs, T *a[], int lda, T *b[], int ldb, int *info, int count) { RPX_SERVED(h, HIPSOLVER_STATUS_NOT_SUPPORTED) \
    for (int i = 0; i < count; ++i) hipsolverDn##P##potrs(h, uplo, n, nrhs, a[i], lda, b[i], ldb, info);                                                   \
    return *info = 0, HIPSOLVER_STATUS_SUCCESS;                                                                                                            \
  }                                                                                                                                                        \
  RPX_API hipsolverStatus_t hipsolver##P##potrsBatched_bufferSize(hipsolverHandle_t, hipsolverFillMode_t, int, int, T *[], int, T *[], int, int *work, int) { return *work = 1, HIPSOLVER_STATUS_SUCCESS; } \
  RPX_API hipsolverStatus_t hipsolver##P##potrsBatched(hipsolverHandle_t h, hipsolverFillMode_t uplo, int n, int nrhs, T *a[], int lda, T *b[], int ldb, T *, int, int *info, int count) { RPX_SERVED(h, HIPSOLVER_STATUS_NOT_SUPPORTED) return hipsolverDn##P##potrsBatched(h, uplo, n, nrhs, a, lda, b, ldb, info, count); }
RPX_SOLVER(S, float)
RPX_SOLVER(D, double)
RPX_SOLVER(C, hipFloatComplex)
RPX_SOLVER(Z, hipDoubleComplex)
#undef RPX_SOLVER

// What both Jacobi methods take and tell, under hipSOLVER's regular names and under cuSOLVER's.
typedef hipsolverSyevjInfo_t hipsolverGesvdjInfo_t;
#define RPX_JACOBI(D, Name, name)                                                                                                                          \
  RPX_API hipsolverStatus_t hipsolver##D##Create##Name##Info(hipsolverSyevjInfo_t *info) { return *info = new rpx_syevj_info{1e-7, 0, 100, 0, 1}, HIPSOLVER_STATUS_SUCCESS; } \
  RPX_API hipsolverStatus_t hipsolver##D##Destroy##Name##Info(hipsolverSyevjInfo_t info) { return delete info, HIPSOLVER_STATUS_SUCCESS; }                 \
  RPX_API hipsolverStatus_t hipsolver##D##X##name##SetTolerance(hipsolverSyevjInfo_t info, double t) { return info->tolerance = t, HIPSOLVER_STATUS_SUCCESS; } \
  RPX_API hipsolverStatus_t hipsolver##D##X##name##SetMaxSweeps(hipsolverSyevjInfo_t info, int n) { return info->most = n, HIPSOLVER_STATUS_SUCCESS; }     \
  RPX_API hipsolverStatus_t hipsolver##D##X##name##SetSortEig(hipsolverSyevjInfo_t info, int sort) { return info->sort = sort, HIPSOLVER_STATUS_SUCCESS; } \
  RPX_API hipsolverStatus_t hipsolver##D##X##name##GetResidual(hipsolverHandle_t, hipsolverSyevjInfo_t info, double *r) { return *r = info->residual, HIPSOLVER_STATUS_SUCCESS; } \
  RPX_API hipsolverStatus_t hipsolver##D##X##name##GetSweeps(hipsolverHandle_t, hipsolverSyevjInfo_t info, int *n) { return *n = info->sweeps, HIPSOLVER_STATUS_SUCCESS; }
RPX_JACOBI(, Syevj, syevj)
RPX_JACOBI(Dn, Syevj, syevj)
RPX_JACOBI(, Gesvdj, gesvdj)
RPX_JACOBI(Dn, Gesvdj, gesvdj)
#undef RPX_JACOBI

// Of the eigenvalues in ascending order, with the vectors beside them, those that a range names; how many.
template <class T> int rpx_chosen(hipsolverEigRange_t range, bool vectors, int n, T low, T high, int first, int last, T *a, int lda, T *w) {
  int begin = range == HIPSOLVER_EIG_RANGE_I ? first - 1 : 0, end = range == HIPSOLVER_EIG_RANGE_I ? last : n;
  if (range == HIPSOLVER_EIG_RANGE_V) {
    while (begin < n && w[begin] <= low) ++begin;
    end = begin;
    while (end < n && w[end] <= high) ++end;
  }
  for (int j = begin; j < end; ++j) {
    w[j - begin] = w[j];
    for (int i = 0; vectors && i < n; ++i) a[i + static_cast<std::size_t>(j - begin) * lda] = a[i + static_cast<std::size_t>(j) * lda];
  }
  return end - begin;
}
#define RPX_OK HIPSOLVER_STATUS_SUCCESS
#define RPX_WORK(Name, ...) \
  RPX_API hipsolverStatus_t Name##_bufferSize(hipsolverHandle_t, __VA_ARGS__, int *work) { return *work = 1, RPX_OK; }
// Each function under hipSOLVER's regular name and, with the same arguments, under cuSOLVER's.
#define RPX_SOLVER_NAMES(D, P, T)                                                                                                                          \
  RPX_WORK(hipsolver##D##P##geqrf, int, int, T *, int)                                                                                                     \
  RPX_API hipsolverStatus_t hipsolver##D##P##geqrf(hipsolverHandle_t rpx_h, int m, int n, T *a, int lda, T *tau, T *, int, int *info) { RPX_SERVED(rpx_h, HIPSOLVER_STATUS_NOT_SUPPORTED)                           \
    rpx::dense::geqrf(m, n, a, lda, tau);                                                                                                                  \
    return *info = 0, RPX_OK;                                                                                                                              \
  }                                                                                                                                                        \
  RPX_API hipsolverStatus_t hipsolver##D##P##orgqr_bufferSize(hipsolverHandle_t, int, int, int, const T *, int, const T *, int *work) { return *work = 1, RPX_OK; } \
  RPX_API hipsolverStatus_t hipsolver##D##P##orgqr(hipsolverHandle_t rpx_h, int m, int n, int k, T *a, int lda, const T *tau, T *, int, int *info) { RPX_SERVED(rpx_h, HIPSOLVER_STATUS_NOT_SUPPORTED)              \
    rpx::dense::orgqr(m, n, k, a, lda, tau);                                                                                                               \
    return *info = 0, RPX_OK;                                                                                                                              \
  }                                                                                                                                                        \
  RPX_API hipsolverStatus_t hipsolver##D##P##ormqr_bufferSize(hipsolverHandle_t, hipsolverSideMode_t, hipsolverOperation_t, int, int, int, const T *, int, const T *, const T *, int, int *work) { return *work = 1, RPX_OK; } \
  RPX_API hipsolverStatus_t hipsolver##D##P##ormqr(hipsolverHandle_t rpx_h, hipsolverSideMode_t side, hipsolverOperation_t t, int m, int n, int k, const T *a, int lda, const T *tau, T *c, int ldc, T *, int, int *info) { RPX_SERVED(rpx_h, HIPSOLVER_STATUS_NOT_SUPPORTED) \
    rpx::dense::ormqr(side == HIPSOLVER_SIDE_LEFT, t != HIPSOLVER_OP_N, m, n, k, a, lda, tau, c, ldc);                                                     \
    return *info = 0, RPX_OK;                                                                                                                              \
  }                                                                                                                                                        \
  RPX_API hipsolverStatus_t hipsolver##D##P##syevd_bufferSize(hipsolverHandle_t, hipsolverEigMode_t, hipsolverFillMode_t, int, const T *, int, const T *, int *work) { return *work = 1, RPX_OK; } \
  RPX_API hipsolverStatus_t hipsolver##D##P##syevd(hipsolverHandle_t rpx_h, hipsolverEigMode_t mode, hipsolverFillMode_t uplo, int n, T *a, int lda, T *w, T *, int, int *info) { RPX_SERVED(rpx_h, HIPSOLVER_STATUS_NOT_SUPPORTED) \
    rpx::dense::symmetric(mode == HIPSOLVER_EIG_MODE_VECTOR, uplo == HIPSOLVER_FILL_MODE_UPPER, n, a, lda, w);                                             \
    return *info = 0, RPX_OK;                                                                                                                              \
  }                                                                                                                                                        \
  RPX_API hipsolverStatus_t hipsolver##D##P##syevj_bufferSize(hipsolverHandle_t, hipsolverEigMode_t, hipsolverFillMode_t, int, const T *, int, const T *, int *work, hipsolverSyevjInfo_t) { return *work = 1, RPX_OK; } \
  RPX_API hipsolverStatus_t hipsolver##D##P##syevj(hipsolverHandle_t rpx_h, hipsolverEigMode_t mode, hipsolverFillMode_t uplo, int n, T *a, int lda, T *w, T *, int, int *info, hipsolverSyevjInfo_t options) { RPX_SERVED(rpx_h, HIPSOLVER_STATUS_NOT_SUPPORTED) \
    options->sweeps = rpx::dense::symmetric(mode == HIPSOLVER_EIG_MODE_VECTOR, uplo == HIPSOLVER_FILL_MODE_UPPER, n, a, lda, w);                           \
    return *info = 0, RPX_OK;                                                                                                                              \
  }                                                                                                                                                        \
  RPX_API hipsolverStatus_t hipsolver##D##P##syevjBatched_bufferSize(hipsolverHandle_t, hipsolverEigMode_t, hipsolverFillMode_t, int, const T *, int, const T *, int *work, hipsolverSyevjInfo_t, int) { return *work = 1, RPX_OK; } \
  RPX_API hipsolverStatus_t hipsolver##D##P##syevjBatched(hipsolverHandle_t h, hipsolverEigMode_t mode, hipsolverFillMode_t uplo, int n, T *a, int lda, T *w, T *work, int size, int *info, hipsolverSyevjInfo_t options, int count) { RPX_SERVED(h, HIPSOLVER_STATUS_NOT_SUPPORTED) \
    for (int i = 0; i < count; ++i) hipsolver##D##P##syevj(h, mode, uplo, n, a + static_cast<std::size_t>(i) * lda * n, lda, w + static_cast<std::size_t>(i) * n, work, size, info + i, options); \
    return RPX_OK;                                                                                                                                         \
  }                                                                                                                                                        \
  RPX_API hipsolverStatus_t hipsolver##D##P##sygvd_bufferSize(hipsolverHandle_t, hipsolverEigType_t, hipsolverEigMode_t, hipsolverFillMode_t, int, const T *, int, const T *, int, const T *, int *work) { return *work = 1, RPX_OK; } \
  RPX_API hipsolverStatus_t hipsolver##D##P##sygvd(hipsolverHandle_t rpx_h, hipsolverEigType_t type, hipsolverEigMode_t mode, hipsolverFillMode_t uplo, int n, T *a, int lda, T *b, int ldb, T *w, T *, int, int *info) { RPX_SERVED(rpx_h, HIPSOLVER_STATUS_NOT_SUPPORTED) \
    *info = rpx::dense::generalized(type - HIPSOLVER_EIG_TYPE_1 + 1, mode == HIPSOLVER_EIG_MODE_VECTOR, uplo == HIPSOLVER_FILL_MODE_UPPER, n, a, lda, b, ldb, w); \
    return RPX_OK;                                                                                                                                         \
  }                                                                                                                                                        \
  RPX_API hipsolverStatus_t hipsolver##D##P##syevdx_bufferSize(hipsolverHandle_t, hipsolverEigMode_t, hipsolverEigRange_t, hipsolverFillMode_t, int, const T *, int, T, T, int, int, int *, const T *, int *work) { return *work = 1, RPX_OK; } \
  RPX_API hipsolverStatus_t hipsolver##D##P##syevdx(hipsolverHandle_t h, hipsolverEigMode_t mode, hipsolverEigRange_t range, hipsolverFillMode_t uplo, int n, T *a, int lda, T low, T high, int first, int last, int *found, T *w, T *, int, int *info) { RPX_SERVED(h, HIPSOLVER_STATUS_NOT_SUPPORTED) \
    const bool vectors = mode == HIPSOLVER_EIG_MODE_VECTOR;                                                                                                \
    rpx::dense::symmetric(vectors, uplo == HIPSOLVER_FILL_MODE_UPPER, n, a, lda, w);                                                                       \
    *found = rpx_chosen(range, vectors, n, low, high, first, last, a, lda, w);                                                                             \
    return *info = 0, RPX_OK;                                                                                                                              \
  }                                                                                                                                                        \
  RPX_API hipsolverStatus_t hipsolver##D##P##sygvdx_bufferSize(hipsolverHandle_t, hipsolverEigType_t, hipsolverEigMode_t, hipsolverEigRange_t, hipsolverFillMode_t, int, const T *, int, const T *, int, T, T, int, int, int *, const T *, int *work) { return *work = 1, RPX_OK; } \
  RPX_API hipsolverStatus_t hipsolver##D##P##sygvdx(hipsolverHandle_t h, hipsolverEigType_t type, hipsolverEigMode_t mode, hipsolverEigRange_t range, hipsolverFillMode_t uplo, int n, T *a, int lda, T *b, int ldb, T low, T high, int first, int last, int *found, T *w, T *, int, int *info) { RPX_SERVED(h, HIPSOLVER_STATUS_NOT_SUPPORTED) \
    const bool vectors = mode == HIPSOLVER_EIG_MODE_VECTOR;                                                                                                \
    *info = rpx::dense::generalized(type - HIPSOLVER_EIG_TYPE_1 + 1, vectors, uplo == HIPSOLVER_FILL_MODE_UPPER, n, a, lda, b, ldb, w);                    \
    *found = *info ? 0 : rpx_chosen(range, vectors, n, low, high, first, last, a, lda, w);                                                                 \
    return RPX_OK;                                                                                                                                         \
  }                                                                                                                                                        \
  RPX_API hipsolverStatus_t hipsolver##D##P##sygvj_bufferSize(hipsolverHandle_t, hipsolverEigType_t, hipsolverEigMode_t, hipsolverFillMode_t, int, const T *, int, const T *, int, const T *, int *work, hipsolverSyevjInfo_t) { return *work = 1, RPX_OK; } \
  RPX_API hipsolverStatus_t hipsolver##D##P##sygvj(hipsolverHandle_t h, hipsolverEigType_t type, hipsolverEigMode_t mode, hipsolverFillMode_t uplo, int n, T *a, int lda, T *b, int ldb, T *w, T *work, int size, int *info, hipsolverSyevjInfo_t options) { RPX_SERVED(h, HIPSOLVER_STATUS_NOT_SUPPORTED) \
    options->sweeps = 1;                                                                                                                                   \
    return hipsolver##D##P##sygvd(h, type, mode, uplo, n, a, lda, b, ldb, w, work, size, info);                                                            \
  }                                                                                                                                                        \
  RPX_API hipsolverStatus_t hipsolver##D##P##gesvd(hipsolverHandle_t rpx_h, signed char jobu, signed char jobv, int m, int n, T *a, int lda, T *s, T *u, int ldu, T *v, int ldv, T *, int, T *, int *info) { RPX_SERVED(rpx_h, HIPSOLVER_STATUS_NOT_SUPPORTED) \
    rpx::dense::gesvd(jobu, jobv, m, n, a, lda, s, u, ldu, v, ldv);                                                                                        \
    return *info = 0, RPX_OK;                                                                                                                              \
  }                                                                                                                                                        \
  RPX_API hipsolverStatus_t hipsolver##D##P##gesvdj_bufferSize(hipsolverHandle_t, hipsolverEigMode_t, int, int, int, const T *, int, const T *, const T *, int, const T *, int, int *work, hipsolverGesvdjInfo_t) { return *work = 1, RPX_OK; } \
  RPX_API hipsolverStatus_t hipsolver##D##P##gesvdj(hipsolverHandle_t rpx_h, hipsolverEigMode_t mode, int econ, int m, int n, T *a, int lda, T *s, T *u, int ldu, T *v, int ldv, T *, int, int *info, hipsolverGesvdjInfo_t options) { RPX_SERVED(rpx_h, HIPSOLVER_STATUS_NOT_SUPPORTED) \
    const signed char job = mode == HIPSOLVER_EIG_MODE_NOVECTOR ? 'N' : econ ? 'S' : 'A';                                                                  \
    const int rows = econ ? std::min(m, n) : n;                                                                                                            \
    std::vector<T> turned(static_cast<std::size_t>(rows) * n);                                                                                             \
    rpx::dense::gesvd(job, job, m, n, a, lda, s, u, ldu, turned.data(), rows);                                                                             \
    for (int i = 0; job != 'N' && i < rows; ++i)                                                                                                           \
      for (int j = 0; j < n; ++j) v[j + static_cast<std::size_t>(i) * ldv] = turned[i + static_cast<std::size_t>(j) * rows];                              \
    options->sweeps = 1;                                                                                                                                   \
    return *info = 0, RPX_OK;                                                                                                                              \
  }
RPX_SOLVER_NAMES(, S, float)
RPX_SOLVER_NAMES(, D, double)
RPX_SOLVER_NAMES(Dn, S, float)
RPX_SOLVER_NAMES(Dn, D, double)
RPX_WORK(hipsolverSgesvd, signed char, signed char, int, int)
RPX_WORK(hipsolverDgesvd, signed char, signed char, int, int)
RPX_API hipsolverStatus_t hipsolverDnSgesvd_bufferSize(hipsolverHandle_t, int, int, int *work) { return *work = 1, RPX_OK; }
RPX_API hipsolverStatus_t hipsolverDnDgesvd_bufferSize(hipsolverHandle_t, int, int, int *work) { return *work = 1, RPX_OK; }

#define RPX_SOLVER(P, T)                                                                                                                                   \
  RPX_API hipsolverStatus_t hipsolver##P##potrs_bufferSize(hipsolverHandle_t, hipsolverFillMode_t, int, int, const T *, int, const T *, int, int *work) { return *work = 1, RPX_OK; } \
  RPX_API hipsolverStatus_t hipsolver##P##potrs(hipsolverHandle_t h, hipsolverFillMode_t u, int n, int count, const T *a, int lda, T *b, int ldb, T *, int, int *info) { RPX_SERVED(h, HIPSOLVER_STATUS_NOT_SUPPORTED) return hipsolverDn##P##potrs(h, u, n, count, a, lda, b, ldb, info); } \
  RPX_API hipsolverStatus_t hipsolver##P##getrs_bufferSize(hipsolverHandle_t, hipsolverOperation_t, int, int, const T *, int, const int *, const T *, int, int *work) { return *work = 1, RPX_OK; } \
  RPX_API hipsolverStatus_t hipsolver##P##getrs(hipsolverHandle_t h, hipsolverOperation_t t, int n, int count, const T *a, int lda, const int *pivot, T *b, int ldb, T *, int, int *info) { RPX_SERVED(h, HIPSOLVER_STATUS_NOT_SUPPORTED) return hipsolverDn##P##getrs(h, t, n, count, a, lda, pivot, b, ldb, info); }
RPX_SOLVER(S, float)
RPX_SOLVER(D, double)
RPX_SOLVER(C, hipFloatComplex)
RPX_SOLVER(Z, hipDoubleComplex)
#undef RPX_SOLVER

#define RPX_SOLVER(P, T)                                                                                                                                   \
  RPX_API hipsolverStatus_t hipsolver##P##P##gels_bufferSize(hipsolverHandle_t, int, int, int, T *, int, T *, int, T *, int, size_t *work) { return *work = 1, RPX_OK; } \
  RPX_API hipsolverStatus_t hipsolver##P##P##gels(hipsolverHandle_t rpx_h, int m, int n, int count, T *a, int lda, T *b, int ldb, T *x, int ldx, void *, size_t, int *steps, int *info) { RPX_SERVED(rpx_h, HIPSOLVER_STATUS_NOT_SUPPORTED) \
    *steps = 1;                                                                                                                                            \
    return *info = rpx::dense::gels(m, n, count, a, lda, b, ldb, x, ldx), RPX_OK;                                                                          \
  }                                                                                                                                                        \
  RPX_API hipsolverStatus_t hipsolverDn##P##P##gels_bufferSize(hipsolverHandle_t, int, int, int, T *, int, T *, int, T *, int, void *, size_t *work) { return *work = 1, RPX_OK; } \
  RPX_API hipsolverStatus_t hipsolverDn##P##P##gels(hipsolverHandle_t h, int m, int n, int count, T *a, int lda, T *b, int ldb, T *x, int ldx, void *work, size_t bytes, int *steps, int *info) { return hipsolver##P##P##gels(h, m, n, count, a, lda, b, ldb, x, ldx, work, bytes, steps, info); }
RPX_SOLVER(S, float)
RPX_SOLVER(D, double)
#undef RPX_SOLVER

// The largest singular values of each matrix, V's columns with them; what the others leave is the residual.
#define RPX_SOLVER(P, T)                                                                                                                                   \
  RPX_API hipsolverStatus_t hipsolverDn##P##gesvdaStridedBatched_bufferSize(hipsolverHandle_t, hipsolverEigMode_t, int, int, int, const T *, int, long long, const T *, long long, const T *, int, long long, const T *, int, long long, int *work, int) { return *work = 1, RPX_OK; } \
  RPX_API hipsolverStatus_t hipsolverDn##P##gesvdaStridedBatched(hipsolverHandle_t h, hipsolverEigMode_t mode, int rank, int m, int n, const T *a, int lda, long long stride_a, T *s, long long stride_s, T *u, int ldu, long long stride_u, T *v, int ldv, long long stride_v, T *, int, int *info, double *residual, int count) { RPX_SERVED(h, HIPSOLVER_STATUS_NOT_SUPPORTED) \
    const bool vectors = mode == HIPSOLVER_EIG_MODE_VECTOR;                                                                                                \
    const int k = std::min(m, n);                                                                                                                          \
    std::vector<T> values(k), left(static_cast<std::size_t>(m) * k), right(static_cast<std::size_t>(k) * n);                                               \
    for (int i = 0; i < count; ++i) {                                                                                                                      \
      rpx::dense::gesvd(vectors ? 'S' : 'N', vectors ? 'S' : 'N', m, n, a + i * stride_a, lda, values.data(), left.data(), m, right.data(), k);            \
      double rest = 0;                                                                                                                                     \
      for (int r = 0; r < k; ++r) {                                                                                                                        \
        if (r >= rank) rest += static_cast<double>(values[r]) * values[r];                                                                                 \
        else s[i * stride_s + r] = values[r];                                                                                                              \
        for (int p = 0; vectors && r < rank && p < m; ++p) u[i * stride_u + p + static_cast<long long>(r) * ldu] = left[p + static_cast<std::size_t>(r) * m]; \
        for (int p = 0; vectors && r < rank && p < n; ++p) v[i * stride_v + p + static_cast<long long>(r) * ldv] = right[r + static_cast<std::size_t>(p) * k]; \
      }                                                                                                                                                    \
      if (residual && vectors) residual[i] = std::sqrt(rest);                                                                                              \
      info[i] = 0;                                                                                                                                         \
    }                                                                                                                                                      \
    return RPX_OK;                                                                                                                                         \
  }
RPX_SOLVER(S, float)
RPX_SOLVER(D, double)
#undef RPX_SOLVER

// Linear systems: the factors replace the matrix, the right-hand sides stay.
#define RPX_SOLVER(P, T)                                                                                                                                   \
  RPX_API hipsolverStatus_t hipsolver##P##P##gesv_bufferSize(hipsolverHandle_t, int, int, T *, int, int *, T *, int, T *, int, size_t *work) { return *work = 1, RPX_OK; } \
  RPX_API hipsolverStatus_t hipsolver##P##P##gesv(hipsolverHandle_t rpx_h, int n, int count, T *a, int lda, int *pivot, T *b, int ldb, T *x, int ldx, void *, size_t, int *steps, int *info) { RPX_SERVED(rpx_h, HIPSOLVER_STATUS_NOT_SUPPORTED) \
    *steps = 0;                                                                                                                                            \
    if ((*info = rpx::blas::getrf(n, n, a, lda, pivot))) return RPX_OK;                                                                                    \
    for (int c = 0; c < count; ++c)                                                                                                                        \
      for (int i = 0; i < n; ++i) x[i + static_cast<std::size_t>(c) * ldx] = b[i + static_cast<std::size_t>(c) * ldb];                                    \
    return rpx::blas::getrs(rpx::blas::kNone, n, count, a, lda, pivot, x, ldx), RPX_OK;                                                                   \
  }                                                                                                                                                        \
  RPX_API hipsolverStatus_t hipsolverDn##P##P##gesv_bufferSize(hipsolverHandle_t, int, int, T *, int, int *, T *, int, T *, int, void *, size_t *work) { return *work = 1, RPX_OK; } \
  RPX_API hipsolverStatus_t hipsolverDn##P##P##gesv(hipsolverHandle_t h, int n, int count, T *a, int lda, int *pivot, T *b, int ldb, T *x, int ldx, void *work, size_t bytes, int *steps, int *info) { return hipsolver##P##P##gesv(h, n, count, a, lda, pivot, b, ldb, x, ldx, work, bytes, steps, info); } \
  RPX_API hipsolverStatus_t hipsolver##P##potri_bufferSize(hipsolverHandle_t, hipsolverFillMode_t, int, T *, int, int *work) { return *work = 1, RPX_OK; } \
  RPX_API hipsolverStatus_t hipsolver##P##potri(hipsolverHandle_t h, hipsolverFillMode_t uplo, int n, T *a, int lda, T *, int, int *info) { RPX_SERVED(h, HIPSOLVER_STATUS_NOT_SUPPORTED) \
    std::vector<T> inverse(static_cast<std::size_t>(n) * n, rpx::blas::Element<T>::store(0));                                                              \
    for (int i = 0; i < n; ++i) inverse[i + static_cast<std::size_t>(i) * n] = rpx::blas::Element<T>::store(1);                                            \
    hipsolverDn##P##potrs(h, uplo, n, n, a, lda, inverse.data(), n, info);                                                                                 \
    for (int j = 0; j < n; ++j)                                                                                                                            \
      for (int i = 0; i < n; ++i)                                                                                                                          \
        if (uplo == HIPSOLVER_FILL_MODE_UPPER ? i <= j : i >= j) a[i + static_cast<std::size_t>(j) * lda] = inverse[i + static_cast<std::size_t>(j) * n]; \
    return RPX_OK;                                                                                                                                         \
  }                                                                                                                                                        \
  RPX_API hipsolverStatus_t hipsolverDn##P##potri_bufferSize(hipsolverHandle_t, hipsolverFillMode_t, int, T *, int, int *work) { return *work = 1, RPX_OK; } \
  RPX_API hipsolverStatus_t hipsolverDn##P##potri(hipsolverHandle_t h, hipsolverFillMode_t uplo, int n, T *a, int lda, T *work, int size, int *info) { return hipsolver##P##potri(h, uplo, n, a, lda, work, size, info); }
RPX_SOLVER(S, float)
RPX_SOLVER(D, double)
RPX_SOLVER(C, hipFloatComplex)
RPX_SOLVER(Z, hipDoubleComplex)
#undef RPX_SOLVER

// The interface with 64-bit sizes, whose element type is an argument.
typedef void *hipsolverDnParams_t;
typedef enum hipsolverDnFunction_t { HIPSOLVERDN_GETRF = 0 } hipsolverDnFunction_t;
RPX_API hipsolverStatus_t hipsolverDnCreateParams(hipsolverDnParams_t *p) { return *p = new int(0), RPX_OK; }
RPX_API hipsolverStatus_t hipsolverDnDestroyParams(hipsolverDnParams_t p) { return delete static_cast<int *>(p), RPX_OK; }
RPX_API hipsolverStatus_t hipsolverDnSetAdvOptions(hipsolverDnParams_t, hipsolverDnFunction_t, hipsolverAlgMode_t) { return RPX_OK; }
#define RPX_WORK64(device, host) return *device = 1, *host = 1, RPX_OK;
// Runs its body with T the type of the elements: one of the four that a factorization has.
template <class F> hipsolverStatus_t rpx_solver_type(hipDataType type, F f) {
  switch (type) {
    case HIP_R_32F: return f(static_cast<float *>(nullptr)), RPX_OK;
    case HIP_R_64F: return f(static_cast<double *>(nullptr)), RPX_OK;
    case HIP_C_32F: return f(static_cast<hipFloatComplex *>(nullptr)), RPX_OK;
    case HIP_C_64F: return f(static_cast<hipDoubleComplex *>(nullptr)), RPX_OK;
    default: return HIPSOLVER_STATUS_INVALID_ENUM;
  }
}
#define RPX_TYPED(type, ...)                                \
  return rpx_solver_type(type, [&](auto *rpx_none) {        \
    using T = std::remove_pointer_t<decltype(rpx_none)>;    \
    __VA_ARGS__                                             \
  });
RPX_API hipsolverStatus_t hipsolverDnXgetrf_bufferSize(hipsolverDnHandle_t, hipsolverDnParams_t, int64_t, int64_t, hipDataType, const void *, int64_t, hipDataType, size_t *device, size_t *host) { RPX_WORK64(device, host) }
RPX_API hipsolverStatus_t hipsolverDnXgetrf(hipsolverDnHandle_t rpx_h, hipsolverDnParams_t, int64_t m, int64_t n, hipDataType type, void *a, int64_t lda, int64_t *pivot, hipDataType, void *, size_t, void *, size_t, int *info) { RPX_SERVED(rpx_h, HIPSOLVER_STATUS_NOT_SUPPORTED)
  RPX_TYPED(type, {
    std::vector<int> rows(static_cast<std::size_t>(std::min(m, n)));
    *info = rpx::blas::getrf(m, n, static_cast<T *>(a), lda, pivot ? rows.data() : nullptr);
    if (pivot) std::copy(rows.begin(), rows.end(), pivot);
  })
}
RPX_API hipsolverStatus_t hipsolverDnXgetrs(hipsolverDnHandle_t rpx_h, hipsolverDnParams_t, hipsolverOperation_t t, int64_t n, int64_t count, hipDataType type, const void *a, int64_t lda, const int64_t *pivot, hipDataType, void *b, int64_t ldb, int *info) { RPX_SERVED(rpx_h, HIPSOLVER_STATUS_NOT_SUPPORTED)
  RPX_TYPED(type, {
    std::vector<int> rows;
    if (pivot) rows.assign(pivot, pivot + n);
    rpx::blas::getrs(rpx::op(t), n, count, static_cast<const T *>(a), lda, pivot ? rows.data() : nullptr, static_cast<T *>(b), ldb);
    *info = 0;
  })
}
RPX_API hipsolverStatus_t hipsolverDnXpotrf_bufferSize(hipsolverDnHandle_t, hipsolverDnParams_t, hipsolverFillMode_t, int64_t, hipDataType, const void *, int64_t, hipDataType, size_t *device, size_t *host) { RPX_WORK64(device, host) }
RPX_API hipsolverStatus_t hipsolverDnXpotrf(hipsolverDnHandle_t rpx_h, hipsolverDnParams_t, hipsolverFillMode_t uplo, int64_t n, hipDataType type, void *a, int64_t lda, hipDataType, void *, size_t, void *, size_t, int *info) { RPX_SERVED(rpx_h, HIPSOLVER_STATUS_NOT_SUPPORTED)
  RPX_TYPED(type, { *info = rpx::blas::potrf(uplo == HIPSOLVER_FILL_MODE_UPPER, n, static_cast<T *>(a), lda); })
}
RPX_API hipsolverStatus_t hipsolverDnXpotrs(hipsolverDnHandle_t rpx_h, hipsolverDnParams_t, hipsolverFillMode_t uplo, int64_t n, int64_t count, hipDataType type, const void *a, int64_t lda, hipDataType, void *b, int64_t ldb, int *info) { RPX_SERVED(rpx_h, HIPSOLVER_STATUS_NOT_SUPPORTED)
  RPX_TYPED(type, {
    const bool upper = uplo == HIPSOLVER_FILL_MODE_UPPER;
    for (bool first : {true, false})
      rpx::blas::trsm(true, upper, upper == first ? rpx::blas::kConjugate : rpx::blas::kNone, false, n, count, rpx::blas::Element<T>::store(1), static_cast<const T *>(a), lda, static_cast<T *>(b), ldb);
    *info = 0;
  })
}
RPX_API hipsolverStatus_t hipsolverDnXgeqrf_bufferSize(hipsolverDnHandle_t, hipsolverDnParams_t, int64_t, int64_t, hipDataType, const void *, int64_t, hipDataType, const void *, hipDataType, size_t *device, size_t *host) { RPX_WORK64(device, host) }
RPX_API hipsolverStatus_t hipsolverDnXgeqrf(hipsolverDnHandle_t rpx_h, hipsolverDnParams_t, int64_t m, int64_t n, hipDataType type, void *a, int64_t lda, hipDataType, void *tau, hipDataType, void *, size_t, void *, size_t, int *info) { RPX_SERVED(rpx_h, HIPSOLVER_STATUS_NOT_SUPPORTED)
  if (type != HIP_R_32F && type != HIP_R_64F) return HIPSOLVER_STATUS_NOT_SUPPORTED;
  if (type == HIP_R_32F) rpx::dense::geqrf(m, n, static_cast<float *>(a), lda, static_cast<float *>(tau));
  else rpx::dense::geqrf(m, n, static_cast<double *>(a), lda, static_cast<double *>(tau));
  return *info = 0, RPX_OK;
}
#undef RPX_TYPED
#undef RPX_WORK64
#undef RPX_SOLVER_NAMES
#undef RPX_WORK
#undef RPX_OK
