// Small numbers of every type with exact sums, and a comparison with plain loops over whole matrices.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <cstdio>
#include <cstring>
#include <vector>
struct Numbers {
  unsigned state;
  int next(int low, int high) {
    state = state * 1664525u + 1013904223u;
    return low + static_cast<int>((state >> 12) % static_cast<unsigned>(high - low + 1));
  }
};
inline unsigned short half_bits(float v) { __half h = __float2half(v); unsigned short s; std::memcpy(&s, &h, 2); return s; }
inline unsigned short bf16_bits(float v) { unsigned u; std::memcpy(&u, &v, 4); return static_cast<unsigned short>(u >> 16); }
template <class T> T *on_device(const std::vector<T> &v) {
  T *p;
  cudaMalloc(&p, v.size() * sizeof(T));
  cudaMemcpy(p, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice);
  return p;
}
template <class T> std::vector<T> from_device(const T *p, std::size_t n) {
  std::vector<T> v(n);
  cudaMemcpy(v.data(), p, n * sizeof(T), cudaMemcpyDeviceToHost);
  return v;
}
inline int failures = 0;
template <class T> void same(const char *what, const std::vector<T> &got, const std::vector<T> &want) {
  for (std::size_t i = 0; i < want.size(); ++i) {
    if (got[i] == want[i]) continue;
    std::printf("FAIL %s at %zu: %g instead of %g\n", what, i, double(got[i]), double(want[i]));
    ++failures;
    return;
  }
}
