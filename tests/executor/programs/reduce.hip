// SPDX-License-Identifier: Apache-2.0
// Block sum by wave shuffles and shared memory; a partial last block.
#include <hip/hip_runtime.h>
#include <cstdio>
#include <vector>

__device__ float wave_sum(float v) {
  for (int offset = warpSize / 2; offset > 0; offset /= 2) v += __shfl_down(v, offset);
  return v;
}

__global__ void block_sum(const float *in, float *out, int n) {
  __shared__ float partial[32];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = wave_sum(i < n ? in[i] : 0.0f);
  if (threadIdx.x % warpSize == 0) partial[threadIdx.x / warpSize] = v;
  __syncthreads();
  if (threadIdx.x < warpSize) {
    v = wave_sum(threadIdx.x < blockDim.x / warpSize ? partial[threadIdx.x] : 0.0f);
    if (threadIdx.x == 0) out[blockIdx.x] = v;
  }
}

int main() {
  const int n = 10000, blocks = (n + 255) / 256;
  std::vector<float> host(n), sums(blocks);
  double expected = 0;
  for (int i = 0; i < n; ++i) expected += host[i] = i % 17;
  float *in, *out;
  hipMalloc(&in, n * sizeof(float));
  hipMalloc(&out, blocks * sizeof(float));
  hipMemcpy(in, host.data(), n * sizeof(float), hipMemcpyHostToDevice);
  block_sum<<<blocks, 256>>>(in, out, n);
  hipMemcpy(sums.data(), out, blocks * sizeof(float), hipMemcpyDeviceToHost);
  double total = 0;
  for (float s : sums) total += s;
  std::printf("%s %g\n", total == expected ? "PASS" : "FAIL", total);
  hipFree(in);
  hipFree(out);
}
