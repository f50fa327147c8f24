// SPDX-License-Identifier: Apache-2.0
// Checks the port of examples/rowstats: lies beside its ported sources when it is built.
#include "check.h"
#include "compact.cu"
#include "row_sum.cu"

int main() {
  const int rows = 21, columns = 150;
  Numbers numbers(70);
  std::vector<float> in(rows * columns), sums(rows);
  std::vector<float> kept;
  for (int i = 0; i < rows * columns; ++i) {
    in[i] = numbers.below(1000) - 500;
    sums[i / columns] += in[i];
    if (in[i] > 100) kept.push_back(in[i]);
  }
  Buffer<float> a(in), b(rows), c(kept.size());
  Buffer<int> count(1, 0);
  HIP(row_sum(a, b, rows, columns, nullptr));
  HIP(compact(a, c, count, rows * columns, 100.0f, nullptr));
  std::vector<float> got = c.read();
  std::sort(got.begin(), got.end());
  std::sort(kept.begin(), kept.end());
  return verdict(wrong(b.read(), sums) + wrong(got, kept) + (count.read()[0] != static_cast<int>(kept.size())));
}
