// SPDX-License-Identifier: Apache-2.0
// Kernels through every part of a launch: arguments, variables, printf, device malloc, hiprtc, graphs.
#include <cstdio>
#include <string>
#include <vector>

#include <hip/hip_runtime.h>
#include <hip/hiprtc.h>

static int failed;
#define CHECK(condition) \
  do { \
    if (!(condition)) ++failed, std::printf("line %d: %s\n", __LINE__, #condition); \
  } while (0)

__device__ int counter = 7;
__constant__ float table[4] = {1, 2, 3, 4};
__managed__ int shared_count = 3;

__global__ void axpy(float *x, int n, double a) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = x[i] * static_cast<float>(a) + table[i & 3];
  if (i == 0) atomicAdd(&counter, 5), shared_count = 42;
}
extern "C" __global__ void f(int n) {  // the mangled type float is spelled so too
  if (threadIdx.x == 1) printf("lane %d of %s: %5.2f|%-4d|%lx\n", threadIdx.x, "a kernel", 1.5, n, 1ul << 40);
}
__global__ void take(int **p) { (p[threadIdx.x] = static_cast<int *>(malloc(8)))[0] = threadIdx.x; }
__global__ void give(int **p, int *out) {
  out[threadIdx.x] = *p[threadIdx.x];
  free(p[threadIdx.x]);
}

int main() {
  std::vector<float> h(100);
  for (int i = 0; i < 100; ++i) h[i] = static_cast<float>(i);
  float *d = nullptr;
  CHECK(hipMalloc(&d, 400) == hipSuccess && hipMemcpy(d, h.data(), 400, hipMemcpyHostToDevice) == hipSuccess);
  axpy<<<4, 32>>>(d, 100, 2.0);
  CHECK(hipDeviceSynchronize() == hipSuccess && hipMemcpy(h.data(), d, 400, hipMemcpyDeviceToHost) == hipSuccess);
  for (int i = 0; i < 100; ++i) CHECK(h[i] == 2.0f * static_cast<float>(i) + static_cast<float>((i & 3) + 1));
  int value = 0;
  CHECK(hipMemcpyFromSymbol(&value, HIP_SYMBOL(counter), 4) == hipSuccess && value == 12 && shared_count == 42);

  hipStream_t stream;
  hipGraph_t graph;
  hipGraphExec_t exec;
  CHECK(hipStreamCreate(&stream) == hipSuccess);
  CHECK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal) == hipSuccess);
  axpy<<<4, 32, 0, stream>>>(d, 100, 0.0);
  CHECK(hipStreamEndCapture(stream, &graph) == hipSuccess && d[9] == h[9]);
  CHECK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0) == hipSuccess);
  CHECK(hipGraphLaunch(exec, stream) == hipSuccess && d[9] == 2);

  f<<<1, 64>>>(-3);
  int **blocks = nullptr, *out = nullptr;
  CHECK(hipMalloc(&blocks, 64 * sizeof *blocks) == hipSuccess && hipMalloc(&out, 256) == hipSuccess);
  take<<<1, 64>>>(blocks);
  give<<<1, 64>>>(blocks, out);
  for (int i = 0; i < 64; ++i) CHECK(out[i] == i);

  hiprtcProgram program;
  const char *text = "template <class T> __global__ void twice(T *x) { x[threadIdx.x] *= 2; }";
  const char *name = nullptr;
  CHECK(hiprtcCreateProgram(&program, text, "twice.hip", 0, nullptr, nullptr) == HIPRTC_SUCCESS);
  CHECK(hiprtcAddNameExpression(program, "twice<float>") == HIPRTC_SUCCESS);
  CHECK(hiprtcCompileProgram(program, 0, nullptr) == HIPRTC_SUCCESS);
  CHECK(hiprtcGetLoweredName(program, "twice<float>", &name) == HIPRTC_SUCCESS);
  size_t bytes = 0;
  CHECK(hiprtcGetCodeSize(program, &bytes) == HIPRTC_SUCCESS && bytes > 0);
  std::string code(bytes, 0);
  hipModule_t module;
  hipFunction_t function;
  CHECK(hiprtcGetCode(program, code.data()) == HIPRTC_SUCCESS && hipModuleLoadData(&module, code.data()) == hipSuccess);
  CHECK(hipModuleGetFunction(&function, module, name) == hipSuccess);
  CHECK(hipModuleGetFunction(&function, module, "nothing") == hipErrorNotFound);
  CHECK(hipModuleGetFunction(&function, module, name) == hipSuccess);
  void *arguments[] = {&d};
  CHECK(hipModuleLaunchKernel(function, 1, 1, 1, 10, 1, 1, 0, nullptr, arguments, nullptr) == hipSuccess && d[9] == 4 && d[10] == 3);
  CHECK(hipModuleUnload(module) == hipSuccess && hiprtcDestroyProgram(&program) == HIPRTC_SUCCESS);
  std::puts(failed ? "FAILED" : "PASSED");
  return failed != 0;
}
