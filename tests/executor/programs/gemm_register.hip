// SPDX-License-Identifier: Apache-2.0
// C = A B where each thread keeps a 4x4 block in registers.
#include "check.h"

constexpr int kBlock = 32, kDepth = 8, kPer = 4;

__global__ void gemm(const float *a, const float *b, float *c, int n) {
  __shared__ float ta[kDepth][kBlock], tb[kDepth][kBlock];
  int tx = threadIdx.x % (kBlock / kPer), ty = threadIdx.x / (kBlock / kPer);
  float sum[kPer][kPer] = {};
  for (int k = 0; k < n; k += kDepth) {
    for (int i = threadIdx.x; i < kBlock * kDepth; i += blockDim.x) {
      ta[i % kDepth][i / kDepth] = a[(blockIdx.y * kBlock + i / kDepth) * n + k + i % kDepth];
      tb[i / kBlock][i % kBlock] = b[(k + i / kBlock) * n + blockIdx.x * kBlock + i % kBlock];
    }
    __syncthreads();
    for (int d = 0; d < kDepth; ++d)
      for (int i = 0; i < kPer; ++i)
        for (int j = 0; j < kPer; ++j) sum[i][j] += ta[d][ty * kPer + i] * tb[d][tx * kPer + j];
    __syncthreads();
  }
  for (int i = 0; i < kPer; ++i)
    for (int j = 0; j < kPer; ++j)
      c[(blockIdx.y * kBlock + ty * kPer + i) * n + blockIdx.x * kBlock + tx * kPer + j] = sum[i][j];
}

int main() {
  const int n = 64;
  Numbers numbers(4);
  std::vector<float> a = numbers.floats(n * n), b = numbers.floats(n * n), want(n * n);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      double sum = 0;
      for (int k = 0; k < n; ++k) sum += double(a[i * n + k]) * b[k * n + j];
      want[i * n + j] = sum;
    }
  Buffer<float> da(a), db(b), dc(n * n);
  gemm<<<dim3(n / kBlock, n / kBlock), (kBlock / kPer) * (kBlock / kPer)>>>(da, db, dc, n);
  return verdict(wrong(dc.read(), want, 1e-4));
}
