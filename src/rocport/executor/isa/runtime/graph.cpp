// SPDX-License-Identifier: Apache-2.0
// Graphs, captured or made by hand: each node holds what it does; a launch does them in an order that keeps the edges.
#include <algorithm>

#include "state.h"

struct hipGraphNode {
  hipGraphNodeType type;
  rt::Work work;
  std::vector<hipGraphNode *> after;
  hipKernelNodeParams kernel{};
  hipMemsetParams memset{};
  hipMemcpy3DParms memcpy{};
  hipHostNodeParams host{};
  ihipGraph *child = nullptr;
  hipEvent_t event = nullptr;
  bool enabled = true;
  const hipGraphNode *original = nullptr;  // that this one is a clone of
};

struct ihipGraph {
  std::vector<std::shared_ptr<hipGraphNode>> nodes;
};

struct hipGraphExec {
  std::vector<std::shared_ptr<hipGraphNode>> nodes;  // copies, in the order of execution
  std::map<const hipGraphNode *, hipGraphNode *> copy_of;
  unsigned long long flags = 0;
};

namespace rt {

hipGraphNode_t record(hipStream_t stream, hipGraphNodeType type, Work work) {
  auto node = std::make_shared<hipGraphNode>();
  node->type = type;
  node->work = std::move(work);
  auto &nodes = stream->capture->nodes;
  // Captured operations keep the order in which the program issued them.
  if (!nodes.empty()) node->after.push_back(nodes.back().get());
  nodes.push_back(node);
  return node.get();
}

namespace {

hipGraphNode *made;  // by the latest add()

hipError_t add(hipGraphNode_t *out, hipGraph_t graph, const hipGraphNode_t *after, size_t count, hipGraphNodeType type,
               Work work) {
  if (!graph || (count && !after)) return fail(hipErrorInvalidValue);
  auto node = std::make_shared<hipGraphNode>();
  node->type = type;
  node->work = std::move(work);
  node->after.assign(after, after + count);
  graph->nodes.push_back(node);
  made = node.get();
  if (out) *out = made;
  return hipSuccess;
}

// The arguments are read when the node is made, as the API says.
hipError_t kernel_work(const hipKernelNodeParams &p, Work *work) {
  hipError_t why = hipSuccess;
  ihipModuleSymbol_t *function = registered_function(p.func, &why);
  if (!function) function = static_cast<ihipModuleSymbol_t *>(p.func), why = hipSuccess;
  const std::string kernarg = pack_arguments(*function->kernel, p.kernelParams, nullptr, 0);
  Launch launch;
  launch.grid = p.gridDim;
  launch.block = p.blockDim;
  launch.lds = p.sharedMemBytes;
  if (hipError_t bad = check_launch(function, launch)) return bad;
  *work = [=] { return run_kernel(function, launch, kernarg); };
  return hipSuccess;
}

Work memset_work(const hipMemsetParams &p) {
  return [p] {
    const size_t height = p.height ? p.height : 1;
    if (hipError_t bad = check_range(p.dst, (height - 1) * p.pitch + p.width * p.elementSize, "a fill of device memory"))
      return fail(bad);
    for (size_t y = 0; y < height; ++y)
      for (size_t x = 0; x < p.width; ++x)
        std::memcpy(static_cast<char *>(p.dst) + y * p.pitch + x * p.elementSize, &p.value, p.elementSize);
    return hipSuccess;
  };
}

Work host_work(const hipHostNodeParams &p) {
  return [p] {
    p.fn(p.userData);
    return hipSuccess;
  };
}

hipError_t list(const std::vector<hipGraphNode_t> &all, hipGraphNode_t *out, size_t *count) {
  if (!count) return fail(hipErrorInvalidValue);
  for (size_t i = 0; out && i < *count; ++i) out[i] = i < all.size() ? all[i] : nullptr;
  if (!out || *count > all.size()) *count = all.size();
  return hipSuccess;
}

bool visit(hipGraph_t graph, hipGraphNode *node, std::vector<hipGraphNode *> &order, std::vector<hipGraphNode *> &path) {
  if (std::find(order.begin(), order.end(), node) != order.end()) return true;
  if (std::find(path.begin(), path.end(), node) != path.end()) return false;
  path.push_back(node);
  for (hipGraphNode *before : node->after)
    if (!visit(graph, before, order, path)) return false;
  path.pop_back();
  order.push_back(node);
  return true;
}

hipError_t instantiate(hipGraphExec *exec, hipGraph_t graph) {
  std::vector<hipGraphNode *> order, path;
  for (auto &node : graph->nodes)
    if (!visit(graph, node.get(), order, path)) return fail(hipErrorInvalidValue);
  exec->nodes.clear();
  exec->copy_of.clear();
  for (hipGraphNode *node : order) {
    exec->nodes.push_back(std::make_shared<hipGraphNode>(*node));
    exec->copy_of[node] = exec->nodes.back().get();
  }
  return hipSuccess;
}

// The node of an instantiated graph that was made from this one.
hipGraphNode *inside(hipGraphExec_t exec, hipGraphNode_t node) {
  if (!exec) return nullptr;
  auto at = exec->copy_of.find(node);
  return at == exec->copy_of.end() ? nullptr : at->second;
}

hipError_t set_kernel(hipGraphNode *node, const hipKernelNodeParams *p) {
  if (!node || !p) return fail(hipErrorInvalidValue);
  if (hipError_t bad = kernel_work(*p, &node->work)) return fail(bad);
  node->kernel = *p;
  return hipSuccess;
}
hipError_t set_copy(hipGraphNode *node, void *to, const void *from, size_t bytes, hipMemcpyKind kind) {
  if (!node) return fail(hipErrorInvalidValue);
  node->work = [=] { return hipMemcpy(to, from, bytes, kind); };
  return hipSuccess;
}
hipError_t set_copy_3d(hipGraphNode *node, const hipMemcpy3DParms *p) {
  if (!node || !p) return fail(hipErrorInvalidValue);
  node->memcpy = *p;
  node->work = [p = *p] { return hipMemcpy3D(&p); };
  return hipSuccess;
}
hipError_t set_memset(hipGraphNode *node, const hipMemsetParams *p) {
  if (!node || !p || !p->dst) return fail(hipErrorInvalidValue);
  node->memset = *p;
  node->work = memset_work(*p);
  return hipSuccess;
}
hipError_t set_host(hipGraphNode *node, const hipHostNodeParams *p) {
  if (!node || !p || !p->fn) return fail(hipErrorInvalidValue);
  node->host = *p;
  node->work = host_work(*p);
  return hipSuccess;
}

// Adds a node and gives it its parameters; a node whose parameters are refused is not left behind.
template <class Set> hipError_t add_set(hipGraphNode_t *out, hipGraph_t graph, const hipGraphNode_t *after, size_t count,
                                        hipGraphNodeType type, Set set) {
  if (hipError_t bad = add(out, graph, after, count, type, [] { return hipSuccess; })) return bad;
  hipError_t bad = set(made);
  if (bad) graph->nodes.pop_back();
  return bad;
}

}  // namespace
}  // namespace rt

using namespace rt;

extern "C" {

hipError_t hipStreamBeginCaptureToGraph(hipStream_t stream, hipGraph_t graph, const hipGraphNode_t *,
                                        const hipGraphEdgeData *, size_t, hipStreamCaptureMode) {
  if (!graph) return fail(hipErrorInvalidValue);
  if (reinterpret_cast<size_t>(stream) <= 2) return fail(hipErrorStreamCaptureUnsupported);
  if (!valid(stream)) return fail(hipErrorInvalidHandle);
  if (stream->capture) return fail(hipErrorIllegalState);
  stream->capture = graph;
  stream->owns_capture = true;
  return hipSuccess;
}
hipError_t hipStreamBeginCapture(hipStream_t stream, hipStreamCaptureMode mode) {
  auto graph = std::make_unique<ihipGraph>();
  hipError_t bad = hipStreamBeginCaptureToGraph(stream, graph.get(), nullptr, nullptr, 0, mode);
  if (!bad) graph.release();
  return bad;
}
hipError_t hipStreamEndCapture(hipStream_t stream, hipGraph_t *graph) {
  if (!capturing(stream)) return fail(hipErrorIllegalState);
  if (!stream->owns_capture) return fail(hipErrorStreamCaptureUnmatched);
  if (graph) *graph = stream->capture;
  end_captures_into(stream->capture);
  return hipSuccess;
}
hipError_t hipStreamIsCapturing(hipStream_t stream, hipStreamCaptureStatus *status) {
  if (!status) return fail(hipErrorInvalidValue);
  *status = capturing(stream) ? hipStreamCaptureStatusActive : hipStreamCaptureStatusNone;
  return hipSuccess;
}
hipError_t hipStreamGetCaptureInfo(hipStream_t stream, hipStreamCaptureStatus *status, unsigned long long *id) {
  if (id) *id = capturing(stream) ? reinterpret_cast<size_t>(stream->capture) : 0;
  return hipStreamIsCapturing(stream, status);
}
hipError_t hipStreamGetCaptureInfo_v2(hipStream_t stream, hipStreamCaptureStatus *status, unsigned long long *id,
                                      hipGraph_t *graph, const hipGraphNode_t **after, size_t *count) {
  static thread_local hipGraphNode_t last;
  const bool active = capturing(stream);
  if (graph) *graph = active ? stream->capture : nullptr;
  last = active && !stream->capture->nodes.empty() ? stream->capture->nodes.back().get() : nullptr;
  if (after) *after = &last;
  if (count) *count = last ? 1 : 0;
  return hipStreamGetCaptureInfo(stream, status, id);
}
hipError_t hipThreadExchangeStreamCaptureMode(hipStreamCaptureMode *mode) {
  static thread_local hipStreamCaptureMode current = hipStreamCaptureModeGlobal;
  if (!mode) return fail(hipErrorInvalidValue);
  std::swap(*mode, current);
  return hipSuccess;
}

hipError_t hipGraphCreate(hipGraph_t *graph, unsigned flags) {
  if (!graph || flags) return fail(hipErrorInvalidValue);
  *graph = new ihipGraph;
  return hipSuccess;
}
hipError_t hipGraphDestroy(hipGraph_t graph) {
  if (!graph) return fail(hipErrorInvalidValue);
  delete graph;
  return hipSuccess;
}
hipError_t hipGraphAddKernelNode(hipGraphNode_t *node, hipGraph_t graph, const hipGraphNode_t *after, size_t count,
                                 const hipKernelNodeParams *p) {
  return add_set(node, graph, after, count, hipGraphNodeTypeKernel, [=](hipGraphNode *n) { return set_kernel(n, p); });
}
hipError_t hipGraphAddMemcpyNode1D(hipGraphNode_t *node, hipGraph_t graph, const hipGraphNode_t *after, size_t count,
                                   void *to, const void *from, size_t bytes, hipMemcpyKind kind) {
  return add_set(node, graph, after, count, hipGraphNodeTypeMemcpy,
                 [=](hipGraphNode *n) { return set_copy(n, to, from, bytes, kind); });
}
hipError_t hipGraphAddMemcpyNode(hipGraphNode_t *node, hipGraph_t graph, const hipGraphNode_t *after, size_t count,
                                 const hipMemcpy3DParms *p) {
  return add_set(node, graph, after, count, hipGraphNodeTypeMemcpy, [=](hipGraphNode *n) { return set_copy_3d(n, p); });
}
hipError_t hipGraphAddMemcpyNodeToSymbol(hipGraphNode_t *node, hipGraph_t graph, const hipGraphNode_t *after,
                                         size_t count, const void *symbol, const void *from, size_t bytes,
                                         size_t offset, hipMemcpyKind kind) {
  return add(node, graph, after, count, hipGraphNodeTypeMemcpy,
             [=] { return hipMemcpyToSymbol(symbol, from, bytes, offset, kind); });
}
hipError_t hipGraphAddMemcpyNodeFromSymbol(hipGraphNode_t *node, hipGraph_t graph, const hipGraphNode_t *after,
                                           size_t count, void *to, const void *symbol, size_t bytes, size_t offset,
                                           hipMemcpyKind kind) {
  return add(node, graph, after, count, hipGraphNodeTypeMemcpy,
             [=] { return hipMemcpyFromSymbol(to, symbol, bytes, offset, kind); });
}
hipError_t hipGraphAddMemsetNode(hipGraphNode_t *node, hipGraph_t graph, const hipGraphNode_t *after, size_t count,
                                 const hipMemsetParams *p) {
  return add_set(node, graph, after, count, hipGraphNodeTypeMemset, [=](hipGraphNode *n) { return set_memset(n, p); });
}
hipError_t hipGraphAddHostNode(hipGraphNode_t *node, hipGraph_t graph, const hipGraphNode_t *after, size_t count,
                               const hipHostNodeParams *p) {
  return add_set(node, graph, after, count, hipGraphNodeTypeHost, [=](hipGraphNode *n) { return set_host(n, p); });
}
hipError_t hipGraphAddEmptyNode(hipGraphNode_t *node, hipGraph_t graph, const hipGraphNode_t *after, size_t count) {
  return add(node, graph, after, count, hipGraphNodeTypeEmpty, [] { return hipSuccess; });
}
hipError_t hipGraphAddChildGraphNode(hipGraphNode_t *node, hipGraph_t graph, const hipGraphNode_t *after, size_t count,
                                     hipGraph_t child) {
  if (!child) return fail(hipErrorInvalidValue);
  auto exec = std::make_shared<hipGraphExec>();
  if (hipError_t bad = instantiate(exec.get(), child)) return bad;
  hipError_t bad = add(node, graph, after, count, hipGraphNodeTypeGraph,
                       [exec] { return hipGraphLaunch(exec.get(), nullptr); });
  if (!bad) made->child = child;
  return bad;
}
hipError_t hipGraphChildGraphNodeGetGraph(hipGraphNode_t node, hipGraph_t *graph) {
  if (!node || !graph || !node->child) return fail(hipErrorInvalidValue);
  *graph = node->child;
  return hipSuccess;
}
hipError_t hipGraphAddEventRecordNode(hipGraphNode_t *node, hipGraph_t graph, const hipGraphNode_t *after, size_t count,
                                      hipEvent_t event) {
  hipError_t bad = add(node, graph, after, count, hipGraphNodeTypeEventRecord,
                       [event] { return hipEventRecord(event, nullptr); });
  if (!bad) made->event = event;
  return bad;
}
hipError_t hipGraphAddEventWaitNode(hipGraphNode_t *node, hipGraph_t graph, const hipGraphNode_t *after, size_t count,
                                    hipEvent_t event) {
  hipError_t bad = add(node, graph, after, count, hipGraphNodeTypeWaitEvent, [] { return hipSuccess; });
  if (!bad) made->event = event;
  return bad;
}
hipError_t hipGraphEventRecordNodeGetEvent(hipGraphNode_t node, hipEvent_t *event) {
  if (!node || !event) return fail(hipErrorInvalidValue);
  *event = node->event;
  return hipSuccess;
}
hipError_t hipGraphEventWaitNodeGetEvent(hipGraphNode_t node, hipEvent_t *event) {
  return hipGraphEventRecordNodeGetEvent(node, event);
}
// The address must be known when the node is made, and stays: memory is taken then, and kept for replays.
hipError_t hipGraphAddMemAllocNode(hipGraphNode_t *node, hipGraph_t graph, const hipGraphNode_t *after, size_t count,
                                   hipMemAllocNodeParams *p) {
  if (!p) return fail(hipErrorInvalidValue);
  if (hipError_t bad = hipMalloc(&p->dptr, p->bytesize)) return bad;
  return add(node, graph, after, count, hipGraphNodeTypeMemAlloc, [] { return hipSuccess; });
}
hipError_t hipGraphAddMemFreeNode(hipGraphNode_t *node, hipGraph_t graph, const hipGraphNode_t *after, size_t count,
                                  void *) {
  return add(node, graph, after, count, hipGraphNodeTypeMemFree, [] { return hipSuccess; });
}
hipError_t hipDeviceGetGraphMemAttribute(int, hipGraphMemAttributeType, void *value) {
  size_t used, count;
  memory_use(&used, &count);
  *static_cast<unsigned long long *>(value) = used;
  return hipSuccess;
}
hipError_t hipDeviceSetGraphMemAttribute(int, hipGraphMemAttributeType, void *) { return hipSuccess; }
hipError_t hipDeviceGraphMemTrim(int) { return hipSuccess; }

hipError_t hipGraphAddDependencies(hipGraph_t graph, const hipGraphNode_t *from, const hipGraphNode_t *to, size_t count) {
  if (!graph || (count && (!from || !to))) return fail(hipErrorInvalidValue);
  for (size_t i = 0; i < count; ++i) to[i]->after.push_back(from[i]);
  return hipSuccess;
}
hipError_t hipGraphRemoveDependencies(hipGraph_t graph, const hipGraphNode_t *from, const hipGraphNode_t *to,
                                      size_t count) {
  if (!graph || (count && (!from || !to))) return fail(hipErrorInvalidValue);
  for (size_t i = 0; i < count; ++i) {
    auto &after = to[i]->after;
    auto at = std::find(after.begin(), after.end(), from[i]);
    if (at == after.end()) return fail(hipErrorInvalidValue);
    after.erase(at);
  }
  return hipSuccess;
}
hipError_t hipGraphInstantiateWithFlags(hipGraphExec_t *exec, hipGraph_t graph, unsigned long long flags) {
  if (!graph || !exec) return fail(hipErrorInvalidValue);
  auto built = std::make_unique<hipGraphExec>();
  built->flags = flags;
  if (hipError_t bad = instantiate(built.get(), graph)) return bad;
  *exec = built.release();
  return hipSuccess;
}
hipError_t hipGraphInstantiate(hipGraphExec_t *exec, hipGraph_t graph, hipGraphNode_t *, char *, size_t) {
  return hipGraphInstantiateWithFlags(exec, graph, 0);
}
hipError_t hipGraphInstantiateWithParams(hipGraphExec_t *exec, hipGraph_t graph, hipGraphInstantiateParams *p) {
  if (!p) return fail(hipErrorInvalidValue);
  hipError_t bad = hipGraphInstantiateWithFlags(exec, graph, p->flags);
  p->result_out = bad ? hipGraphInstantiateError : hipGraphInstantiateSuccess;
  return bad;
}
hipError_t hipGraphExecGetFlags(hipGraphExec_t exec, unsigned long long *flags) {
  if (!exec || !flags) return fail(hipErrorInvalidValue);
  *flags = exec->flags;
  return hipSuccess;
}
hipError_t hipGraphUpload(hipGraphExec_t exec, hipStream_t) { return exec ? hipSuccess : fail(hipErrorInvalidValue); }
hipError_t hipGraphLaunch(hipGraphExec_t exec, hipStream_t stream) {
  if (!exec) return fail(hipErrorInvalidValue);
  if (!valid(stream)) return fail(hipErrorInvalidHandle);
  for (auto &node : exec->nodes)
    if (node->enabled)
      if (hipError_t bad = enqueue(stream, node->type, node->work)) return bad;
  return hipSuccess;
}
hipError_t hipGraphExecDestroy(hipGraphExec_t exec) {
  if (!exec) return fail(hipErrorInvalidValue);
  delete exec;
  return hipSuccess;
}
hipError_t hipGraphExecUpdate(hipGraphExec_t exec, hipGraph_t graph, hipGraphNode_t *, hipGraphExecUpdateResult *result) {
  if (!exec || !graph) return fail(hipErrorInvalidValue);
  bool same = graph->nodes.size() == exec->nodes.size();
  hipGraphExec fresh;
  if (same && instantiate(&fresh, graph)) return hipErrorInvalidValue;
  for (size_t i = 0; same && i < fresh.nodes.size(); ++i) same = fresh.nodes[i]->type == exec->nodes[i]->type;
  if (result) *result = same ? hipGraphExecUpdateSuccess : hipGraphExecUpdateErrorTopologyChanged;
  if (!same) return fail(hipErrorGraphExecUpdateFailure);
  for (auto &[original, copy] : exec->copy_of)  // nodes of the first graph stay names of the executable's
    for (size_t i = 0; i < exec->nodes.size(); ++i)
      if (exec->nodes[i].get() == copy) {
        fresh.copy_of[original] = fresh.nodes[i].get();
        break;
      }
  exec->nodes = fresh.nodes;
  exec->copy_of = fresh.copy_of;
  return hipSuccess;
}
hipError_t hipGraphKernelNodeSetParams(hipGraphNode_t node, const hipKernelNodeParams *p) { return set_kernel(node, p); }
hipError_t hipGraphExecKernelNodeSetParams(hipGraphExec_t exec, hipGraphNode_t node, const hipKernelNodeParams *p) {
  return set_kernel(inside(exec, node), p);
}
hipError_t hipGraphKernelNodeGetParams(hipGraphNode_t node, hipKernelNodeParams *p) {
  if (!node || !p) return fail(hipErrorInvalidValue);
  *p = node->kernel;
  return hipSuccess;
}
hipError_t hipGraphMemcpyNodeSetParams1D(hipGraphNode_t node, void *to, const void *from, size_t n, hipMemcpyKind kind) {
  return set_copy(node, to, from, n, kind);
}
hipError_t hipGraphExecMemcpyNodeSetParams1D(hipGraphExec_t exec, hipGraphNode_t node, void *to, const void *from,
                                             size_t n, hipMemcpyKind kind) {
  return set_copy(inside(exec, node), to, from, n, kind);
}
hipError_t hipGraphMemcpyNodeSetParams(hipGraphNode_t node, const hipMemcpy3DParms *p) { return set_copy_3d(node, p); }
hipError_t hipGraphExecMemcpyNodeSetParams(hipGraphExec_t exec, hipGraphNode_t node, hipMemcpy3DParms *p) {
  return set_copy_3d(inside(exec, node), p);
}
hipError_t hipGraphMemcpyNodeGetParams(hipGraphNode_t node, hipMemcpy3DParms *p) {
  if (!node || !p) return fail(hipErrorInvalidValue);
  *p = node->memcpy;
  return hipSuccess;
}
hipError_t hipGraphMemsetNodeSetParams(hipGraphNode_t node, const hipMemsetParams *p) { return set_memset(node, p); }
hipError_t hipGraphExecMemsetNodeSetParams(hipGraphExec_t exec, hipGraphNode_t node, const hipMemsetParams *p) {
  return set_memset(inside(exec, node), p);
}
hipError_t hipGraphMemsetNodeGetParams(hipGraphNode_t node, hipMemsetParams *p) {
  if (!node || !p) return fail(hipErrorInvalidValue);
  *p = node->memset;
  return hipSuccess;
}
hipError_t hipGraphHostNodeSetParams(hipGraphNode_t node, const hipHostNodeParams *p) { return set_host(node, p); }
hipError_t hipGraphExecHostNodeSetParams(hipGraphExec_t exec, hipGraphNode_t node, const hipHostNodeParams *p) {
  return set_host(inside(exec, node), p);
}
hipError_t hipGraphHostNodeGetParams(hipGraphNode_t node, hipHostNodeParams *p) {
  if (!node || !p) return fail(hipErrorInvalidValue);
  *p = node->host;
  return hipSuccess;
}
hipError_t hipGraphNodeSetEnabled(hipGraphExec_t exec, hipGraphNode_t node, unsigned enabled) {
  hipGraphNode *copy = inside(exec, node);
  if (!copy) return fail(hipErrorInvalidValue);
  copy->enabled = enabled != 0;
  return hipSuccess;
}
hipError_t hipGraphNodeGetEnabled(hipGraphExec_t exec, hipGraphNode_t node, unsigned *enabled) {
  hipGraphNode *copy = inside(exec, node);
  if (!copy || !enabled) return fail(hipErrorInvalidValue);
  *enabled = copy->enabled;
  return hipSuccess;
}
hipError_t hipGraphGetNodes(hipGraph_t graph, hipGraphNode_t *nodes, size_t *count) {
  if (!graph) return fail(hipErrorInvalidValue);
  std::vector<hipGraphNode_t> all;
  for (auto &node : graph->nodes) all.push_back(node.get());
  return list(all, nodes, count);
}
hipError_t hipGraphGetRootNodes(hipGraph_t graph, hipGraphNode_t *nodes, size_t *count) {
  if (!graph) return fail(hipErrorInvalidValue);
  std::vector<hipGraphNode_t> all;
  for (auto &node : graph->nodes)
    if (node->after.empty()) all.push_back(node.get());
  return list(all, nodes, count);
}
hipError_t hipGraphGetEdges(hipGraph_t graph, hipGraphNode_t *from, hipGraphNode_t *to, size_t *count) {
  if (!graph || !count) return fail(hipErrorInvalidValue);
  std::vector<hipGraphNode_t> starts, ends;
  for (auto &node : graph->nodes)
    for (hipGraphNode *before : node->after) starts.push_back(before), ends.push_back(node.get());
  size_t room = *count;
  if (to) (void)list(ends, to, &room);
  return list(starts, from, count);
}
hipError_t hipGraphNodeGetDependencies(hipGraphNode_t node, hipGraphNode_t *before, size_t *count) {
  return node ? list(node->after, before, count) : fail(hipErrorInvalidValue);
}
hipError_t hipGraphNodeGetType(hipGraphNode_t node, hipGraphNodeType *type) {
  if (!node || !type) return fail(hipErrorInvalidValue);
  *type = node->type;
  return hipSuccess;
}
hipError_t hipGraphClone(hipGraph_t *clone, hipGraph_t graph) {
  if (!clone || !graph) return fail(hipErrorInvalidValue);
  *clone = new ihipGraph;
  std::map<hipGraphNode *, hipGraphNode *> copies;
  for (auto &node : graph->nodes) {
    (*clone)->nodes.push_back(std::make_shared<hipGraphNode>(*node));
    (*clone)->nodes.back()->original = node.get();
    copies[node.get()] = (*clone)->nodes.back().get();
  }
  for (auto &node : (*clone)->nodes)
    for (hipGraphNode *&before : node->after) before = copies[before];
  return hipSuccess;
}
hipError_t hipGraphNodeFindInClone(hipGraphNode_t *found, hipGraphNode_t original, hipGraph_t clone) {
  if (!found || !clone) return fail(hipErrorInvalidValue);
  for (auto &node : clone->nodes)
    if (node->original == original) return *found = node.get(), hipSuccess;
  return fail(hipErrorInvalidValue);
}
hipError_t hipGraphDestroyNode(hipGraphNode_t node) {
  if (!node) return fail(hipErrorInvalidValue);
  node->work = [] { return hipSuccess; };
  node->type = hipGraphNodeTypeEmpty;
  return hipSuccess;
}
hipError_t hipGraphDebugDotPrint(hipGraph_t graph, const char *path, unsigned) {
  std::FILE *out = graph && path ? std::fopen(path, "w") : nullptr;
  if (!out) return fail(hipErrorOperatingSystem);
  std::fprintf(out, "digraph graph_%p {\n", static_cast<void *>(graph));
  for (auto &node : graph->nodes) {
    std::fprintf(out, "  \"%p\" [label=\"type %d\"];\n", static_cast<void *>(node.get()), node->type);
    for (hipGraphNode *before : node->after)
      std::fprintf(out, "  \"%p\" -> \"%p\";\n", static_cast<void *>(before), static_cast<void *>(node.get()));
  }
  std::fprintf(out, "}\n");
  std::fclose(out);
  return hipSuccess;
}

}  // extern "C"
