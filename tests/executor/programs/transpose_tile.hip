// SPDX-License-Identifier: Apache-2.0
// A matrix transposed through padded tiles of shared memory, with ragged edges.
#include "check.h"

constexpr int kTile = 32, kRows = 8;

__global__ void transpose(const float *in, float *out, int rows, int columns) {
  __shared__ float tile[kTile][kTile + 1];
  int x = blockIdx.x * kTile + threadIdx.x, y = blockIdx.y * kTile + threadIdx.y;
  for (int j = 0; j < kTile; j += kRows)
    if (x < columns && y + j < rows) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * columns + x];
  __syncthreads();
  x = blockIdx.y * kTile + threadIdx.x;
  y = blockIdx.x * kTile + threadIdx.y;
  for (int j = 0; j < kTile; j += kRows)
    if (x < rows && y + j < columns) out[(y + j) * rows + x] = tile[threadIdx.x][threadIdx.y + j];
}

int main() {
  const int rows = 70, columns = 45;
  std::vector<float> in = Numbers(2).floats(rows * columns), want(rows * columns);
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j) want[j * rows + i] = in[i * columns + j];
  Buffer<float> a(in), b(rows * columns);
  transpose<<<dim3((columns + kTile - 1) / kTile, (rows + kTile - 1) / kTile), dim3(kTile, kRows)>>>(a, b, rows, columns);
  return verdict(wrong(b.read(), want));
}
