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
RPX_API hipblasStatus_t hipblasSetVectorAsync(int n, int bytes, const void *x, int incx, void *y, int incy, hipStream_t s) { RPX_SERVED_ON(s, HIPBLAS_STATUS_NOT_SUPPORTED) return rpx_strided(x, incx, y, incy, bytes, 1, n); }
RPX_API hipblasStatus_t hipblasGetVectorAsync(int n, int bytes, const void *x, int incx, void *y, int incy, hipStream_t s) { RPX_SERVED_ON(s, HIPBLAS_STATUS_NOT_SUPPORTED) return rpx_strided(x, incx, y, incy, bytes, 1, n); }
RPX_API hipblasStatus_t hipblasSetMatrix(int r, int c, int bytes, const void *a, int lda, void *b, int ldb) { return rpx_strided(a, lda, b, ldb, bytes, r, c); }
RPX_API hipblasStatus_t hipblasGetMatrix(int r, int c, int bytes, const void *a, int lda, void *b, int ldb) { return rpx_strided(a, lda, b, ldb, bytes, r, c); }
RPX_API hipblasStatus_t hipblasSetMatrixAsync(int r, int c, int bytes, const void *a, int lda, void *b, int ldb, hipStream_t s) { RPX_SERVED_ON(s, HIPBLAS_STATUS_NOT_SUPPORTED) return rpx_strided(a, lda, b, ldb, bytes, r, c); }
RPX_API hipblasStatus_t hipblasGetMatrixAsync(int r, int c, int bytes, const void *a, int lda, void *b, int ldb, hipStream_t s) { RPX_SERVED_ON(s, HIPBLAS_STATUS_NOT_SUPPORTED) return rpx_strided(a, lda, b, ldb, bytes, r, c); }

// ---- one precision after the other ---------------------------------------------------------------------------------

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
template <class T> void ger(long m, long n, T alpha, const T *x, long ix, const T *y, long iy, T *a, long lda, bool conjugate) {
  using E = Element<T>;
  for (long j = 0; j < n; ++j) {
    auto v = conjugate ? conj(E::load(y[j * iy])) : E::load(y[j * iy]);
    for (long i = 0; i < m; ++i) a[i + j * lda] = E::store(E::load(a[i + j * lda]) + E::load(alpha) * E::load(x[i * ix]) * v);
  }
}
}  // namespace blas
}  // namespace rpx

template <class T>
hipblasStatus_t rpx_symv(hipblasFillMode_t uplo, int n, T alpha, const T *a, int lda, const T *x, int incx, T beta, T *y, int incy) {
  std::vector<T> full((size_t)n * n);
  using E = rpx::blas::Element<T>;
  for (long j = 0; j < n; ++j)
    for (long i = 0; i < n; ++i) full[i + j * n] = (uplo == HIPBLAS_FILL_MODE_UPPER ? i <= j : i >= j) ? a[i + j * lda] : E::store(rpx::blas::conj(E::load(a[j + i * lda])));
  rpx::blas::gemv<T>(rpx::blas::kNone, n, n, alpha, full.data(), n, x, incx, beta, y, incy);
  return HIPBLAS_STATUS_SUCCESS;
}

#define RPX_T float
#define RPX_R float
#define RPX_COMPLEX 0
#define RPX_N int
#define RPX_F(f) hipblasS##f
#define RPX_NORM(f) hipblasS##f
#define RPX_EXTREME(f) hipblasIs##f
#include "hipblas/matrix.inc"
#include "hipblas/product.inc"
#include "hipblas/vector.inc"
#define RPX_N int64_t
#define RPX_F(f) hipblasS##f##_64
#define RPX_NORM(f) hipblasS##f##_64
#define RPX_EXTREME(f) hipblasIs##f##_64
#include "hipblas/vector.inc"
#undef RPX_T
#undef RPX_R
#undef RPX_COMPLEX

#define RPX_T double
#define RPX_R double
#define RPX_COMPLEX 0
#define RPX_N int
#define RPX_F(f) hipblasD##f
#define RPX_NORM(f) hipblasD##f
#define RPX_EXTREME(f) hipblasId##f
#include "hipblas/matrix.inc"
#include "hipblas/product.inc"
#include "hipblas/vector.inc"
#define RPX_N int64_t
#define RPX_F(f) hipblasD##f##_64
#define RPX_NORM(f) hipblasD##f##_64
#define RPX_EXTREME(f) hipblasId##f##_64
#include "hipblas/vector.inc"
#undef RPX_T
#undef RPX_R
#undef RPX_COMPLEX

#define RPX_T hipblasComplex
#define RPX_R float
#define RPX_COMPLEX 1
#define RPX_N int
#define RPX_F(f) hipblasC##f
#define RPX_NORM(f) hipblasSc##f
#define RPX_EXTREME(f) hipblasIc##f
#include "hipblas/matrix.inc"
#include "hipblas/product.inc"
#include "hipblas/vector.inc"
#define RPX_N int64_t
#define RPX_F(f) hipblasC##f##_64
#define RPX_NORM(f) hipblasSc##f##_64
#define RPX_EXTREME(f) hipblasIc##f##_64
#include "hipblas/vector.inc"
#undef RPX_T
#undef RPX_R
#undef RPX_COMPLEX

#define RPX_T hipblasDoubleComplex
#define RPX_R double
#define RPX_COMPLEX 1
#define RPX_N int
#define RPX_F(f) hipblasZ##f
#define RPX_NORM(f) hipblasDz##f
#define RPX_EXTREME(f) hipblasIz##f
#include "hipblas/matrix.inc"
#include "hipblas/product.inc"
#include "hipblas/vector.inc"
#define RPX_N int64_t
#define RPX_F(f) hipblasZ##f##_64
#define RPX_NORM(f) hipblasDz##f##_64
#define RPX_EXTREME(f) hipblasIz##f##_64
#include "hipblas/vector.inc"
#undef RPX_T
#undef RPX_R
#undef RPX_COMPLEX

#define RPX_T hipblasHalf
#define RPX_F(f) hipblasH##f
#include "hipblas/product.inc"
#undef RPX_T
#undef RPX_F

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
inline hipblasStatus_t hipblasGemmEx(hipblasHandle_t rpx_h, hipblasOperation_t ta, hipblasOperation_t tb, int m, int n, int k, const void *alpha, const void *a, hipDataType at,
                                     int lda, const void *b, hipDataType bt, int ldb, const void *beta, void *c, hipDataType ct, int ldc, Compute compute, hipblasGemmAlgo_t) { RPX_SERVED(rpx_h, HIPBLAS_STATUS_NOT_SUPPORTED)
  return rpx_gemm_ex(ta, tb, m, n, k, alpha, a, at, lda, 0, b, bt, ldb, 0, beta, c, ct, ldc, 0, 1, compute);
}
template <class Compute>
inline hipblasStatus_t hipblasGemmStridedBatchedEx(hipblasHandle_t rpx_h, hipblasOperation_t ta, hipblasOperation_t tb, int m, int n, int k, const void *alpha, const void *a,
                                                   hipDataType at, int lda, long long sa, const void *b, hipDataType bt, int ldb, long long sb, const void *beta, void *c,
                                                   hipDataType ct, int ldc, long long sc, int count, Compute compute, hipblasGemmAlgo_t) { RPX_SERVED(rpx_h, HIPBLAS_STATUS_NOT_SUPPORTED)
  return rpx_gemm_ex(ta, tb, m, n, k, alpha, a, at, lda, sa, b, bt, ldb, sb, beta, c, ct, ldc, sc, count, compute);
}
template <class Compute>
inline hipblasStatus_t hipblasGemmBatchedEx(hipblasHandle_t rpx_h, hipblasOperation_t ta, hipblasOperation_t tb, int m, int n, int k, const void *alpha, const void *a[],
                                            hipDataType at, int lda, const void *b[], hipDataType bt, int ldb, const void *beta, void *c[], hipDataType ct, int ldc,
                                            int count, Compute compute, hipblasGemmAlgo_t) { RPX_SERVED(rpx_h, HIPBLAS_STATUS_NOT_SUPPORTED)
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
RPX_API hipblasStatus_t hipblasDotEx(hipblasHandle_t rpx_h, int n, const void *x, hipDataType xt, int incx, const void *y, hipDataType yt, int incy, void *r, hipDataType rt, hipDataType) { RPX_SERVED(rpx_h, HIPBLAS_STATUS_NOT_SUPPORTED)
  return rpx_dot_ex<int>(n, x, xt, incx, y, yt, incy, r, rt);
}
RPX_API hipblasStatus_t hipblasDotEx_64(hipblasHandle_t rpx_h, int64_t n, const void *x, hipDataType xt, int64_t incx, const void *y, hipDataType yt, int64_t incy, void *r, hipDataType rt, hipDataType) { RPX_SERVED(rpx_h, HIPBLAS_STATUS_NOT_SUPPORTED)
  return rpx_dot_ex<int64_t>(n, x, xt, incx, y, yt, incy, r, rt);
}

#include "rpx/blas2.h"
