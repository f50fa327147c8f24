// SPDX-License-Identifier: Apache-2.0
// Jacobi sweeps until the largest change is small: streams, events and pinned memory around the kernel.
#include "check.h"

__global__ void sweep(const float *in, float *out, unsigned *change, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x + 1, y = blockIdx.y + 1;
  if (x >= n - 1) return;
  float next = 0.25f * (in[y * n + x - 1] + in[y * n + x + 1] + in[(y - 1) * n + x] + in[(y + 1) * n + x]);
  out[y * n + x] = next;
  atomicMax(change, __float_as_uint(fabsf(next - in[y * n + x])));
}

int main() {
  const int n = 20;
  std::vector<float> grid(n * n, 0.0f), want, next;
  for (int i = 0; i < n; ++i) grid[i] = 1;
  want = next = grid;
  int sweeps = 0;
  for (float change = 1; change > 1e-3f; ++sweeps) {
    change = 0;
    for (int y = 1; y < n - 1; ++y)
      for (int x = 1; x < n - 1; ++x) {
        next[y * n + x] = 0.25f * (want[y * n + x - 1] + want[y * n + x + 1] + want[(y - 1) * n + x] + want[(y + 1) * n + x]);
        change = std::max(change, std::fabs(next[y * n + x] - want[y * n + x]));
      }
    std::swap(want, next);
  }
  Buffer<float> a(grid), b(grid);
  Buffer<unsigned> change(1);
  hipStream_t stream;
  hipEvent_t done;
  float *seen;
  HIP(hipStreamCreate(&stream));
  HIP(hipEventCreate(&done));
  HIP(hipHostMalloc((void **)&seen, sizeof(float), 0));
  float *from = a, *to = b;
  int count = 0;
  for (*seen = 1; *seen > 1e-3f; ++count) {
    HIP(hipMemsetAsync(change, 0, sizeof(unsigned), stream));
    sweep<<<dim3(1, n - 2), 32, 0, stream>>>(from, to, change, n);
    HIP(hipMemcpyAsync(seen, change, sizeof(float), hipMemcpyDeviceToHost, stream));
    HIP(hipEventRecord(done, stream));
    HIP(hipEventSynchronize(done));
    std::swap(from, to);
  }
  long mistakes = (count != sweeps) + wrong(from == a ? a.read() : b.read(), want);
  HIP(hipHostFree(seen));
  HIP(hipEventDestroy(done));
  HIP(hipStreamDestroy(stream));
  return verdict(mistakes);
}
