// SPDX-License-Identifier: Apache-2.0
// The largest k of each row by repeated wave-wide argmax; equal values go to the lower index.
#include <algorithm>
#include "check.h"

__global__ void topk(const float *in, float *values, int *indices, int columns, int k) {
  extern __shared__ float row[];
  for (int i = threadIdx.x; i < columns; i += warpSize) row[i] = in[blockIdx.x * columns + i];
  __syncthreads();
  for (int rank = 0; rank < k; ++rank) {
    float best = -INFINITY;
    int where = columns;
    for (int i = threadIdx.x; i < columns; i += warpSize)
      if (row[i] > best) {
        best = row[i];
        where = i;
      }
    for (int step = warpSize / 2; step > 0; step /= 2) {
      float other = __shfl_xor(best, step);
      int at = __shfl_xor(where, step);
      if (other > best || (other == best && at < where)) {
        best = other;
        where = at;
      }
    }
    if (threadIdx.x == 0) {
      values[blockIdx.x * k + rank] = best;
      indices[blockIdx.x * k + rank] = where;
      row[where] = -INFINITY;
    }
    __syncthreads();
  }
}

int main() {
  const int rows = 6, columns = 130, k = 8;
  int width;
  HIP(hipDeviceGetAttribute(&width, hipDeviceAttributeWarpSize, 0));
  Numbers numbers(26);
  std::vector<float> in(rows * columns), values(rows * k);
  for (float &v : in) v = numbers.below(60);
  std::vector<int> indices(rows * k), order(columns);
  for (int r = 0; r < rows; ++r) {
    for (int i = 0; i < columns; ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return in[r * columns + a] > in[r * columns + b]; });
    for (int i = 0; i < k; ++i) {
      indices[r * k + i] = order[i];
      values[r * k + i] = in[r * columns + order[i]];
    }
  }
  Buffer<float> a(in), dv(rows * k);
  Buffer<int> di(rows * k);
  topk<<<rows, width, columns * sizeof(float)>>>(a, dv, di, columns, k);
  return verdict(wrong(dv.read(), values) + wrong(di.read(), indices));
}
