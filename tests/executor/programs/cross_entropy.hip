// SPDX-License-Identifier: Apache-2.0
// Cross entropy of logits with an ignored label, loss and gradient.
#include "check.h"

__global__ void cross_entropy(const float *logits, const int *labels, float *loss, float *gradient, int classes) {
  __shared__ float part[32];
  const float *row = logits + blockIdx.x * classes;
  int label = labels[blockIdx.x], waves = blockDim.x / warpSize;
  float sum = 0;
  for (int i = threadIdx.x; i < classes; i += blockDim.x) sum += expf(row[i]);
  for (int step = warpSize / 2; step > 0; step /= 2) sum += __shfl_xor(sum, step);
  if (threadIdx.x % warpSize == 0) part[threadIdx.x / warpSize] = sum;
  __syncthreads();
  sum = 0;
  for (int w = 0; w < waves; ++w) sum += part[w];
  for (int i = threadIdx.x; i < classes; i += blockDim.x)
    gradient[blockIdx.x * classes + i] = label < 0 ? 0.0f : expf(row[i]) / sum - (i == label);
  if (threadIdx.x == 0) loss[blockIdx.x] = label < 0 ? 0.0f : logf(sum) - row[label];
}

int main() {
  const int rows = 8, classes = 75;
  Numbers numbers(50);
  std::vector<float> logits = numbers.floats(rows * classes), loss(rows), gradient(rows * classes);
  std::vector<int> labels = numbers.ints(rows, classes);
  labels[3] = -1;
  for (int r = 0; r < rows; ++r) {
    if (labels[r] < 0) continue;
    double sum = 0;
    for (int i = 0; i < classes; ++i) sum += std::exp(double(logits[r * classes + i]));
    loss[r] = std::log(sum) - logits[r * classes + labels[r]];
    for (int i = 0; i < classes; ++i) gradient[r * classes + i] = std::exp(logits[r * classes + i]) / sum - (i == labels[r]);
  }
  Buffer<float> l(logits), dl(rows), dg(rows * classes);
  Buffer<int> labels_(labels);
  cross_entropy<<<rows, 128>>>(l, labels_, dl, dg, classes);
  return verdict(wrong(dl.read(), loss, 1e-3) + wrong(dg.read(), gradient, 1e-3));
}
