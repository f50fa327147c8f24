// SPDX-License-Identifier: Apache-2.0
// A grid-stride loop over vectors with strides of their own, and a tail.
#include "check.h"

__global__ void saxpy(int n, float a, const float *x, int x_stride, float *y, int y_stride) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    y[i * y_stride] = a * x[i * x_stride] + y[i * y_stride];
}

int main() {
  const int n = 1003;
  Numbers numbers(1);
  std::vector<float> x = numbers.floats(n * 3), y = numbers.floats(n * 2), want = y;
  for (int i = 0; i < n; ++i) want[i * 2] = 0.5f * x[i * 3] + want[i * 2];
  Buffer<float> dx(x), dy(y);
  saxpy<<<3, 96>>>(n, 0.5f, dx, 3, dy, 2);
  return verdict(wrong(dy.read(), want, 1e-6));
}
