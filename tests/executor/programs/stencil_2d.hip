// SPDX-License-Identifier: Apache-2.0
// A five-point stencil with a halo in shared memory, several sweeps.
#include "check.h"

constexpr int kTile = 16;

__global__ void sweep(const float *in, float *out, int nx, int ny) {
  __shared__ float tile[kTile + 2][kTile + 2];
  int x = blockIdx.x * kTile + threadIdx.x, y = blockIdx.y * kTile + threadIdx.y;
  int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
  auto at = [&](int i, int j) { return i >= 0 && i < nx && j >= 0 && j < ny ? in[j * nx + i] : 0.0f; };
  tile[ty][tx] = at(x, y);
  if (threadIdx.x == 0) tile[ty][0] = at(x - 1, y);
  if (threadIdx.x == kTile - 1) tile[ty][kTile + 1] = at(x + 1, y);
  if (threadIdx.y == 0) tile[0][tx] = at(x, y - 1);
  if (threadIdx.y == kTile - 1) tile[kTile + 1][tx] = at(x, y + 1);
  __syncthreads();
  if (x < nx && y < ny)
    out[y * nx + x] = 0.2f * (tile[ty][tx] + tile[ty][tx - 1] + tile[ty][tx + 1] + tile[ty - 1][tx] + tile[ty + 1][tx]);
}

int main() {
  const int nx = 50, ny = 35;
  std::vector<float> grid = Numbers(14).floats(nx * ny), want = grid, next(nx * ny);
  auto at = [&](int i, int j) { return i >= 0 && i < nx && j >= 0 && j < ny ? want[j * nx + i] : 0.0f; };
  Buffer<float> a(grid), b(nx * ny);
  float *from = a, *to = b;
  for (int step = 0; step < 3; ++step) {
    sweep<<<dim3((nx + kTile - 1) / kTile, (ny + kTile - 1) / kTile), dim3(kTile, kTile)>>>(from, to, nx, ny);
    std::swap(from, to);
    for (int y = 0; y < ny; ++y)
      for (int x = 0; x < nx; ++x) next[y * nx + x] = 0.2f * (at(x, y) + at(x - 1, y) + at(x + 1, y) + at(x, y - 1) + at(x, y + 1));
    want = next;
  }
  return verdict(wrong(b.read(), want, 1e-5));
}
