// SPDX-License-Identifier: Apache-2.0
// rocBLAS: the handle, levels 1 and 3 in common use, and gemm over run-time types.
#pragma once

#include "hipblas/hipblas.h"

typedef enum rocblas_status {
  rocblas_status_success, rocblas_status_invalid_handle, rocblas_status_not_implemented, rocblas_status_invalid_pointer, rocblas_status_invalid_size,
  rocblas_status_memory_error, rocblas_status_internal_error, rocblas_status_perf_degraded, rocblas_status_size_query_mismatch,
  rocblas_status_size_increased, rocblas_status_size_unchanged, rocblas_status_invalid_value
} rocblas_status;
typedef enum rocblas_operation { rocblas_operation_none = 111, rocblas_operation_transpose = 112, rocblas_operation_conjugate_transpose = 113 } rocblas_operation;
typedef enum rocblas_fill { rocblas_fill_upper = 121, rocblas_fill_lower = 122, rocblas_fill_full = 123 } rocblas_fill;
typedef enum rocblas_diagonal { rocblas_diagonal_non_unit = 131, rocblas_diagonal_unit = 132 } rocblas_diagonal;
typedef enum rocblas_side { rocblas_side_left = 141, rocblas_side_right = 142 } rocblas_side;
typedef enum rocblas_pointer_mode { rocblas_pointer_mode_host, rocblas_pointer_mode_device } rocblas_pointer_mode;
typedef enum rocblas_atomics_mode { rocblas_atomics_not_allowed, rocblas_atomics_allowed } rocblas_atomics_mode;
typedef enum rocblas_gemm_algo { rocblas_gemm_algo_standard, rocblas_gemm_algo_solution_index } rocblas_gemm_algo;
typedef enum rocblas_gemm_flags { rocblas_gemm_flags_none = 0, rocblas_gemm_flags_use_cu_efficiency = 2, rocblas_gemm_flags_fp16_alt_impl = 4 } rocblas_gemm_flags;
typedef enum rocblas_datatype {
  rocblas_datatype_f16_r = 150, rocblas_datatype_f32_r = 151, rocblas_datatype_f64_r = 152, rocblas_datatype_f16_c = 153, rocblas_datatype_f32_c = 154,
  rocblas_datatype_f64_c = 155, rocblas_datatype_i8_r = 160, rocblas_datatype_u8_r = 161, rocblas_datatype_i32_r = 162, rocblas_datatype_u32_r = 163,
  rocblas_datatype_bf16_r = 168, rocblas_datatype_invalid = 255
} rocblas_datatype;
typedef hipblasHandle_t rocblas_handle;
typedef int rocblas_int;
typedef long long rocblas_stride;
typedef float rocblas_float;
typedef double rocblas_double;
typedef __half rocblas_half;
typedef __hip_bfloat16 rocblas_bfloat16;
typedef hipFloatComplex rocblas_float_complex;
typedef hipDoubleComplex rocblas_double_complex;

namespace rpx {
RPX_API rocblas_status roc(hipblasStatus_t s) { return s == HIPBLAS_STATUS_SUCCESS ? rocblas_status_success : rocblas_status_not_implemented; }
inline hipblasOperation_t hip(rocblas_operation o) { return static_cast<hipblasOperation_t>(o); }
inline hipDataType hip(rocblas_datatype t) {
  switch (t) {
    case rocblas_datatype_f16_r: return HIP_R_16F;
    case rocblas_datatype_f64_r: return HIP_R_64F;
    case rocblas_datatype_f32_c: return HIP_C_32F;
    case rocblas_datatype_f64_c: return HIP_C_64F;
    case rocblas_datatype_i8_r: return HIP_R_8I;
    case rocblas_datatype_i32_r: return HIP_R_32I;
    case rocblas_datatype_bf16_r: return HIP_R_16BF;
    default: return HIP_R_32F;
  }
}
}  // namespace rpx
RPX_API rocblas_status rocblas_create_handle(rocblas_handle *h) { return rpx::roc(hipblasCreate(h)); }
RPX_API rocblas_status rocblas_destroy_handle(rocblas_handle h) { return rpx::roc(hipblasDestroy(h)); }
RPX_API rocblas_status rocblas_set_stream(rocblas_handle h, hipStream_t s) { return rpx::roc(hipblasSetStream(h, s)); }
RPX_API rocblas_status rocblas_get_stream(rocblas_handle h, hipStream_t *s) { return rpx::roc(hipblasGetStream(h, s)); }
RPX_API rocblas_status rocblas_set_pointer_mode(rocblas_handle h, rocblas_pointer_mode m) { return rpx::roc(hipblasSetPointerMode(h, static_cast<hipblasPointerMode_t>(m))); }
RPX_API rocblas_status rocblas_set_atomics_mode(rocblas_handle, rocblas_atomics_mode) { return rocblas_status_success; }
RPX_API rocblas_status rocblas_get_pointer_mode(rocblas_handle h, rocblas_pointer_mode *m) { return *m = static_cast<rocblas_pointer_mode>(h->mode), rocblas_status_success; }
RPX_API rocblas_status rocblas_set_vector(rocblas_int n, rocblas_int bytes, const void *x, rocblas_int ix, void *y, rocblas_int iy) { return rpx::roc(hipblasSetVector(n, bytes, x, ix, y, iy)); }
RPX_API rocblas_status rocblas_get_vector(rocblas_int n, rocblas_int bytes, const void *x, rocblas_int ix, void *y, rocblas_int iy) { return rpx::roc(hipblasGetVector(n, bytes, x, ix, y, iy)); }
RPX_API rocblas_status rocblas_set_matrix(rocblas_int r, rocblas_int c, rocblas_int bytes, const void *a, rocblas_int lda, void *b, rocblas_int ldb) { return rpx::roc(hipblasSetMatrix(r, c, bytes, a, lda, b, ldb)); }
RPX_API rocblas_status rocblas_get_matrix(rocblas_int r, rocblas_int c, rocblas_int bytes, const void *a, rocblas_int lda, void *b, rocblas_int ldb) { return rpx::roc(hipblasGetMatrix(r, c, bytes, a, lda, b, ldb)); }
RPX_API void rocblas_initialize() {}
RPX_API const char *rocblas_status_to_string(rocblas_status s) { return s == rocblas_status_success ? "rocblas_status_success" : "rocblas_status_error"; }

#define RPX_ROCBLAS(p, P, T)                                                                                                                       \
  RPX_API rocblas_status rocblas_##p##swap(rocblas_handle h, rocblas_int n, T *x, rocblas_int ix, T *y, rocblas_int iy) { RPX_SERVED(h, rocblas_status_not_implemented) return rpx::roc(hipblas##P##swap(h, n, x, ix, y, iy)); } \
  RPX_API rocblas_status rocblas_i##p##amax(rocblas_handle h, rocblas_int n, const T *x, rocblas_int ix, rocblas_int *r) { RPX_SERVED(h, rocblas_status_not_implemented) return rpx::roc(hipblasI##p##amax(h, n, x, ix, r)); } \
  RPX_API rocblas_status rocblas_i##p##amin(rocblas_handle h, rocblas_int n, const T *x, rocblas_int ix, rocblas_int *r) { RPX_SERVED(h, rocblas_status_not_implemented) return rpx::roc(hipblasI##p##amin(h, n, x, ix, r)); } \
  RPX_API rocblas_status rocblas_##p##trsm(rocblas_handle h, rocblas_side s, rocblas_fill u, rocblas_operation t, rocblas_diagonal d, rocblas_int m, rocblas_int n, const T *alpha, const T *a, rocblas_int lda, T *b, rocblas_int ldb) { RPX_SERVED(h, rocblas_status_not_implemented) \
    return rpx::roc(hipblas##P##trsm(h, static_cast<hipblasSideMode_t>(s), static_cast<hipblasFillMode_t>(u), rpx::hip(t), static_cast<hipblasDiagType_t>(d), m, n, alpha, const_cast<T *>(a), lda, b, ldb)); \
  }
RPX_ROCBLAS(s, S, float)
RPX_ROCBLAS(d, D, double)
RPX_ROCBLAS(c, C, rocblas_float_complex)
RPX_ROCBLAS(z, Z, rocblas_double_complex)
#undef RPX_ROCBLAS
#define RPX_ROCBLAS(p, P, T)                                                                                                                       \
  RPX_API rocblas_status rocblas_##p##ger(rocblas_handle h, rocblas_int m, rocblas_int n, const T *alpha, const T *x, rocblas_int ix, const T *y, rocblas_int iy, T *a, rocblas_int lda) { RPX_SERVED(h, rocblas_status_not_implemented) return rpx::roc(hipblas##P##ger(h, m, n, alpha, x, ix, y, iy, a, lda)); } \
  RPX_API rocblas_status rocblas_##p##symv(rocblas_handle h, rocblas_fill u, rocblas_int n, const T *alpha, const T *a, rocblas_int lda, const T *x, rocblas_int ix, const T *beta, T *y, rocblas_int iy) { RPX_SERVED(h, rocblas_status_not_implemented) return rpx::roc(hipblas##P##symv(h, static_cast<hipblasFillMode_t>(u), n, alpha, a, lda, x, ix, beta, y, iy)); } \
  RPX_API rocblas_status rocblas_##p##syrk(rocblas_handle h, rocblas_fill u, rocblas_operation t, rocblas_int n, rocblas_int k, const T *alpha, const T *a, rocblas_int lda, const T *beta, T *c, rocblas_int ldc) { RPX_SERVED(h, rocblas_status_not_implemented) return rpx::roc(hipblas##P##syrk(h, static_cast<hipblasFillMode_t>(u), rpx::hip(t), n, k, alpha, a, lda, beta, c, ldc)); }
RPX_ROCBLAS(s, S, float)
RPX_ROCBLAS(d, D, double)
#undef RPX_ROCBLAS
RPX_API rocblas_status rocblas_cher(rocblas_handle h, rocblas_fill u, rocblas_int n, const float *alpha, const rocblas_float_complex *x, rocblas_int ix, rocblas_float_complex *a, rocblas_int lda) { RPX_SERVED(h, rocblas_status_not_implemented) return rpx::roc(hipblasCher(h, static_cast<hipblasFillMode_t>(u), n, alpha, x, ix, a, lda)); }
RPX_API rocblas_status rocblas_zher(rocblas_handle h, rocblas_fill u, rocblas_int n, const double *alpha, const rocblas_double_complex *x, rocblas_int ix, rocblas_double_complex *a, rocblas_int lda) { RPX_SERVED(h, rocblas_status_not_implemented) return rpx::roc(hipblasZher(h, static_cast<hipblasFillMode_t>(u), n, alpha, x, ix, a, lda)); }
#define RPX_ROCBLAS(p, P, T)                                                                                                                       \
  RPX_API rocblas_status rocblas_##p##axpy(rocblas_handle h, rocblas_int n, const T *alpha, const T *x, rocblas_int ix, T *y, rocblas_int iy) { RPX_SERVED(h, rocblas_status_not_implemented)      \
    return rpx::roc(hipblas##P##axpy(h, n, alpha, x, ix, y, iy));                                                                                  \
  }                                                                                                                                                \
  RPX_API rocblas_status rocblas_##p##scal(rocblas_handle h, rocblas_int n, const T *alpha, T *x, rocblas_int ix) { RPX_SERVED(h, rocblas_status_not_implemented) return rpx::roc(hipblas##P##scal(h, n, alpha, x, ix)); } \
  RPX_API rocblas_status rocblas_##p##copy(rocblas_handle h, rocblas_int n, const T *x, rocblas_int ix, T *y, rocblas_int iy) { RPX_SERVED(h, rocblas_status_not_implemented) return rpx::roc(hipblas##P##copy(h, n, x, ix, y, iy)); } \
  RPX_API rocblas_status rocblas_##p##dot(rocblas_handle h, rocblas_int n, const T *x, rocblas_int ix, const T *y, rocblas_int iy, T *r) { RPX_SERVED(h, rocblas_status_not_implemented) return rpx::roc(hipblas##P##dot(h, n, x, ix, y, iy, r)); } \
  RPX_API rocblas_status rocblas_##p##nrm2(rocblas_handle h, rocblas_int n, const T *x, rocblas_int ix, T *r) { RPX_SERVED(h, rocblas_status_not_implemented) return rpx::roc(hipblas##P##nrm2(h, n, x, ix, r)); } \
  RPX_API rocblas_status rocblas_##p##asum(rocblas_handle h, rocblas_int n, const T *x, rocblas_int ix, T *r) { RPX_SERVED(h, rocblas_status_not_implemented) return rpx::roc(hipblas##P##asum(h, n, x, ix, r)); } \
  RPX_API rocblas_status rocblas_##p##gemv(rocblas_handle h, rocblas_operation t, rocblas_int m, rocblas_int n, const T *alpha, const T *a, rocblas_int lda, const T *x, rocblas_int ix, const T *beta, T *y, rocblas_int iy) { RPX_SERVED(h, rocblas_status_not_implemented) \
    return rpx::roc(hipblas##P##gemv(h, rpx::hip(t), m, n, alpha, a, lda, x, ix, beta, y, iy));                                                    \
  }
RPX_ROCBLAS(s, S, float)
RPX_ROCBLAS(d, D, double)
#undef RPX_ROCBLAS
#define RPX_ROCBLAS(p, P, T)                                                                                                                       \
  RPX_API rocblas_status rocblas_##p##gemm(rocblas_handle h, rocblas_operation ta, rocblas_operation tb, rocblas_int m, rocblas_int n, rocblas_int k, const T *alpha, const T *a, rocblas_int lda, const T *b, rocblas_int ldb, const T *beta, T *c, rocblas_int ldc) { RPX_SERVED(h, rocblas_status_not_implemented) \
    return rpx::roc(hipblas##P##gemm(h, rpx::hip(ta), rpx::hip(tb), m, n, k, alpha, a, lda, b, ldb, beta, c, ldc));                                \
  }                                                                                                                                                \
  RPX_API rocblas_status rocblas_##p##gemm_batched(rocblas_handle h, rocblas_operation ta, rocblas_operation tb, rocblas_int m, rocblas_int n, rocblas_int k, const T *alpha, const T *const a[], rocblas_int lda, const T *const b[], rocblas_int ldb, const T *beta, T *const c[], rocblas_int ldc, rocblas_int count) { RPX_SERVED(h, rocblas_status_not_implemented) \
    return rpx::roc(hipblas##P##gemmBatched(h, rpx::hip(ta), rpx::hip(tb), m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, count));                  \
  }                                                                                                                                                \
  RPX_API rocblas_status rocblas_##p##gemm_strided_batched(rocblas_handle h, rocblas_operation ta, rocblas_operation tb, rocblas_int m, rocblas_int n, rocblas_int k, const T *alpha, const T *a, rocblas_int lda, rocblas_stride sa, const T *b, rocblas_int ldb, rocblas_stride sb, const T *beta, T *c, rocblas_int ldc, rocblas_stride sc, rocblas_int count) { RPX_SERVED(h, rocblas_status_not_implemented) \
    return rpx::roc(hipblas##P##gemmStridedBatched(h, rpx::hip(ta), rpx::hip(tb), m, n, k, alpha, a, lda, sa, b, ldb, sb, beta, c, ldc, sc, count)); \
  }
RPX_ROCBLAS(h, H, rocblas_half)
RPX_ROCBLAS(s, S, float)
RPX_ROCBLAS(d, D, double)
RPX_ROCBLAS(c, C, rocblas_float_complex)
RPX_ROCBLAS(z, Z, rocblas_double_complex)
#undef RPX_ROCBLAS

RPX_API rocblas_status rocblas_gemm_strided_batched_ex(rocblas_handle rpx_h, rocblas_operation ta, rocblas_operation tb, rocblas_int m, rocblas_int n, rocblas_int k, const void *alpha,
                                                      const void *a, rocblas_datatype at, rocblas_int lda, rocblas_stride sa, const void *b, rocblas_datatype bt, rocblas_int ldb,
                                                      rocblas_stride sb, const void *beta, const void *c, rocblas_datatype ct, rocblas_int ldc, rocblas_stride sc, void *d,
                                                      rocblas_datatype dt, rocblas_int ldd, rocblas_stride sd, rocblas_int count, rocblas_datatype compute, rocblas_gemm_algo, int32_t, uint32_t) { RPX_SERVED(rpx_h, rocblas_status_not_implemented)
  if (ct != dt) return rocblas_status_not_implemented;
  const long bytes = static_cast<long>(rpx::blas::type_bytes(rpx::hip(ct)));
  for (long i = 0; i < count && c != d; ++i)
    rpx_strided(static_cast<const char *>(c) + i * sc * bytes, ldc, static_cast<char *>(d) + i * sd * bytes, ldd, bytes, m, n);
  return rpx::roc(rpx_gemm_ex(rpx::hip(ta), rpx::hip(tb), m, n, k, alpha, a, rpx::hip(at), lda, sa, b, rpx::hip(bt), ldb, sb, beta, d, rpx::hip(dt), ldd, sd, count, rpx::hip(compute)));
}
RPX_API rocblas_status rocblas_gemm_ex(rocblas_handle h, rocblas_operation ta, rocblas_operation tb, rocblas_int m, rocblas_int n, rocblas_int k, const void *alpha, const void *a,
                                      rocblas_datatype at, rocblas_int lda, const void *b, rocblas_datatype bt, rocblas_int ldb, const void *beta, const void *c, rocblas_datatype ct,
                                      rocblas_int ldc, void *d, rocblas_datatype dt, rocblas_int ldd, rocblas_datatype compute, rocblas_gemm_algo algo, int32_t solution, uint32_t flags) { RPX_SERVED(h, rocblas_status_not_implemented)
  return rocblas_gemm_strided_batched_ex(h, ta, tb, m, n, k, alpha, a, at, lda, 0, b, bt, ldb, 0, beta, c, ct, ldc, 0, d, dt, ldd, 0, 1, compute, algo, solution, flags);
}
