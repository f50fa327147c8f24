#pragma once
#include <cuda_runtime.h>

cudaError_t row_sum(const float* in, float* out, int rows, int columns, cudaStream_t stream);
cudaError_t compact(const float* in, float* out, int* count, int n, float threshold, cudaStream_t stream);
cudaError_t gram(const float* in, float* out, int rows, int columns, cudaStream_t stream);
cudaError_t tile_mma(const void* a, const void* b, float* out, cudaStream_t stream);
