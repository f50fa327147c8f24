// SPDX-License-Identifier: Apache-2.0
// Causal attention with an online softmax over tiles of keys, one query row a thread.
#include "check.h"

constexpr int kHead = 16, kTile = 32;

__global__ void attention(const float *q, const float *k, const float *v, float *out, int length, float scale) {
  __shared__ float ks[kTile][kHead], vs[kTile][kHead];
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  long base = static_cast<long>(blockIdx.y) * length * kHead;
  float mine[kHead], sum[kHead] = {}, top = -INFINITY, total = 0;
  for (int d = 0; d < kHead; ++d) mine[d] = row < length ? q[base + row * kHead + d] : 0.0f;
  for (int tile = 0; tile < length; tile += kTile) {
    for (int i = threadIdx.x; i < kTile * kHead; i += blockDim.x) {
      bool inside = tile + i / kHead < length;
      ks[i / kHead][i % kHead] = inside ? k[base + tile * kHead + i] : 0.0f;
      vs[i / kHead][i % kHead] = inside ? v[base + tile * kHead + i] : 0.0f;
    }
    __syncthreads();
    for (int j = 0; j < kTile && tile + j <= row && tile + j < length; ++j) {
      float score = 0;
      for (int d = 0; d < kHead; ++d) score += mine[d] * ks[j][d];
      score *= scale;
      float next = fmaxf(top, score), fade = expf(top - next), weight = expf(score - next);
      for (int d = 0; d < kHead; ++d) sum[d] = sum[d] * fade + weight * vs[j][d];
      total = total * fade + weight;
      top = next;
    }
    __syncthreads();
  }
  if (row < length)
    for (int d = 0; d < kHead; ++d) out[base + row * kHead + d] = sum[d] / total;
}

int main() {
  const int heads = 2, length = 90, size = heads * length * kHead;
  Numbers numbers(23);
  std::vector<float> q = numbers.floats(size), k = numbers.floats(size), v = numbers.floats(size), want(size);
  for (int h = 0; h < heads; ++h)
    for (int i = 0; i < length; ++i) {
      std::vector<double> weight(i + 1);
      double total = 0;
      for (int j = 0; j <= i; ++j) {
        double score = 0;
        for (int d = 0; d < kHead; ++d) score += double(q[(h * length + i) * kHead + d]) * k[(h * length + j) * kHead + d];
        total += weight[j] = std::exp(score * 0.25);
      }
      for (int d = 0; d < kHead; ++d) {
        double sum = 0;
        for (int j = 0; j <= i; ++j) sum += weight[j] * v[(h * length + j) * kHead + d];
        want[(h * length + i) * kHead + d] = sum / total;
      }
    }
  Buffer<float> dq(q), dk(k), dv(v), out(size);
  attention<<<dim3((length + 63) / 64, heads), 64>>>(dq, dk, dv, out, length, 0.25f);
  return verdict(wrong(out.read(), want, 1e-3));
}
