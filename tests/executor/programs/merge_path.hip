// SPDX-License-Identifier: Apache-2.0
// Two sorted lists merged: each thread finds its diagonal by binary search.
#include <algorithm>
#include "check.h"

__global__ void merge(const int *a, int na, const int *b, int nb, int *out, int per) {
  int diagonal = min(static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x) * per, na + nb);
  int low = max(0, diagonal - nb), high = min(diagonal, na);
  while (low < high) {
    int middle = (low + high) / 2;
    if (a[middle] <= b[diagonal - 1 - middle]) low = middle + 1;
    else high = middle;
  }
  int i = low, j = diagonal - low;
  for (int k = diagonal; k < min(diagonal + per, na + nb); ++k)
    out[k] = j >= nb || (i < na && a[i] <= b[j]) ? a[i++] : b[j++];
}

int main() {
  Numbers numbers(11);
  std::vector<int> a = numbers.ints(700, 5000), b = numbers.ints(431, 5000), want(1131);
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  std::merge(a.begin(), a.end(), b.begin(), b.end(), want.begin());
  Buffer<int> da(a), db(b), out(want.size());
  merge<<<3, 64>>>(da, 700, db, 431, out, 7);
  return verdict(wrong(out.read(), want));
}
