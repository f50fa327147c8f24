// SPDX-License-Identifier: Apache-2.0
// Modules: what hiprtc compiled (a shared object of this machine) or a file that holds such a thing.
#pragma once

typedef enum hipFunction_attribute {
  HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, HIP_FUNC_ATTRIBUTE_CONST_SIZE_BYTES,
  HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, HIP_FUNC_ATTRIBUTE_NUM_REGS, HIP_FUNC_ATTRIBUTE_PTX_VERSION, HIP_FUNC_ATTRIBUTE_BINARY_VERSION,
  HIP_FUNC_ATTRIBUTE_CACHE_MODE_CA, HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
} hipFunction_attribute;

hipError_t hipModuleLoad(hipModule_t *module, const char *path);
hipError_t hipModuleLoadData(hipModule_t *module, const void *image);
hipError_t hipModuleLoadDataEx(hipModule_t *module, const void *image, unsigned options, hipJitOption *names, void **values);
hipError_t hipModuleUnload(hipModule_t module);
hipError_t hipModuleGetFunction(hipFunction_t *function, hipModule_t module, const char *name);
hipError_t hipModuleGetGlobal(hipDeviceptr_t *pointer, size_t *bytes, hipModule_t module, const char *name);
hipError_t hipModuleLaunchKernel(hipFunction_t function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,
                                 unsigned block_z, unsigned lds, hipStream_t stream, void **arguments, void **extra);
hipError_t hipModuleLaunchCooperativeKernel(hipFunction_t function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                                            unsigned block_y, unsigned block_z, unsigned lds, hipStream_t stream, void **arguments);
hipError_t hipFuncGetAttribute(int *value, hipFunction_attribute attribute, hipFunction_t function);
inline hipError_t hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, hipFunction_t, int block_size, size_t lds) { return rpx_occupancy(blocks, block_size, lds); }
inline hipError_t hipModuleOccupancyMaxPotentialBlockSize(int *grid, int *block, hipFunction_t, size_t, int limit) {
  *block = limit > 0 && limit < 256 ? limit : 256;
  *grid = 8;
  return hipSuccess;
}
// The grid counts threads here, not blocks.
inline hipError_t hipExtModuleLaunchKernel(hipFunction_t function, unsigned x, unsigned y, unsigned z, unsigned block_x, unsigned block_y, unsigned block_z,
                                           size_t lds, hipStream_t stream, void **arguments, void **extra, hipEvent_t start = nullptr,
                                           hipEvent_t stop = nullptr, unsigned = 0) {
  if (!block_x || !block_y || !block_z) return hipErrorInvalidConfiguration;
  if (start) hipEventRecord(start, stream);
  hipError_t status = hipModuleLaunchKernel(function, x / block_x, y / block_y, z / block_z, block_x, block_y, block_z, static_cast<unsigned>(lds), stream, arguments, extra);
  if (stop) hipEventRecord(stop, stream);
  return status;
}
