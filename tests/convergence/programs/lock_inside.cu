// The work is done, and the lock given back, in the branch that took it: right on any wavefront as it is.
#include "check.h"
__global__ void count(int *out) {
  bool done = false;
  while (!done) {
    if (atomicCAS(out + 1, 0, 1) == 0) {
      out[0] += 3;
      __threadfence();
      atomicExch(out + 1, 0);
      done = true;
    }
  }
}
int main() { return report(sum_of(count, 1, 96, 1), 288); }
