// rocport_thc.h - the part of THC that PyTorch extensions used, by what PyTorch has today.
// SPDX-License-Identifier: Apache-2.0
//
// PyTorch 1.11 removed the folders TH and THC from its headers. What extensions took from them is here under its old name,
// for PyTorch 1.13 and later: the state is of no use any more and may be null.
#ifndef ROCPORT_THC_H
#define ROCPORT_THC_H

#include <ATen/native/CPUBlas.h>
#include <c10/core/Allocator.h>
#include <c10/util/Exception.h>

#if __has_include(<ATen/hip/HIPContext.h>)
#include <ATen/hip/HIPContext.h>
#include <ATen/hip/HIPBlas.h>
#else
#include <ATen/cuda/CUDAContext.h>
#include <ATen/cuda/CUDABlas.h>
#endif

struct THCState;

#define THCudaCheck(expression) C10_CUDA_CHECK(expression)
#define THError(...) TORCH_CHECK(false, __VA_ARGS__)
#define THArgCheck(condition, argument, ...) TORCH_CHECK(condition, "argument ", argument, ": ", __VA_ARGS__)
#define THAssert(condition) TORCH_CHECK(condition)

template <class T>
inline T THCCeilDiv(T a, T b) {
  return (a + b - 1) / b;
}

// Memory of PyTorch's caching allocator, on the current device and stream.
inline void* THCudaMalloc(THCState*, size_t bytes) { return c10::GetAllocator(c10::DeviceType::CUDA)->raw_allocate(bytes); }
inline void THCudaFree(THCState*, void* memory) {
  c10::GetAllocator(c10::DeviceType::CUDA)->raw_deallocate(memory);
}

inline auto THCState_getCurrentStream(THCState*) { return at::cuda::getCurrentCUDAStream().stream(); }
inline auto THCState_getCurrentBlasHandle(THCState*) { return at::cuda::getCurrentCUDABlasHandle(); }

// TH's products, on the host.
template <class T>
inline void rocport_th_gemm(char transa, char transb, int64_t m, int64_t n, int64_t k, T alpha, const T* a, int64_t lda,
                            const T* b, int64_t ldb, T beta, T* c, int64_t ldc) {
  using at::native::TransposeType;
  const auto turned = [](char trans) {
    return trans == 't' || trans == 'T' ? TransposeType::Transpose : TransposeType::NoTranspose;
  };
  at::native::cpublas::gemm(turned(transa), turned(transb), m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
inline void THFloatBlas_gemm(char transa, char transb, int64_t m, int64_t n, int64_t k, float alpha, const float* a,
                             int64_t lda, const float* b, int64_t ldb, float beta, float* c, int64_t ldc) {
  rocport_th_gemm(transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
inline void THDoubleBlas_gemm(char transa, char transb, int64_t m, int64_t n, int64_t k, double alpha, const double* a,
                              int64_t lda, const double* b, int64_t ldb, double beta, double* c, int64_t ldc) {
  rocport_th_gemm(transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
// y = alpha * op(A) * x + beta * y, A of m rows and n columns, column by column.
template <class T>
inline void rocport_th_gemv(char trans, int64_t m, int64_t n, T alpha, const T* a, int64_t lda, const T* x, int64_t incx,
                            T beta, T* y, int64_t incy) {
  const bool turned = trans == 't' || trans == 'T';
  for (int64_t out = 0; out < (turned ? n : m); ++out) {
    T sum = T(0);
    for (int64_t in = 0; in < (turned ? m : n); ++in) sum += a[turned ? in + out * lda : out + in * lda] * x[in * incx];
    T& result = y[out * incy];
    result = alpha * sum + (beta == T(0) ? T(0) : beta * result);
  }
}
inline void THFloatBlas_gemv(char trans, int64_t m, int64_t n, float alpha, const float* a, int64_t lda, const float* x,
                             int64_t incx, float beta, float* y, int64_t incy) {
  rocport_th_gemv(trans, m, n, alpha, a, lda, x, incx, beta, y, incy);
}
inline void THDoubleBlas_gemv(char trans, int64_t m, int64_t n, double alpha, const double* a, int64_t lda,
                              const double* x, int64_t incx, double beta, double* y, int64_t incy) {
  rocport_th_gemv(trans, m, n, alpha, a, lda, x, incx, beta, y, incy);
}

inline void THCudaBlas_Sgemm(THCState*, char transa, char transb, int64_t m, int64_t n, int64_t k, float alpha, float* a,
                             int64_t lda, float* b, int64_t ldb, float beta, float* c, int64_t ldc) {
  at::cuda::blas::gemm<float>(transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
inline void THCudaBlas_Sgemv(THCState*, char trans, int64_t m, int64_t n, float alpha, float* a, int64_t lda, float* x,
                             int64_t incx, float beta, float* y, int64_t incy) {
  at::cuda::blas::gemv<float>(trans, m, n, alpha, a, lda, x, incx, beta, y, incy);
}
inline void THCudaBlas_SgemmBatched(THCState*, char transa, char transb, int64_t m, int64_t n, int64_t k, float alpha,
                                    const float* a[], int64_t lda, const float* b[], int64_t ldb, float beta, float* c[],
                                    int64_t ldc, int64_t count) {
  const auto turned = [](char trans) { return trans == 't' || trans == 'T' || trans == 'c' || trans == 'C'; };
  const auto rows = static_cast<int>(m), columns = static_cast<int>(n), inner = static_cast<int>(k);
#if __has_include(<ATen/hip/HIPContext.h>)
  const auto status = hipblasSgemmBatched(
      at::cuda::getCurrentCUDABlasHandle(), turned(transa) ? HIPBLAS_OP_T : HIPBLAS_OP_N,
      turned(transb) ? HIPBLAS_OP_T : HIPBLAS_OP_N, rows, columns, inner, &alpha, a, static_cast<int>(lda), b,
      static_cast<int>(ldb), &beta, c, static_cast<int>(ldc), static_cast<int>(count));
#else
  const auto status = cublasSgemmBatched(
      at::cuda::getCurrentCUDABlasHandle(), turned(transa) ? CUBLAS_OP_T : CUBLAS_OP_N,
      turned(transb) ? CUBLAS_OP_T : CUBLAS_OP_N, rows, columns, inner, &alpha, a, static_cast<int>(lda), b,
      static_cast<int>(ldb), &beta, c, static_cast<int>(ldc), static_cast<int>(count));
#endif
  TORCH_CHECK(static_cast<int>(status) == 0, "batched gemm failed with status ", static_cast<int>(status));
}

#endif  // ROCPORT_THC_H
