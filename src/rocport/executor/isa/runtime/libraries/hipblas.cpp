// SPDX-License-Identifier: Apache-2.0
// libhipblas: the executor's hipBLAS with the library's own symbols, and gemm over run-time types, whose first version
// names types by hipBLAS's own numbers.
#include "captured.h"

#define RPX_API extern "C"
#include "hipblas/hipblas.h"

namespace {

// hipblasDatatype_t of version 1 -> hipDataType. Values: hipblas.h of ROCm 6.4.
hipDataType modern(int type) {
  switch (type) {
    case 150: return HIP_R_16F;
    case 151: return HIP_R_32F;
    case 152: return HIP_R_64F;
    case 154: return HIP_C_32F;
    case 155: return HIP_C_64F;
    case 160: return HIP_R_8I;
    case 162: return HIP_R_32I;
    case 168: return HIP_R_16BF;
    default: return static_cast<hipDataType>(type);
  }
}
using Op = hipblasOperation_t;
using Type = hipDataType;
using Algo = hipblasGemmAlgo_t;

}  // namespace

extern "C" {

hipblasStatus_t hipblasGemmEx(hipblasHandle_t h, Op ta, Op tb, int m, int n, int k, const void *alpha, const void *a,
                              int at, int lda, const void *b, int bt, int ldb, const void *beta, void *c, int ct,
                              int ldc, int compute, Algo algo) {
  return hipblasGemmEx<Type>(h, ta, tb, m, n, k, alpha, a, modern(at), lda, b, modern(bt), ldb, beta, c, modern(ct), ldc,
                             modern(compute), algo);
}
hipblasStatus_t hipblasGemmEx_v2(hipblasHandle_t h, Op ta, Op tb, int m, int n, int k, const void *alpha, const void *a,
                                 Type at, int lda, const void *b, Type bt, int ldb, const void *beta, void *c, Type ct,
                                 int ldc, hipblasComputeType_t compute, Algo algo) {
  return hipblasGemmEx<hipblasComputeType_t>(h, ta, tb, m, n, k, alpha, a, at, lda, b, bt, ldb, beta, c, ct, ldc,
                                             compute, algo);
}
hipblasStatus_t hipblasGemmStridedBatchedEx(hipblasHandle_t h, Op ta, Op tb, int m, int n, int k, const void *alpha,
                                            const void *a, int at, int lda, hipblasStride sa, const void *b, int bt,
                                            int ldb, hipblasStride sb, const void *beta, void *c, int ct, int ldc,
                                            hipblasStride sc, int count, int compute, Algo algo) {
  return hipblasGemmStridedBatchedEx<Type>(h, ta, tb, m, n, k, alpha, a, modern(at), lda, sa, b, modern(bt), ldb, sb,
                                           beta, c, modern(ct), ldc, sc, count, modern(compute), algo);
}
hipblasStatus_t hipblasGemmStridedBatchedEx_v2(hipblasHandle_t h, Op ta, Op tb, int m, int n, int k, const void *alpha,
                                               const void *a, Type at, int lda, hipblasStride sa, const void *b, Type bt,
                                               int ldb, hipblasStride sb, const void *beta, void *c, Type ct, int ldc,
                                               hipblasStride sc, int count, hipblasComputeType_t compute, Algo algo) {
  return hipblasGemmStridedBatchedEx<hipblasComputeType_t>(h, ta, tb, m, n, k, alpha, a, at, lda, sa, b, bt, ldb, sb,
                                                           beta, c, ct, ldc, sc, count, compute, algo);
}
hipblasStatus_t hipblasGemmBatchedEx(hipblasHandle_t h, Op ta, Op tb, int m, int n, int k, const void *alpha,
                                     const void *a[], int at, int lda, const void *b[], int bt, int ldb,
                                     const void *beta, void *c[], int ct, int ldc, int count, int compute, Algo algo) {
  return hipblasGemmBatchedEx<Type>(h, ta, tb, m, n, k, alpha, a, modern(at), lda, b, modern(bt), ldb, beta, c,
                                    modern(ct), ldc, count, modern(compute), algo);
}
hipblasStatus_t hipblasGemmBatchedEx_v2(hipblasHandle_t h, Op ta, Op tb, int m, int n, int k, const void *alpha,
                                        const void *a[], Type at, int lda, const void *b[], Type bt, int ldb,
                                        const void *beta, void *c[], Type ct, int ldc, int count,
                                        hipblasComputeType_t compute, Algo algo) {
  return hipblasGemmBatchedEx<hipblasComputeType_t>(h, ta, tb, m, n, k, alpha, a, at, lda, b, bt, ldb, beta, c, ct, ldc,
                                                    count, compute, algo);
}

}  // extern "C"
