// SPDX-License-Identifier: Apache-2.0
// A radix-2 Fourier transform in shared memory, forward and back.
#include "check.h"

constexpr int kPoints = 128;

__global__ void fft(float2 *data, float sign) {
  __shared__ float2 s[kPoints];
  for (int i = threadIdx.x; i < kPoints; i += blockDim.x) {
    int reversed = 0;
    for (int b = 1, r = kPoints / 2; b < kPoints; b *= 2, r /= 2) reversed |= i & b ? r : 0;
    s[reversed] = data[blockIdx.x * kPoints + i];
  }
  __syncthreads();
  for (int half = 1; half < kPoints; half *= 2) {
    int k = threadIdx.x % half, at = threadIdx.x / half * 2 * half + k;
    float sine, cosine;
    sincospif(sign * k / half, &sine, &cosine);
    float2 a = s[at], b = s[at + half], t = make_float2(b.x * cosine - b.y * sine, b.x * sine + b.y * cosine);
    s[at] = make_float2(a.x + t.x, a.y + t.y);
    s[at + half] = make_float2(a.x - t.x, a.y - t.y);
    __syncthreads();
  }
  for (int i = threadIdx.x; i < kPoints; i += blockDim.x) data[blockIdx.x * kPoints + i] = s[i];
}

int main() {
  std::vector<float> in = Numbers(52).floats(2 * kPoints), want(2 * kPoints), back(2 * kPoints);
  for (int k = 0; k < kPoints; ++k) {
    double re = 0, im = 0;
    for (int i = 0; i < kPoints; ++i) {
      double angle = -2 * M_PI * k * i / kPoints;
      re += in[2 * i] * std::cos(angle) - in[2 * i + 1] * std::sin(angle);
      im += in[2 * i] * std::sin(angle) + in[2 * i + 1] * std::cos(angle);
    }
    want[2 * k] = re;
    want[2 * k + 1] = im;
  }
  Buffer<float> d(in);
  float2 *data = reinterpret_cast<float2 *>(static_cast<float *>(d));
  fft<<<1, kPoints / 2>>>(data, -1.0f);
  long mistakes = wrong(d.read(), want, 1e-2);
  fft<<<1, kPoints / 2>>>(data, 1.0f);
  back = d.read();
  for (float &v : back) v /= kPoints;
  return verdict(mistakes + wrong(back, in, 1e-3));
}
