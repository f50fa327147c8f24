// SPDX-License-Identifier: Apache-2.0
// A ticket lock between blocks, taken by one thread each; what it guards is no atomic.
#include "check.h"

__global__ void work(unsigned *lock, volatile int *log, volatile int *length) {
  if (threadIdx.x == 0) {
    unsigned ticket = atomicAdd(&lock[0], 1u);
    while (atomicAdd(&lock[1], 0u) != ticket) {
    }
    __threadfence();
    int at = *length;
    log[at] = blockIdx.x;
    *length = at + 1;
    __threadfence();
    atomicAdd(&lock[1], 1u);
  }
}

int main() {
  const int blocks = 20;
  Buffer<unsigned> lock(2, 0);
  Buffer<int> log(blocks, 0xff), length(1, 0);
  work<<<blocks, 64>>>(lock, log, length);
  std::vector<int> got = log.read(), seen(blocks);
  long mistakes = length.read()[0] != blocks;
  for (int b : got) mistakes += b < 0 || b >= blocks || seen[b]++;
  return verdict(mistakes);
}
