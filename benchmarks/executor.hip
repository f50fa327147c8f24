// SPDX-License-Identifier: Apache-2.0
// Costs of the CPU executor in processor time: a lane-shuffle, a thread at a barrier, a thread of arithmetic.
#include <hip/hip_runtime.h>
#include <cstdio>
#include <ctime>

__global__ void shuffles(float *out, int n) {
  float v = threadIdx.x;
  for (int i = 0; i < n; i++) v += __shfl_xor(v, 1 + (i & 15));
  out[blockIdx.x * blockDim.x + threadIdx.x] = v;
}
__global__ void barriers(float *out, int n) {
  __shared__ float s[256];
  float v = threadIdx.x;
  for (int i = 0; i < n; i++) {
    s[threadIdx.x] = v;
    __syncthreads();
    v += s[(threadIdx.x + 1) & 255];
    __syncthreads();
  }
  out[blockIdx.x * 256 + threadIdx.x] = v;
}
__host__ __device__ float step(float v) {
  for (int j = 0; j < 100; j++) v = v * 1.0001f + 0.5f / (v + 1.f);
  return v;
}
__global__ void saxpy(float a, const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}
__global__ void arithmetic(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = step(x[i]);
}

static double now() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return t.tv_sec * 1e9 + t.tv_nsec;
}
template <class F> static double cost(F f, double count) {
  f();
  double start = now();
  f();
  return (now() - start) / count;
}

int main() {
  const int n = 1 << 22, m = n / 8;
  float *x, *y;
  hipMalloc(&x, n * sizeof(float));
  hipMalloc(&y, n * sizeof(float));
  for (int i = 0; i < n; i++) x[i] = y[i] = i % 7;
  std::printf("shuffle_ns %.2f\n", cost([&] { shuffles<<<16, 256>>>(y, 1000); }, 16 * 256 * 1000.0));
  std::printf("barrier_ns %.2f\n", cost([&] { barriers<<<16, 256>>>(y, 500); }, 16 * 256 * 1000.0));
  std::printf("saxpy_ns %.2f\n", cost([&] { saxpy<<<n / 256, 256>>>(2.f, x, y, n); }, n));
  std::printf("saxpy_host_ns %.2f\n", cost([&] { for (int i = 0; i < n; i++) y[i] = 2.f * x[i] + y[i]; }, n));
  std::printf("arithmetic_ns %.2f\n", cost([&] { arithmetic<<<m / 256, 256>>>(x, y, m); }, m));
  std::printf("arithmetic_host_ns %.2f\n", cost([&] { for (int i = 0; i < m; i++) y[i] = step(x[i]); }, m));
}
