// SPDX-License-Identifier: Apache-2.0
// Gravity between all pairs, tiles of bodies in shared memory.
#include "check.h"

__global__ void forces(const float4 *bodies, float4 *out, int n) {
  __shared__ float4 tile[64];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float4 me = i < n ? bodies[i] : make_float4(0, 0, 0, 0);
  float ax = 0, ay = 0, az = 0;
  for (int start = 0; start < n; start += 64) {
    if (start + threadIdx.x < n) tile[threadIdx.x] = bodies[start + threadIdx.x];
    __syncthreads();
    for (int j = 0; j < 64 && start + j < n; ++j) {
      float dx = tile[j].x - me.x, dy = tile[j].y - me.y, dz = tile[j].z - me.z;
      float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
      float pull = tile[j].w * inverse * inverse * inverse;
      ax += pull * dx;
      ay += pull * dy;
      az += pull * dz;
    }
    __syncthreads();
  }
  if (i < n) out[i] = make_float4(ax, ay, az, 0);
}

int main() {
  const int n = 150;
  std::vector<float> bodies = Numbers(35).floats(n * 4), want(n * 4);
  for (int i = 0; i < n; ++i) bodies[i * 4 + 3] = std::fabs(bodies[i * 4 + 3]) + 0.1f;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      double d[3], square = 0.01;
      for (int c = 0; c < 3; ++c) square += (d[c] = bodies[j * 4 + c] - bodies[i * 4 + c]) * d[c];
      for (int c = 0; c < 3; ++c) want[i * 4 + c] += bodies[j * 4 + 3] / (square * std::sqrt(square)) * d[c];
    }
  Buffer<float> a(bodies), b(n * 4);
  forces<<<(n + 63) / 64, 64>>>(reinterpret_cast<const float4 *>(static_cast<float *>(a)), reinterpret_cast<float4 *>(static_cast<float *>(b)), n);
  return verdict(wrong(b.read(), want, 5e-3));
}
