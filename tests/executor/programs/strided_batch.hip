// SPDX-License-Identifier: Apache-2.0
// A batched product whose batches do not lie at one distance: an offset each.
#include "check.h"

__global__ void gemm(const float *a, const float *b, float *c, const long *a_offset, const long *b_offset, const long *c_offset, int n) {
  const float *x = a + a_offset[blockIdx.z], *y = b + b_offset[blockIdx.z];
  int i = blockIdx.y, j = threadIdx.x;
  if (j >= n) return;
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += x[i * n + k] * y[k * n + j];
  c[c_offset[blockIdx.z] + i * n + j] = sum;
}

int main() {
  const int n = 12, batches = 3;
  Numbers numbers(48);
  std::vector<float> a = numbers.floats(1000), b = numbers.floats(1000), want(1000, 0.0f);
  std::vector<long> ao = {0, 300, 500}, bo = {10, 10, 700}, co = {0, 200, 800};
  for (int z = 0; z < batches; ++z)
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) {
        double sum = 0;
        for (int k = 0; k < n; ++k) sum += double(a[ao[z] + i * n + k]) * b[bo[z] + k * n + j];
        want[co[z] + i * n + j] = sum;
      }
  Buffer<float> da(a), db(b), dc(1000, 0);
  Buffer<long> oa(ao), ob(bo), oc(co);
  gemm<<<dim3(1, n, batches), 32>>>(da, db, dc, oa, ob, oc, n);
  return verdict(wrong(dc.read(), want, 1e-4));
}
