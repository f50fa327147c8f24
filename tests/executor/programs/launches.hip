// SPDX-License-Identifier: Apache-2.0
// Every way to launch, dynamic shared memory, templates, symbols, streams, a captured graph and a grid barrier.
#include <hip/hip_runtime.h>
#include <hip/hip_cooperative_groups.h>
#include <cstdio>
#include <vector>

namespace cg = cooperative_groups;

__constant__ int weights[4];
__device__ int counter;
#define LAUNCH(kernel, blocks, ...) kernel<<<blocks, 64>>>(__VA_ARGS__)

template <typename T, int Scale> __global__ void scale(T *data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] = data[i] * Scale + (T)weights[i & 3];
}

__global__ void reverse(int *data, int n) {
  extern __shared__ int buffer[];
  int t = threadIdx.x;
  if (t < n) buffer[t] = data[t];
  __syncthreads();
  if (t < n) data[t] = buffer[n - 1 - t];
  if (t == 0) atomicAdd(&counter, 1);
}

__global__ void rotate(int *data) {
  cg::grid_group grid = cg::this_grid();
  int i = grid.thread_rank(), next = data[(i + 1) % grid.size()];
  grid.sync();
  data[i] = next;
}

int main() {
  const int n = 256, start[4] = {1, 2, 3, 4};
  std::vector<int> host(n), expected(n);
  for (int i = 0; i < n; ++i) expected[i] = host[i] = i;
  int *data, zero = 0, runs = 0;
  hipMalloc(&data, n * sizeof(int));
  hipMemcpy(data, host.data(), n * sizeof(int), hipMemcpyHostToDevice);
  hipMemcpyToSymbol(HIP_SYMBOL(weights), start, sizeof start);
  hipMemcpyToSymbol(HIP_SYMBOL(counter), &zero, sizeof zero);

  scale<int, 3><<<dim3(4), dim3(64), 0, 0>>>(data, n);
  hipLaunchKernelGGL(HIP_KERNEL_NAME(scale<int, 2>), dim3(4), dim3(64), 0, 0, data, n);
  hipLaunchKernelGGL((scale<int, 1>), 4, 64, 0, 0, data, n);
  LAUNCH((scale<int, 5>), 4, data, n);
  for (int factor : {3, 2, 1, 5})
    for (int i = 0; i < n; ++i) expected[i] = expected[i] * factor + start[i & 3];

  hipStream_t stream;
  hipStreamCreate(&stream);
  hipGraph_t graph;
  hipGraphExec_t exec;
  hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal);
  reverse<<<1, n, n * sizeof(int), stream>>>(data, n);
  hipStreamEndCapture(stream, &graph);
  hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0);
  for (int i = 0; i < 3; ++i) hipGraphLaunch(exec, stream);
  hipStreamSynchronize(stream);
  for (int i = 0; i < n / 2; ++i) std::swap(expected[i], expected[n - 1 - i]);

  void *arguments[] = {&data};
  hipLaunchCooperativeKernel((void *)rotate, dim3(4), dim3(64), arguments, 0, 0);
  for (int i = 0, first = expected[0]; i < n; ++i) expected[i] = i + 1 < n ? expected[i + 1] : first;

  hipMemcpy(host.data(), data, n * sizeof(int), hipMemcpyDeviceToHost);
  hipMemcpyFromSymbol(&runs, HIP_SYMBOL(counter), sizeof runs);
  std::printf("%s %d\n", host == expected && runs == 3 ? "PASS" : "FAIL", runs);
  hipGraphExecDestroy(exec);
  hipGraphDestroy(graph);
  hipStreamDestroy(stream);
  hipFree(data);
}
