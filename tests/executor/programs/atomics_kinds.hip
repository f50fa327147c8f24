// SPDX-License-Identifier: Apache-2.0
// Every kind of integer atomic against what a loop gives.
#include "check.h"

__global__ void apply(const int *in, int n, int *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  atomicAdd(&out[0], in[i]);
  atomicSub(&out[1], in[i]);
  atomicMin(&out[2], in[i]);
  atomicMax(&out[3], in[i]);
  atomicAnd(&out[4], in[i] | 0xff00);
  atomicOr(&out[5], in[i]);
  atomicXor(&out[6], in[i]);
  atomicInc(reinterpret_cast<unsigned *>(&out[7]), 9u);
  atomicDec(reinterpret_cast<unsigned *>(&out[8]), 6u);
}

int main() {
  const int n = 777;
  std::vector<int> in = Numbers(31).ints(n, 4096), want = {0, 0, 1 << 20, -1, -1, 0, 0, 0, 0};
  Buffer<int> a(in), out(want);
  for (int v : in) {
    want[0] += v;
    want[1] -= v;
    want[2] = std::min(want[2], v);
    want[3] = std::max(want[3], v);
    want[4] &= v | 0xff00;
    want[5] |= v;
    want[6] ^= v;
    want[7] = want[7] >= 9 ? 0 : want[7] + 1;
    want[8] = want[8] == 0 || want[8] > 6 ? 6 : want[8] - 1;
  }
  apply<<<7, 128>>>(a, n, out);
  return verdict(wrong(out.read(), want));
}
