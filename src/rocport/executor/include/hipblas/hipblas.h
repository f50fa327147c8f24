// SPDX-License-Identifier: Apache-2.0
// hipBLAS over the plain loops of rpx/blas.h. Scalars may lie in host or device memory: both are host memory here.
#pragma once

#include "hip/hip_runtime.h"
#include "rpx/blas.h"

typedef enum hipblasStatus_t {
  HIPBLAS_STATUS_SUCCESS, HIPBLAS_STATUS_NOT_INITIALIZED, HIPBLAS_STATUS_ALLOC_FAILED, HIPBLAS_STATUS_INVALID_VALUE,
  HIPBLAS_STATUS_MAPPING_ERROR, HIPBLAS_STATUS_EXECUTION_FAILED, HIPBLAS_STATUS_INTERNAL_ERROR, HIPBLAS_STATUS_NOT_SUPPORTED,
  HIPBLAS_STATUS_ARCH_MISMATCH, HIPBLAS_STATUS_HANDLE_IS_NULLPTR, HIPBLAS_STATUS_INVALID_ENUM, HIPBLAS_STATUS_UNKNOWN
} hipblasStatus_t;
typedef enum hipblasOperation_t { HIPBLAS_OP_N = 111, HIPBLAS_OP_T = 112, HIPBLAS_OP_C = 113 } hipblasOperation_t;
typedef enum hipblasPointerMode_t { HIPBLAS_POINTER_MODE_HOST, HIPBLAS_POINTER_MODE_DEVICE } hipblasPointerMode_t;
typedef enum hipblasFillMode_t { HIPBLAS_FILL_MODE_UPPER = 121, HIPBLAS_FILL_MODE_LOWER = 122, HIPBLAS_FILL_MODE_FULL = 123 } hipblasFillMode_t;
typedef enum hipblasDiagType_t { HIPBLAS_DIAG_NON_UNIT = 131, HIPBLAS_DIAG_UNIT = 132 } hipblasDiagType_t;
typedef enum hipblasSideMode_t { HIPBLAS_SIDE_LEFT = 141, HIPBLAS_SIDE_RIGHT = 142, HIPBLAS_SIDE_BOTH = 143 } hipblasSideMode_t;
typedef enum hipblasAtomicsMode_t { HIPBLAS_ATOMICS_NOT_ALLOWED, HIPBLAS_ATOMICS_ALLOWED } hipblasAtomicsMode_t;
typedef enum hipblasMath_t { HIPBLAS_DEFAULT_MATH, HIPBLAS_XF32_XDL_MATH, HIPBLAS_PEDANTIC_MATH, HIPBLAS_TF32_TENSOR_OP_MATH, HIPBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION, HIPBLAS_TENSOR_OP_MATH } hipblasMath_t;
typedef enum hipblasGemmAlgo_t { HIPBLAS_GEMM_DEFAULT = 160 } hipblasGemmAlgo_t;
typedef enum hipblasComputeType_t {
  HIPBLAS_COMPUTE_16F, HIPBLAS_COMPUTE_16F_PEDANTIC, HIPBLAS_COMPUTE_32F, HIPBLAS_COMPUTE_32F_PEDANTIC, HIPBLAS_COMPUTE_32F_FAST_16F,
  HIPBLAS_COMPUTE_32F_FAST_16BF, HIPBLAS_COMPUTE_32F_FAST_TF32, HIPBLAS_COMPUTE_64F, HIPBLAS_COMPUTE_64F_PEDANTIC, HIPBLAS_COMPUTE_32I,
  HIPBLAS_COMPUTE_32I_PEDANTIC, HIPBLAS_COMPUTE_32F_FAST_8F_FNUZ = 100, HIPBLAS_COMPUTE_32F_FAST_8BF_FNUZ
} hipblasComputeType_t;
typedef hipDataType hipblasDatatype_t;
#define HIPBLAS_R_16F HIP_R_16F
#define HIPBLAS_R_32F HIP_R_32F
#define HIPBLAS_R_64F HIP_R_64F
#define HIPBLAS_C_32F HIP_C_32F
#define HIPBLAS_C_64F HIP_C_64F
#define HIPBLAS_R_8I HIP_R_8I
#define HIPBLAS_R_32I HIP_R_32I
#define HIPBLAS_R_16B HIP_R_16BF
typedef struct rpx_blas_handle { hipStream_t stream; hipblasPointerMode_t mode; hipblasMath_t math; } *hipblasHandle_t;
typedef hipFloatComplex hipblasComplex;
typedef hipDoubleComplex hipblasDoubleComplex;
typedef __half hipblasHalf;
typedef __hip_bfloat16 hipblasBfloat16;
typedef signed char hipblasInt8;
typedef long long hipblasStride;
#ifndef hipblasVersionMajor
#define hipblasVersionMajor 2
#define hipblasVersionMinor 4
#endif

namespace rpx {
inline blas::Op op(hipblasOperation_t t) { return t == HIPBLAS_OP_N ? blas::kNone : t == HIPBLAS_OP_T ? blas::kTranspose : blas::kConjugate; }
inline hipDataType scale_type(hipblasComputeType_t c, hipDataType element) {
  switch (c) {
    case HIPBLAS_COMPUTE_16F: case HIPBLAS_COMPUTE_16F_PEDANTIC: return HIP_R_16F;
    case HIPBLAS_COMPUTE_64F: case HIPBLAS_COMPUTE_64F_PEDANTIC: return element == HIP_C_64F ? HIP_C_64F : HIP_R_64F;
    case HIPBLAS_COMPUTE_32I: case HIPBLAS_COMPUTE_32I_PEDANTIC: return HIP_R_32I;
    default: return element == HIP_C_32F ? HIP_C_32F : HIP_R_32F;
  }
}
inline hipDataType scale_type(hipDataType c, hipDataType) { return c; }
}  // namespace rpx

RPX_API hipblasStatus_t hipblasCreate(hipblasHandle_t *h) { *h = new rpx_blas_handle{}; return HIPBLAS_STATUS_SUCCESS; }
RPX_API hipblasStatus_t hipblasDestroy(hipblasHandle_t h) { delete h; return HIPBLAS_STATUS_SUCCESS; }
RPX_API hipblasStatus_t hipblasSetStream(hipblasHandle_t h, hipStream_t s) { h->stream = s; return HIPBLAS_STATUS_SUCCESS; }
RPX_API hipblasStatus_t hipblasGetStream(hipblasHandle_t h, hipStream_t *s) { *s = h->stream; return HIPBLAS_STATUS_SUCCESS; }
RPX_API hipblasStatus_t hipblasSetPointerMode(hipblasHandle_t h, hipblasPointerMode_t m) { h->mode = m; return HIPBLAS_STATUS_SUCCESS; }
RPX_API hipblasStatus_t hipblasGetPointerMode(hipblasHandle_t h, hipblasPointerMode_t *m) { *m = h->mode; return HIPBLAS_STATUS_SUCCESS; }
RPX_API hipblasStatus_t hipblasSetMathMode(hipblasHandle_t h, hipblasMath_t m) { h->math = m; return HIPBLAS_STATUS_SUCCESS; }
RPX_API hipblasStatus_t hipblasGetMathMode(hipblasHandle_t h, hipblasMath_t *m) { *m = h->math; return HIPBLAS_STATUS_SUCCESS; }
RPX_API hipblasStatus_t hipblasSetAtomicsMode(hipblasHandle_t, hipblasAtomicsMode_t) { return HIPBLAS_STATUS_SUCCESS; }
RPX_API hipblasStatus_t hipblasSetWorkspace(hipblasHandle_t, void *, size_t) { return HIPBLAS_STATUS_SUCCESS; }
RPX_API const char *hipblasStatusToString(hipblasStatus_t s) {
  static const char *const names[] = {"HIPBLAS_STATUS_SUCCESS", "HIPBLAS_STATUS_NOT_INITIALIZED", "HIPBLAS_STATUS_ALLOC_FAILED", "HIPBLAS_STATUS_INVALID_VALUE",
    "HIPBLAS_STATUS_MAPPING_ERROR", "HIPBLAS_STATUS_EXECUTION_FAILED", "HIPBLAS_STATUS_INTERNAL_ERROR", "HIPBLAS_STATUS_NOT_SUPPORTED",
    "HIPBLAS_STATUS_ARCH_MISMATCH", "HIPBLAS_STATUS_HANDLE_IS_NULLPTR", "HIPBLAS_STATUS_INVALID_ENUM", "HIPBLAS_STATUS_UNKNOWN"};
  return names[s <= HIPBLAS_STATUS_UNKNOWN ? s : HIPBLAS_STATUS_UNKNOWN];
}
inline hipblasStatus_t rpx_strided(const void *from, long ld_from, void *to, long ld_to, long bytes, long rows, long columns) {
  for (long j = 0; j < columns; ++j)
    for (long i = 0; i < rows; ++i)
      std::memcpy(static_cast<char *>(to) + (i + j * ld_to) * bytes, static_cast<const char *>(from) + (i + j * ld_from) * bytes, (size_t)bytes);
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasSetVector(int n, int bytes, const void *x, int incx, void *y, int incy) { return rpx_strided(x, incx, y, incy, bytes, 1, n); }
RPX_API hipblasStatus_t hipblasGetVector(int n, int bytes, const void *x, int incx, void *y, int incy) { return rpx_strided(x, incx, y, incy, bytes, 1, n); }
RPX_API hipblasStatus_t hipblasSetVectorAsync(int n, int bytes, const void *x, int incx, void *y, int incy, hipStream_t) { return rpx_strided(x, incx, y, incy, bytes, 1, n); }
RPX_API hipblasStatus_t hipblasGetVectorAsync(int n, int bytes, const void *x, int incx, void *y, int incy, hipStream_t) { return rpx_strided(x, incx, y, incy, bytes, 1, n); }
RPX_API hipblasStatus_t hipblasSetMatrix(int r, int c, int bytes, const void *a, int lda, void *b, int ldb) { return rpx_strided(a, lda, b, ldb, bytes, r, c); }
RPX_API hipblasStatus_t hipblasGetMatrix(int r, int c, int bytes, const void *a, int lda, void *b, int ldb) { return rpx_strided(a, lda, b, ldb, bytes, r, c); }

// ---- level 1 ----------------------------------------------------------------------------------------------------------

namespace rpx {
namespace blas {
// BLAS walks a vector with a negative increment from its far end.
template <class T> T *start(T *x, long n, long inc) { return inc < 0 ? x + (1 - n) * inc : x; }
template <class T> void axpy(long n, T alpha, const T *x, long ix, T *y, long iy) {
  using E = Element<T>;
  x = start(x, n, ix), y = start(y, n, iy);
  for (long i = 0; i < n; ++i) y[i * iy] = E::store(E::load(y[i * iy]) + E::load(alpha) * E::load(x[i * ix]));
}
template <class T> T dot(long n, const T *x, long ix, const T *y, long iy, bool conjugate) {
  using E = Element<T>;
  typename E::Sum sum(0);
  x = start(x, n, ix), y = start(y, n, iy);
  for (long i = 0; i < n; ++i) sum += (conjugate ? conj(E::load(x[i * ix])) : E::load(x[i * ix])) * E::load(y[i * iy]);
  return E::store(sum);
}
template <class T> double nrm2(long n, const T *x, long ix) {
  double sum = 0;
  for (long i = 0; i < n; ++i) sum += square(Element<T>::load(x[i * ix]));
  return std::sqrt(sum);
}
template <class T> double asum(long n, const T *x, long ix) {
  double sum = 0;
  for (long i = 0; i < n; ++i) sum += magnitude(Element<T>::load(x[i * ix]));
  return sum;
}
template <class T> long extreme(long n, const T *x, long ix, bool largest) {
  long best = 0;
  for (long i = 1; i < n; ++i) {
    double v = magnitude(Element<T>::load(x[i * ix])), b = magnitude(Element<T>::load(x[best * ix]));
    if (largest ? v > b : v < b) best = i;
  }
  return n > 0 ? best + 1 : 0;
}
}  // namespace blas
}  // namespace rpx

RPX_API hipblasStatus_t hipblasSaxpy(hipblasHandle_t, int n, const float *alpha, const float *x, int incx, float *y, int incy) {
  rpx::blas::axpy<float>(n, *alpha, x, incx, y, incy);
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasSscal(hipblasHandle_t, int n, const float *alpha, float *x, int incx) {
  using E = rpx::blas::Element<float>;
  for (long i = 0; i < (long)n; ++i) x[i * incx] = E::store(E::load(*alpha) * E::load(x[i * incx]));
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasScopy(hipblasHandle_t, int n, const float *x, int incx, float *y, int incy) {
  x = rpx::blas::start(x, n, incx), y = rpx::blas::start(y, n, incy);
  for (long i = 0; i < (long)n; ++i) y[i * incy] = x[i * incx];
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasSswap(hipblasHandle_t, int n, float *x, int incx, float *y, int incy) {
  x = rpx::blas::start(x, n, incx), y = rpx::blas::start(y, n, incy);
  for (long i = 0; i < (long)n; ++i) std::swap(y[i * incy], x[i * incx]);
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasSdot(hipblasHandle_t, int n, const float *x, int incx, const float *y, int incy, float *result) {
  *result = rpx::blas::dot<float>(n, x, incx, y, incy, false);
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasSnrm2(hipblasHandle_t, int n, const float *x, int incx, float *result) {
  *result = (float)rpx::blas::nrm2<float>(n, x, incx);
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasSasum(hipblasHandle_t, int n, const float *x, int incx, float *result) {
  *result = (float)rpx::blas::asum<float>(n, x, incx);
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasIsamax(hipblasHandle_t, int n, const float *x, int incx, int *result) {
  *result = (int)rpx::blas::extreme<float>(n, x, incx, true);
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasIsamin(hipblasHandle_t, int n, const float *x, int incx, int *result) {
  *result = (int)rpx::blas::extreme<float>(n, x, incx, false);
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasSaxpy_64(hipblasHandle_t, int64_t n, const float *alpha, const float *x, int64_t incx, float *y, int64_t incy) {
  rpx::blas::axpy<float>(n, *alpha, x, incx, y, incy);
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasSscal_64(hipblasHandle_t, int64_t n, const float *alpha, float *x, int64_t incx) {
  using E = rpx::blas::Element<float>;
  for (long i = 0; i < (long)n; ++i) x[i * incx] = E::store(E::load(*alpha) * E::load(x[i * incx]));
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasScopy_64(hipblasHandle_t, int64_t n, const float *x, int64_t incx, float *y, int64_t incy) {
  x = rpx::blas::start(x, n, incx), y = rpx::blas::start(y, n, incy);
  for (long i = 0; i < (long)n; ++i) y[i * incy] = x[i * incx];
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasSswap_64(hipblasHandle_t, int64_t n, float *x, int64_t incx, float *y, int64_t incy) {
  x = rpx::blas::start(x, n, incx), y = rpx::blas::start(y, n, incy);
  for (long i = 0; i < (long)n; ++i) std::swap(y[i * incy], x[i * incx]);
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasSdot_64(hipblasHandle_t, int64_t n, const float *x, int64_t incx, const float *y, int64_t incy, float *result) {
  *result = rpx::blas::dot<float>(n, x, incx, y, incy, false);
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasSnrm2_64(hipblasHandle_t, int64_t n, const float *x, int64_t incx, float *result) {
  *result = (float)rpx::blas::nrm2<float>(n, x, incx);
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasSasum_64(hipblasHandle_t, int64_t n, const float *x, int64_t incx, float *result) {
  *result = (float)rpx::blas::asum<float>(n, x, incx);
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasIsamax_64(hipblasHandle_t, int64_t n, const float *x, int64_t incx, int64_t *result) {
  *result = (int64_t)rpx::blas::extreme<float>(n, x, incx, true);
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasIsamin_64(hipblasHandle_t, int64_t n, const float *x, int64_t incx, int64_t *result) {
  *result = (int64_t)rpx::blas::extreme<float>(n, x, incx, false);
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasSrot(hipblasHandle_t, int n, float *x, int incx, float *y, int incy, const float *c, const float *s) {
  for (long i = 0; i < n; ++i) {
    float a = x[i * incx], b = y[i * incy];
    x[i * incx] = *c * a + *s * b;
    y[i * incy] = *c * b - *s * a;
  }
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasDaxpy(hipblasHandle_t, int n, const double *alpha, const double *x, int incx, double *y, int incy) {
  rpx::blas::axpy<double>(n, *alpha, x, incx, y, incy);
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasDscal(hipblasHandle_t, int n, const double *alpha, double *x, int incx) {
  using E = rpx::blas::Element<double>;
  for (long i = 0; i < (long)n; ++i) x[i * incx] = E::store(E::load(*alpha) * E::load(x[i * incx]));
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasDcopy(hipblasHandle_t, int n, const double *x, int incx, double *y, int incy) {
  x = rpx::blas::start(x, n, incx), y = rpx::blas::start(y, n, incy);
  for (long i = 0; i < (long)n; ++i) y[i * incy] = x[i * incx];
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasDswap(hipblasHandle_t, int n, double *x, int incx, double *y, int incy) {
  x = rpx::blas::start(x, n, incx), y = rpx::blas::start(y, n, incy);
  for (long i = 0; i < (long)n; ++i) std::swap(y[i * incy], x[i * incx]);
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasDdot(hipblasHandle_t, int n, const double *x, int incx, const double *y, int incy, double *result) {
  *result = rpx::blas::dot<double>(n, x, incx, y, incy, false);
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasDnrm2(hipblasHandle_t, int n, const double *x, int incx, double *result) {
  *result = (double)rpx::blas::nrm2<double>(n, x, incx);
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasDasum(hipblasHandle_t, int n, const double *x, int incx, double *result) {
  *result = (double)rpx::blas::asum<double>(n, x, incx);
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasIdamax(hipblasHandle_t, int n, const double *x, int incx, int *result) {
  *result = (int)rpx::blas::extreme<double>(n, x, incx, true);
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasIdamin(hipblasHandle_t, int n, const double *x, int incx, int *result) {
  *result = (int)rpx::blas::extreme<double>(n, x, incx, false);
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasDaxpy_64(hipblasHandle_t, int64_t n, const double *alpha, const double *x, int64_t incx, double *y, int64_t incy) {
  rpx::blas::axpy<double>(n, *alpha, x, incx, y, incy);
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasDscal_64(hipblasHandle_t, int64_t n, const double *alpha, double *x, int64_t incx) {
  using E = rpx::blas::Element<double>;
  for (long i = 0; i < (long)n; ++i) x[i * incx] = E::store(E::load(*alpha) * E::load(x[i * incx]));
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasDcopy_64(hipblasHandle_t, int64_t n, const double *x, int64_t incx, double *y, int64_t incy) {
  x = rpx::blas::start(x, n, incx), y = rpx::blas::start(y, n, incy);
  for (long i = 0; i < (long)n; ++i) y[i * incy] = x[i * incx];
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasDswap_64(hipblasHandle_t, int64_t n, double *x, int64_t incx, double *y, int64_t incy) {
  x = rpx::blas::start(x, n, incx), y = rpx::blas::start(y, n, incy);
  for (long i = 0; i < (long)n; ++i) std::swap(y[i * incy], x[i * incx]);
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasDdot_64(hipblasHandle_t, int64_t n, const double *x, int64_t incx, const double *y, int64_t incy, double *result) {
  *result = rpx::blas::dot<double>(n, x, incx, y, incy, false);
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasDnrm2_64(hipblasHandle_t, int64_t n, const double *x, int64_t incx, double *result) {
  *result = (double)rpx::blas::nrm2<double>(n, x, incx);
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasDasum_64(hipblasHandle_t, int64_t n, const double *x, int64_t incx, double *result) {
  *result = (double)rpx::blas::asum<double>(n, x, incx);
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasIdamax_64(hipblasHandle_t, int64_t n, const double *x, int64_t incx, int64_t *result) {
  *result = (int64_t)rpx::blas::extreme<double>(n, x, incx, true);
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasIdamin_64(hipblasHandle_t, int64_t n, const double *x, int64_t incx, int64_t *result) {
  *result = (int64_t)rpx::blas::extreme<double>(n, x, incx, false);
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasDrot(hipblasHandle_t, int n, double *x, int incx, double *y, int incy, const double *c, const double *s) {
  for (long i = 0; i < n; ++i) {
    double a = x[i * incx], b = y[i * incy];
    x[i * incx] = *c * a + *s * b;
    y[i * incy] = *c * b - *s * a;
  }
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasCaxpy(hipblasHandle_t, int n, const hipblasComplex *alpha, const hipblasComplex *x, int incx, hipblasComplex *y, int incy) {
  rpx::blas::axpy<hipblasComplex>(n, *alpha, x, incx, y, incy);
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasCscal(hipblasHandle_t, int n, const hipblasComplex *alpha, hipblasComplex *x, int incx) {
  using E = rpx::blas::Element<hipblasComplex>;
  for (long i = 0; i < (long)n; ++i) x[i * incx] = E::store(E::load(*alpha) * E::load(x[i * incx]));
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasCcopy(hipblasHandle_t, int n, const hipblasComplex *x, int incx, hipblasComplex *y, int incy) {
  x = rpx::blas::start(x, n, incx), y = rpx::blas::start(y, n, incy);
  for (long i = 0; i < (long)n; ++i) y[i * incy] = x[i * incx];
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasCswap(hipblasHandle_t, int n, hipblasComplex *x, int incx, hipblasComplex *y, int incy) {
  x = rpx::blas::start(x, n, incx), y = rpx::blas::start(y, n, incy);
  for (long i = 0; i < (long)n; ++i) std::swap(y[i * incy], x[i * incx]);
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasCdotu(hipblasHandle_t, int n, const hipblasComplex *x, int incx, const hipblasComplex *y, int incy, hipblasComplex *result) {
  *result = rpx::blas::dot<hipblasComplex>(n, x, incx, y, incy, false);
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasCdotc(hipblasHandle_t, int n, const hipblasComplex *x, int incx, const hipblasComplex *y, int incy, hipblasComplex *result) {
  *result = rpx::blas::dot<hipblasComplex>(n, x, incx, y, incy, true);
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasScnrm2(hipblasHandle_t, int n, const hipblasComplex *x, int incx, float *result) {
  *result = (float)rpx::blas::nrm2<hipblasComplex>(n, x, incx);
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasScasum(hipblasHandle_t, int n, const hipblasComplex *x, int incx, float *result) {
  *result = (float)rpx::blas::asum<hipblasComplex>(n, x, incx);
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasIcamax(hipblasHandle_t, int n, const hipblasComplex *x, int incx, int *result) {
  *result = (int)rpx::blas::extreme<hipblasComplex>(n, x, incx, true);
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasIcamin(hipblasHandle_t, int n, const hipblasComplex *x, int incx, int *result) {
  *result = (int)rpx::blas::extreme<hipblasComplex>(n, x, incx, false);
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasCaxpy_64(hipblasHandle_t, int64_t n, const hipblasComplex *alpha, const hipblasComplex *x, int64_t incx, hipblasComplex *y, int64_t incy) {
  rpx::blas::axpy<hipblasComplex>(n, *alpha, x, incx, y, incy);
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasCscal_64(hipblasHandle_t, int64_t n, const hipblasComplex *alpha, hipblasComplex *x, int64_t incx) {
  using E = rpx::blas::Element<hipblasComplex>;
  for (long i = 0; i < (long)n; ++i) x[i * incx] = E::store(E::load(*alpha) * E::load(x[i * incx]));
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasCcopy_64(hipblasHandle_t, int64_t n, const hipblasComplex *x, int64_t incx, hipblasComplex *y, int64_t incy) {
  x = rpx::blas::start(x, n, incx), y = rpx::blas::start(y, n, incy);
  for (long i = 0; i < (long)n; ++i) y[i * incy] = x[i * incx];
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasCswap_64(hipblasHandle_t, int64_t n, hipblasComplex *x, int64_t incx, hipblasComplex *y, int64_t incy) {
  x = rpx::blas::start(x, n, incx), y = rpx::blas::start(y, n, incy);
  for (long i = 0; i < (long)n; ++i) std::swap(y[i * incy], x[i * incx]);
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasCdotu_64(hipblasHandle_t, int64_t n, const hipblasComplex *x, int64_t incx, const hipblasComplex *y, int64_t incy, hipblasComplex *result) {
  *result = rpx::blas::dot<hipblasComplex>(n, x, incx, y, incy, false);
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasCdotc_64(hipblasHandle_t, int64_t n, const hipblasComplex *x, int64_t incx, const hipblasComplex *y, int64_t incy, hipblasComplex *result) {
  *result = rpx::blas::dot<hipblasComplex>(n, x, incx, y, incy, true);
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasScnrm2_64(hipblasHandle_t, int64_t n, const hipblasComplex *x, int64_t incx, float *result) {
  *result = (float)rpx::blas::nrm2<hipblasComplex>(n, x, incx);
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasScasum_64(hipblasHandle_t, int64_t n, const hipblasComplex *x, int64_t incx, float *result) {
  *result = (float)rpx::blas::asum<hipblasComplex>(n, x, incx);
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasIcamax_64(hipblasHandle_t, int64_t n, const hipblasComplex *x, int64_t incx, int64_t *result) {
  *result = (int64_t)rpx::blas::extreme<hipblasComplex>(n, x, incx, true);
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasIcamin_64(hipblasHandle_t, int64_t n, const hipblasComplex *x, int64_t incx, int64_t *result) {
  *result = (int64_t)rpx::blas::extreme<hipblasComplex>(n, x, incx, false);
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasZaxpy(hipblasHandle_t, int n, const hipblasDoubleComplex *alpha, const hipblasDoubleComplex *x, int incx, hipblasDoubleComplex *y, int incy) {
  rpx::blas::axpy<hipblasDoubleComplex>(n, *alpha, x, incx, y, incy);
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasZscal(hipblasHandle_t, int n, const hipblasDoubleComplex *alpha, hipblasDoubleComplex *x, int incx) {
  using E = rpx::blas::Element<hipblasDoubleComplex>;
  for (long i = 0; i < (long)n; ++i) x[i * incx] = E::store(E::load(*alpha) * E::load(x[i * incx]));
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasZcopy(hipblasHandle_t, int n, const hipblasDoubleComplex *x, int incx, hipblasDoubleComplex *y, int incy) {
  x = rpx::blas::start(x, n, incx), y = rpx::blas::start(y, n, incy);
  for (long i = 0; i < (long)n; ++i) y[i * incy] = x[i * incx];
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasZswap(hipblasHandle_t, int n, hipblasDoubleComplex *x, int incx, hipblasDoubleComplex *y, int incy) {
  x = rpx::blas::start(x, n, incx), y = rpx::blas::start(y, n, incy);
  for (long i = 0; i < (long)n; ++i) std::swap(y[i * incy], x[i * incx]);
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasZdotu(hipblasHandle_t, int n, const hipblasDoubleComplex *x, int incx, const hipblasDoubleComplex *y, int incy, hipblasDoubleComplex *result) {
  *result = rpx::blas::dot<hipblasDoubleComplex>(n, x, incx, y, incy, false);
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasZdotc(hipblasHandle_t, int n, const hipblasDoubleComplex *x, int incx, const hipblasDoubleComplex *y, int incy, hipblasDoubleComplex *result) {
  *result = rpx::blas::dot<hipblasDoubleComplex>(n, x, incx, y, incy, true);
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasDznrm2(hipblasHandle_t, int n, const hipblasDoubleComplex *x, int incx, double *result) {
  *result = (double)rpx::blas::nrm2<hipblasDoubleComplex>(n, x, incx);
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasDzasum(hipblasHandle_t, int n, const hipblasDoubleComplex *x, int incx, double *result) {
  *result = (double)rpx::blas::asum<hipblasDoubleComplex>(n, x, incx);
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasIzamax(hipblasHandle_t, int n, const hipblasDoubleComplex *x, int incx, int *result) {
  *result = (int)rpx::blas::extreme<hipblasDoubleComplex>(n, x, incx, true);
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasIzamin(hipblasHandle_t, int n, const hipblasDoubleComplex *x, int incx, int *result) {
  *result = (int)rpx::blas::extreme<hipblasDoubleComplex>(n, x, incx, false);
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasZaxpy_64(hipblasHandle_t, int64_t n, const hipblasDoubleComplex *alpha, const hipblasDoubleComplex *x, int64_t incx, hipblasDoubleComplex *y, int64_t incy) {
  rpx::blas::axpy<hipblasDoubleComplex>(n, *alpha, x, incx, y, incy);
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasZscal_64(hipblasHandle_t, int64_t n, const hipblasDoubleComplex *alpha, hipblasDoubleComplex *x, int64_t incx) {
  using E = rpx::blas::Element<hipblasDoubleComplex>;
  for (long i = 0; i < (long)n; ++i) x[i * incx] = E::store(E::load(*alpha) * E::load(x[i * incx]));
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasZcopy_64(hipblasHandle_t, int64_t n, const hipblasDoubleComplex *x, int64_t incx, hipblasDoubleComplex *y, int64_t incy) {
  x = rpx::blas::start(x, n, incx), y = rpx::blas::start(y, n, incy);
  for (long i = 0; i < (long)n; ++i) y[i * incy] = x[i * incx];
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasZswap_64(hipblasHandle_t, int64_t n, hipblasDoubleComplex *x, int64_t incx, hipblasDoubleComplex *y, int64_t incy) {
  x = rpx::blas::start(x, n, incx), y = rpx::blas::start(y, n, incy);
  for (long i = 0; i < (long)n; ++i) std::swap(y[i * incy], x[i * incx]);
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasZdotu_64(hipblasHandle_t, int64_t n, const hipblasDoubleComplex *x, int64_t incx, const hipblasDoubleComplex *y, int64_t incy, hipblasDoubleComplex *result) {
  *result = rpx::blas::dot<hipblasDoubleComplex>(n, x, incx, y, incy, false);
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasZdotc_64(hipblasHandle_t, int64_t n, const hipblasDoubleComplex *x, int64_t incx, const hipblasDoubleComplex *y, int64_t incy, hipblasDoubleComplex *result) {
  *result = rpx::blas::dot<hipblasDoubleComplex>(n, x, incx, y, incy, true);
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasDznrm2_64(hipblasHandle_t, int64_t n, const hipblasDoubleComplex *x, int64_t incx, double *result) {
  *result = (double)rpx::blas::nrm2<hipblasDoubleComplex>(n, x, incx);
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasDzasum_64(hipblasHandle_t, int64_t n, const hipblasDoubleComplex *x, int64_t incx, double *result) {
  *result = (double)rpx::blas::asum<hipblasDoubleComplex>(n, x, incx);
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasIzamax_64(hipblasHandle_t, int64_t n, const hipblasDoubleComplex *x, int64_t incx, int64_t *result) {
  *result = (int64_t)rpx::blas::extreme<hipblasDoubleComplex>(n, x, incx, true);
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasIzamin_64(hipblasHandle_t, int64_t n, const hipblasDoubleComplex *x, int64_t incx, int64_t *result) {
  *result = (int64_t)rpx::blas::extreme<hipblasDoubleComplex>(n, x, incx, false);
  return HIPBLAS_STATUS_SUCCESS;
}

// ---- level 2 ----------------------------------------------------------------------------------------------------------

RPX_API hipblasStatus_t hipblasSgemv(hipblasHandle_t, hipblasOperation_t trans, int m, int n, const float *alpha, const float *a, int lda, const float *x, int incx, const float *beta, float *y, int incy) {
  rpx::blas::gemv<float>(rpx::op(trans), m, n, *alpha, a, lda, x, incx, *beta, y, incy);
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasSger(hipblasHandle_t, int m, int n, const float *alpha, const float *x, int incx, const float *y, int incy, float *a, int lda) {
  using E = rpx::blas::Element<float>;
  for (long j = 0; j < n; ++j)
    for (long i = 0; i < m; ++i) {
      auto v = E::load(y[j * incy]);
      a[i + j * lda] = E::store(E::load(a[i + j * lda]) + E::load(*alpha) * E::load(x[i * incx]) * v);
    }
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasSsymv(hipblasHandle_t, hipblasFillMode_t uplo, int n, const float *alpha, const float *a, int lda, const float *x, int incx, const float *beta, float *y, int incy) {
  std::vector<float> full((size_t)n * n);
  using E = rpx::blas::Element<float>;
  for (long j = 0; j < n; ++j)
    for (long i = 0; i < n; ++i) full[i + j * n] = (uplo == HIPBLAS_FILL_MODE_UPPER ? i <= j : i >= j) ? a[i + j * lda] : E::store(rpx::blas::conj(E::load(a[j + i * lda])));
  rpx::blas::gemv<float>(rpx::blas::kNone, n, n, *alpha, full.data(), n, x, incx, *beta, y, incy);
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasStrsv(hipblasHandle_t, hipblasFillMode_t uplo, hipblasOperation_t trans, hipblasDiagType_t diag, int n, const float *a, int lda, float *x, int incx) {
  if (incx != 1) return HIPBLAS_STATUS_NOT_SUPPORTED;
  rpx::blas::trsm<float>(true, uplo == HIPBLAS_FILL_MODE_UPPER, rpx::op(trans), diag == HIPBLAS_DIAG_UNIT, n, 1, rpx::blas::Element<float>::store(1), a, lda, x, n);
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasDgemv(hipblasHandle_t, hipblasOperation_t trans, int m, int n, const double *alpha, const double *a, int lda, const double *x, int incx, const double *beta, double *y, int incy) {
  rpx::blas::gemv<double>(rpx::op(trans), m, n, *alpha, a, lda, x, incx, *beta, y, incy);
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasDger(hipblasHandle_t, int m, int n, const double *alpha, const double *x, int incx, const double *y, int incy, double *a, int lda) {
  using E = rpx::blas::Element<double>;
  for (long j = 0; j < n; ++j)
    for (long i = 0; i < m; ++i) {
      auto v = E::load(y[j * incy]);
      a[i + j * lda] = E::store(E::load(a[i + j * lda]) + E::load(*alpha) * E::load(x[i * incx]) * v);
    }
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasDsymv(hipblasHandle_t, hipblasFillMode_t uplo, int n, const double *alpha, const double *a, int lda, const double *x, int incx, const double *beta, double *y, int incy) {
  std::vector<double> full((size_t)n * n);
  using E = rpx::blas::Element<double>;
  for (long j = 0; j < n; ++j)
    for (long i = 0; i < n; ++i) full[i + j * n] = (uplo == HIPBLAS_FILL_MODE_UPPER ? i <= j : i >= j) ? a[i + j * lda] : E::store(rpx::blas::conj(E::load(a[j + i * lda])));
  rpx::blas::gemv<double>(rpx::blas::kNone, n, n, *alpha, full.data(), n, x, incx, *beta, y, incy);
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasDtrsv(hipblasHandle_t, hipblasFillMode_t uplo, hipblasOperation_t trans, hipblasDiagType_t diag, int n, const double *a, int lda, double *x, int incx) {
  if (incx != 1) return HIPBLAS_STATUS_NOT_SUPPORTED;
  rpx::blas::trsm<double>(true, uplo == HIPBLAS_FILL_MODE_UPPER, rpx::op(trans), diag == HIPBLAS_DIAG_UNIT, n, 1, rpx::blas::Element<double>::store(1), a, lda, x, n);
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasCgemv(hipblasHandle_t, hipblasOperation_t trans, int m, int n, const hipblasComplex *alpha, const hipblasComplex *a, int lda, const hipblasComplex *x, int incx, const hipblasComplex *beta, hipblasComplex *y, int incy) {
  rpx::blas::gemv<hipblasComplex>(rpx::op(trans), m, n, *alpha, a, lda, x, incx, *beta, y, incy);
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasCgeru(hipblasHandle_t, int m, int n, const hipblasComplex *alpha, const hipblasComplex *x, int incx, const hipblasComplex *y, int incy, hipblasComplex *a, int lda) {
  using E = rpx::blas::Element<hipblasComplex>;
  for (long j = 0; j < n; ++j)
    for (long i = 0; i < m; ++i) {
      auto v = E::load(y[j * incy]);
      a[i + j * lda] = E::store(E::load(a[i + j * lda]) + E::load(*alpha) * E::load(x[i * incx]) * v);
    }
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasCgerc(hipblasHandle_t, int m, int n, const hipblasComplex *alpha, const hipblasComplex *x, int incx, const hipblasComplex *y, int incy, hipblasComplex *a, int lda) {
  using E = rpx::blas::Element<hipblasComplex>;
  for (long j = 0; j < n; ++j)
    for (long i = 0; i < m; ++i) {
      auto v = E::load(y[j * incy]);
      a[i + j * lda] = E::store(E::load(a[i + j * lda]) + E::load(*alpha) * E::load(x[i * incx]) * rpx::blas::conj(v));
    }
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasChemv(hipblasHandle_t, hipblasFillMode_t uplo, int n, const hipblasComplex *alpha, const hipblasComplex *a, int lda, const hipblasComplex *x, int incx, const hipblasComplex *beta, hipblasComplex *y, int incy) {
  std::vector<hipblasComplex> full((size_t)n * n);
  using E = rpx::blas::Element<hipblasComplex>;
  for (long j = 0; j < n; ++j)
    for (long i = 0; i < n; ++i) full[i + j * n] = (uplo == HIPBLAS_FILL_MODE_UPPER ? i <= j : i >= j) ? a[i + j * lda] : E::store(rpx::blas::conj(E::load(a[j + i * lda])));
  rpx::blas::gemv<hipblasComplex>(rpx::blas::kNone, n, n, *alpha, full.data(), n, x, incx, *beta, y, incy);
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasCtrsv(hipblasHandle_t, hipblasFillMode_t uplo, hipblasOperation_t trans, hipblasDiagType_t diag, int n, const hipblasComplex *a, int lda, hipblasComplex *x, int incx) {
  if (incx != 1) return HIPBLAS_STATUS_NOT_SUPPORTED;
  rpx::blas::trsm<hipblasComplex>(true, uplo == HIPBLAS_FILL_MODE_UPPER, rpx::op(trans), diag == HIPBLAS_DIAG_UNIT, n, 1, rpx::blas::Element<hipblasComplex>::store(1), a, lda, x, n);
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasZgemv(hipblasHandle_t, hipblasOperation_t trans, int m, int n, const hipblasDoubleComplex *alpha, const hipblasDoubleComplex *a, int lda, const hipblasDoubleComplex *x, int incx, const hipblasDoubleComplex *beta, hipblasDoubleComplex *y, int incy) {
  rpx::blas::gemv<hipblasDoubleComplex>(rpx::op(trans), m, n, *alpha, a, lda, x, incx, *beta, y, incy);
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasZgeru(hipblasHandle_t, int m, int n, const hipblasDoubleComplex *alpha, const hipblasDoubleComplex *x, int incx, const hipblasDoubleComplex *y, int incy, hipblasDoubleComplex *a, int lda) {
  using E = rpx::blas::Element<hipblasDoubleComplex>;
  for (long j = 0; j < n; ++j)
    for (long i = 0; i < m; ++i) {
      auto v = E::load(y[j * incy]);
      a[i + j * lda] = E::store(E::load(a[i + j * lda]) + E::load(*alpha) * E::load(x[i * incx]) * v);
    }
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasZgerc(hipblasHandle_t, int m, int n, const hipblasDoubleComplex *alpha, const hipblasDoubleComplex *x, int incx, const hipblasDoubleComplex *y, int incy, hipblasDoubleComplex *a, int lda) {
  using E = rpx::blas::Element<hipblasDoubleComplex>;
  for (long j = 0; j < n; ++j)
    for (long i = 0; i < m; ++i) {
      auto v = E::load(y[j * incy]);
      a[i + j * lda] = E::store(E::load(a[i + j * lda]) + E::load(*alpha) * E::load(x[i * incx]) * rpx::blas::conj(v));
    }
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasZhemv(hipblasHandle_t, hipblasFillMode_t uplo, int n, const hipblasDoubleComplex *alpha, const hipblasDoubleComplex *a, int lda, const hipblasDoubleComplex *x, int incx, const hipblasDoubleComplex *beta, hipblasDoubleComplex *y, int incy) {
  std::vector<hipblasDoubleComplex> full((size_t)n * n);
  using E = rpx::blas::Element<hipblasDoubleComplex>;
  for (long j = 0; j < n; ++j)
    for (long i = 0; i < n; ++i) full[i + j * n] = (uplo == HIPBLAS_FILL_MODE_UPPER ? i <= j : i >= j) ? a[i + j * lda] : E::store(rpx::blas::conj(E::load(a[j + i * lda])));
  rpx::blas::gemv<hipblasDoubleComplex>(rpx::blas::kNone, n, n, *alpha, full.data(), n, x, incx, *beta, y, incy);
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasZtrsv(hipblasHandle_t, hipblasFillMode_t uplo, hipblasOperation_t trans, hipblasDiagType_t diag, int n, const hipblasDoubleComplex *a, int lda, hipblasDoubleComplex *x, int incx) {
  if (incx != 1) return HIPBLAS_STATUS_NOT_SUPPORTED;
  rpx::blas::trsm<hipblasDoubleComplex>(true, uplo == HIPBLAS_FILL_MODE_UPPER, rpx::op(trans), diag == HIPBLAS_DIAG_UNIT, n, 1, rpx::blas::Element<hipblasDoubleComplex>::store(1), a, lda, x, n);
  return HIPBLAS_STATUS_SUCCESS;
}

// ---- level 3 ----------------------------------------------------------------------------------------------------------

RPX_API hipblasStatus_t hipblasSgemm(hipblasHandle_t, hipblasOperation_t ta, hipblasOperation_t tb, int m, int n, int k, const float *alpha, const float *a, int lda, const float *b, int ldb, const float *beta, float *c, int ldc) {
  rpx::blas::gemm(rpx::op(ta), rpx::op(tb), m, n, k, rpx::blas::Element<float>::load(*alpha), a, lda, b, ldb, rpx::blas::Element<float>::load(*beta), c, ldc);
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasSgemmBatched(hipblasHandle_t, hipblasOperation_t ta, hipblasOperation_t tb, int m, int n, int k, const float *alpha, const float *const a[], int lda, const float *const b[], int ldb, const float *beta, float *const c[], int ldc, int count) {
  for (int i = 0; i < count; ++i) rpx::blas::gemm(rpx::op(ta), rpx::op(tb), m, n, k, rpx::blas::Element<float>::load(*alpha), a[i], lda, b[i], ldb, rpx::blas::Element<float>::load(*beta), c[i], ldc);
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasSgemmStridedBatched(hipblasHandle_t, hipblasOperation_t ta, hipblasOperation_t tb, int m, int n, int k, const float *alpha, const float *a, int lda, long long sa, const float *b, int ldb, long long sb, const float *beta, float *c, int ldc, long long sc, int count) {
  for (int i = 0; i < count; ++i) rpx::blas::gemm(rpx::op(ta), rpx::op(tb), m, n, k, rpx::blas::Element<float>::load(*alpha), a + i * sa, lda, b + i * sb, ldb, rpx::blas::Element<float>::load(*beta), c + i * sc, ldc);
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasDgemm(hipblasHandle_t, hipblasOperation_t ta, hipblasOperation_t tb, int m, int n, int k, const double *alpha, const double *a, int lda, const double *b, int ldb, const double *beta, double *c, int ldc) {
  rpx::blas::gemm(rpx::op(ta), rpx::op(tb), m, n, k, rpx::blas::Element<double>::load(*alpha), a, lda, b, ldb, rpx::blas::Element<double>::load(*beta), c, ldc);
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasDgemmBatched(hipblasHandle_t, hipblasOperation_t ta, hipblasOperation_t tb, int m, int n, int k, const double *alpha, const double *const a[], int lda, const double *const b[], int ldb, const double *beta, double *const c[], int ldc, int count) {
  for (int i = 0; i < count; ++i) rpx::blas::gemm(rpx::op(ta), rpx::op(tb), m, n, k, rpx::blas::Element<double>::load(*alpha), a[i], lda, b[i], ldb, rpx::blas::Element<double>::load(*beta), c[i], ldc);
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasDgemmStridedBatched(hipblasHandle_t, hipblasOperation_t ta, hipblasOperation_t tb, int m, int n, int k, const double *alpha, const double *a, int lda, long long sa, const double *b, int ldb, long long sb, const double *beta, double *c, int ldc, long long sc, int count) {
  for (int i = 0; i < count; ++i) rpx::blas::gemm(rpx::op(ta), rpx::op(tb), m, n, k, rpx::blas::Element<double>::load(*alpha), a + i * sa, lda, b + i * sb, ldb, rpx::blas::Element<double>::load(*beta), c + i * sc, ldc);
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasCgemm(hipblasHandle_t, hipblasOperation_t ta, hipblasOperation_t tb, int m, int n, int k, const hipblasComplex *alpha, const hipblasComplex *a, int lda, const hipblasComplex *b, int ldb, const hipblasComplex *beta, hipblasComplex *c, int ldc) {
  rpx::blas::gemm(rpx::op(ta), rpx::op(tb), m, n, k, rpx::blas::Element<hipblasComplex>::load(*alpha), a, lda, b, ldb, rpx::blas::Element<hipblasComplex>::load(*beta), c, ldc);
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasCgemmBatched(hipblasHandle_t, hipblasOperation_t ta, hipblasOperation_t tb, int m, int n, int k, const hipblasComplex *alpha, const hipblasComplex *const a[], int lda, const hipblasComplex *const b[], int ldb, const hipblasComplex *beta, hipblasComplex *const c[], int ldc, int count) {
  for (int i = 0; i < count; ++i) rpx::blas::gemm(rpx::op(ta), rpx::op(tb), m, n, k, rpx::blas::Element<hipblasComplex>::load(*alpha), a[i], lda, b[i], ldb, rpx::blas::Element<hipblasComplex>::load(*beta), c[i], ldc);
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasCgemmStridedBatched(hipblasHandle_t, hipblasOperation_t ta, hipblasOperation_t tb, int m, int n, int k, const hipblasComplex *alpha, const hipblasComplex *a, int lda, long long sa, const hipblasComplex *b, int ldb, long long sb, const hipblasComplex *beta, hipblasComplex *c, int ldc, long long sc, int count) {
  for (int i = 0; i < count; ++i) rpx::blas::gemm(rpx::op(ta), rpx::op(tb), m, n, k, rpx::blas::Element<hipblasComplex>::load(*alpha), a + i * sa, lda, b + i * sb, ldb, rpx::blas::Element<hipblasComplex>::load(*beta), c + i * sc, ldc);
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasZgemm(hipblasHandle_t, hipblasOperation_t ta, hipblasOperation_t tb, int m, int n, int k, const hipblasDoubleComplex *alpha, const hipblasDoubleComplex *a, int lda, const hipblasDoubleComplex *b, int ldb, const hipblasDoubleComplex *beta, hipblasDoubleComplex *c, int ldc) {
  rpx::blas::gemm(rpx::op(ta), rpx::op(tb), m, n, k, rpx::blas::Element<hipblasDoubleComplex>::load(*alpha), a, lda, b, ldb, rpx::blas::Element<hipblasDoubleComplex>::load(*beta), c, ldc);
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasZgemmBatched(hipblasHandle_t, hipblasOperation_t ta, hipblasOperation_t tb, int m, int n, int k, const hipblasDoubleComplex *alpha, const hipblasDoubleComplex *const a[], int lda, const hipblasDoubleComplex *const b[], int ldb, const hipblasDoubleComplex *beta, hipblasDoubleComplex *const c[], int ldc, int count) {
  for (int i = 0; i < count; ++i) rpx::blas::gemm(rpx::op(ta), rpx::op(tb), m, n, k, rpx::blas::Element<hipblasDoubleComplex>::load(*alpha), a[i], lda, b[i], ldb, rpx::blas::Element<hipblasDoubleComplex>::load(*beta), c[i], ldc);
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasZgemmStridedBatched(hipblasHandle_t, hipblasOperation_t ta, hipblasOperation_t tb, int m, int n, int k, const hipblasDoubleComplex *alpha, const hipblasDoubleComplex *a, int lda, long long sa, const hipblasDoubleComplex *b, int ldb, long long sb, const hipblasDoubleComplex *beta, hipblasDoubleComplex *c, int ldc, long long sc, int count) {
  for (int i = 0; i < count; ++i) rpx::blas::gemm(rpx::op(ta), rpx::op(tb), m, n, k, rpx::blas::Element<hipblasDoubleComplex>::load(*alpha), a + i * sa, lda, b + i * sb, ldb, rpx::blas::Element<hipblasDoubleComplex>::load(*beta), c + i * sc, ldc);
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasHgemm(hipblasHandle_t, hipblasOperation_t ta, hipblasOperation_t tb, int m, int n, int k, const hipblasHalf *alpha, const hipblasHalf *a, int lda, const hipblasHalf *b, int ldb, const hipblasHalf *beta, hipblasHalf *c, int ldc) {
  rpx::blas::gemm(rpx::op(ta), rpx::op(tb), m, n, k, rpx::blas::Element<hipblasHalf>::load(*alpha), a, lda, b, ldb, rpx::blas::Element<hipblasHalf>::load(*beta), c, ldc);
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasHgemmBatched(hipblasHandle_t, hipblasOperation_t ta, hipblasOperation_t tb, int m, int n, int k, const hipblasHalf *alpha, const hipblasHalf *const a[], int lda, const hipblasHalf *const b[], int ldb, const hipblasHalf *beta, hipblasHalf *const c[], int ldc, int count) {
  for (int i = 0; i < count; ++i) rpx::blas::gemm(rpx::op(ta), rpx::op(tb), m, n, k, rpx::blas::Element<hipblasHalf>::load(*alpha), a[i], lda, b[i], ldb, rpx::blas::Element<hipblasHalf>::load(*beta), c[i], ldc);
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasHgemmStridedBatched(hipblasHandle_t, hipblasOperation_t ta, hipblasOperation_t tb, int m, int n, int k, const hipblasHalf *alpha, const hipblasHalf *a, int lda, long long sa, const hipblasHalf *b, int ldb, long long sb, const hipblasHalf *beta, hipblasHalf *c, int ldc, long long sc, int count) {
  for (int i = 0; i < count; ++i) rpx::blas::gemm(rpx::op(ta), rpx::op(tb), m, n, k, rpx::blas::Element<hipblasHalf>::load(*alpha), a + i * sa, lda, b + i * sb, ldb, rpx::blas::Element<hipblasHalf>::load(*beta), c + i * sc, ldc);
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasSgeam(hipblasHandle_t, hipblasOperation_t ta, hipblasOperation_t tb, int m, int n, const float *alpha, const float *a, int lda, const float *beta, const float *b, int ldb, float *c, int ldc) {
  using E = rpx::blas::Element<float>;
  std::vector<float> out((size_t)m * n);
  auto at = [](const float *p, int ld, hipblasOperation_t op, long i, long j) {
    auto v = E::load(op == HIPBLAS_OP_N ? p[i + j * ld] : p[j + i * ld]);
    return op == HIPBLAS_OP_C ? rpx::blas::conj(v) : v;
  };
  for (long j = 0; j < n; ++j)
    for (long i = 0; i < m; ++i) {
      typename E::Sum sum(0);
      if (!(E::load(*alpha) == typename E::Sum(0))) sum += E::load(*alpha) * at(a, lda, ta, i, j);
      if (!(E::load(*beta) == typename E::Sum(0))) sum += E::load(*beta) * at(b, ldb, tb, i, j);
      out[i + j * m] = E::store(sum);
    }
  for (long j = 0; j < n; ++j)
    for (long i = 0; i < m; ++i) c[i + j * ldc] = out[i + j * m];
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasSdgmm(hipblasHandle_t, hipblasSideMode_t side, int m, int n, const float *a, int lda, const float *x, int incx, float *c, int ldc) {
  using E = rpx::blas::Element<float>;
  for (long j = 0; j < n; ++j)
    for (long i = 0; i < m; ++i) c[i + j * ldc] = E::store(E::load(a[i + j * lda]) * E::load(x[(side == HIPBLAS_SIDE_LEFT ? i : j) * incx]));
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasStrsm(hipblasHandle_t, hipblasSideMode_t side, hipblasFillMode_t uplo, hipblasOperation_t trans, hipblasDiagType_t diag, int m, int n, const float *alpha, float *a, int lda, float *b, int ldb) {
  rpx::blas::trsm<float>(side == HIPBLAS_SIDE_LEFT, uplo == HIPBLAS_FILL_MODE_UPPER, rpx::op(trans), diag == HIPBLAS_DIAG_UNIT, m, n, *alpha, a, lda, b, ldb);
  return HIPBLAS_STATUS_SUCCESS;
}
inline hipblasStatus_t hipblasStrsm(hipblasHandle_t, hipblasSideMode_t side, hipblasFillMode_t uplo, hipblasOperation_t trans, hipblasDiagType_t diag, int m, int n, const float *alpha, const float *a, int lda, float *b, int ldb) {
  rpx::blas::trsm<float>(side == HIPBLAS_SIDE_LEFT, uplo == HIPBLAS_FILL_MODE_UPPER, rpx::op(trans), diag == HIPBLAS_DIAG_UNIT, m, n, *alpha, a, lda, b, ldb);
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasStrsmBatched(hipblasHandle_t, hipblasSideMode_t side, hipblasFillMode_t uplo, hipblasOperation_t trans, hipblasDiagType_t diag, int m, int n, const float *alpha, float *const a[], int lda, float *const b[], int ldb, int count) {
  for (int i = 0; i < count; ++i) rpx::blas::trsm<float>(side == HIPBLAS_SIDE_LEFT, uplo == HIPBLAS_FILL_MODE_UPPER, rpx::op(trans), diag == HIPBLAS_DIAG_UNIT, m, n, *alpha, a[i], lda, b[i], ldb);
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasSsyrk(hipblasHandle_t, hipblasFillMode_t uplo, hipblasOperation_t trans, int n, int k, const float *alpha, const float *a, int lda, const float *beta, float *c, int ldc) {
  rpx::blas::syrk<float>(uplo == HIPBLAS_FILL_MODE_UPPER, rpx::op(trans), n, k, *alpha, a, lda, *beta, c, ldc, false);
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasSgetrfBatched(hipblasHandle_t, int n, float *const a[], int lda, int *pivot, int *info, int count) {
  for (int i = 0; i < count; ++i) info[i] = rpx::blas::getrf<float>(n, n, a[i], lda, pivot ? pivot + (long)i * n : nullptr);
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasSgetrsBatched(hipblasHandle_t, hipblasOperation_t trans, int n, int nrhs, float *const a[], int lda, const int *pivot, float *const b[], int ldb, int *info, int count) {
  for (int i = 0; i < count; ++i) rpx::blas::getrs<float>(rpx::op(trans), n, nrhs, a[i], lda, pivot ? pivot + (long)i * n : nullptr, b[i], ldb);
  *info = 0;
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasSgetriBatched(hipblasHandle_t, int n, float *const a[], int lda, int *pivot, float *const c[], int ldc, int *info, int count) {
  for (int i = 0; i < count; ++i) info[i] = rpx::blas::getri<float>(n, a[i], lda, pivot ? pivot + (long)i * n : nullptr, c[i], ldc);
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasDgeam(hipblasHandle_t, hipblasOperation_t ta, hipblasOperation_t tb, int m, int n, const double *alpha, const double *a, int lda, const double *beta, const double *b, int ldb, double *c, int ldc) {
  using E = rpx::blas::Element<double>;
  std::vector<double> out((size_t)m * n);
  auto at = [](const double *p, int ld, hipblasOperation_t op, long i, long j) {
    auto v = E::load(op == HIPBLAS_OP_N ? p[i + j * ld] : p[j + i * ld]);
    return op == HIPBLAS_OP_C ? rpx::blas::conj(v) : v;
  };
  for (long j = 0; j < n; ++j)
    for (long i = 0; i < m; ++i) {
      typename E::Sum sum(0);
      if (!(E::load(*alpha) == typename E::Sum(0))) sum += E::load(*alpha) * at(a, lda, ta, i, j);
      if (!(E::load(*beta) == typename E::Sum(0))) sum += E::load(*beta) * at(b, ldb, tb, i, j);
      out[i + j * m] = E::store(sum);
    }
  for (long j = 0; j < n; ++j)
    for (long i = 0; i < m; ++i) c[i + j * ldc] = out[i + j * m];
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasDdgmm(hipblasHandle_t, hipblasSideMode_t side, int m, int n, const double *a, int lda, const double *x, int incx, double *c, int ldc) {
  using E = rpx::blas::Element<double>;
  for (long j = 0; j < n; ++j)
    for (long i = 0; i < m; ++i) c[i + j * ldc] = E::store(E::load(a[i + j * lda]) * E::load(x[(side == HIPBLAS_SIDE_LEFT ? i : j) * incx]));
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasDtrsm(hipblasHandle_t, hipblasSideMode_t side, hipblasFillMode_t uplo, hipblasOperation_t trans, hipblasDiagType_t diag, int m, int n, const double *alpha, double *a, int lda, double *b, int ldb) {
  rpx::blas::trsm<double>(side == HIPBLAS_SIDE_LEFT, uplo == HIPBLAS_FILL_MODE_UPPER, rpx::op(trans), diag == HIPBLAS_DIAG_UNIT, m, n, *alpha, a, lda, b, ldb);
  return HIPBLAS_STATUS_SUCCESS;
}
inline hipblasStatus_t hipblasDtrsm(hipblasHandle_t, hipblasSideMode_t side, hipblasFillMode_t uplo, hipblasOperation_t trans, hipblasDiagType_t diag, int m, int n, const double *alpha, const double *a, int lda, double *b, int ldb) {
  rpx::blas::trsm<double>(side == HIPBLAS_SIDE_LEFT, uplo == HIPBLAS_FILL_MODE_UPPER, rpx::op(trans), diag == HIPBLAS_DIAG_UNIT, m, n, *alpha, a, lda, b, ldb);
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasDtrsmBatched(hipblasHandle_t, hipblasSideMode_t side, hipblasFillMode_t uplo, hipblasOperation_t trans, hipblasDiagType_t diag, int m, int n, const double *alpha, double *const a[], int lda, double *const b[], int ldb, int count) {
  for (int i = 0; i < count; ++i) rpx::blas::trsm<double>(side == HIPBLAS_SIDE_LEFT, uplo == HIPBLAS_FILL_MODE_UPPER, rpx::op(trans), diag == HIPBLAS_DIAG_UNIT, m, n, *alpha, a[i], lda, b[i], ldb);
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasDsyrk(hipblasHandle_t, hipblasFillMode_t uplo, hipblasOperation_t trans, int n, int k, const double *alpha, const double *a, int lda, const double *beta, double *c, int ldc) {
  rpx::blas::syrk<double>(uplo == HIPBLAS_FILL_MODE_UPPER, rpx::op(trans), n, k, *alpha, a, lda, *beta, c, ldc, false);
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasDgetrfBatched(hipblasHandle_t, int n, double *const a[], int lda, int *pivot, int *info, int count) {
  for (int i = 0; i < count; ++i) info[i] = rpx::blas::getrf<double>(n, n, a[i], lda, pivot ? pivot + (long)i * n : nullptr);
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasDgetrsBatched(hipblasHandle_t, hipblasOperation_t trans, int n, int nrhs, double *const a[], int lda, const int *pivot, double *const b[], int ldb, int *info, int count) {
  for (int i = 0; i < count; ++i) rpx::blas::getrs<double>(rpx::op(trans), n, nrhs, a[i], lda, pivot ? pivot + (long)i * n : nullptr, b[i], ldb);
  *info = 0;
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasDgetriBatched(hipblasHandle_t, int n, double *const a[], int lda, int *pivot, double *const c[], int ldc, int *info, int count) {
  for (int i = 0; i < count; ++i) info[i] = rpx::blas::getri<double>(n, a[i], lda, pivot ? pivot + (long)i * n : nullptr, c[i], ldc);
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasCgeam(hipblasHandle_t, hipblasOperation_t ta, hipblasOperation_t tb, int m, int n, const hipblasComplex *alpha, const hipblasComplex *a, int lda, const hipblasComplex *beta, const hipblasComplex *b, int ldb, hipblasComplex *c, int ldc) {
  using E = rpx::blas::Element<hipblasComplex>;
  std::vector<hipblasComplex> out((size_t)m * n);
  auto at = [](const hipblasComplex *p, int ld, hipblasOperation_t op, long i, long j) {
    auto v = E::load(op == HIPBLAS_OP_N ? p[i + j * ld] : p[j + i * ld]);
    return op == HIPBLAS_OP_C ? rpx::blas::conj(v) : v;
  };
  for (long j = 0; j < n; ++j)
    for (long i = 0; i < m; ++i) {
      typename E::Sum sum(0);
      if (!(E::load(*alpha) == typename E::Sum(0))) sum += E::load(*alpha) * at(a, lda, ta, i, j);
      if (!(E::load(*beta) == typename E::Sum(0))) sum += E::load(*beta) * at(b, ldb, tb, i, j);
      out[i + j * m] = E::store(sum);
    }
  for (long j = 0; j < n; ++j)
    for (long i = 0; i < m; ++i) c[i + j * ldc] = out[i + j * m];
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasCdgmm(hipblasHandle_t, hipblasSideMode_t side, int m, int n, const hipblasComplex *a, int lda, const hipblasComplex *x, int incx, hipblasComplex *c, int ldc) {
  using E = rpx::blas::Element<hipblasComplex>;
  for (long j = 0; j < n; ++j)
    for (long i = 0; i < m; ++i) c[i + j * ldc] = E::store(E::load(a[i + j * lda]) * E::load(x[(side == HIPBLAS_SIDE_LEFT ? i : j) * incx]));
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasCtrsm(hipblasHandle_t, hipblasSideMode_t side, hipblasFillMode_t uplo, hipblasOperation_t trans, hipblasDiagType_t diag, int m, int n, const hipblasComplex *alpha, hipblasComplex *a, int lda, hipblasComplex *b, int ldb) {
  rpx::blas::trsm<hipblasComplex>(side == HIPBLAS_SIDE_LEFT, uplo == HIPBLAS_FILL_MODE_UPPER, rpx::op(trans), diag == HIPBLAS_DIAG_UNIT, m, n, *alpha, a, lda, b, ldb);
  return HIPBLAS_STATUS_SUCCESS;
}
inline hipblasStatus_t hipblasCtrsm(hipblasHandle_t, hipblasSideMode_t side, hipblasFillMode_t uplo, hipblasOperation_t trans, hipblasDiagType_t diag, int m, int n, const hipblasComplex *alpha, const hipblasComplex *a, int lda, hipblasComplex *b, int ldb) {
  rpx::blas::trsm<hipblasComplex>(side == HIPBLAS_SIDE_LEFT, uplo == HIPBLAS_FILL_MODE_UPPER, rpx::op(trans), diag == HIPBLAS_DIAG_UNIT, m, n, *alpha, a, lda, b, ldb);
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasCtrsmBatched(hipblasHandle_t, hipblasSideMode_t side, hipblasFillMode_t uplo, hipblasOperation_t trans, hipblasDiagType_t diag, int m, int n, const hipblasComplex *alpha, hipblasComplex *const a[], int lda, hipblasComplex *const b[], int ldb, int count) {
  for (int i = 0; i < count; ++i) rpx::blas::trsm<hipblasComplex>(side == HIPBLAS_SIDE_LEFT, uplo == HIPBLAS_FILL_MODE_UPPER, rpx::op(trans), diag == HIPBLAS_DIAG_UNIT, m, n, *alpha, a[i], lda, b[i], ldb);
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasCsyrk(hipblasHandle_t, hipblasFillMode_t uplo, hipblasOperation_t trans, int n, int k, const hipblasComplex *alpha, const hipblasComplex *a, int lda, const hipblasComplex *beta, hipblasComplex *c, int ldc) {
  rpx::blas::syrk<hipblasComplex>(uplo == HIPBLAS_FILL_MODE_UPPER, rpx::op(trans), n, k, *alpha, a, lda, *beta, c, ldc, false);
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasCgetrfBatched(hipblasHandle_t, int n, hipblasComplex *const a[], int lda, int *pivot, int *info, int count) {
  for (int i = 0; i < count; ++i) info[i] = rpx::blas::getrf<hipblasComplex>(n, n, a[i], lda, pivot ? pivot + (long)i * n : nullptr);
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasCgetrsBatched(hipblasHandle_t, hipblasOperation_t trans, int n, int nrhs, hipblasComplex *const a[], int lda, const int *pivot, hipblasComplex *const b[], int ldb, int *info, int count) {
  for (int i = 0; i < count; ++i) rpx::blas::getrs<hipblasComplex>(rpx::op(trans), n, nrhs, a[i], lda, pivot ? pivot + (long)i * n : nullptr, b[i], ldb);
  *info = 0;
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasCgetriBatched(hipblasHandle_t, int n, hipblasComplex *const a[], int lda, int *pivot, hipblasComplex *const c[], int ldc, int *info, int count) {
  for (int i = 0; i < count; ++i) info[i] = rpx::blas::getri<hipblasComplex>(n, a[i], lda, pivot ? pivot + (long)i * n : nullptr, c[i], ldc);
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasZgeam(hipblasHandle_t, hipblasOperation_t ta, hipblasOperation_t tb, int m, int n, const hipblasDoubleComplex *alpha, const hipblasDoubleComplex *a, int lda, const hipblasDoubleComplex *beta, const hipblasDoubleComplex *b, int ldb, hipblasDoubleComplex *c, int ldc) {
  using E = rpx::blas::Element<hipblasDoubleComplex>;
  std::vector<hipblasDoubleComplex> out((size_t)m * n);
  auto at = [](const hipblasDoubleComplex *p, int ld, hipblasOperation_t op, long i, long j) {
    auto v = E::load(op == HIPBLAS_OP_N ? p[i + j * ld] : p[j + i * ld]);
    return op == HIPBLAS_OP_C ? rpx::blas::conj(v) : v;
  };
  for (long j = 0; j < n; ++j)
    for (long i = 0; i < m; ++i) {
      typename E::Sum sum(0);
      if (!(E::load(*alpha) == typename E::Sum(0))) sum += E::load(*alpha) * at(a, lda, ta, i, j);
      if (!(E::load(*beta) == typename E::Sum(0))) sum += E::load(*beta) * at(b, ldb, tb, i, j);
      out[i + j * m] = E::store(sum);
    }
  for (long j = 0; j < n; ++j)
    for (long i = 0; i < m; ++i) c[i + j * ldc] = out[i + j * m];
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasZdgmm(hipblasHandle_t, hipblasSideMode_t side, int m, int n, const hipblasDoubleComplex *a, int lda, const hipblasDoubleComplex *x, int incx, hipblasDoubleComplex *c, int ldc) {
  using E = rpx::blas::Element<hipblasDoubleComplex>;
  for (long j = 0; j < n; ++j)
    for (long i = 0; i < m; ++i) c[i + j * ldc] = E::store(E::load(a[i + j * lda]) * E::load(x[(side == HIPBLAS_SIDE_LEFT ? i : j) * incx]));
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasZtrsm(hipblasHandle_t, hipblasSideMode_t side, hipblasFillMode_t uplo, hipblasOperation_t trans, hipblasDiagType_t diag, int m, int n, const hipblasDoubleComplex *alpha, hipblasDoubleComplex *a, int lda, hipblasDoubleComplex *b, int ldb) {
  rpx::blas::trsm<hipblasDoubleComplex>(side == HIPBLAS_SIDE_LEFT, uplo == HIPBLAS_FILL_MODE_UPPER, rpx::op(trans), diag == HIPBLAS_DIAG_UNIT, m, n, *alpha, a, lda, b, ldb);
  return HIPBLAS_STATUS_SUCCESS;
}
inline hipblasStatus_t hipblasZtrsm(hipblasHandle_t, hipblasSideMode_t side, hipblasFillMode_t uplo, hipblasOperation_t trans, hipblasDiagType_t diag, int m, int n, const hipblasDoubleComplex *alpha, const hipblasDoubleComplex *a, int lda, hipblasDoubleComplex *b, int ldb) {
  rpx::blas::trsm<hipblasDoubleComplex>(side == HIPBLAS_SIDE_LEFT, uplo == HIPBLAS_FILL_MODE_UPPER, rpx::op(trans), diag == HIPBLAS_DIAG_UNIT, m, n, *alpha, a, lda, b, ldb);
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasZtrsmBatched(hipblasHandle_t, hipblasSideMode_t side, hipblasFillMode_t uplo, hipblasOperation_t trans, hipblasDiagType_t diag, int m, int n, const hipblasDoubleComplex *alpha, hipblasDoubleComplex *const a[], int lda, hipblasDoubleComplex *const b[], int ldb, int count) {
  for (int i = 0; i < count; ++i) rpx::blas::trsm<hipblasDoubleComplex>(side == HIPBLAS_SIDE_LEFT, uplo == HIPBLAS_FILL_MODE_UPPER, rpx::op(trans), diag == HIPBLAS_DIAG_UNIT, m, n, *alpha, a[i], lda, b[i], ldb);
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasZsyrk(hipblasHandle_t, hipblasFillMode_t uplo, hipblasOperation_t trans, int n, int k, const hipblasDoubleComplex *alpha, const hipblasDoubleComplex *a, int lda, const hipblasDoubleComplex *beta, hipblasDoubleComplex *c, int ldc) {
  rpx::blas::syrk<hipblasDoubleComplex>(uplo == HIPBLAS_FILL_MODE_UPPER, rpx::op(trans), n, k, *alpha, a, lda, *beta, c, ldc, false);
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasZgetrfBatched(hipblasHandle_t, int n, hipblasDoubleComplex *const a[], int lda, int *pivot, int *info, int count) {
  for (int i = 0; i < count; ++i) info[i] = rpx::blas::getrf<hipblasDoubleComplex>(n, n, a[i], lda, pivot ? pivot + (long)i * n : nullptr);
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasZgetrsBatched(hipblasHandle_t, hipblasOperation_t trans, int n, int nrhs, hipblasDoubleComplex *const a[], int lda, const int *pivot, hipblasDoubleComplex *const b[], int ldb, int *info, int count) {
  for (int i = 0; i < count; ++i) rpx::blas::getrs<hipblasDoubleComplex>(rpx::op(trans), n, nrhs, a[i], lda, pivot ? pivot + (long)i * n : nullptr, b[i], ldb);
  *info = 0;
  return HIPBLAS_STATUS_SUCCESS;
}
RPX_API hipblasStatus_t hipblasZgetriBatched(hipblasHandle_t, int n, hipblasDoubleComplex *const a[], int lda, int *pivot, hipblasDoubleComplex *const c[], int ldc, int *info, int count) {
  for (int i = 0; i < count; ++i) info[i] = rpx::blas::getri<hipblasDoubleComplex>(n, a[i], lda, pivot ? pivot + (long)i * n : nullptr, c[i], ldc);
  return HIPBLAS_STATUS_SUCCESS;
}

// ---- run-time types ---------------------------------------------------------------------------------------------------

template <class Compute>
inline hipblasStatus_t rpx_gemm_ex(hipblasOperation_t ta, hipblasOperation_t tb, int m, int n, int k, const void *alpha, const void *a, hipDataType at, int lda,
                                   long long sa, const void *b, hipDataType bt, int ldb, long long sb, const void *beta, void *c, hipDataType ct, int ldc,
                                   long long sc, int count, Compute compute) {
  const hipDataType scale = rpx::scale_type(compute, ct);
  const rpx::blas::Complex x = rpx::blas::scalar(alpha, scale), y = rpx::blas::scalar(beta, scale);
  for (long long i = 0; i < count; ++i) {
    const char *ai = static_cast<const char *>(a) + i * sa * (long long)rpx::blas::type_bytes(at);
    const char *bi = static_cast<const char *>(b) + i * sb * (long long)rpx::blas::type_bytes(bt);
    char *ci = static_cast<char *>(c) + i * sc * (long long)rpx::blas::type_bytes(ct);
    if (!rpx::blas::gemm_typed(rpx::op(ta), rpx::op(tb), m, n, k, x, ai, at, lda, bi, bt, ldb, y, ci, ct, ldc)) return HIPBLAS_STATUS_NOT_SUPPORTED;
  }
  return HIPBLAS_STATUS_SUCCESS;
}
template <class Compute>
inline hipblasStatus_t hipblasGemmEx(hipblasHandle_t, hipblasOperation_t ta, hipblasOperation_t tb, int m, int n, int k, const void *alpha, const void *a, hipDataType at,
                                     int lda, const void *b, hipDataType bt, int ldb, const void *beta, void *c, hipDataType ct, int ldc, Compute compute, hipblasGemmAlgo_t) {
  return rpx_gemm_ex(ta, tb, m, n, k, alpha, a, at, lda, 0, b, bt, ldb, 0, beta, c, ct, ldc, 0, 1, compute);
}
template <class Compute>
inline hipblasStatus_t hipblasGemmStridedBatchedEx(hipblasHandle_t, hipblasOperation_t ta, hipblasOperation_t tb, int m, int n, int k, const void *alpha, const void *a,
                                                   hipDataType at, int lda, long long sa, const void *b, hipDataType bt, int ldb, long long sb, const void *beta, void *c,
                                                   hipDataType ct, int ldc, long long sc, int count, Compute compute, hipblasGemmAlgo_t) {
  return rpx_gemm_ex(ta, tb, m, n, k, alpha, a, at, lda, sa, b, bt, ldb, sb, beta, c, ct, ldc, sc, count, compute);
}
template <class Compute>
inline hipblasStatus_t hipblasGemmBatchedEx(hipblasHandle_t, hipblasOperation_t ta, hipblasOperation_t tb, int m, int n, int k, const void *alpha, const void *a[],
                                            hipDataType at, int lda, const void *b[], hipDataType bt, int ldb, const void *beta, void *c[], hipDataType ct, int ldc,
                                            int count, Compute compute, hipblasGemmAlgo_t) {
  for (int i = 0; i < count; ++i)
    if (hipblasStatus_t bad = rpx_gemm_ex(ta, tb, m, n, k, alpha, a[i], at, lda, 0, b[i], bt, ldb, 0, beta, c[i], ct, ldc, 0, 1, compute)) return bad;
  return HIPBLAS_STATUS_SUCCESS;
}
template <class R, class S> inline void rpx_store_as(R *out, S sum) {
  if constexpr (rpx::blas::IsComplex<R>::value == std::is_same<S, rpx::blas::Complex>::value)
    *out = rpx::blas::Element<R>::store(static_cast<typename rpx::blas::Element<R>::Sum>(sum));
}
template <class N>
inline hipblasStatus_t rpx_dot_ex(N n, const void *x, hipDataType xt, N incx, const void *y, hipDataType yt, N incy, void *result, hipDataType rt) {
  if (xt != yt) return HIPBLAS_STATUS_NOT_SUPPORTED;
  bool served = rpx::blas::with_type(xt, [&](auto *p) {
    using T = std::remove_pointer_t<decltype(p)>;
    using E = rpx::blas::Element<T>;
    typename E::Sum sum(0);
    for (N i = 0; i < n; ++i) sum += E::load(static_cast<const T *>(x)[i * incx]) * E::load(static_cast<const T *>(y)[i * incy]);
    rpx::blas::with_type(rt, [&](auto *q) {
      rpx_store_as(static_cast<std::remove_pointer_t<decltype(q)> *>(result), sum);
    });
  });
  return served ? HIPBLAS_STATUS_SUCCESS : HIPBLAS_STATUS_NOT_SUPPORTED;
}
RPX_API hipblasStatus_t hipblasDotEx(hipblasHandle_t, int n, const void *x, hipDataType xt, int incx, const void *y, hipDataType yt, int incy, void *r, hipDataType rt, hipDataType) {
  return rpx_dot_ex<int>(n, x, xt, incx, y, yt, incy, r, rt);
}
RPX_API hipblasStatus_t hipblasDotEx_64(hipblasHandle_t, int64_t n, const void *x, hipDataType xt, int64_t incx, const void *y, hipDataType yt, int64_t incy, void *r, hipDataType rt, hipDataType) {
  return rpx_dot_ex<int64_t>(n, x, xt, incx, y, yt, incy, r, rt);
}

#include "rpx/blas2.h"
