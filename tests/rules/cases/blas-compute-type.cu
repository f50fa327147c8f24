#include <cublas_v2.h>
void g(cublasHandle_t h, void *p, cudaDataType type, cublasComputeType_t compute) {
    cudaDataType_t as = CUDA_R_32F;
    cublasGemmEx(h, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, p, p, CUDA_R_16F, 1, p, CUDA_R_16F, 1, p, p, CUDA_R_16F, 1, CUDA_R_32F, CUBLAS_GEMM_DEFAULT);
    cublasGemmEx(h, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, p, p, CUDA_R_16F, 1, p, CUDA_R_16F, 1, p, p, CUDA_R_16F, 1, as, CUBLAS_GEMM_DEFAULT);
    cublasGemmEx(h, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, p, p, type, 1, p, type, 1, p, p, type, 1, compute, CUBLAS_GEMM_DEFAULT);
    cublasGemmEx(h, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, f(1, 2), p, p, type, 1, p, type, 1, p, p, type, 1, pick(type, 3), CUBLAS_GEMM_DEFAULT);
    cublasGemmEx(h, CUBLAS_OP_N);
    auto function = cublasGemmEx;
}
