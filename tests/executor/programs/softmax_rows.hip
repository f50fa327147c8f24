// SPDX-License-Identifier: Apache-2.0
// Row softmax with an online maximum, one block a row.
#include "check.h"

__device__ float block_reduce(float v, bool maximum) {
  __shared__ float part[32];
  int lane = threadIdx.x % warpSize, wave = threadIdx.x / warpSize;
  for (int step = warpSize / 2; step > 0; step /= 2) {
    float other = __shfl_xor(v, step);
    v = maximum ? fmaxf(v, other) : v + other;
  }
  __syncthreads();
  if (lane == 0) part[wave] = v;
  __syncthreads();
  v = part[0];
  for (int w = 1; w < static_cast<int>(blockDim.x) / warpSize; ++w) v = maximum ? fmaxf(v, part[w]) : v + part[w];
  return v;
}

__global__ void softmax(const float *in, float *out, int columns) {
  const float *row = in + blockIdx.x * columns;
  float top = -INFINITY;
  for (int i = threadIdx.x; i < columns; i += blockDim.x) top = fmaxf(top, row[i]);
  top = block_reduce(top, true);
  float sum = 0;
  for (int i = threadIdx.x; i < columns; i += blockDim.x) sum += expf(row[i] - top);
  sum = block_reduce(sum, false);
  for (int i = threadIdx.x; i < columns; i += blockDim.x) out[blockIdx.x * columns + i] = expf(row[i] - top) / sum;
}

int main() {
  const int rows = 7, columns = 201;
  std::vector<float> in = Numbers(20).floats(rows * columns), want(rows * columns);
  for (float &v : in) v *= 100;
  for (int r = 0; r < rows; ++r) {
    double top = -1e30, sum = 0;
    for (int i = 0; i < columns; ++i) top = std::max(top, double(in[r * columns + i]));
    for (int i = 0; i < columns; ++i) sum += std::exp(in[r * columns + i] - top);
    for (int i = 0; i < columns; ++i) want[r * columns + i] = std::exp(in[r * columns + i] - top) / sum;
  }
  Buffer<float> a(in), b(rows * columns);
  softmax<<<rows, 128>>>(a, b, columns);
  return verdict(wrong(b.read(), want, 1e-3));
}
