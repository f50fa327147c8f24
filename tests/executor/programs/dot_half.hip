// SPDX-License-Identifier: Apache-2.0
// A dot product of halves, accumulated in float, block by block and then by atomics.
#include <hip/hip_fp16.h>
#include "check.h"

__global__ void convert(const float *in, __half *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = __float2half(in[i]);
}

__global__ void dot(const __half *a, const __half *b, float *out, int n) {
  __shared__ float part[128];
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    sum += __half2float(a[i]) * __half2float(b[i]);
  part[threadIdx.x] = sum;
  __syncthreads();
  for (int half = 64; half > 0; half /= 2) {
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) atomicAdd(out, part[0]);
}

int main() {
  const int n = 3000;
  std::vector<float> a(n), b(n), want(1);
  for (int i = 0; i < n; ++i) {
    a[i] = (i % 1024) / 256.0f;  // exact in half precision; the sums are not
    b[i] = (i % 7) - 3;
    want[0] += a[i] * b[i];
  }
  Buffer<float> fa(a), fb(b), out(1, 0);
  Buffer<__half> ha(n), hb(n);
  convert<<<(n + 255) / 256, 256>>>(fa, ha, n);
  convert<<<(n + 255) / 256, 256>>>(fb, hb, n);
  dot<<<4, 128>>>(ha, hb, out, n);
  return verdict(wrong(out.read(), want, 1e-6));
}
