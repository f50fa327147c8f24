// SPDX-License-Identifier: Apache-2.0
// A seven-point stencil marching along z, with the neighbouring planes in registers.
#include "check.h"

__global__ void sweep(const double *in, double *out, int nx, int ny, int nz) {
  int x = blockIdx.x * blockDim.x + threadIdx.x + 1, y = blockIdx.y * blockDim.y + threadIdx.y + 1;
  if (x >= nx - 1 || y >= ny - 1) return;
  int plane = nx * ny, i = y * nx + x;
  double below = in[i], here = in[i + plane];
  for (int z = 1; z < nz - 1; ++z) {
    int c = z * plane + i;
    double above = in[c + plane];
    out[c] = 6 * here - below - above - in[c - 1] - in[c + 1] - in[c - nx] - in[c + nx];
    below = here;
    here = above;
  }
}

int main() {
  const int nx = 20, ny = 14, nz = 9, plane = nx * ny;
  Numbers numbers(15);
  std::vector<double> in(plane * nz), want(plane * nz);
  for (double &v : in) v = numbers.below(100);
  for (int z = 1; z < nz - 1; ++z)
    for (int y = 1; y < ny - 1; ++y)
      for (int x = 1; x < nx - 1; ++x) {
        int c = z * plane + y * nx + x;
        want[c] = 6 * in[c] - in[c - plane] - in[c + plane] - in[c - 1] - in[c + 1] - in[c - nx] - in[c + nx];
      }
  Buffer<double> a(in), b(plane * nz, 0);
  sweep<<<dim3(2, 2), dim3(16, 8)>>>(a, b, nx, ny, nz);
  return verdict(wrong(b.read(), want));
}
