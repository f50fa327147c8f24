// SPDX-License-Identifier: Apache-2.0
#include <functional>
#include <memory>
#include <vector>

#include "streams.h"

struct hipGraphNode {
  hipGraphNodeType type;
  std::function<void()> run;
  std::vector<hipGraphNode *> after;
  hipKernelNodeParams kernel{};
  const hipGraphNode *original = nullptr;  // that this one is a clone of
};

struct ihipGraph {
  std::vector<std::shared_ptr<hipGraphNode>> nodes;
};

struct hipGraphExec {
  std::vector<std::shared_ptr<hipGraphNode>> nodes;  // in the order of execution
};

namespace rpx {

// While set, launches become nodes of it instead of running: how a node gets copies of its kernel's arguments.
static ihipGraph *binding;

void record(hipStream_t stream, hipGraphNodeType type, std::function<void()> run) {
  auto node = std::make_shared<hipGraphNode>();
  node->type = type;
  node->run = std::move(run);
  auto &nodes = stream->capture->nodes;
  // Captured operations keep the order in which the program issued them.
  if (!nodes.empty()) node->after.push_back(nodes.back().get());
  nodes.push_back(node);
}

bool capturing(hipStream_t stream) {
  return reinterpret_cast<std::size_t>(stream) > 2 && stream->capture != nullptr;
}

bool capture_launch(const Launch &launch) {
  hipStream_t stream = launch.config.stream;
  if (!capturing(stream) && !binding) return false;
  auto kept = std::shared_ptr<void>(launch.closure, launch.destroy);
  Launch copy = launch;
  copy.config.stream = nullptr;
  if (binding) {
    auto node = std::make_shared<hipGraphNode>();
    node->run = [kept, copy] { run_launch(copy); };
    binding->nodes.push_back(node);
    return true;
  }
  record(stream, hipGraphNodeTypeKernel, [kept, copy] { run_launch(copy); });
  return true;
}

namespace {

hipError_t add(hipGraphNode_t *out, hipGraph_t graph, const hipGraphNode_t *after, size_t count, hipGraphNodeType type,
               std::function<void()> run) {
  if (!graph) return fail(hipErrorInvalidValue);
  auto node = std::make_shared<hipGraphNode>();
  node->type = type;
  node->run = std::move(run);
  for (size_t i = 0; i < count; ++i) node->after.push_back(after[i]);
  graph->nodes.push_back(node);
  if (out) *out = node.get();
  return hipSuccess;
}

std::function<void()> kernel_call(const hipKernelNodeParams &p) {
  ihipGraph bound;
  binding = &bound;
  launch_untyped(p.func, Config(p.gridDim, p.blockDim, p.sharedMemBytes), p.kernelParams);
  binding = nullptr;
  return bound.nodes.empty() ? [] {} : bound.nodes[0]->run;
}

std::function<void()> memset_call(const hipMemsetParams &p) {
  return [p] {
    for (size_t y = 0; y < (p.height ? p.height : 1); ++y) {
      char *row = static_cast<char *>(p.dst) + y * p.pitch;
      for (size_t x = 0; x < p.width; ++x) std::memcpy(row + x * p.elementSize, &p.value, p.elementSize);
      note_written(row, p.width * p.elementSize);
    }
  };
}

// What HIP's queries of lists do: fill in up to `*count`, then say how many there are.
hipError_t list(const std::vector<hipGraphNode_t> &all, hipGraphNode_t *out, size_t *count) {
  if (!count) return fail(hipErrorInvalidValue);
  for (size_t i = 0; out && i < *count; ++i) out[i] = i < all.size() ? all[i] : nullptr;
  if (!out || *count > all.size()) *count = all.size();
  return hipSuccess;
}

void visit(const std::shared_ptr<hipGraphNode> &node, hipGraph_t graph, hipGraphExec_t exec) {
  for (auto &done : exec->nodes)
    if (done == node) return;
  for (hipGraphNode *before : node->after)
    for (auto &candidate : graph->nodes)
      if (candidate.get() == before) visit(candidate, graph, exec);
  exec->nodes.push_back(node);
}

}  // namespace
}  // namespace rpx

using namespace rpx;

hipError_t hipStreamBeginCapture(hipStream_t stream, hipStreamCaptureMode) {
  if (reinterpret_cast<std::size_t>(stream) <= 2) return fail(hipErrorStreamCaptureUnsupported);
  if (stream->capture) return fail(hipErrorIllegalState);
  stream->capture = new ihipGraph;
  stream->owns_capture = true;
  return hipSuccess;
}
hipError_t hipStreamEndCapture(hipStream_t stream, hipGraph_t *graph) {
  if (!capturing(stream)) return fail(hipErrorIllegalState);
  *graph = stream->capture;
  end_captures_into(stream->capture);
  return hipSuccess;
}
hipError_t hipStreamIsCapturing(hipStream_t stream, hipStreamCaptureStatus *status) {
  *status = capturing(stream) ? hipStreamCaptureStatusActive : hipStreamCaptureStatusNone;
  return hipSuccess;
}
hipError_t hipStreamGetCaptureInfo(hipStream_t stream, hipStreamCaptureStatus *status, unsigned long long *id) {
  if (id) *id = 1;
  return hipStreamIsCapturing(stream, status);
}
hipError_t hipThreadExchangeStreamCaptureMode(hipStreamCaptureMode *) { return hipSuccess; }
hipError_t hipGraphCreate(hipGraph_t *graph, unsigned) {
  *graph = new ihipGraph;
  return hipSuccess;
}
hipError_t hipGraphDestroy(hipGraph_t graph) {
  delete graph;
  return hipSuccess;
}
hipError_t hipGraphAddKernelNode(hipGraphNode_t *node, hipGraph_t graph, const hipGraphNode_t *after, size_t count,
                                 const hipKernelNodeParams *parameters) {
  hipGraphNode_t made;
  hipError_t status = add(&made, graph, after, count, hipGraphNodeTypeKernel, kernel_call(*parameters));
  if (status == hipSuccess) {
    made->kernel = *parameters;
    if (node) *node = made;
  }
  return status;
}
hipError_t hipGraphAddMemcpyNode1D(hipGraphNode_t *node, hipGraph_t graph, const hipGraphNode_t *after, size_t count, void *to,
                                   const void *from, size_t bytes, hipMemcpyKind kind) {
  return add(node, graph, after, count, hipGraphNodeTypeMemcpy, [=] { hipMemcpy(to, from, bytes, kind); });
}
hipError_t hipGraphAddMemsetNode(hipGraphNode_t *node, hipGraph_t graph, const hipGraphNode_t *after, size_t count,
                                 const hipMemsetParams *parameters) {
  return add(node, graph, after, count, hipGraphNodeTypeMemset, memset_call(*parameters));
}
hipError_t hipGraphAddHostNode(hipGraphNode_t *node, hipGraph_t graph, const hipGraphNode_t *after, size_t count,
                               const hipHostNodeParams *parameters) {
  hipHostNodeParams p = *parameters;
  return add(node, graph, after, count, hipGraphNodeTypeHost, [p] { p.fn(p.userData); });
}
hipError_t hipGraphAddEmptyNode(hipGraphNode_t *node, hipGraph_t graph, const hipGraphNode_t *after, size_t count) {
  return add(node, graph, after, count, hipGraphNodeTypeEmpty, [] {});
}
hipError_t hipGraphAddChildGraphNode(hipGraphNode_t *node, hipGraph_t graph, const hipGraphNode_t *after, size_t count, hipGraph_t child) {
  hipGraphExec_t exec;
  hipGraphInstantiateWithFlags(&exec, child, 0);
  auto kept = std::shared_ptr<hipGraphExec>(exec);
  return add(node, graph, after, count, hipGraphNodeTypeGraph, [kept] { hipGraphLaunch(kept.get(), nullptr); });
}
hipError_t hipGraphAddDependencies(hipGraph_t, const hipGraphNode_t *from, const hipGraphNode_t *to, size_t count) {
  for (size_t i = 0; i < count; ++i) to[i]->after.push_back(from[i]);
  return hipSuccess;
}
hipError_t hipGraphInstantiate(hipGraphExec_t *exec, hipGraph_t graph, hipGraphNode_t *, char *, size_t) {
  return hipGraphInstantiateWithFlags(exec, graph, 0);
}
hipError_t hipGraphInstantiateWithFlags(hipGraphExec_t *exec, hipGraph_t graph, unsigned long long) {
  if (!graph) return fail(hipErrorInvalidValue);
  *exec = new hipGraphExec;
  for (auto &node : graph->nodes) visit(node, graph, *exec);
  return hipSuccess;
}
hipError_t hipGraphUpload(hipGraphExec_t, hipStream_t) { return hipSuccess; }
hipError_t hipGraphLaunch(hipGraphExec_t exec, hipStream_t stream) {
  if (!exec) return fail(hipErrorInvalidValue);
  if (capturing(stream)) {
    for (auto &node : exec->nodes) record(stream, node->type, node->run);
    return hipSuccess;
  }
  for (auto &node : exec->nodes) node->run();
  return hipSuccess;
}
hipError_t hipGraphExecDestroy(hipGraphExec_t exec) {
  delete exec;
  return hipSuccess;
}
hipError_t hipGraphExecUpdate(hipGraphExec_t exec, hipGraph_t graph, hipGraphNode_t *, hipGraphExecUpdateResult *result) {
  if (graph->nodes.size() != exec->nodes.size()) {
    *result = hipGraphExecUpdateErrorTopologyChanged;
    return fail(hipErrorGraphExecUpdateFailure);
  }
  exec->nodes.clear();
  for (auto &node : graph->nodes) visit(node, graph, exec);
  *result = hipGraphExecUpdateSuccess;
  return hipSuccess;
}
hipError_t hipGraphExecKernelNodeSetParams(hipGraphExec_t, hipGraphNode_t node, const hipKernelNodeParams *parameters) {
  return hipGraphKernelNodeSetParams(node, parameters);
}
hipError_t hipGraphKernelNodeSetParams(hipGraphNode_t node, const hipKernelNodeParams *parameters) {
  node->kernel = *parameters;
  node->run = kernel_call(*parameters);
  return hipSuccess;
}
hipError_t hipGraphKernelNodeGetParams(hipGraphNode_t node, hipKernelNodeParams *parameters) {
  *parameters = node->kernel;
  return hipSuccess;
}
hipError_t hipGraphGetNodes(hipGraph_t graph, hipGraphNode_t *nodes, size_t *count) {
  std::vector<hipGraphNode_t> all;
  for (auto &node : graph->nodes) all.push_back(node.get());
  return list(all, nodes, count);
}
hipError_t hipGraphGetRootNodes(hipGraph_t graph, hipGraphNode_t *nodes, size_t *count) {
  std::vector<hipGraphNode_t> all;
  for (auto &node : graph->nodes)
    if (node->after.empty()) all.push_back(node.get());
  return list(all, nodes, count);
}
hipError_t hipGraphGetEdges(hipGraph_t graph, hipGraphNode_t *from, hipGraphNode_t *to, size_t *count) {
  std::vector<hipGraphNode_t> starts, ends;
  for (auto &node : graph->nodes)
    for (hipGraphNode *before : node->after) {
      starts.push_back(before);
      ends.push_back(node.get());
    }
  size_t room = count ? *count : 0;
  if (to) list(ends, to, &room);
  return list(starts, from, count);
}
hipError_t hipGraphNodeGetDependencies(hipGraphNode_t node, hipGraphNode_t *before, size_t *count) { return list(node->after, before, count); }
hipError_t hipGraphAddMemcpyNode(hipGraphNode_t *node, hipGraph_t graph, const hipGraphNode_t *after, size_t count,
                                 const hipMemcpy3DParms *parameters) {
  hipMemcpy3DParms p = *parameters;
  return add(node, graph, after, count, hipGraphNodeTypeMemcpy, [p] { hipMemcpy3D(&p); });
}
hipError_t hipGraphAddEventRecordNode(hipGraphNode_t *node, hipGraph_t graph, const hipGraphNode_t *after, size_t count, hipEvent_t event) {
  return add(node, graph, after, count, hipGraphNodeTypeEventRecord, [event] { hipEventRecord(event, nullptr); });
}
hipError_t hipGraphAddEventWaitNode(hipGraphNode_t *node, hipGraph_t graph, const hipGraphNode_t *after, size_t count, hipEvent_t) {
  return add(node, graph, after, count, hipGraphNodeTypeWaitEvent, [] {});
}
// The address must be known when the node is made, and stays: memory is taken then, and kept for replays.
hipError_t hipGraphAddMemAllocNode(hipGraphNode_t *node, hipGraph_t graph, const hipGraphNode_t *after, size_t count,
                                   hipMemAllocNodeParams *parameters) {
  if (hipError_t bad = hipMalloc(&parameters->dptr, parameters->bytesize)) return bad;
  return add(node, graph, after, count, hipGraphNodeTypeMemAlloc, [] {});
}
hipError_t hipGraphAddMemFreeNode(hipGraphNode_t *node, hipGraph_t graph, const hipGraphNode_t *after, size_t count, void *) {
  return add(node, graph, after, count, hipGraphNodeTypeMemFree, [] {});
}
hipError_t hipDeviceGetGraphMemAttribute(int, hipGraphMemAttributeType, void *value) {
  size_t allocations, used;
  device_memory_use(&used, &allocations);
  *static_cast<unsigned long long *>(value) = used;
  return hipSuccess;
}
hipError_t hipDeviceSetGraphMemAttribute(int, hipGraphMemAttributeType, void *) { return hipSuccess; }
hipError_t hipDeviceGraphMemTrim(int) { return hipSuccess; }
hipError_t hipGraphClone(hipGraph_t *clone, hipGraph_t graph) {
  *clone = new ihipGraph;
  for (auto &node : graph->nodes) (*clone)->nodes.push_back(std::make_shared<hipGraphNode>(*node));
  for (auto &node : (*clone)->nodes)
    for (hipGraphNode *&before : node->after)
      for (size_t i = 0; i < graph->nodes.size(); ++i)
        if (graph->nodes[i].get() == before) {
          before = (*clone)->nodes[i].get();
          break;
        }
  for (size_t i = 0; i < graph->nodes.size(); ++i) (*clone)->nodes[i]->original = graph->nodes[i].get();
  return hipSuccess;
}
hipError_t hipGraphNodeFindInClone(hipGraphNode_t *found, hipGraphNode_t original, hipGraph_t clone) {
  for (auto &node : clone->nodes)
    if (node->original == original) {
      *found = node.get();
      return hipSuccess;
    }
  return fail(hipErrorInvalidValue);
}
hipError_t hipGraphDestroyNode(hipGraphNode_t node) {
  node->run = [] {};
  return hipSuccess;
}
hipError_t hipGraphMemcpyNodeSetParams1D(hipGraphNode_t node, void *to, const void *from, size_t bytes, hipMemcpyKind kind) {
  node->run = [=] { hipMemcpy(to, from, bytes, kind); };
  return hipSuccess;
}
hipError_t hipGraphExecMemcpyNodeSetParams1D(hipGraphExec_t, hipGraphNode_t node, void *to, const void *from, size_t bytes, hipMemcpyKind kind) {
  return hipGraphMemcpyNodeSetParams1D(node, to, from, bytes, kind);
}
hipError_t hipGraphMemsetNodeSetParams(hipGraphNode_t node, const hipMemsetParams *parameters) {
  node->run = memset_call(*parameters);
  return hipSuccess;
}
hipError_t hipGraphExecMemsetNodeSetParams(hipGraphExec_t, hipGraphNode_t node, const hipMemsetParams *parameters) {
  return hipGraphMemsetNodeSetParams(node, parameters);
}
hipError_t hipGraphHostNodeSetParams(hipGraphNode_t node, const hipHostNodeParams *parameters) {
  hipHostNodeParams p = *parameters;
  node->run = [p] { p.fn(p.userData); };
  return hipSuccess;
}
hipError_t hipGraphExecHostNodeSetParams(hipGraphExec_t, hipGraphNode_t node, const hipHostNodeParams *parameters) {
  return hipGraphHostNodeSetParams(node, parameters);
}
hipError_t hipGraphDebugDotPrint(hipGraph_t graph, const char *path, unsigned) {
  std::FILE *out = std::fopen(path, "w");
  if (!out) return fail(hipErrorOperatingSystem);
  std::fprintf(out, "digraph graph_%p {\n", static_cast<void *>(graph));
  for (auto &node : graph->nodes) {
    std::fprintf(out, "  \"%p\" [label=\"type %d\"];\n", static_cast<void *>(node.get()), node->type);
    for (hipGraphNode *before : node->after) std::fprintf(out, "  \"%p\" -> \"%p\";\n", static_cast<void *>(before), static_cast<void *>(node.get()));
  }
  std::fprintf(out, "}\n");
  std::fclose(out);
  return hipSuccess;
}
hipError_t hipGraphNodeGetType(hipGraphNode_t node, hipGraphNodeType *type) {
  *type = node->type;
  return hipSuccess;
}
