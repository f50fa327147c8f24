// SPDX-License-Identifier: Apache-2.0
// Rotary embedding of interleaved pairs, with positions that start at an offset.
#include "check.h"

__global__ void rope(float2 *x, int positions, int pairs, int offset) {
  int pair = threadIdx.x, position = blockIdx.x;
  if (pair >= pairs) return;
  float angle = static_cast<float>(position + offset) * powf(10000.0f, -static_cast<float>(pair) / pairs);
  float s, c;
  sincosf(angle, &s, &c);
  float2 v = x[position * pairs + pair];
  x[position * pairs + pair] = make_float2(v.x * c - v.y * s, v.x * s + v.y * c);
}

int main() {
  const int positions = 11, pairs = 24, offset = 5;
  std::vector<float> x = Numbers(25).floats(positions * pairs * 2), want(x.size());
  for (int p = 0; p < positions; ++p)
    for (int i = 0; i < pairs; ++i) {
      double angle = (p + offset) * std::pow(10000.0, -double(i) / pairs);
      int at = (p * pairs + i) * 2;
      want[at] = x[at] * std::cos(angle) - x[at + 1] * std::sin(angle);
      want[at + 1] = x[at] * std::sin(angle) + x[at + 1] * std::cos(angle);
    }
  Buffer<float> d(x);
  rope<<<positions, 32>>>(reinterpret_cast<float2 *>(static_cast<float *>(d)), positions, pairs, offset);
  return verdict(wrong(d.read(), want, 1e-3));
}
