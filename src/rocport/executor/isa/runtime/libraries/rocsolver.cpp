// SPDX-License-Identifier: Apache-2.0
// librocsolver: rocSOLVER's names of what libhipsolver does: LU, Cholesky, QR, symmetric eigenvalues, singular values. A
// handle of rocBLAS is one of hipSOLVER's here.
#include <hipsolver/hipsolver.h>
#include <rocsolver/rocsolver.h>

namespace {

rocblas_status said(hipsolverStatus_t status) {
  switch (status) {
    case HIPSOLVER_STATUS_SUCCESS: return rocblas_status_success;
    case HIPSOLVER_STATUS_NOT_SUPPORTED: return rocblas_status_not_implemented;
    case HIPSOLVER_STATUS_INVALID_VALUE: return rocblas_status_invalid_value;
    default: return rocblas_status_internal_error;
  }
}
hipsolverHandle_t hip(rocblas_handle h) { return reinterpret_cast<hipsolverHandle_t>(h); }
hipsolverEigMode_t mode(rocblas_evect v) { return v == rocblas_evect_none ? HIPSOLVER_EIG_MODE_NOVECTOR : HIPSOLVER_EIG_MODE_VECTOR; }
signed char part(rocblas_svect v) { return "ASON"[v - rocblas_svect_all]; }
// Values are the same in both: sides 141, fills 121, operations 111 and on.
hipsolverFillMode_t fill(rocblas_fill f) { return static_cast<hipsolverFillMode_t>(f); }
hipsolverOperation_t op(rocblas_operation t) { return static_cast<hipsolverOperation_t>(t); }
hipsolverSideMode_t side(rocblas_side s) { return static_cast<hipsolverSideMode_t>(s); }
hipsolverEigType_t form(rocblas_eform f) { return static_cast<hipsolverEigType_t>(f - rocblas_eform_ax + HIPSOLVER_EIG_TYPE_1); }

}  // namespace

using rocint = rocblas_int;

// One letter's functions: their type in rocBLAS and in hipBLAS.
#define EVERY(p, P, T, H)                                                                                                                       \
  rocblas_status rocsolver_##p##potrf(rocblas_handle h, const rocblas_fill u, const rocint n, T *a, const rocint lda, rocint *info) {           \
    return said(hipsolver##P##potrf(hip(h), fill(u), n, reinterpret_cast<H *>(a), lda, nullptr, 0, info));                                      \
  }                                                                                                                                             \
  rocblas_status rocsolver_##p##potrs(rocblas_handle h, const rocblas_fill u, const rocint n, const rocint k, T *a, const rocint lda, T *b, const rocint ldb) { \
    int info = 0;                                                                                                                               \
    return said(hipsolver##P##potrs(hip(h), fill(u), n, k, reinterpret_cast<H *>(a), lda, reinterpret_cast<H *>(b), ldb, nullptr, 0, &info));   \
  }                                                                                                                                             \
  rocblas_status rocsolver_##p##getrf(rocblas_handle h, const rocint m, const rocint n, T *a, const rocint lda, rocint *pivot, rocint *info) {  \
    return said(hipsolver##P##getrf(hip(h), m, n, reinterpret_cast<H *>(a), lda, nullptr, 0, pivot, info));                                     \
  }                                                                                                                                             \
  rocblas_status rocsolver_##p##getrs(rocblas_handle h, const rocblas_operation t, const rocint n, const rocint k, T *a, const rocint lda, const rocint *pivot, T *b, const rocint ldb) { \
    int info = 0;                                                                                                                               \
    return said(hipsolver##P##getrs(hip(h), op(t), n, k, reinterpret_cast<H *>(a), lda, const_cast<rocint *>(pivot), reinterpret_cast<H *>(b), ldb, nullptr, 0, &info)); \
  }
#define REAL(p, P, T)                                                                                                                           \
  rocblas_status rocsolver_##p##geqrf(rocblas_handle h, const rocint m, const rocint n, T *a, const rocint lda, T *tau) {                       \
    int info = 0;                                                                                                                               \
    return said(hipsolver##P##geqrf(hip(h), m, n, a, lda, tau, nullptr, 0, &info));                                                             \
  }                                                                                                                                             \
  rocblas_status rocsolver_##p##orgqr(rocblas_handle h, const rocint m, const rocint n, const rocint k, T *a, const rocint lda, T *tau) {       \
    int info = 0;                                                                                                                               \
    return said(hipsolver##P##orgqr(hip(h), m, n, k, a, lda, tau, nullptr, 0, &info));                                                          \
  }                                                                                                                                             \
  rocblas_status rocsolver_##p##ormqr(rocblas_handle h, const rocblas_side s, const rocblas_operation t, const rocint m, const rocint n, const rocint k, T *a, const rocint lda, T *tau, T *c, const rocint ldc) { \
    int info = 0;                                                                                                                               \
    return said(hipsolver##P##ormqr(hip(h), side(s), op(t), m, n, k, a, lda, tau, c, ldc, nullptr, 0, &info));                                  \
  }                                                                                                                                             \
  rocblas_status rocsolver_##p##syevd(rocblas_handle h, const rocblas_evect v, const rocblas_fill u, const rocint n, T *a, const rocint lda, T *d, T *, rocint *info) { \
    return said(hipsolver##P##syevd(hip(h), mode(v), fill(u), n, a, lda, d, nullptr, 0, info));                                                 \
  }                                                                                                                                             \
  rocblas_status rocsolver_##p##syev(rocblas_handle h, const rocblas_evect v, const rocblas_fill u, const rocint n, T *a, const rocint lda, T *d, T *e, rocint *info) { \
    return rocsolver_##p##syevd(h, v, u, n, a, lda, d, e, info);                                                                                \
  }                                                                                                                                             \
  rocblas_status rocsolver_##p##sygvd(rocblas_handle h, const rocblas_eform f, const rocblas_evect v, const rocblas_fill u, const rocint n, T *a, const rocint lda, T *b, const rocint ldb, T *d, T *, rocint *info) { \
    return said(hipsolver##P##sygvd(hip(h), form(f), mode(v), fill(u), n, a, lda, b, ldb, d, nullptr, 0, info));                                \
  }                                                                                                                                             \
  rocblas_status rocsolver_##p##gesvd(rocblas_handle h, const rocblas_svect left, const rocblas_svect right, const rocint m, const rocint n, T *a, const rocint lda, T *s, T *u, const rocint ldu, T *v, const rocint ldv, T *, const rocblas_workmode, rocint *info) { \
    return said(hipsolver##P##gesvd(hip(h), part(left), part(right), m, n, a, lda, s, u, ldu, v, ldv, nullptr, 0, nullptr, info));              \
  }

extern "C" {
EVERY(s, S, float, float)
EVERY(d, D, double, double)
EVERY(c, C, rocblas_float_complex, hipFloatComplex)
EVERY(z, Z, rocblas_double_complex, hipDoubleComplex)
REAL(s, S, float)
REAL(d, D, double)
}
