// SPDX-License-Identifier: Apache-2.0
// What the runtime answers without running a kernel. Each line of CHECK says what it expects.
#include <cstdio>
#include <cstring>
#include <vector>

#include <hip/hip_runtime.h>

static int failed;
#define CHECK(condition) \
  do { \
    if (!(condition)) ++failed, std::printf("line %d: %s\n", __LINE__, #condition); \
  } while (0)

__device__ int counter = 7;
__constant__ float table[4] = {1, 2, 3, 4};
__constant__ const float fixed[5] = {1, 2, 3, 4, 5};
__managed__ int shared_count = 3;
__global__ void scale(float *x, float by) { x[threadIdx.x] *= by * table[0] + counter + shared_count; }
__global__ void __launch_bounds__(128) bounded(float *x) { x[threadIdx.x] = 0; }

static void memory() {
  char *d = nullptr;
  std::vector<char> h(400, 5), back(400);
  CHECK(hipMalloc(&d, 400) == hipSuccess && reinterpret_cast<size_t>(d) % 256 == 0);
  CHECK(hipMemcpy(d, h.data(), 400, hipMemcpyHostToDevice) == hipSuccess);
  CHECK(hipMemcpy(back.data(), d, 400, hipMemcpyDeviceToHost) == hipSuccess && back == h);
  CHECK(hipMemcpy(d, h.data(), 401, hipMemcpyHostToDevice) == hipErrorInvalidValue);
  CHECK(hipGetLastError() == hipErrorInvalidValue && hipGetLastError() == hipSuccess);
  CHECK(hipMemset(d + 200, 1, 201) == hipErrorInvalidValue);
  CHECK(hipMemsetD32(d, 0x01020304, 100) == hipSuccess && d[396] == 4);
  hipPointerAttribute_t a;
  CHECK(hipPointerGetAttributes(&a, d + 10) == hipSuccess && a.type == hipMemoryTypeDevice);
  CHECK(hipPointerGetAttributes(&a, h.data()) == hipSuccess && a.type == hipMemoryTypeUnregistered);
  CHECK(hipFree(d + 1) == hipErrorInvalidValue && hipFree(d) == hipSuccess && hipFree(d) == hipErrorInvalidValue);
  void *none = nullptr;
  CHECK(hipMalloc(&none, size_t{1} << 45) == hipErrorOutOfMemory && !none);
  char *rows = nullptr;
  size_t pitch = 0;
  CHECK(hipMallocPitch(reinterpret_cast<void **>(&rows), &pitch, 100, 3) == hipSuccess && pitch == 256);
  CHECK(hipMemcpy2D(rows, pitch, h.data(), 100, 100, 3, hipMemcpyHostToDevice) == hipSuccess && rows[2 * pitch + 99] == 5);
  CHECK(hipMemcpy2D(rows, pitch, h.data(), 100, 101, 3, hipMemcpyHostToDevice) == hipErrorInvalidPitchValue);
  CHECK(hipFree(rows) == hipSuccess);
}

static void symbols() {
  int value = 0;
  float constants[4];
  void *address = nullptr;
  size_t size = 0;
  CHECK(hipMemcpyFromSymbol(&value, HIP_SYMBOL(counter), 4) == hipSuccess && value == 7);
  value = 9;
  CHECK(hipMemcpyToSymbol(HIP_SYMBOL(counter), &value, 4) == hipSuccess);
  CHECK(hipGetSymbolAddress(&address, HIP_SYMBOL(counter)) == hipSuccess && *static_cast<int *>(address) == 9);
  CHECK(hipMemcpyFromSymbol(constants, HIP_SYMBOL(table), 16) == hipSuccess && constants[3] == 4);
  CHECK(hipMemcpyFromSymbol(constants, HIP_SYMBOL(table), 16, 4) == hipErrorInvalidValue);
  CHECK(hipGetSymbolSize(&size, HIP_SYMBOL(table)) == hipSuccess && size == 16);
  CHECK(hipGetSymbolSize(&size, HIP_SYMBOL(fixed)) == hipSuccess && size == 20);
  CHECK(shared_count == 3);
}

static void kernels() {
  hipFuncAttributes a;
  int grid = 0, block = 0, resident = 0;
  CHECK(hipFuncGetAttributes(&a, reinterpret_cast<const void *>(bounded)) == hipSuccess && a.maxThreadsPerBlock == 128);
  CHECK(hipOccupancyMaxPotentialBlockSize(&grid, &block, bounded, 0, 0) == hipSuccess && block <= 128 && grid > 0);
  CHECK(hipOccupancyMaxActiveBlocksPerMultiprocessor(&resident, bounded, 64, 0) == hipSuccess && resident > 0);
  scale<<<1, 2048>>>(nullptr, 1);
  CHECK(hipGetLastError() == hipErrorInvalidConfiguration);
  bounded<<<1, 256>>>(nullptr);
  CHECK(hipGetLastError() == hipErrorLaunchFailure);
  scale<<<1, 64, 1 << 20>>>(nullptr, 1);
  CHECK(hipGetLastError() == hipErrorInvalidValue);
  CHECK(hipLaunchKernel(&failed, dim3(1), dim3(1), nullptr, 0, nullptr) == hipErrorInvalidDeviceFunction);
}

static void count(void *data) { ++*static_cast<int *>(data); }

static void graphs() {
  hipStream_t stream, other;
  hipEvent_t event;
  hipGraph_t graph;
  hipGraphExec_t exec;
  int *d = nullptr, calls = 0;
  CHECK(hipMalloc(&d, 64) == hipSuccess && hipMemset(d, 0, 64) == hipSuccess);
  CHECK(hipStreamCreate(&stream) == hipSuccess && hipStreamCreate(&other) == hipSuccess && hipEventCreate(&event) == hipSuccess);
  CHECK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal) == hipSuccess);
  CHECK(hipMemsetAsync(d, 1, 64, stream) == hipSuccess && d[0] == 0);
  CHECK(hipEventRecord(event, stream) == hipSuccess && hipStreamWaitEvent(other, event, 0) == hipSuccess);
  CHECK(hipLaunchHostFunc(other, count, &calls) == hipSuccess && calls == 0);
  CHECK(hipStreamSynchronize(stream) == hipErrorStreamCaptureUnsupported);
  CHECK(hipStreamEndCapture(stream, &graph) == hipSuccess);
  size_t nodes = 0;
  CHECK(hipGraphGetNodes(graph, nullptr, &nodes) == hipSuccess && nodes == 2);
  CHECK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0) == hipSuccess);
  CHECK(hipGraphLaunch(exec, stream) == hipSuccess && d[15] == 0x01010101 && calls == 1);
  CHECK(hipGraphLaunch(exec, stream) == hipSuccess && calls == 2);
  CHECK(hipGraphExecDestroy(exec) == hipSuccess && hipGraphDestroy(graph) == hipSuccess);

  hipGraphNode_t first, second;
  hipHostNodeParams host = {count, &calls};
  CHECK(hipGraphCreate(&graph, 0) == hipSuccess && hipGraphAddHostNode(&first, graph, nullptr, 0, &host) == hipSuccess);
  CHECK(hipGraphAddMemcpyNode1D(&second, graph, &first, 1, d, &calls, 4, hipMemcpyHostToDevice) == hipSuccess);
  CHECK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0) == hipSuccess && hipGraphLaunch(exec, nullptr) == hipSuccess);
  CHECK(d[0] == 3);
  CHECK(hipGraphAddDependencies(graph, &second, &first, 1) == hipSuccess);
  CHECK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0) == hipErrorInvalidValue);
  CHECK(hipStreamDestroy(other) == hipSuccess && hipStreamQuery(other) == hipErrorInvalidHandle);
  CHECK(hipFree(d) == hipSuccess);
}

static void device() {
  hipDeviceProp_t p;
  int value = 0, count_of_devices = 0;
  CHECK(hipGetDeviceCount(&count_of_devices) == hipSuccess && count_of_devices == 1);
  CHECK(hipGetDeviceProperties(&p, 0) == hipSuccess && hipGetDeviceProperties(&p, 1) == hipErrorInvalidDevice);
  CHECK(hipDeviceGetAttribute(&value, hipDeviceAttributeWarpSize, 0) == hipSuccess && value == p.warpSize);
  CHECK(!std::strcmp(hipGetErrorName(hipErrorNotReady), "hipErrorNotReady"));
  std::printf("%s %d %zu\n", p.gcnArchName, p.warpSize, p.sharedMemPerBlock);
  hipTextureObject_t texture;
  CHECK(hipCreateTextureObject(&texture, nullptr, nullptr, nullptr) == hipErrorNotSupported);
  CHECK(hipCreateTextureObject(&texture, nullptr, nullptr, nullptr) == hipErrorNotSupported);
}

int main() {
  memory();
  symbols();
  kernels();
  graphs();
  device();
  std::puts(failed ? "FAILED" : "PASSED");
  return failed != 0;
}
