#include <cuda_runtime.h>
#include <cstdio>
// The sum of what a kernel wrote, and what CUDA's definitions give.
inline int report(long got, long want) {
  std::printf(got == want ? "PASS\n" : "FAIL: %ld instead of %ld\n", got, want);
  return got == want ? 0 : 1;
}
template <class K> long sum_of(K kernel, int blocks, int threads, int outputs) {
  int *out;
  cudaMalloc(&out, (outputs + 64) * sizeof(int));
  cudaMemset(out, 0, (outputs + 64) * sizeof(int));
  kernel<<<blocks, threads>>>(out);
  cudaDeviceSynchronize();
  int *host = new int[outputs];
  cudaMemcpy(host, out, outputs * sizeof(int), cudaMemcpyDeviceToHost);
  long total = 0;
  for (int i = 0; i < outputs; ++i) total += host[i];
  delete[] host;
  cudaFree(out);
  return total;
}
