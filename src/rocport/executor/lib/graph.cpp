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
};

struct ihipGraph {
  std::vector<std::shared_ptr<hipGraphNode>> nodes;
};

struct hipGraphExec {
  std::vector<std::shared_ptr<hipGraphNode>> nodes;  // in the order of execution
};

namespace rpx {

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
  if (!capturing(stream)) return false;
  auto kept = std::shared_ptr<void>(launch.closure, launch.destroy);
  Launch copy = launch;
  copy.config.stream = nullptr;
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
  return [p] { launch_untyped(p.func, Config(p.gridDim, p.blockDim, p.sharedMemBytes), p.kernelParams); };
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
  hipMemsetParams p = *parameters;
  return add(node, graph, after, count, hipGraphNodeTypeMemset, [p] {
    for (size_t y = 0; y < (p.height ? p.height : 1); ++y) {
      char *row = static_cast<char *>(p.dst) + y * p.pitch;
      for (size_t x = 0; x < p.width; ++x) std::memcpy(row + x * p.elementSize, &p.value, p.elementSize);
      note_written(row, p.width * p.elementSize);
    }
  });
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
  if (nodes)
    for (size_t i = 0; i < *count && i < graph->nodes.size(); ++i) nodes[i] = graph->nodes[i].get();
  *count = graph->nodes.size();
  return hipSuccess;
}
hipError_t hipGraphNodeGetType(hipGraphNode_t node, hipGraphNodeType *type) {
  *type = node->type;
  return hipSuccess;
}
