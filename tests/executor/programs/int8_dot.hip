// SPDX-License-Identifier: Apache-2.0
// Signed 8-bit products accumulated in 32 bits, four a word.
#include "check.h"

__global__ void matmul(const int *a, const int *b, int *c, int m, int n, int words) {
  int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
  if (column >= n) return;
  int sum = 0;
  for (int w = 0; w < words; ++w) {
    int x = a[row * words + w], y = b[column * words + w];
    for (int i = 0; i < 4; ++i) sum += static_cast<signed char>(x >> 8 * i) * static_cast<signed char>(y >> 8 * i);
  }
  c[row * n + column] = sum;
}

int main() {
  const int m = 9, n = 50, words = 12;
  Numbers numbers(44);
  std::vector<int> a(m * words), b(n * words), want(m * n);
  for (int &v : a) v = static_cast<int>(numbers.next());
  for (int &v : b) v = static_cast<int>(numbers.next());
  auto byte = [](const std::vector<int> &v, int at) { return static_cast<int>(static_cast<signed char>(v[at / 4] >> 8 * (at % 4))); };
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j)
      for (int k = 0; k < words * 4; ++k) want[i * n + j] += byte(a, i * words * 4 + k) * byte(b, j * words * 4 + k);
  Buffer<int> da(a), db(b), c(m * n);
  matmul<<<dim3(1, m), 64>>>(da, db, c, m, n, words);
  return verdict(wrong(c.read(), want));
}
