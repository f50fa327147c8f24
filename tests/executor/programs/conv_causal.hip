// SPDX-License-Identifier: Apache-2.0
// A causal depthwise convolution over sequences, with batch and channel strides.
#include "check.h"

constexpr int kTaps = 4;

__global__ void conv(const float *x, const float *weight, const float *bias, float *y, int length, long batch_stride,
                     long channel_stride) {
  int channel = blockIdx.y, batch = blockIdx.z;
  const float *in = x + batch * batch_stride + channel * channel_stride;
  float *out = y + batch * batch_stride + channel * channel_stride;
  float w[kTaps];
  for (int i = 0; i < kTaps; ++i) w[i] = weight[channel * kTaps + i];
  for (int t = blockIdx.x * blockDim.x + threadIdx.x; t < length; t += gridDim.x * blockDim.x) {
    float sum = bias[channel];
    for (int i = 0; i < kTaps; ++i) {
      int at = t - (kTaps - 1) + i;
      sum += at >= 0 ? w[i] * in[at] : 0.0f;
    }
    out[t] = sum;
  }
}

int main() {
  const int batches = 2, channels = 3, length = 70, channel_stride = 80, batch_stride = channels * channel_stride;
  Numbers numbers(16);
  std::vector<float> x = numbers.floats(batches * batch_stride), w = numbers.floats(channels * kTaps), bias = numbers.floats(channels);
  std::vector<float> want(batches * batch_stride, 0.0f);
  for (int b = 0; b < batches; ++b)
    for (int c = 0; c < channels; ++c)
      for (int t = 0; t < length; ++t) {
        float sum = bias[c];
        for (int i = 0; i < kTaps; ++i)
          if (t - kTaps + 1 + i >= 0) sum += w[c * kTaps + i] * x[b * batch_stride + c * channel_stride + t - kTaps + 1 + i];
        want[b * batch_stride + c * channel_stride + t] = sum;
      }
  Buffer<float> dx(x), dw(w), db(bias), dy(x.size(), 0);
  conv<<<dim3(1, channels, batches), 64>>>(dx, dw, db, dy, length, batch_stride, channel_stride);
  return verdict(wrong(dy.read(), want, 1e-5));
}
