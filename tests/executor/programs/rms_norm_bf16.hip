// SPDX-License-Identifier: Apache-2.0
// RMS norm in bfloat16, accumulated in float, rounded once at the end.
#include <hip/hip_bf16.h>
#include <cstring>
#include "check.h"

__global__ void rms_norm(const __hip_bfloat16 *x, const __hip_bfloat16 *weight, __hip_bfloat16 *y, int n) {
  __shared__ float total;
  float sum = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    float v = __bfloat162float(x[blockIdx.x * n + i]);
    sum += v * v;
  }
  if (threadIdx.x == 0) total = 0;
  __syncthreads();
  atomicAdd(&total, sum);
  __syncthreads();
  float scale = rsqrtf(total / n + 1e-6f);
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    y[blockIdx.x * n + i] = __float2bfloat16(__bfloat162float(x[blockIdx.x * n + i]) * scale * __bfloat162float(weight[i]));
}

static float widen(unsigned short bits) {
  unsigned u = unsigned(bits) << 16;
  float f;
  std::memcpy(&f, &u, 4);
  return f;
}
static unsigned short narrow(float f) {
  unsigned u;
  std::memcpy(&u, &f, 4);
  return static_cast<unsigned short>((u + 0x7fff + (u >> 16 & 1)) >> 16);
}

int main() {
  const int rows = 4, n = 130;
  Numbers numbers(22);
  std::vector<unsigned short> x(rows * n), w(n);
  for (auto &v : x) v = narrow(numbers.uniform());
  for (auto &v : w) v = narrow(1 + numbers.uniform() / 2);
  std::vector<float> want(rows * n), got(rows * n);
  for (int r = 0; r < rows; ++r) {
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += double(widen(x[r * n + i])) * widen(x[r * n + i]);
    for (int i = 0; i < n; ++i) want[r * n + i] = widen(narrow(float(widen(x[r * n + i]) / std::sqrt(sum / n + 1e-6) * widen(w[i]))));
  }
  Buffer<unsigned short> dx(x), dw(w), dy(rows * n);
  rms_norm<<<rows, 64>>>((__hip_bfloat16 *)(unsigned short *)dx, (__hip_bfloat16 *)(unsigned short *)dw, (__hip_bfloat16 *)(unsigned short *)dy, n);
  std::vector<unsigned short> y = dy.read();
  long apart = 0;
  for (size_t i = 0; i < y.size(); ++i) {
    got[i] = widen(y[i]);
    apart += got[i] != want[i];
  }
  // Where the exact value lies at the middle of two, either may come out; everywhere else it is the nearest.
  return verdict(wrong(got, want, 0.008) + (apart > rows * n / 50));
}
