// SPDX-License-Identifier: Apache-2.0
// Matrix times vector with 4-bit weights, one scale and bias a group of 32; a wavefront a row.
#include "check.h"

constexpr int kGroup = 32;

__global__ void gemv(const unsigned *packed, const float *scales, const float *biases, const float *x, float *y, int rows, int columns) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / warpSize, lane = threadIdx.x % warpSize;
  if (row >= rows) return;
  float sum = 0;
  for (int word = lane; word < columns / 8; word += warpSize) {
    unsigned bits = packed[row * (columns / 8) + word];
    int group = row * (columns / kGroup) + word * 8 / kGroup;
    float scale = scales[group], bias = biases[group];
    for (int i = 0; i < 8; ++i) sum += (scale * (bits >> (4 * i) & 15) + bias) * x[word * 8 + i];
  }
  for (int step = warpSize / 2; step > 0; step /= 2) sum += __shfl_xor(sum, step);
  if (lane == 0) y[row] = sum;
}

int main() {
  const int rows = 10, columns = 320;
  Numbers numbers(40);
  std::vector<unsigned> packed(rows * columns / 8);
  for (unsigned &v : packed) v = numbers.next();
  std::vector<float> scales = numbers.floats(rows * columns / kGroup), biases = numbers.floats(scales.size()), x = numbers.floats(columns), want(rows);
  for (int r = 0; r < rows; ++r) {
    double sum = 0;
    for (int c = 0; c < columns; ++c) {
      int group = r * (columns / kGroup) + c / kGroup;
      sum += (double(scales[group]) * (packed[r * columns / 8 + c / 8] >> (4 * (c % 8)) & 15) + biases[group]) * x[c];
    }
    want[r] = sum;
  }
  Buffer<unsigned> p(packed);
  Buffer<float> s(scales), b(biases), dx(x), y(rows);
  gemv<<<5, 128>>>(p, s, b, dx, y, rows, columns);
  return verdict(wrong(y.read(), want, 1e-3));
}
