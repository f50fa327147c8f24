// SPDX-License-Identifier: Apache-2.0
// Mean and variance over channels by merging running moments between lanes.
#include "check.h"

struct Moments {
  float mean, squares, count;
};
__device__ Moments merge(Moments a, Moments b) {
  float count = a.count + b.count;
  if (count == 0) return a;
  float delta = b.mean - a.mean;
  return {a.mean + delta * b.count / count, a.squares + b.squares + delta * delta * a.count * b.count / count, count};
}

__global__ void moments(const float *x, float *mean, float *variance, int batch, int channels) {
  __shared__ Moments part[32];
  int channel = blockIdx.x;
  Moments m = {0, 0, 0};
  for (int i = threadIdx.x; i < batch; i += blockDim.x) m = merge(m, {x[i * channels + channel], 0, 1});
  for (int step = warpSize / 2; step > 0; step /= 2)
    m = merge(m, {__shfl_down(m.mean, step), __shfl_down(m.squares, step), __shfl_down(m.count, step)});
  if (threadIdx.x % warpSize == 0) part[threadIdx.x / warpSize] = m;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int w = 1; w < static_cast<int>(blockDim.x) / warpSize; ++w) m = merge(m, part[w]);
    mean[channel] = m.mean;
    variance[channel] = m.squares / m.count;
  }
}

int main() {
  const int batch = 333, channels = 6;
  std::vector<float> x = Numbers(51).floats(batch * channels), mean(channels), variance(channels);
  for (int c = 0; c < channels; ++c) {
    double sum = 0, squares = 0;
    for (int i = 0; i < batch; ++i) sum += x[i * channels + c] += 100;
    for (int i = 0; i < batch; ++i) squares += (x[i * channels + c] - sum / batch) * (x[i * channels + c] - sum / batch);
    mean[c] = sum / batch;
    variance[c] = squares / batch;
  }
  Buffer<float> dx(x), dm(channels), dv(channels);
  moments<<<channels, 128>>>(dx, dm, dv, batch, channels);
  return verdict(wrong(dm.read(), mean, 1e-5) + wrong(dv.read(), variance, 1e-3));
}
