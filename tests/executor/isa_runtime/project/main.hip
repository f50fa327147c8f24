// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include <hip/hip_runtime.h>
#include <hipblas/hipblas.h>

__global__ void fill(float *x, float v) { x[threadIdx.x] = v + static_cast<float>(threadIdx.x); }

int main() {
  float *x = nullptr, sum = 0;
  hipblasHandle_t blas = nullptr;
  if (hipMalloc(&x, 16) != hipSuccess || hipblasCreate(&blas) != HIPBLAS_STATUS_SUCCESS) return 2;
  fill<<<1, 4>>>(x, 1.5f);
  if (hipblasSasum(blas, 4, x, 1, &sum) != HIPBLAS_STATUS_SUCCESS) return 3;
  hipDeviceProp_t p;
  if (hipGetDeviceProperties(&p, 0) != hipSuccess) return 4;
  std::printf("%s %g\n", p.gcnArchName, sum);
  return 0;
}
