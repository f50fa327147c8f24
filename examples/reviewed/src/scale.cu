#include <cuda_runtime.h>

#include <cstdio>
#include <vector>

// y = a x, and the sum of y over each warp.
__global__ void scale(float a, const float* x, float* y, float* sums, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float value = i < n ? a * x[i] : 0.f;
  if (i < n) y[i] = value;
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_down_sync(0xffffffffu, value, offset);
  if (threadIdx.x % 32 == 0) sums[i / 32] = value;
}

int main() {
  const int n = 256;
  std::vector<float> x(n, 2.f), sums(n / 32);
  float *dx, *dy, *dsums;
  cudaMalloc(&dx, n * sizeof(float));
  cudaMalloc(&dy, n * sizeof(float));
  cudaMalloc(&dsums, n / 32 * sizeof(float));
  cudaMemcpy(dx, x.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  scale<<<2, 128>>>(3.f, dx, dy, dsums, n);
  cudaMemcpy(sums.data(), dsums, n / 32 * sizeof(float), cudaMemcpyDeviceToHost);
  int wrong = 0;
  for (float sum : sums) wrong += sum != 192.f;
  std::printf(wrong ? "FAILED: %d wrong\n" : "PASSED: %d wrong\n", wrong);
  return wrong != 0;
}
