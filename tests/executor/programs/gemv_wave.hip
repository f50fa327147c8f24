// SPDX-License-Identifier: Apache-2.0
// y = A x, one wavefront a row, summed by butterfly shuffles.
#include "check.h"

__global__ void gemv(const float *a, const float *x, float *y, int rows, int columns) {
  int wave = (blockIdx.x * blockDim.x + threadIdx.x) / warpSize, lane = threadIdx.x % warpSize;
  if (wave >= rows) return;
  float sum = 0;
  for (int j = lane; j < columns; j += warpSize) sum += a[wave * columns + j] * x[j];
  for (int mask = warpSize / 2; mask > 0; mask /= 2) sum += __shfl_xor(sum, mask);
  if (lane == 0) y[wave] = sum;
}

int main() {
  const int rows = 29, columns = 150;
  int width;
  HIP(hipDeviceGetAttribute(&width, hipDeviceAttributeWarpSize, 0));
  Numbers numbers(5);
  std::vector<float> a = numbers.floats(rows * columns), x = numbers.floats(columns), want(rows);
  for (int i = 0; i < rows; ++i) {
    double sum = 0;
    for (int j = 0; j < columns; ++j) sum += double(a[i * columns + j]) * x[j];
    want[i] = sum;
  }
  Buffer<float> da(a), dx(x), dy(rows);
  int per_block = 128 / width;
  gemv<<<(rows + per_block - 1) / per_block, 128>>>(da, dx, dy, rows, columns);
  return verdict(wrong(dy.read(), want, 1e-4));
}
