#pragma once
#include <cstdio>
#include <initializer_list>
#include <cuda_runtime.h>
// An array of the device, and two ways to tell what it holds.
template <class T> struct Dev {
  T *p = nullptr;
  int n;
  explicit Dev(int count) : n(count) {
    cudaMalloc(reinterpret_cast<void **>(&p), n * sizeof(T));
    cudaMemset(p, 0, n * sizeof(T));
  }
  Dev(std::initializer_list<T> values) : Dev(int(values.size())) {
    cudaMemcpy(p, values.begin(), n * sizeof(T), cudaMemcpyHostToDevice);
  }
  ~Dev() { cudaFree(p); }
  operator T *() const { return p; }
  T at(int i) const {
    T value;
    cudaMemcpy(&value, p + i, sizeof value, cudaMemcpyDeviceToHost);
    return value;
  }
};
template <class T> void show(const Dev<T> &d, const char *format = "%d") {
  for (int i = 0; i < d.n; ++i) {
    if (i) printf(" ");
    printf(format, d.at(i));
  }
  printf("\n");
}
template <class T, class F> void same(const Dev<T> &d, F want) {
  for (int i = 0; i < d.n; ++i)
    if (!(d.at(i) == T(want(i)))) {
      printf("at %d: %.9g, not %.9g\n", i, double(d.at(i)), double(T(want(i))));
      return;
    }
  printf("same\n");
}
