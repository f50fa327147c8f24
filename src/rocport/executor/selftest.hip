// SPDX-License-Identifier: Apache-2.0
// Small kernels with known answers, which an executor runs before it is believed. Prints a line a test:
//   TEST name ok|FAIL
// and last the wavefront width: WIDTH n. Written for HIP and, with a few macros, for nvcc.
#include <hip/hip_bf16.h>
#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <vector>

constexpr int kThreads = 128;

__global__ void width(int *out) {
  if (threadIdx.x == 0) out[0] = warpSize;
}

__global__ void shuffles(int *out) {
  int t = threadIdx.x, v = t * 3 + 1;
  out[t] = __shfl(v, 5, 8);
  out[kThreads + t] = __shfl_up(v, 3, 16);
  out[2 * kThreads + t] = __shfl_down(v, 1);
  out[3 * kThreads + t] = __shfl_xor(v, 9);
}
static bool check_shuffles(const std::vector<int> &got, int wave) {
  bool right = true;
  for (int t = 0; t < kThreads; ++t) {
    auto value = [](int lane) { return lane * 3 + 1; };
    right &= got[t] == value(t / 8 * 8 + 5);
    right &= got[kThreads + t] == value(t % 16 < 3 ? t : t - 3);
    right &= got[2 * kThreads + t] == value(t % wave == wave - 1 ? t : t + 1);
    right &= got[3 * kThreads + t] == value(t ^ 9);
  }
  return right;
}

__global__ void ballots(unsigned long long *out) {
  int t = threadIdx.x;
  unsigned long long thirds = __ballot(t % 3 == 0);
  out[t] = thirds + (__any(t == 77) ? 1000000007ull : 0) + (__all(t < 64) ? 5 : 0);
}
static bool check_ballots(const std::vector<unsigned long long> &got, int wave) {
  bool right = true;
  for (int t = 0; t < kThreads; ++t) {
    unsigned long long want = 0;
    int base = t / wave * wave;
    for (int l = 0; l < wave; ++l) want |= static_cast<unsigned long long>((base + l) % 3 == 0) << l;
    want += base <= 77 && 77 < base + wave ? 1000000007ull : 0;
    want += base + wave <= 64 ? 5 : 0;
    right &= got[t] == want;
  }
  return right;
}

// Lanes leave a loop at different times and meet again behind it.
__global__ void divergence(int *out) {
  int t = threadIdx.x, rounds = 0;
  while (rounds < t % 5) ++rounds;
  out[t] = __shfl_xor(rounds, 1);
}
static bool check_divergence(const std::vector<int> &got, int) {
  bool right = true;
  for (int t = 0; t < kThreads; ++t) right &= got[t] == (t ^ 1) % 5;
  return right;
}

__global__ void barriers(int *out) {
  __shared__ int fixed[kThreads];
  extern __shared__ int dynamic[];
  int t = threadIdx.x;
  fixed[t] = t;
  for (int step = 1; step < kThreads; step *= 2) {
    __syncthreads();
    int v = fixed[(t + step) % kThreads];
    __syncthreads();
    fixed[t] = v;
  }
  dynamic[t] = fixed[t] * 2;
  __syncthreads();
  out[t] = dynamic[kThreads - 1 - t];
}
static bool check_barriers(const std::vector<int> &got, int) {
  bool right = true;
  for (int t = 0; t < kThreads; ++t) right &= got[t] == (kThreads - 1 - t + kThreads - 1) % kThreads * 2;
  return right;
}

__global__ void atomics(int *out) {
  int t = threadIdx.x;
  atomicAdd(&out[0], t);
  atomicMax(&out[1], t * 7 % 101);
  atomicOr(&out[2], 1 << t % 31);
  int *lock = &out[3], old = *lock, seen;
  do {
    seen = old;
    old = atomicCAS(lock, seen, seen + 2);
  } while (old != seen);
  atomicAdd(reinterpret_cast<float *>(&out[4]), 0.5f);
}
static bool check_atomics(const std::vector<int> &got, int) {
  int blocks = 4, most = 0;
  for (int t = 0; t < kThreads; ++t) most = t * 7 % 101 > most ? t * 7 % 101 : most;
  float sum;
  std::memcpy(&sum, &got[4], 4);
  return got[0] == blocks * kThreads * (kThreads - 1) / 2 && got[1] == most && got[2] == 0x7fffffff &&
         got[3] == 2 * blocks * kThreads && sum == 0.5f * blocks * kThreads;
}

__global__ void small_floats(unsigned short *out) {
  unsigned bits = 0x3f800000u + threadIdx.x * 0x1800u;  // ties included
  float f = __uint_as_float(bits);
  reinterpret_cast<__hip_bfloat16 *>(out)[threadIdx.x] = __float2bfloat16(f);
  reinterpret_cast<__half *>(out)[kThreads + threadIdx.x] = __float2half(f);
}
static bool check_small_floats(const std::vector<unsigned short> &got, int) {
  bool right = true;
  for (unsigned t = 0; t < kThreads; ++t) {
    unsigned bits = 0x3f800000u + t * 0x1800u;
    right &= got[t] == ((bits + 0x7fffu + (bits >> 16 & 1)) >> 16);
    unsigned half = bits - 0x38000000u;  // rebias: all are normal in half precision
    right &= got[kThreads + t] == ((half + 0xfffu + (half >> 13 & 1)) >> 13);
  }
  return right;
}

template <class T, class K, class C> void test(const char *name, K kernel, int blocks, int count, int wave, C check) {
  T *device = nullptr;
  std::vector<T> got(count);
  bool right = hipMalloc((void **)&device, count * sizeof(T)) == hipSuccess;
  right = right && hipMemset(device, 0, count * sizeof(T)) == hipSuccess;
  if (right) kernel<<<blocks, kThreads, kThreads * sizeof(int)>>>(device);
  right = right && hipGetLastError() == hipSuccess && hipDeviceSynchronize() == hipSuccess;
  right = right && hipMemcpy(got.data(), device, count * sizeof(T), hipMemcpyDeviceToHost) == hipSuccess;
  if (device) right = hipFree(device) == hipSuccess && right;
  std::printf("TEST %s %s\n", name, right && check(got, wave) ? "ok" : "FAIL");
}

int main() {
  int wave = 0;
  test<int>("launch", width, 1, 1, 0, [&](const std::vector<int> &got, int) {
    wave = got[0];
    return wave == 32 || wave == 64;
  });
  if (wave != 32 && wave != 64) return 1;
  test<int>("shuffle", shuffles, 1, 4 * kThreads, wave, check_shuffles);
  test<unsigned long long>("ballot", ballots, 1, kThreads, wave, check_ballots);
  test<int>("divergence", divergence, 1, kThreads, wave, check_divergence);
  test<int>("barrier", barriers, 1, kThreads, wave, check_barriers);
  test<int>("atomic", atomics, 4, 5, wave, check_atomics);
  test<unsigned short>("rounding", small_floats, 1, 2 * kThreads, wave, check_small_floats);
  std::printf("WIDTH %d\n", wave);
  return 0;
}
