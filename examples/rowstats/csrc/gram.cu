#include <cublas_v2.h>

#include "rowstats.h"

// out = in^T in, in row-major [rows, columns], out [columns, columns].
cudaError_t gram(const float* in, float* out, int rows, int columns, cudaStream_t stream) {
  cublasHandle_t handle;
  if (cublasCreate(&handle) != CUBLAS_STATUS_SUCCESS) return cudaErrorUnknown;
  cublasSetStream(handle, stream);
  cublasSetMathMode(handle, CUBLAS_DEFAULT_MATH);
  const float one = 1.0f, zero = 0.0f;
  const cublasStatus_t status = cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_T, columns, columns, rows, &one, in, columns,
                                            in, columns, &zero, out, columns);
  cublasDestroy(handle);
  return status == CUBLAS_STATUS_SUCCESS ? cudaSuccess : cudaErrorUnknown;
}
