// SPDX-License-Identifier: Apache-2.0
// The game of life on a torus, cells packed in bits, one word a thread.
#include "check.h"

__global__ void step(const unsigned *in, unsigned *out, int words, int rows) {
  int w = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y;
  if (w >= words) return;
  unsigned next = 0;
  for (int b = 0; b < 32; ++b) {
    int alive = 0, centre = 0;
    for (int dr = -1; dr <= 1; ++dr)
      for (int db = -1; db <= 1; ++db) {
        int column = (w * 32 + b + db + words * 32) % (words * 32), row = (r + dr + rows) % rows;
        int cell = in[row * words + column / 32] >> (column % 32) & 1;
        if (dr || db) alive += cell;
        else centre = cell;
      }
    next |= static_cast<unsigned>(alive == 3 || (centre && alive == 2)) << b;
  }
  out[r * words + w] = next;
}

int main() {
  const int words = 3, rows = 20, columns = words * 32;
  Numbers numbers(36);
  std::vector<unsigned> grid(words * rows), want;
  for (unsigned &v : grid) v = numbers.next() & numbers.next();
  want = grid;
  Buffer<unsigned> a(grid), b(words * rows);
  unsigned *from = a, *to = b;
  for (int s = 0; s < 5; ++s) {
    step<<<dim3(1, rows), 32>>>(from, to, words, rows);
    std::swap(from, to);
    std::vector<unsigned> next(words * rows);
    auto cell = [&](int r, int c) { return want[(r + rows) % rows * words + (c + columns) % columns / 32] >> ((c + columns) % 32) & 1; };
    for (int r = 0; r < rows; ++r)
      for (int c = 0; c < columns; ++c) {
        int alive = -static_cast<int>(cell(r, c));
        for (int i = 0; i < 9; ++i) alive += cell(r + i / 3 - 1, c + i % 3 - 1);
        next[r * words + c / 32] |= static_cast<unsigned>(alive == 3 || (cell(r, c) && alive == 2)) << c % 32;
      }
    want = next;
  }
  return verdict(wrong(b.read(), want));
}
