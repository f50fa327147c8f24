// Kernels compiled at run time: plain, templates by name expression, with a header, a global, and a broken one.
#include <hip/hip_runtime.h>
#include <hip/hiprtc.h>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

static const char *const kSource = R"(
#include "scale.h"
__device__ int calls[4];
extern "C" __global__ void wave_sum(int *out, char skew, const int *in) {
  __shared__ int first[1];
  int v = in[threadIdx.x] * SCALE;
  for (int d = warpSize / 2; d; d /= 2) v += __shfl_xor(v, d);
  if (threadIdx.x == 0) first[0] = v;
  __syncthreads();
  out[threadIdx.x] = first[0] + skew;
  if (threadIdx.x < 4) atomicAdd(&calls[threadIdx.x], 1);
}
template <class T, int N> __global__ void fill(T *out) { out[blockIdx.x * blockDim.x + threadIdx.x] = T(N); }
)";

int main() {
  int width;
  hipDeviceGetAttribute(&width, hipDeviceAttributeWarpSize, 0);
  bool ok = true;
  hiprtcProgram program, broken;
  const char *header = "#define SCALE 3\n", *header_name = "scale.h", *options[] = {"-DUNUSED=1", "--gpu-architecture=gfx942"};
  ok &= hiprtcCreateProgram(&broken, "__global__ void k() { no_such_thing(); }", "broken.hip", 0, nullptr, nullptr) == HIPRTC_SUCCESS;
  ok &= hiprtcCompileProgram(broken, 0, nullptr) == HIPRTC_ERROR_COMPILATION;
  size_t size;
  hiprtcGetProgramLogSize(broken, &size);
  std::string log(size, 0);
  hiprtcGetProgramLog(broken, log.data());
  ok &= log.find("no_such_thing") != std::string::npos;
  ok &= hiprtcCreateProgram(&program, kSource, "kernels.hip", 1, &header, &header_name) == HIPRTC_SUCCESS;
  ok &= hiprtcAddNameExpression(program, "fill<float, 7>") == HIPRTC_SUCCESS;
  if (hiprtcCompileProgram(program, 2, options) != HIPRTC_SUCCESS) {
    hiprtcGetProgramLogSize(program, &size);
    std::string text(size + 1, 0);
    hiprtcGetProgramLog(program, text.data());
    std::printf("FAIL %s\n", text.c_str());
    return 1;
  }
  const char *lowered;
  ok &= hiprtcGetLoweredName(program, "fill<float, 7>", &lowered) == HIPRTC_SUCCESS;
  std::string name = lowered;
  hiprtcGetCodeSize(program, &size);
  std::vector<char> code(size);
  hiprtcGetCode(program, code.data());
  hiprtcDestroyProgram(&program);

  hipModule_t module;
  hipFunction_t sum, fill, none;
  ok &= hipModuleLoadData(&module, code.data()) == hipSuccess;
  ok &= hipModuleGetFunction(&sum, module, "wave_sum") == hipSuccess && hipModuleGetFunction(&fill, module, name.c_str()) == hipSuccess;
  ok &= hipModuleGetFunction(&none, module, "gone") == hipErrorNotFound;
  (void)hipGetLastError();
  std::vector<int> h(width);
  int total = 0, *in, *out;
  for (int i = 0; i < width; ++i) total += 3 * (h[i] = i * i);
  hipMalloc(&in, width * sizeof(int));
  hipMalloc(&out, width * sizeof(int));
  hipMemcpy(in, h.data(), width * sizeof(int), hipMemcpyHostToDevice);
  struct { int *out; char skew; const int *in; } packed{out, 5, in};
  size_t bytes = sizeof packed;
  void *extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, &packed, HIP_LAUNCH_PARAM_BUFFER_SIZE, &bytes, HIP_LAUNCH_PARAM_END};
  ok &= hipModuleLaunchKernel(sum, 1, 1, 1, width, 1, 1, 0, nullptr, nullptr, extra) == hipSuccess;
  hipMemcpy(h.data(), out, width * sizeof(int), hipMemcpyDeviceToHost);
  for (int v : h) ok &= v == total + 5;
  void *arguments[] = {&in};
  ok &= hipModuleLaunchKernel(fill, 1, 1, 1, width, 1, 1, 0, nullptr, arguments, nullptr) == hipSuccess;
  std::vector<float> f(width);
  hipMemcpy(f.data(), in, width * sizeof(float), hipMemcpyDeviceToHost);
  for (float v : f) ok &= v == 7;
  hipDeviceptr_t global;
  int calls[4];
  ok &= hipModuleGetGlobal(&global, &bytes, module, "calls") == hipSuccess && bytes == sizeof calls;
  hipMemcpy(calls, global, sizeof calls, hipMemcpyDeviceToHost);
  ok &= calls[0] == 1 && calls[3] == 1;
  hipModuleUnload(module);
  std::puts(ok ? "PASS" : "FAIL");
}
