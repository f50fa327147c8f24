// SPDX-License-Identifier: Apache-2.0
// Sparse matrix times vector: a thread a row, and a wavefront a row.
#include "check.h"

__global__ void by_thread(const int *offsets, const int *columns, const float *values, const float *x, float *y, int rows) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0;
  for (int e = offsets[row]; e < offsets[row + 1]; ++e) sum += values[e] * x[columns[e]];
  y[row] = sum;
}

__global__ void by_wave(const int *offsets, const int *columns, const float *values, const float *x, float *y, int rows) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / warpSize, lane = threadIdx.x % warpSize;
  if (row >= rows) return;
  float sum = 0;
  for (int e = offsets[row] + lane; e < offsets[row + 1]; e += warpSize) sum += values[e] * x[columns[e]];
  for (int step = warpSize / 2; step > 0; step /= 2) sum += __shfl_down(sum, step);
  if (lane == 0) y[row] = sum;
}

int main() {
  const int rows = 60;
  Numbers numbers(33);
  std::vector<int> offsets(rows + 1), columns;
  std::vector<float> values, x = numbers.floats(rows), want(rows);
  for (int r = 0; r < rows; ++r) {
    double sum = 0;
    for (int e = numbers.below(r == 7 ? 200 : 12); e > 0; --e) {
      columns.push_back(numbers.below(rows));
      values.push_back(numbers.uniform());
      sum += double(values.back()) * x[columns.back()];
    }
    offsets[r + 1] = columns.size();
    want[r] = sum;
  }
  Buffer<int> o(offsets), c(columns);
  Buffer<float> v(values), dx(x), y(rows), z(rows);
  by_thread<<<1, 64>>>(o, c, v, dx, y, rows);
  by_wave<<<(rows * 64 + 255) / 256, 256>>>(o, c, v, dx, z, rows);
  return verdict(wrong(y.read(), want, 1e-4) + wrong(z.read(), want, 1e-4));
}
