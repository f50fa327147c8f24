// SPDX-License-Identifier: Apache-2.0
// Lanes that leave a loop at very different times.
#include "check.h"

__host__ __device__ int escape(double cx, double cy) {
  double x = 0, y = 0;
  int i = 0;
  for (; i < 200 && x * x + y * y < 4; ++i) {
    double t = x * x - y * y + cx;
    y = 2 * x * y + cy;
    x = t;
  }
  return i;
}
__global__ void draw(int *out, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) out[y * width + x] = escape(-2.0 + x * 0.0625, -1.0 + y * 0.0625);
}

int main() {
  const int width = 48, height = 33;
  std::vector<int> want(width * height);
  for (int i = 0; i < width * height; ++i) want[i] = escape(-2.0 + i % width * 0.0625, -1.0 + i / width * 0.0625);
  Buffer<int> out(width * height);
  draw<<<dim3(3, 5), dim3(16, 8)>>>(out, width, height);
  return verdict(wrong(out.read(), want));
}
