// Kernels whose threads never meet run as one loop over their block: each thread must still be one of its own.
#include <hip/hip_runtime.h>
#include <cstdio>
#include <vector>

struct Pair {
  int a, b;
  __host__ __device__ int sum() const { return a + b; }
};
__device__ int own_index() { return blockIdx.x * blockDim.x + threadIdx.x; }
__device__ int plain(int v) { return 3 * v + 1; }

// Parameters are the thread's own: what it does to them is not seen by the next one.
__global__ void walks(int *p, int n, int step) {
  p += blockIdx.x * blockDim.x + threadIdx.x;
  n -= blockIdx.x * blockDim.x + threadIdx.x;
  if (n <= 0) return;
  while (step-- > 0) *p += 1;
}
__global__ void through_a_function(int *p) { p[own_index()] += plain(own_index()); }
__global__ void three_dimensions(int *p, Pair pair) {
  int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;
  int at = ((blockIdx.x * blockDim.z + z) * blockDim.y + y) * blockDim.x + x;
  pair.a += x;
  p[at] = 10000 * z + 100 * y + x + pair.sum() - pair.a - pair.b;
}
template <class T, int N> __global__ void with_array(T *out) {
  T local[N];
  for (int i = 0; i < N; ++i) local[i] = T(threadIdx.x * i);
  auto add = [&](T v) { return v + T(threadIdx.x); };
  T sum{};
  for (T v : local) sum = add(sum) + v;
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
template <class F> __global__ void applies(F f, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) f(i);
}
__global__ void counts(int *count) {
  atomicAdd(count, 1);
  if (threadIdx.x % 3) return;
  atomicAdd(count + 1, static_cast<int>(threadIdx.x));
}

template <class F> static bool same(const char *what, const std::vector<int> &got, F expected) {
  for (size_t i = 0; i < got.size(); ++i)
    if (got[i] != expected(static_cast<int>(i))) {
      std::printf("FAIL %s: [%zu] is %d, not %d\n", what, i, got[i], expected(static_cast<int>(i)));
      return false;
    }
  return true;
}

int main() {
  const int n = 1000, blocks = 5, threads = 200;
  int *p;
  hipMalloc(&p, 4096 * sizeof(int));
  std::vector<int> v(n);
  auto fetch = [&](size_t count) {
    v.resize(count);
    hipMemcpy(v.data(), p, count * sizeof(int), hipMemcpyDeviceToHost);
    hipMemset(p, 0, 4096 * sizeof(int));
    return v;
  };
  bool ok = true;
  hipMemset(p, 0, 4096 * sizeof(int));
  walks<<<blocks, threads>>>(p, n - 3, 4);
  ok &= same("walks", fetch(n), [&](int i) { return i < n - 3 ? 4 : 0; });
  through_a_function<<<blocks, threads>>>(p);
  ok &= same("function", fetch(n), [](int i) { return 3 * i + 1; });
  three_dimensions<<<2, dim3(70, 3, 4)>>>(p, Pair{1, 2});
  ok &= same("dimensions", fetch(2 * 70 * 12), [](int i) { return 10000 * (i / 210 % 4) + 100 * (i / 70 % 3) + i % 70; });
  with_array<int, 4><<<blocks, threads>>>(p);
  ok &= same("array", fetch(n), [&](int i) { return 10 * (i % threads); });
  applies<<<blocks, threads>>>([=] __device__(int i) { p[i] = i * static_cast<int>(blockDim.x) + static_cast<int>(threadIdx.x); }, n);
  ok &= same("lambda", fetch(n), [&](int i) { return i * threads + i % threads; });
  counts<<<blocks, threads>>>(p);
  ok &= same("counts", fetch(2), [&](int i) { return i ? blocks * 3 * 66 * 67 / 2 : n; });
  std::puts(ok ? "PASS" : "FAIL");
}
