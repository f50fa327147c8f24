// SPDX-License-Identifier: Apache-2.0
// What the self-checking programs share: buffers, reproducible data, a verdict.
#pragma once

#include <hip/hip_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define HIP(call)                                                                                        \
  do {                                                                                                   \
    hipError_t status = (call);                                                                          \
    if (status != hipSuccess) {                                                                          \
      std::printf("FAIL %s:%d: %s\n", __FILE__, __LINE__, hipGetErrorString(status));                    \
      std::exit(1);                                                                                      \
    }                                                                                                    \
  } while (0)

// A device buffer, as large as the vector it is made from or is read into.
template <class T> class Buffer {
 public:
  explicit Buffer(size_t count) : count_(count) { HIP(hipMalloc((void **)&data_, count * sizeof(T))); }
  explicit Buffer(const std::vector<T> &host) : Buffer(host.size()) {
    HIP(hipMemcpy(data_, host.data(), count_ * sizeof(T), hipMemcpyHostToDevice));
  }
  Buffer(size_t count, int byte) : Buffer(count) { HIP(hipMemset(data_, byte, count * sizeof(T))); }
  Buffer(const Buffer &) = delete;
  ~Buffer() { (void)hipFree(data_); }
  operator T *() const { return data_; }
  std::vector<T> read() const {
    std::vector<T> host(count_);
    HIP(hipGetLastError());
    HIP(hipMemcpy(host.data(), data_, count_ * sizeof(T), hipMemcpyDeviceToHost));
    return host;
  }

 private:
  T *data_ = nullptr;
  size_t count_;
};

// A small generator of our own: the same numbers everywhere.
class Numbers {
 public:
  explicit Numbers(unsigned seed) : state_(seed * 2654435761u + 1) {}
  unsigned next() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 17;
    state_ ^= state_ << 5;
    return state_;
  }
  int below(int n) { return static_cast<int>(next() % static_cast<unsigned>(n)); }
  float uniform() { return static_cast<float>(next() >> 8) * (2.0f / 16777216.0f) - 1.0f; }
  std::vector<float> floats(size_t n) {
    std::vector<float> v(n);
    for (float &x : v) x = uniform();
    return v;
  }
  std::vector<int> ints(size_t n, int limit) {
    std::vector<int> v(n);
    for (int &x : v) x = below(limit);
    return v;
  }

 private:
  unsigned state_;
};

// Elements that are not what they should be; the relative tolerance has an absolute floor.
template <class A, class B> long wrong(const std::vector<A> &got, const std::vector<B> &want, double tolerance = 0) {
  long count = got.size() != want.size();
  for (size_t i = 0; i < got.size() && i < want.size(); ++i) {
    double a = static_cast<double>(got[i]), b = static_cast<double>(want[i]);
    bool same = tolerance == 0 ? a == b : std::fabs(a - b) <= tolerance * (std::fabs(b) + 1e-2);
    if (!same && count++ < 3) std::fprintf(stderr, "[%zu] is %.9g, expected %.9g\n", i, a, b);
  }
  return count;
}

inline int verdict(long mistakes) {
  std::printf("%s %ld\n", mistakes ? "FAIL" : "PASS", mistakes);
  return mistakes != 0;
}
