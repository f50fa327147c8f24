// SPDX-License-Identifier: Apache-2.0
// Rows of an embedding gathered by index, and their gradients added back by atomics.
#include "check.h"

__global__ void gather(const float *table, const int *index, float *out, int width, long stride) {
  for (int i = threadIdx.x; i < width; i += blockDim.x) out[blockIdx.x * width + i] = table[index[blockIdx.x] * stride + i];
}
__global__ void scatter(const float *gradient, const int *index, float *table, int width, long stride) {
  for (int i = threadIdx.x; i < width; i += blockDim.x)
    atomicAdd(&table[index[blockIdx.x] * stride + i], gradient[blockIdx.x * width + i]);
}

int main() {
  const int rows = 20, width = 40, stride = 48, picks = 50;
  Numbers numbers(49);
  std::vector<float> table(rows * stride), want(picks * width), sums(rows * stride, 0.0f);
  for (float &v : table) v = numbers.below(64);
  std::vector<int> index = numbers.ints(picks, rows);
  for (int p = 0; p < picks; ++p)
    for (int i = 0; i < width; ++i) {
      want[p * width + i] = table[index[p] * stride + i];
      sums[index[p] * stride + i] += want[p * width + i];
    }
  Buffer<float> t(table), out(picks * width), gradient(rows * stride, 0);
  Buffer<int> d(index);
  gather<<<picks, 32>>>(t, d, out, width, stride);
  scatter<<<picks, 32>>>(out, d, gradient, width, stride);
  return verdict(wrong(out.read(), want) + wrong(gradient.read(), sums));
}
