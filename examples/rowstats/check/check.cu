// Checks row_sum and compact against loops on the host: prints PASS or FAIL. nvcc -o check check/check.cu && ./check
#include <algorithm>
#include <cstdio>
#include <vector>

#include "../csrc/compact.cu"
#include "../csrc/row_sum.cu"

static bool failed(cudaError_t error, const char* what) {
  if (error != cudaSuccess) std::printf("%s: %s\n", what, cudaGetErrorString(error));
  return error != cudaSuccess;
}

int main() {
  const int rows = 21, columns = 150, n = rows * columns;
  const float threshold = 100.0f;
  std::vector<float> in(n), sums(rows), kept;
  unsigned state = 70;
  for (int i = 0; i < n; ++i) {
    state = state * 1664525u + 1013904223u;
    in[i] = static_cast<float>(static_cast<int>(state >> 16) % 1000 - 500);
    sums[i / columns] += in[i];
    if (in[i] > threshold) kept.push_back(in[i]);
  }

  float *a, *b, *c;
  int* count;
  if (failed(cudaMalloc(&a, n * sizeof(float)), "cudaMalloc") ||
      failed(cudaMalloc(&b, rows * sizeof(float)), "cudaMalloc") ||
      failed(cudaMalloc(&c, n * sizeof(float)), "cudaMalloc") ||
      failed(cudaMalloc(&count, sizeof(int)), "cudaMalloc") ||
      failed(cudaMemcpy(a, in.data(), n * sizeof(float), cudaMemcpyHostToDevice), "cudaMemcpy") ||
      failed(cudaMemset(count, 0, sizeof(int)), "cudaMemset") ||
      failed(row_sum(a, b, rows, columns, nullptr), "row_sum") ||
      failed(compact(a, c, count, n, threshold, nullptr), "compact"))
    return 1;

  int got_count = 0;
  std::vector<float> got_sums(rows), got_kept(kept.size());
  cudaMemcpy(&got_count, count, sizeof(int), cudaMemcpyDeviceToHost);
  cudaMemcpy(got_sums.data(), b, rows * sizeof(float), cudaMemcpyDeviceToHost);
  cudaMemcpy(got_kept.data(), c, got_kept.size() * sizeof(float), cudaMemcpyDeviceToHost);
  std::sort(got_kept.begin(), got_kept.end());
  std::sort(kept.begin(), kept.end());

  const bool right = got_count == static_cast<int>(kept.size()) && got_sums == sums && got_kept == kept;
  std::printf("%s: %d row sums, %d of %d values kept\n", right ? "PASS" : "FAIL", rows, got_count, n);
  return right ? 0 : 1;
}
