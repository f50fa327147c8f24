// rocport_launch.h - launches with a configuration and attributes (cudaLaunchKernelEx), for every release of HIP.
// SPDX-License-Identifier: Apache-2.0
//
// HIP declares such launches from 7.0 on, with fewer attributes. Here an attribute that changes no result is passed
// over: priorities, cache and scheduling hints, and the leave to begin before the kernel ahead has ended. Events are
// recorded behind the kernel. Clusters of more than one block and nodes that a kernel updates give
// hipErrorNotSupported, and nothing is launched.
#ifndef ROCPORT_LAUNCH_H
#define ROCPORT_LAUNCH_H

#include <cstddef>
#include <hip/hip_runtime_api.h>
#include <memory>
#include <utility>

namespace rocport {

// The numbers are CUDA's; those of HIP's enumerators are the same.
struct launch_attribute_id {
  int number;
  constexpr launch_attribute_id(int n = 0) : number(n) {}
  constexpr launch_attribute_id(hipLaunchAttributeID id) : number(static_cast<int>(id)) {}
  constexpr operator int() const { return number; }
};
constexpr int launch_ignore = 0;
constexpr int launch_synchronization_policy = 3;
constexpr int launch_cluster_dimension = 4;
constexpr int launch_cluster_scheduling_policy = 5;
constexpr int launch_programmatic_stream_serialization = 6;
constexpr int launch_programmatic_event = 7;
constexpr int launch_mem_sync_domain_map = 9;
constexpr int launch_mem_sync_domain = 10;
constexpr int launch_preferred_cluster_dimension = 11;
constexpr int launch_completion_event = 12;
constexpr int launch_device_updatable_kernel_node = 13;
constexpr int launch_preferred_shared_memory_carveout = 14;

union launch_attribute_value {
  char pad[64];
  hipAccessPolicyWindow accessPolicyWindow;
  int cooperative;
  int syncPolicy;
  struct { unsigned int x, y, z; } clusterDim;
  int clusterSchedulingPolicyPreference;
  int programmaticStreamSerializationAllowed;
  struct { hipEvent_t event; int flags; int triggerAtBlockStart; } programmaticEvent;
  int priority;
  struct { unsigned char default_, remote; } memSyncDomainMap;
  int memSyncDomain;
  struct { unsigned int x, y, z; } preferredClusterDim;
  struct { hipEvent_t event; int flags; } launchCompletionEvent;
  struct { int deviceUpdatable; void* devNode; } deviceUpdatableKernelNode;
  unsigned int sharedMemCarveout;
};
struct launch_attribute {
  launch_attribute_id id;
  launch_attribute_value val;
};
struct launch_config {
  dim3 gridDim, blockDim;
  std::size_t dynamicSmemBytes;
  hipStream_t stream;
  launch_attribute* attrs;
  unsigned int numAttrs;
};
// The driver API's, whose members have other names.
struct driver_launch_attribute {
  launch_attribute_id id;
  launch_attribute_value value;
};
struct driver_launch_config {
  unsigned int gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes;
  hipStream_t hStream;
  driver_launch_attribute* attrs;
  unsigned int numAttrs;
};

namespace launch_detail {

inline const launch_attribute_value& value_of(const launch_attribute& a) { return a.val; }
inline const launch_attribute_value& value_of(const driver_launch_attribute& a) { return a.value; }

// `run(cooperative)` launches.
template <class Attribute, class Run>
hipError_t with_attributes(const Attribute* attributes, unsigned int count, hipStream_t stream, Run run) {
  bool cooperative = false;
  for (unsigned int i = 0; i < count; ++i) {
    const launch_attribute_value& value = value_of(attributes[i]);
    const int id = attributes[i].id;
    if (id == hipLaunchAttributeCooperative) cooperative = value.cooperative != 0;
    if (id == launch_cluster_dimension && value.clusterDim.x * value.clusterDim.y * value.clusterDim.z > 1)
      return hipErrorNotSupported;
    if (id == launch_device_updatable_kernel_node && value.deviceUpdatableKernelNode.deviceUpdatable)
      return hipErrorNotSupported;
  }
  hipError_t result = run(cooperative);
  for (unsigned int i = 0; i < count && result == hipSuccess; ++i) {
    const launch_attribute_value& value = value_of(attributes[i]);
    const int id = attributes[i].id;
    if (id == launch_programmatic_event) result = hipEventRecord(value.programmaticEvent.event, stream);
    if (id == launch_completion_event) result = hipEventRecord(value.launchCompletionEvent.event, stream);
  }
  return result;
}

template <class... P>
struct Values {
  static hipError_t launch(const launch_config* config, const void* kernel, P... values);
};

}  // namespace launch_detail

inline hipError_t launch_kernel_ex_c(const launch_config* config, const void* kernel, void** values) {
  return launch_detail::with_attributes(config->attrs, config->numAttrs, config->stream, [&](bool cooperative) {
    const unsigned int shared = static_cast<unsigned int>(config->dynamicSmemBytes);
    return cooperative ? hipLaunchCooperativeKernel(kernel, config->gridDim, config->blockDim, values, shared, config->stream)
                       : hipLaunchKernel(kernel, config->gridDim, config->blockDim, values, shared, config->stream);
  });
}

inline hipError_t driver_launch_kernel_ex(const driver_launch_config* config, hipFunction_t kernel, void** values,
                                          void** extra) {
  const driver_launch_config& c = *config;
  return launch_detail::with_attributes(c.attrs, c.numAttrs, c.hStream, [&](bool cooperative) {
    if (cooperative)
      return hipModuleLaunchCooperativeKernel(kernel, c.gridDimX, c.gridDimY, c.gridDimZ, c.blockDimX, c.blockDimY,
                                              c.blockDimZ, c.sharedMemBytes, c.hStream, values);
    return hipModuleLaunchKernel(kernel, c.gridDimX, c.gridDimY, c.gridDimZ, c.blockDimX, c.blockDimY, c.blockDimZ,
                                 c.sharedMemBytes, c.hStream, values, extra);
  });
}

template <class... P>
hipError_t launch_detail::Values<P...>::launch(const launch_config* config, const void* kernel, P... values) {
  void* pointers[] = {const_cast<void*>(static_cast<const volatile void*>(std::addressof(values)))..., nullptr};
  return launch_kernel_ex_c(config, kernel, pointers);
}

// Each argument becomes the kernel's parameter, as in `kernel<<<...>>>(...)`.
template <class... P, class... A>
hipError_t launch_kernel_ex(const launch_config* config, void (*kernel)(P...), A&&... values) {
  return launch_detail::Values<P...>::launch(config, reinterpret_cast<const void*>(kernel), std::forward<A>(values)...);
}
template <class... A>
hipError_t launch_kernel_ex_c(const launch_config* config, void (*kernel)(A...), void** values) {
  return launch_kernel_ex_c(config, reinterpret_cast<const void*>(kernel), values);
}

}  // namespace rocport

#endif  // ROCPORT_LAUNCH_H
