// SPDX-License-Identifier: Apache-2.0
// A 5x5 convolution whose filter lies in constant memory.
#include "check.h"

__constant__ float filter[25];

__global__ void conv(const float *in, float *out, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  float sum = 0;
  for (int j = -2; j <= 2; ++j)
    for (int i = -2; i <= 2; ++i) {
      int cx = min(max(x + i, 0), width - 1), cy = min(max(y + j, 0), height - 1);
      sum += filter[(j + 2) * 5 + i + 2] * in[cy * width + cx];
    }
  out[y * width + x] = sum;
}

int main() {
  const int width = 37, height = 23;
  Numbers numbers(17);
  std::vector<float> f = numbers.floats(25), in = numbers.floats(width * height), want(width * height);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      float sum = 0;
      for (int j = -2; j <= 2; ++j)
        for (int i = -2; i <= 2; ++i) {
          int cx = std::min(std::max(x + i, 0), width - 1), cy = std::min(std::max(y + j, 0), height - 1);
          sum += f[(j + 2) * 5 + i + 2] * in[cy * width + cx];
        }
      want[y * width + x] = sum;
    }
  HIP(hipMemcpyToSymbol(HIP_SYMBOL(filter), f.data(), 25 * sizeof(float)));
  Buffer<float> a(in), b(width * height);
  conv<<<dim3(5, 3), dim3(8, 8)>>>(a, b, width, height);
  return verdict(wrong(b.read(), want, 1e-5));
}
