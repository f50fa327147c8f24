// SPDX-License-Identifier: Apache-2.0
// C = A B with 16x16 tiles in shared memory; no size is a multiple of the tile.
#include "check.h"

constexpr int kTile = 16;

__global__ void gemm(const float *a, const float *b, float *c, int m, int n, int k) {
  __shared__ float ta[kTile][kTile], tb[kTile][kTile];
  int row = blockIdx.y * kTile + threadIdx.y, column = blockIdx.x * kTile + threadIdx.x;
  float sum = 0;
  for (int t = 0; t < (k + kTile - 1) / kTile; ++t) {
    int ka = t * kTile + threadIdx.x, kb = t * kTile + threadIdx.y;
    ta[threadIdx.y][threadIdx.x] = row < m && ka < k ? a[row * k + ka] : 0.0f;
    tb[threadIdx.y][threadIdx.x] = column < n && kb < k ? b[kb * n + column] : 0.0f;
    __syncthreads();
    for (int i = 0; i < kTile; ++i) sum += ta[threadIdx.y][i] * tb[i][threadIdx.x];
    __syncthreads();
  }
  if (row < m && column < n) c[row * n + column] = sum;
}

int main() {
  const int m = 37, n = 41, k = 53;
  Numbers numbers(3);
  std::vector<float> a = numbers.floats(m * k), b = numbers.floats(k * n), want(m * n);
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      double sum = 0;
      for (int l = 0; l < k; ++l) sum += double(a[i * k + l]) * b[l * n + j];
      want[i * n + j] = sum;
    }
  Buffer<float> da(a), db(b), dc(m * n);
  gemm<<<dim3((n + kTile - 1) / kTile, (m + kTile - 1) / kTile), dim3(kTile, kTile)>>>(da, db, dc, m, n, k);
  return verdict(wrong(dc.read(), want, 1e-4));
}
