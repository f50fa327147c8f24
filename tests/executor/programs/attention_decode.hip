// SPDX-License-Identifier: Apache-2.0
// One query against a cache of keys: lanes split the head, wavefronts the keys; partial softmaxes are merged.
#include "check.h"

constexpr int kHead = 64, kBlock = 128;

__global__ void decode(const float *q, const float *k, const float *v, float *out, int keys) {
  __shared__ float tops[4], totals[4], sums[4][kHead];
  int lane = threadIdx.x % warpSize, wave = threadIdx.x / warpSize, waves = blockDim.x / warpSize;
  int head = blockIdx.x, per = kHead / warpSize;
  float mine[2], sum[2] = {}, top = -INFINITY, total = 0;
  for (int i = 0; i < per; ++i) mine[i] = q[head * kHead + i * warpSize + lane];
  for (int j = wave; j < keys; j += waves) {
    float score = 0;
    for (int i = 0; i < per; ++i) score += mine[i] * k[(static_cast<long>(head) * keys + j) * kHead + i * warpSize + lane];
    for (int step = warpSize / 2; step > 0; step /= 2) score += __shfl_xor(score, step);
    float next = fmaxf(top, score * 0.125f), fade = expf(top - next), weight = expf(score * 0.125f - next);
    for (int i = 0; i < per; ++i)
      sum[i] = sum[i] * fade + weight * v[(static_cast<long>(head) * keys + j) * kHead + i * warpSize + lane];
    total = total * fade + weight;
    top = next;
  }
  for (int i = 0; i < per; ++i) sums[wave][i * warpSize + lane] = sum[i];
  if (lane == 0) {
    tops[wave] = top;
    totals[wave] = total;
  }
  __syncthreads();
  if (threadIdx.x < kHead) {
    float best = tops[0], all = 0, value = 0;
    for (int w = 1; w < waves; ++w) best = fmaxf(best, tops[w]);
    for (int w = 0; w < waves; ++w) {
      float fade = expf(tops[w] - best);
      all += totals[w] * fade;
      value += sums[w][threadIdx.x] * fade;
    }
    out[head * kHead + threadIdx.x] = value / all;
  }
}

int main() {
  const int heads = 3, keys = 77;
  Numbers numbers(24);
  std::vector<float> q = numbers.floats(heads * kHead), k = numbers.floats(heads * keys * kHead), v = numbers.floats(heads * keys * kHead);
  std::vector<float> want(heads * kHead);
  for (int h = 0; h < heads; ++h) {
    std::vector<double> weight(keys);
    double total = 0;
    for (int j = 0; j < keys; ++j) {
      double score = 0;
      for (int d = 0; d < kHead; ++d) score += double(q[h * kHead + d]) * k[(h * keys + j) * kHead + d];
      total += weight[j] = std::exp(score * 0.125);
    }
    for (int d = 0; d < kHead; ++d) {
      double sum = 0;
      for (int j = 0; j < keys; ++j) sum += weight[j] * v[(h * keys + j) * kHead + d];
      want[h * kHead + d] = sum / total;
    }
  }
  Buffer<float> dq(q), dk(k), dv(v), out(heads * kHead);
  decode<<<heads, kBlock>>>(dq, dk, dv, out, keys);
  return verdict(wrong(out.read(), want, 1e-3));
}
