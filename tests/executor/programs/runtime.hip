// Graphs built by hand, mapped memory, values written by a stream, device clocks: the rarer calls of the runtime.
#include <hip/hip_runtime.h>
#include <cstdio>
#include <vector>

__global__ void add(int *p, int n, int v) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] += v;
}
__global__ void looks(int *out, clock_t *cycles) {
  extern float __shared__ dynamic[];
  __shared__ alignas(16) int fixed[4];
  int own = 0;
  clock_t start = clock();
  dynamic[threadIdx.x] = threadIdx.x;
  if (threadIdx.x < 4) fixed[threadIdx.x] = threadIdx.x;
  __syncthreads();
  bool right = __isShared(&fixed[1]) && __isShared(&dynamic[5]) && !__isShared(out) && __isGlobal(out) && !__isGlobal(&own);
  out[threadIdx.x] = right + own;
  cycles[threadIdx.x] = clock() - start;
}

#define CHECK(call) \
  if ((call) != hipSuccess) return std::printf("FAIL %s: %s\n", #call, hipGetErrorString(hipGetLastError())), 1

// The arguments' array ends with this function: the node must own copies.
static hipError_t add_kernel(hipGraph_t graph, hipGraphNode_t *node, const hipGraphNode_t *after, size_t count, int *p, int n, int v) {
  void *arguments[] = {&p, &n, &v};
  hipKernelNodeParams k{};
  k.func = reinterpret_cast<void *>(add);
  k.gridDim = dim3((n + 63) / 64);
  k.blockDim = dim3(64);
  k.kernelParams = arguments;
  return hipGraphAddKernelNode(node, graph, after, count, &k);
}

int main() {
  const int n = 200;
  std::vector<int> h(n);
  int *d, *from_graph;
  CHECK(hipMalloc(&d, n * sizeof(int)));
  hipGraph_t graph, clone;
  hipGraphNode_t nodes[5];
  hipMemAllocNodeParams wanted{};
  wanted.bytesize = n * sizeof(int);
  CHECK(hipGraphCreate(&graph, 0));
  CHECK(hipGraphAddMemAllocNode(&nodes[0], graph, nullptr, 0, &wanted));
  from_graph = static_cast<int *>(wanted.dptr);
  hipMemsetParams zero{};
  zero.dst = from_graph, zero.elementSize = 4, zero.width = n, zero.height = 1;
  CHECK(hipGraphAddMemsetNode(&nodes[1], graph, nodes, 1, &zero));
  CHECK(add_kernel(graph, &nodes[2], nodes + 1, 1, from_graph, n, 40));
  CHECK(add_kernel(graph, &nodes[3], nodes + 2, 1, from_graph, n, 2));
  CHECK(hipGraphAddMemcpyNode1D(&nodes[4], graph, nodes + 3, 1, h.data(), from_graph, n * sizeof(int), hipMemcpyDeviceToHost));
  size_t count = 0, roots = 0;
  CHECK(hipGraphGetNodes(graph, nullptr, &count));
  CHECK(hipGraphGetRootNodes(graph, nullptr, &roots));
  CHECK(hipGraphClone(&clone, graph));
  hipGraphNode_t twin;
  CHECK(hipGraphNodeFindInClone(&twin, nodes[2], clone));
  hipGraphExec_t exec;
  CHECK(hipGraphInstantiate(&exec, clone));
  for (int i = 0; i < 2; ++i) CHECK(hipGraphLaunch(exec, nullptr));
  bool ok = count == 5 && roots == 1 && twin != nodes[2];
  for (int v : h) ok &= v == 42;

  size_t granule;
  hipMemAllocationProp properties{};
  void *address;
  hipMemGenericAllocationHandle_t handle;
  CHECK(hipMemGetAllocationGranularity(&granule, &properties, hipMemAllocationGranularityMinimum));
  CHECK(hipMemAddressReserve(&address, 2 * granule, 0, nullptr, 0));
  CHECK(hipMemCreate(&handle, granule, &properties, 0));
  CHECK(hipMemMap(address, granule, 0, handle, 0));
  CHECK(hipMemset(address, 0, granule));
  add<<<4, 64>>>(static_cast<int *>(address), n, 7);
  CHECK(hipMemcpy(h.data(), address, n * sizeof(int), hipMemcpyDeviceToHost));
  for (int v : h) ok &= v == 7;
  CHECK(hipMemUnmap(address, granule));
  CHECK(hipMemRelease(handle));
  CHECK(hipMemAddressFree(address, 2 * granule));

  CHECK(hipStreamWriteValue32(nullptr, d, 5, 0));
  CHECK(hipStreamWaitValue32(nullptr, d, 5, hipStreamWaitValueEq));
  clock_t *cycles;
  CHECK(hipMalloc(&cycles, 64 * sizeof(clock_t)));
  looks<<<1, 64, 64 * sizeof(float)>>>(d, cycles);
  std::vector<clock_t> c(64);
  CHECK(hipMemcpy(h.data(), d, 64 * sizeof(int), hipMemcpyDeviceToHost));
  CHECK(hipMemcpy(c.data(), cycles, 64 * sizeof(clock_t), hipMemcpyDeviceToHost));
  for (int i = 0; i < 64; ++i) ok &= h[i] == 1 && c[i] >= 0;
  std::puts(ok ? "PASS" : "FAIL");
}
