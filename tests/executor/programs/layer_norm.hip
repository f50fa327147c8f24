// SPDX-License-Identifier: Apache-2.0
// Layer normalization with mean and variance kept for the backward pass.
#include "check.h"

__global__ void layer_norm(const float *x, const float *gamma, const float *beta, float *y, float *mean, float *rstd, int n) {
  __shared__ float sums[2][32];
  const float *row = x + blockIdx.x * n;
  float sum = 0, squares = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    sum += row[i];
    squares += row[i] * row[i];
  }
  for (int step = warpSize / 2; step > 0; step /= 2) {
    sum += __shfl_down(sum, step);
    squares += __shfl_down(squares, step);
  }
  if (threadIdx.x % warpSize == 0) {
    sums[0][threadIdx.x / warpSize] = sum;
    sums[1][threadIdx.x / warpSize] = squares;
  }
  __syncthreads();
  sum = squares = 0;
  for (int w = 0; w < static_cast<int>(blockDim.x) / warpSize; ++w) {
    sum += sums[0][w];
    squares += sums[1][w];
  }
  float m = sum / n, r = rsqrtf(squares / n - m * m + 1e-5f);
  for (int i = threadIdx.x; i < n; i += blockDim.x) y[blockIdx.x * n + i] = (row[i] - m) * r * gamma[i] + beta[i];
  if (threadIdx.x == 0) {
    mean[blockIdx.x] = m;
    rstd[blockIdx.x] = r;
  }
}

int main() {
  const int rows = 5, n = 300;
  Numbers numbers(21);
  std::vector<float> x = numbers.floats(rows * n), gamma = numbers.floats(n), beta = numbers.floats(n), want(rows * n), wm(rows), wr(rows);
  for (int r = 0; r < rows; ++r) {
    double sum = 0, squares = 0;
    for (int i = 0; i < n; ++i) sum += x[r * n + i];
    double m = sum / n;
    for (int i = 0; i < n; ++i) squares += (x[r * n + i] - m) * (x[r * n + i] - m);
    double rstd = 1 / std::sqrt(squares / n + 1e-5);
    wm[r] = m;
    wr[r] = rstd;
    for (int i = 0; i < n; ++i) want[r * n + i] = (x[r * n + i] - m) * rstd * gamma[i] + beta[i];
  }
  Buffer<float> dx(x), dg(gamma), db(beta), dy(rows * n), dm(rows), dr(rows);
  layer_norm<<<rows, 192>>>(dx, dg, db, dy, dm, dr, n);
  return verdict(wrong(dy.read(), want, 1e-3) + wrong(dm.read(), wm, 1e-3) + wrong(dr.read(), wr, 1e-3));
}
