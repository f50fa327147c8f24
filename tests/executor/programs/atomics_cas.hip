// SPDX-License-Identifier: Apache-2.0
// Loops of compare-and-swap: a float maximum, a double sum and a saturating counter.
#include "check.h"

__device__ void max_float(float *address, float value) {
  int *bits = reinterpret_cast<int *>(address), old = *bits, assumed;
  do {
    assumed = old;
    if (__int_as_float(assumed) >= value) return;
    old = atomicCAS(bits, assumed, __float_as_int(value));
  } while (assumed != old);
}
__device__ void add_double(double *address, double value) {
  unsigned long long *bits = reinterpret_cast<unsigned long long *>(address), old = *bits, assumed;
  do {
    assumed = old;
    old = atomicCAS(bits, assumed, __double_as_longlong(value + __longlong_as_double(assumed)));
  } while (assumed != old);
}
__device__ void add_saturated(unsigned *address, unsigned limit) {
  unsigned old = *address, assumed;
  do {
    assumed = old;
    if (assumed == limit) return;
    old = atomicCAS(address, assumed, assumed + 1);
  } while (assumed != old);
}

__global__ void all(const float *in, int n, float *top, double *sum, unsigned *counter) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  max_float(top, in[i]);
  add_double(sum, in[i]);
  add_saturated(counter, 700);
}

int main() {
  const int n = 1000;
  Numbers numbers(30);
  std::vector<float> in(n), top(1, -100.0f);
  double sum = 0;
  for (float &v : in) {
    sum += v = numbers.below(2000) - 1000;
    top[0] = std::max(top[0], v);
  }
  Buffer<float> a(in), dt(std::vector<float>(1, -100.0f));
  Buffer<double> ds(1, 0);
  Buffer<unsigned> counter(1, 0);
  all<<<8, 128>>>(a, n, dt, ds, counter);
  return verdict(wrong(dt.read(), top) + (ds.read()[0] != sum) + (counter.read()[0] != 700));
}
