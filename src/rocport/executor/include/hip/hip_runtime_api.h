// SPDX-License-Identifier: Apache-2.0
// The HIP runtime API, served by one in-order device: the host. Every operation is done when its call returns, unless
// its stream is being captured into a graph.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "hip/hip_vector_types.h"
#include "rpx/launch.h"

#ifndef HIP_VERSION
#define HIP_VERSION_MAJOR 6
#define HIP_VERSION_MINOR 4
#define HIP_VERSION_PATCH 0
#define HIP_VERSION (HIP_VERSION_MAJOR * 10000000 + HIP_VERSION_MINOR * 100000 + HIP_VERSION_PATCH)
#endif

// The guards of HIP's own headers: programs ask for them to learn what was included.
#define HIP_INCLUDE_HIP_HIP_RUNTIME_API_H
#define HIP_INCLUDE_HIP_DRIVER_TYPES_H

enum { HIP_SUCCESS = 0, HIP_ERROR_INVALID_VALUE, HIP_ERROR_NOT_INITIALIZED, HIP_ERROR_LAUNCH_OUT_OF_RESOURCES };

typedef enum hipError_t {
  hipSuccess = 0,
  hipErrorInvalidValue = 1,
  hipErrorOutOfMemory = 2,
  hipErrorNotInitialized = 3,
  hipErrorDeinitialized = 4,
  hipErrorProfilerDisabled = 5,
  hipErrorInvalidConfiguration = 9,
  hipErrorInvalidPitchValue = 12,
  hipErrorInvalidSymbol = 13,
  hipErrorInvalidDevicePointer = 17,
  hipErrorInvalidMemcpyDirection = 21,
  hipErrorInsufficientDriver = 35,
  hipErrorMissingConfiguration = 52,
  hipErrorPriorLaunchFailure = 53,
  hipErrorInvalidDeviceFunction = 98,
  hipErrorNoDevice = 100,
  hipErrorInvalidDevice = 101,
  hipErrorInvalidImage = 200,
  hipErrorInvalidContext = 201,
  hipErrorMapFailed = 205,
  hipErrorUnmapFailed = 206,
  hipErrorNoBinaryForGpu = 209,
  hipErrorUnsupportedLimit = 215,
  hipErrorPeerAccessUnsupported = 217,
  hipErrorInvalidSource = 300,
  hipErrorFileNotFound = 301,
  hipErrorSharedObjectInitFailed = 303,
  hipErrorInvalidHandle = 400,
  hipErrorIllegalState = 401,
  hipErrorNotFound = 500,
  hipErrorNotReady = 600,
  hipErrorIllegalAddress = 700,
  hipErrorLaunchOutOfResources = 701,
  hipErrorLaunchTimeOut = 702,
  hipErrorPeerAccessAlreadyEnabled = 704,
  hipErrorPeerAccessNotEnabled = 705,
  hipErrorAssert = 710,
  hipErrorHostMemoryAlreadyRegistered = 712,
  hipErrorHostMemoryNotRegistered = 713,
  hipErrorLaunchFailure = 719,
  hipErrorCooperativeLaunchTooLarge = 720,
  hipErrorNotSupported = 801,
  hipErrorStreamCaptureUnsupported = 900,
  hipErrorStreamCaptureInvalidated = 901,
  hipErrorGraphExecUpdateFailure = 910,
  hipErrorUnknown = 999,
  hipErrorRuntimeMemory = 1052,
  hipErrorRuntimeOther = 1053,
  hipErrorTbd,
  hipErrorMemoryAllocation = 2,
  hipErrorInitializationError = 3,
  hipErrorProfilerNotInitialized = 6,
  hipErrorProfilerAlreadyStarted = 7,
  hipErrorProfilerAlreadyStopped = 8,
  hipErrorContextAlreadyCurrent = 202,
  hipErrorMapBufferObjectFailed = 205,
  hipErrorArrayIsMapped = 207,
  hipErrorAlreadyMapped = 208,
  hipErrorAlreadyAcquired = 210,
  hipErrorNotMapped = 211,
  hipErrorNotMappedAsArray = 212,
  hipErrorNotMappedAsPointer = 213,
  hipErrorECCNotCorrectable = 214,
  hipErrorContextAlreadyInUse = 216,
  hipErrorInvalidKernelFile = 218,
  hipErrorInvalidGraphicsContext = 219,
  hipErrorSharedObjectSymbolNotFound = 302,
  hipErrorOperatingSystem = 304,
  hipErrorInvalidResourceHandle = 400,
  hipErrorSetOnActiveProcess = 708,
  hipErrorContextIsDestroyed = 709,
  hipErrorStreamCaptureMerge = 902,
  hipErrorStreamCaptureUnmatched = 903,
  hipErrorStreamCaptureUnjoined = 904,
  hipErrorStreamCaptureIsolation = 905,
  hipErrorStreamCaptureImplicit = 906,
  hipErrorCapturedEvent = 907,
  hipErrorStreamCaptureWrongThread = 908,
  hipErrorInvalidChannelDescriptor = 911,
  hipErrorInvalidTexture = 912,
} hipError_t;
#define hipErrorMemoryAllocation hipErrorOutOfMemory
#define hipErrorInitializationError hipErrorNotInitialized
#define hipErrorMapBufferObjectFailed hipErrorMapFailed
#define hipErrorInvalidResourceHandle hipErrorInvalidHandle

typedef enum hipMemcpyKind {
  hipMemcpyHostToHost = 0,
  hipMemcpyHostToDevice = 1,
  hipMemcpyDeviceToHost = 2,
  hipMemcpyDeviceToDevice = 3,
  hipMemcpyDefault = 4,
  hipMemcpyDeviceToDeviceNoCU = 1024
} hipMemcpyKind;

// Only the names are HIP's: the values are not its ABI.
typedef enum hipDeviceAttribute_t {
  hipDeviceAttributeWarpSize,
  hipDeviceAttributeMultiprocessorCount,
  hipDeviceAttributeMaxThreadsPerBlock,
  hipDeviceAttributeMaxThreadsPerMultiProcessor,
  hipDeviceAttributeMaxBlockDimX,
  hipDeviceAttributeMaxBlockDimY,
  hipDeviceAttributeMaxBlockDimZ,
  hipDeviceAttributeMaxGridDimX,
  hipDeviceAttributeMaxGridDimY,
  hipDeviceAttributeMaxGridDimZ,
  hipDeviceAttributeMaxSharedMemoryPerBlock,
  hipDeviceAttributeMaxSharedMemoryPerMultiprocessor,
  hipDeviceAttributeSharedMemPerBlockOptin,
  hipDeviceAttributeSharedMemPerMultiprocessor,
  hipDeviceAttributeMaxRegistersPerBlock,
  hipDeviceAttributeMaxRegistersPerMultiprocessor,
  hipDeviceAttributeMaxBlocksPerMultiprocessor,
  hipDeviceAttributeMaxBlocksPerMultiProcessor,
  hipDeviceAttributeTotalConstantMemory,
  hipDeviceAttributeClockRate,
  hipDeviceAttributeClockInstructionRate,
  hipDeviceAttributeMemoryClockRate,
  hipDeviceAttributeMemoryBusWidth,
  hipDeviceAttributeL2CacheSize,
  hipDeviceAttributeComputeCapabilityMajor,
  hipDeviceAttributeComputeCapabilityMinor,
  hipDeviceAttributeComputeMode,
  hipDeviceAttributeConcurrentKernels,
  hipDeviceAttributeCooperativeLaunch,
  hipDeviceAttributeCooperativeMultiDeviceLaunch,
  hipDeviceAttributeManagedMemory,
  hipDeviceAttributeConcurrentManagedAccess,
  hipDeviceAttributePageableMemoryAccess,
  hipDeviceAttributeDirectManagedMemAccessFromHost,
  hipDeviceAttributePageableMemoryAccessUsesHostPageTables,
  hipDeviceAttributeHostNativeAtomicSupported,
  hipDeviceAttributeCanMapHostMemory,
  hipDeviceAttributeCanUseHostPointerForRegisteredMem,
  hipDeviceAttributeUnifiedAddressing,
  hipDeviceAttributeIntegrated,
  hipDeviceAttributeIsMultiGpuBoard,
  hipDeviceAttributeMultiGpuBoardGroupId,
  hipDeviceAttributeAsyncEngineCount,
  hipDeviceAttributePciBusId,
  hipDeviceAttributePciDeviceId,
  hipDeviceAttributePciDomainID,
  hipDeviceAttributePciDomainId,
  hipDeviceAttributeTextureAlignment,
  hipDeviceAttributeTexturePitchAlignment,
  hipDeviceAttributeSurfaceAlignment,
  hipDeviceAttributeMaxPitch,
  hipDeviceAttributeMaxTexture1DWidth,
  hipDeviceAttributeMaxTexture1DLinear,
  hipDeviceAttributeMaxTexture2DWidth,
  hipDeviceAttributeMaxTexture2DHeight,
  hipDeviceAttributeMaxTexture3DWidth,
  hipDeviceAttributeMaxTexture3DHeight,
  hipDeviceAttributeMaxTexture3DDepth,
  hipDeviceAttributeEccEnabled,
  hipDeviceAttributeKernelExecTimeout,
  hipDeviceAttributeTccDriver,
  hipDeviceAttributeStreamPrioritiesSupported,
  hipDeviceAttributeGlobalL1CacheSupported,
  hipDeviceAttributeLocalL1CacheSupported,
  hipDeviceAttributeSingleToDoublePrecisionPerfRatio,
  hipDeviceAttributeMemoryPoolsSupported,
  hipDeviceAttributeVirtualMemoryManagementSupported,
  hipDeviceAttributeHostRegisterSupported,
  hipDeviceAttributeImageSupport,
  hipDeviceAttributeWallClockRate,
  hipDeviceAttributePhysicalMultiProcessorCount,
  hipDeviceAttributeComputePreemptionSupported,
  hipDeviceAttributeCanUseStreamWaitValue,
  hipDeviceAttributeIsLargeBar,
  hipDeviceAttributeHdpMemFlushCntl,
  hipDeviceAttributeAmdSpecificBegin,
} hipDeviceAttribute_t;

typedef enum hipFuncAttribute {
  hipFuncAttributeMaxDynamicSharedMemorySize = 8,
  hipFuncAttributePreferredSharedMemoryCarveout = 9,
  hipFuncAttributeNonPortableClusterSizeAllowed
} hipFuncAttribute;
typedef enum hipFuncCache_t { hipFuncCachePreferNone, hipFuncCachePreferShared, hipFuncCachePreferL1, hipFuncCachePreferEqual } hipFuncCache_t;
typedef enum hipSharedMemConfig { hipSharedMemBankSizeDefault, hipSharedMemBankSizeFourByte, hipSharedMemBankSizeEightByte } hipSharedMemConfig;
typedef enum hipLimit_t { hipLimitStackSize, hipLimitPrintfFifoSize, hipLimitMallocHeapSize, hipLimitRange } hipLimit_t;
typedef enum hipMemoryType { hipMemoryTypeUnregistered, hipMemoryTypeHost, hipMemoryTypeDevice, hipMemoryTypeManaged, hipMemoryTypeArray = 10, hipMemoryTypeUnified = 11 } hipMemoryType;
typedef enum hipComputeMode { hipComputeModeDefault, hipComputeModeExclusive, hipComputeModeProhibited, hipComputeModeExclusiveProcess } hipComputeMode;
typedef enum hipMemoryAdvise {
  hipMemAdviseSetReadMostly = 1, hipMemAdviseUnsetReadMostly, hipMemAdviseSetPreferredLocation, hipMemAdviseUnsetPreferredLocation,
  hipMemAdviseSetAccessedBy, hipMemAdviseUnsetAccessedBy, hipMemAdviseSetCoarseGrain = 100, hipMemAdviseUnsetCoarseGrain
} hipMemoryAdvise;
typedef enum hipJitOption { hipJitOptionMaxRegisters, hipJitOptionThreadsPerBlock } hipJitOption;

typedef struct hipUUID_t { char bytes[16]; } hipUUID;

typedef struct hipDeviceProp_t {
  char name[256];
  hipUUID uuid;
  char gcnArchName[256];
  size_t totalGlobalMem, sharedMemPerBlock, maxSharedMemoryPerMultiProcessor, sharedMemPerBlockOptin, sharedMemPerMultiprocessor;
  size_t totalConstMem, memPitch, textureAlignment, texturePitchAlignment, surfaceAlignment, reservedSharedMemPerBlock;
  int regsPerBlock, regsPerMultiprocessor, warpSize, maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3], clockRate, memoryClockRate;
  int memoryBusWidth, major, minor, multiProcessorCount, l2CacheSize, maxThreadsPerMultiProcessor, computeMode, clockInstructionRate;
  int concurrentKernels, pciDomainID, pciBusID, pciDeviceID, isMultiGpuBoard, canMapHostMemory, gcnArch, integrated, cooperativeLaunch;
  int cooperativeMultiDeviceLaunch, maxTexture1D, maxTexture1DLinear, maxTexture2D[2], maxTexture3D[3], kernelExecTimeoutEnabled;
  int ECCEnabled, tccDriver, isLargeBar, asicRevision, managedMemory, directManagedMemAccessFromHost, concurrentManagedAccess;
  int pageableMemoryAccess, pageableMemoryAccessUsesHostPageTables, asyncEngineCount, unifiedAddressing, maxBlocksPerMultiProcessor;
  int streamPrioritiesSupported, globalL1CacheSupported, localL1CacheSupported, deviceOverlap, singleToDoublePrecisionPerfRatio;
  int hostNativeAtomicSupported, computePreemptionSupported, canUseHostPointerForRegisteredMem, memoryPoolsSupported, multiGpuBoardGroupID;
  int persistingL2CacheMaxSize, accessPolicyMaxWindowSize, maxSurface1D, maxTexture2DLinear[3];
  struct {
    unsigned hasGlobalInt32Atomics : 1, hasGlobalFloatAtomicExch : 1, hasSharedInt32Atomics : 1, hasSharedFloatAtomicExch : 1,
        hasFloatAtomicAdd : 1, hasGlobalInt64Atomics : 1, hasSharedInt64Atomics : 1, hasDoubles : 1, hasWarpVote : 1, hasWarpBallot : 1,
        hasWarpShuffle : 1, hasFunnelShift : 1, hasThreadFenceSystem : 1, hasSyncThreadsExt : 1, hasSurfaceFuncs : 1, has3dGrid : 1,
        hasDynamicParallelism : 1;
  } arch;
} hipDeviceProp_t;
#define hipDeviceProp_tR0600 hipDeviceProp_t

typedef struct hipPointerAttribute_t {
  union { hipMemoryType type, memoryType; };
  int device;
  void *devicePointer, *hostPointer;
  int isManaged;
  unsigned allocationFlags;
} hipPointerAttribute_t;

typedef struct hipFuncAttributes {
  int binaryVersion, cacheModeCA;
  size_t constSizeBytes, localSizeBytes;
  int maxDynamicSharedSizeBytes, maxThreadsPerBlock, numRegs, preferredShmemCarveout, ptxVersion;
  size_t sharedSizeBytes;
} hipFuncAttributes;

typedef int hipDevice_t;
typedef struct ihipCtx_t *hipCtx_t;
typedef struct ihipEvent_t *hipEvent_t;
typedef struct ihipMemPoolHandle_t *hipMemPool_t;
typedef void *hipDeviceptr_t;
typedef struct ihipModule_t *hipModule_t;
typedef struct ihipModuleSymbol_t *hipFunction_t;
typedef void (*hipStreamCallback_t)(hipStream_t stream, enum hipError_t status, void *data);
typedef void (*hipHostFn_t)(void *data);

#define hipStreamDefault 0x00
#define hipStreamNonBlocking 0x01
#define hipStreamLegacy ((hipStream_t)1)
#define hipStreamPerThread ((hipStream_t)2)
#define hipEventDefault 0x0
#define hipEventBlockingSync 0x1
#define hipEventDisableTiming 0x2
#define hipEventInterprocess 0x4
#define hipEventRecordDefault 0x0
#define hipHostMallocDefault 0x0
#define hipHostMallocPortable 0x1
#define hipHostMallocMapped 0x2
#define hipHostMallocWriteCombined 0x4
#define hipHostMallocNumaUser 0x20000000
#define hipHostMallocCoherent 0x40000000
#define hipHostMallocNonCoherent 0x80000000
#define hipHostAllocDefault 0x0
#define hipHostAllocPortable 0x1
#define hipHostAllocMapped 0x2
#define hipHostAllocWriteCombined 0x4
#define hipHostRegisterDefault 0x0
#define hipHostRegisterPortable 0x1
#define hipHostRegisterMapped 0x2
#define hipHostRegisterReadOnly 0x8
#define hipMemAttachGlobal 0x01
#define hipMemAttachHost 0x02
#define hipMemAttachSingle 0x04
#define hipDeviceMallocDefault 0x0
#define hipDeviceMallocFinegrained 0x1
#define hipDeviceMallocUncached 0x3
#define hipDeviceScheduleAuto 0x0
#define hipDeviceScheduleSpin 0x1
#define hipDeviceScheduleYield 0x2
#define hipDeviceScheduleBlockingSync 0x4
#define hipDeviceMapHost 0x8
#define hipDeviceLmemResizeToMax 0x10
#define hipOccupancyDefault 0x0
#define hipCpuDeviceId ((int)-1)
#define hipInvalidDeviceId ((int)-2)
#define hipIpcMemLazyEnablePeerAccess 0x01
#define HIP_SYMBOL(X) X
#define HIP_KERNEL_NAME(...) (__VA_ARGS__)
#define HIP_LAUNCH_PARAM_BUFFER_POINTER ((void *)1)
#define HIP_LAUNCH_PARAM_BUFFER_SIZE ((void *)2)
#define HIP_LAUNCH_PARAM_END ((void *)3)
#define HIPRT_CB

// ---- errors --------------------------------------------------------------------------------------------------------

hipError_t hipGetLastError();
hipError_t hipPeekAtLastError();
hipError_t hipExtGetLastError();
const char *hipGetErrorName(hipError_t error);
const char *hipGetErrorString(hipError_t error);
hipError_t hipDrvGetErrorName(hipError_t error, const char **name);
hipError_t hipDrvGetErrorString(hipError_t error, const char **text);

// ---- devices -------------------------------------------------------------------------------------------------------

hipError_t hipInit(unsigned flags);
hipError_t hipDriverGetVersion(int *version);
hipError_t hipRuntimeGetVersion(int *version);
hipError_t hipGetDeviceCount(int *count);
hipError_t hipSetDevice(int device);
hipError_t hipGetDevice(int *device);
hipError_t hipSetDeviceFlags(unsigned flags);
hipError_t hipGetDeviceFlags(unsigned *flags);
hipError_t hipGetDeviceProperties(hipDeviceProp_t *properties, int device);
inline hipError_t hipGetDevicePropertiesR0600(hipDeviceProp_t *properties, int device) { return hipGetDeviceProperties(properties, device); }
hipError_t hipDeviceGetAttribute(int *value, hipDeviceAttribute_t attribute, int device);
hipError_t hipDeviceGet(hipDevice_t *device, int ordinal);
hipError_t hipDeviceGetName(char *name, int length, hipDevice_t device);
hipError_t hipDeviceGetPCIBusId(char *id, int length, int device);
hipError_t hipDeviceGetByPCIBusId(int *device, const char *id);
hipError_t hipDeviceTotalMem(size_t *bytes, hipDevice_t device);
hipError_t hipDeviceComputeCapability(int *major, int *minor, hipDevice_t device);
hipError_t hipChooseDevice(int *device, const hipDeviceProp_t *properties);
hipError_t hipDeviceSynchronize();
hipError_t hipDeviceReset();
hipError_t hipDeviceSetLimit(hipLimit_t limit, size_t value);
hipError_t hipDeviceGetLimit(size_t *value, hipLimit_t limit);
hipError_t hipDeviceSetCacheConfig(hipFuncCache_t config);
hipError_t hipDeviceGetCacheConfig(hipFuncCache_t *config);
hipError_t hipDeviceSetSharedMemConfig(hipSharedMemConfig config);
hipError_t hipDeviceGetSharedMemConfig(hipSharedMemConfig *config);
hipError_t hipDeviceGetStreamPriorityRange(int *least, int *greatest);
hipError_t hipDeviceCanAccessPeer(int *can, int device, int peer);
hipError_t hipDeviceEnablePeerAccess(int peer, unsigned flags);
hipError_t hipDeviceDisablePeerAccess(int peer);
hipError_t hipMemGetInfo(size_t *free, size_t *total);
hipError_t hipProfilerStart();
hipError_t hipProfilerStop();
hipError_t hipCtxCreate(hipCtx_t *context, unsigned flags, hipDevice_t device);
hipError_t hipCtxDestroy(hipCtx_t context);
hipError_t hipCtxSetCurrent(hipCtx_t context);
hipError_t hipCtxGetCurrent(hipCtx_t *context);
hipError_t hipCtxSynchronize();
hipError_t hipDevicePrimaryCtxRetain(hipCtx_t *context, hipDevice_t device);
hipError_t hipDevicePrimaryCtxRelease(hipDevice_t device);

// ---- memory --------------------------------------------------------------------------------------------------------

hipError_t hipMalloc(void **pointer, size_t bytes);
hipError_t hipFree(void *pointer);
hipError_t hipHostMalloc(void **pointer, size_t bytes, unsigned flags = 0);
hipError_t hipHostFree(void *pointer);
hipError_t hipMallocManaged(void **pointer, size_t bytes, unsigned flags = hipMemAttachGlobal);
hipError_t hipMallocPitch(void **pointer, size_t *pitch, size_t width, size_t height);
hipError_t hipHostRegister(void *pointer, size_t bytes, unsigned flags);
hipError_t hipHostUnregister(void *pointer);
hipError_t hipHostGetDevicePointer(void **device, void *host, unsigned flags);
hipError_t hipHostGetFlags(unsigned *flags, void *host);
hipError_t hipPointerGetAttributes(hipPointerAttribute_t *attributes, const void *pointer);
hipError_t hipMemPtrGetInfo(void *pointer, size_t *bytes);
hipError_t hipMemcpy(void *to, const void *from, size_t bytes, hipMemcpyKind kind);
hipError_t hipMemcpyAsync(void *to, const void *from, size_t bytes, hipMemcpyKind kind, hipStream_t stream = nullptr);
hipError_t hipMemcpyWithStream(void *to, const void *from, size_t bytes, hipMemcpyKind kind, hipStream_t stream);
hipError_t hipMemcpyPeer(void *to, int to_device, const void *from, int from_device, size_t bytes);
hipError_t hipMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device, size_t bytes, hipStream_t stream = nullptr);
hipError_t hipMemcpyHtoD(hipDeviceptr_t to, const void *from, size_t bytes);
hipError_t hipMemcpyDtoH(void *to, hipDeviceptr_t from, size_t bytes);
hipError_t hipMemcpyDtoD(hipDeviceptr_t to, hipDeviceptr_t from, size_t bytes);
hipError_t hipMemcpyHtoDAsync(hipDeviceptr_t to, const void *from, size_t bytes, hipStream_t stream);
hipError_t hipMemcpyDtoHAsync(void *to, hipDeviceptr_t from, size_t bytes, hipStream_t stream);
hipError_t hipMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height, hipMemcpyKind kind);
hipError_t hipMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                            hipMemcpyKind kind, hipStream_t stream = nullptr);
hipError_t hipMemset(void *to, int value, size_t bytes);
hipError_t hipMemsetAsync(void *to, int value, size_t bytes, hipStream_t stream = nullptr);
hipError_t hipMemset2D(void *to, size_t pitch, int value, size_t width, size_t height);
hipError_t hipMemset2DAsync(void *to, size_t pitch, int value, size_t width, size_t height, hipStream_t stream = nullptr);
hipError_t hipMemsetD8(hipDeviceptr_t to, unsigned char value, size_t count);
hipError_t hipMemsetD16(hipDeviceptr_t to, unsigned short value, size_t count);
hipError_t hipMemsetD32(hipDeviceptr_t to, int value, size_t count);
hipError_t hipMemsetD32Async(hipDeviceptr_t to, int value, size_t count, hipStream_t stream = nullptr);
hipError_t hipMemPrefetchAsync(const void *pointer, size_t bytes, int device, hipStream_t stream = nullptr);
hipError_t hipMemAdvise(const void *pointer, size_t bytes, hipMemoryAdvise advice, int device);

template <class T> hipError_t hipMalloc(T **p, size_t n) { return hipMalloc((void **)(p), n); }
template <class T> hipError_t hipMallocManaged(T **p, size_t n, unsigned f = hipMemAttachGlobal) {
  return hipMallocManaged((void **)(p), n, f);
}
template <class T> hipError_t hipHostMalloc(T **p, size_t n, unsigned f = 0) { return hipHostMalloc((void **)(p), n, f); }
template <class T> hipError_t hipMallocHost(T **p, size_t n) { return hipHostMalloc((void **)(p), n, 0); }
template <class T> hipError_t hipHostAlloc(T **p, size_t n, unsigned f = 0) { return hipHostMalloc((void **)(p), n, f); }
template <class T> hipError_t hipMemAllocHost(T **p, size_t n) { return hipHostMalloc((void **)(p), n, 0); }
template <class T> hipError_t hipExtMallocWithFlags(T **p, size_t n, unsigned) { return hipMalloc((void **)(p), n); }
template <class T> hipError_t hipMallocPitch(T **p, size_t *pitch, size_t w, size_t h) {
  return hipMallocPitch((void **)(p), pitch, w, h);
}
template <class T> hipError_t hipMemAllocPitch(T **p, size_t *pitch, size_t w, size_t h, unsigned) {
  return hipMallocPitch((void **)(p), pitch, w, h);
}
inline hipError_t hipFreeHost(void *p) { return hipHostFree(p); }
template <class T> hipError_t hipHostGetDevicePointer(T **device, void *host, unsigned flags) {
  return hipHostGetDevicePointer((void **)(device), host, flags);
}

// Device variables are ordinary variables here: a symbol is its address.
template <class S> const void *rpx_symbol(const S &symbol) { return static_cast<const void *>(&reinterpret_cast<const char &>(symbol)); }
template <class S>
hipError_t hipMemcpyToSymbol(const S &symbol, const void *from, size_t bytes, size_t offset = 0, hipMemcpyKind kind = hipMemcpyHostToDevice) {
  return hipMemcpy(const_cast<char *>(static_cast<const char *>(rpx_symbol(symbol))) + offset, from, bytes, kind);
}
template <class S>
hipError_t hipMemcpyToSymbolAsync(const S &symbol, const void *from, size_t bytes, size_t offset, hipMemcpyKind kind, hipStream_t stream = nullptr) {
  return hipMemcpyAsync(const_cast<char *>(static_cast<const char *>(rpx_symbol(symbol))) + offset, from, bytes, kind, stream);
}
template <class S>
hipError_t hipMemcpyFromSymbol(void *to, const S &symbol, size_t bytes, size_t offset = 0, hipMemcpyKind kind = hipMemcpyDeviceToHost) {
  return hipMemcpy(to, static_cast<const char *>(rpx_symbol(symbol)) + offset, bytes, kind);
}
template <class S>
hipError_t hipMemcpyFromSymbolAsync(void *to, const S &symbol, size_t bytes, size_t offset, hipMemcpyKind kind, hipStream_t stream = nullptr) {
  return hipMemcpyAsync(to, static_cast<const char *>(rpx_symbol(symbol)) + offset, bytes, kind, stream);
}
template <class P, class S> hipError_t hipGetSymbolAddress(P **address, const S &symbol) {
  *address = reinterpret_cast<P *>(const_cast<void *>(rpx_symbol(symbol)));
  return hipSuccess;
}
template <class S> hipError_t hipGetSymbolSize(size_t *bytes, const S &) {
  *bytes = sizeof(S);
  return hipSuccess;
}

// ---- memory pools --------------------------------------------------------------------------------------------------

typedef enum hipMemPoolAttr {
  hipMemPoolReuseFollowEventDependencies = 1, hipMemPoolReuseAllowOpportunistic, hipMemPoolReuseAllowInternalDependencies,
  hipMemPoolAttrReleaseThreshold, hipMemPoolAttrReservedMemCurrent, hipMemPoolAttrReservedMemHigh, hipMemPoolAttrUsedMemCurrent,
  hipMemPoolAttrUsedMemHigh
} hipMemPoolAttr;
typedef enum hipMemAllocationType { hipMemAllocationTypeInvalid, hipMemAllocationTypePinned } hipMemAllocationType;
typedef enum hipMemAllocationHandleType { hipMemHandleTypeNone, hipMemHandleTypePosixFileDescriptor } hipMemAllocationHandleType;
typedef enum hipMemLocationType {
  hipMemLocationTypeInvalid, hipMemLocationTypeDevice, hipMemLocationTypeHost, hipMemLocationTypeHostNuma, hipMemLocationTypeHostNumaCurrent
} hipMemLocationType;
typedef struct hipMemLocation { hipMemLocationType type; int id; } hipMemLocation;
typedef struct hipMemPoolProps {
  hipMemAllocationType allocType;
  hipMemAllocationHandleType handleTypes;
  hipMemLocation location;
  void *win32SecurityAttributes;
  size_t maxSize;
  unsigned char reserved[56];
} hipMemPoolProps;
typedef enum hipMemAccessFlags { hipMemAccessFlagsProtNone = 0, hipMemAccessFlagsProtRead = 1, hipMemAccessFlagsProtReadWrite = 3 } hipMemAccessFlags;
typedef struct hipMemAccessDesc { hipMemLocation location; hipMemAccessFlags flags; } hipMemAccessDesc;
template <class T> hipError_t hipMallocAsync(T **p, size_t n, hipStream_t = nullptr) { return hipMalloc((void **)(p), n); }
template <class T> hipError_t hipMallocFromPoolAsync(T **p, size_t n, hipMemPool_t, hipStream_t) {
  return hipMalloc((void **)(p), n);
}
hipError_t hipFreeAsync(void *pointer, hipStream_t stream);
hipError_t hipDeviceGetDefaultMemPool(hipMemPool_t *pool, int device);
hipError_t hipDeviceGetMemPool(hipMemPool_t *pool, int device);
hipError_t hipDeviceSetMemPool(int device, hipMemPool_t pool);
hipError_t hipMemPoolCreate(hipMemPool_t *pool, const hipMemPoolProps *properties);
hipError_t hipMemPoolDestroy(hipMemPool_t pool);
hipError_t hipMemPoolSetAttribute(hipMemPool_t pool, hipMemPoolAttr attribute, void *value);
hipError_t hipMemPoolGetAttribute(hipMemPool_t pool, hipMemPoolAttr attribute, void *value);
hipError_t hipMemPoolTrimTo(hipMemPool_t pool, size_t bytes);

// ---- streams and events --------------------------------------------------------------------------------------------

hipError_t hipStreamCreate(hipStream_t *stream);
hipError_t hipStreamCreateWithFlags(hipStream_t *stream, unsigned flags);
hipError_t hipStreamCreateWithPriority(hipStream_t *stream, unsigned flags, int priority);
hipError_t hipStreamDestroy(hipStream_t stream);
hipError_t hipStreamSynchronize(hipStream_t stream);
hipError_t hipStreamQuery(hipStream_t stream);
hipError_t hipStreamWaitEvent(hipStream_t stream, hipEvent_t event, unsigned flags = 0);
hipError_t hipStreamAddCallback(hipStream_t stream, hipStreamCallback_t callback, void *data, unsigned flags);
hipError_t hipStreamGetFlags(hipStream_t stream, unsigned *flags);
hipError_t hipStreamGetPriority(hipStream_t stream, int *priority);
hipError_t hipStreamAttachMemAsync(hipStream_t stream, void *pointer, size_t bytes = 0, unsigned flags = hipMemAttachSingle);
hipError_t hipLaunchHostFunc(hipStream_t stream, hipHostFn_t function, void *data);
hipError_t hipEventCreate(hipEvent_t *event);
hipError_t hipEventCreateWithFlags(hipEvent_t *event, unsigned flags);
hipError_t hipEventDestroy(hipEvent_t event);
hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream = nullptr);
hipError_t hipEventRecordWithFlags(hipEvent_t event, hipStream_t stream, unsigned flags);
hipError_t hipEventSynchronize(hipEvent_t event);
hipError_t hipEventQuery(hipEvent_t event);
hipError_t hipEventElapsedTime(float *milliseconds, hipEvent_t start, hipEvent_t stop);

// ---- kernels -------------------------------------------------------------------------------------------------------

typedef struct hipLaunchParams { void *func; dim3 gridDim, blockDim; void **args; size_t sharedMem; hipStream_t stream; } hipLaunchParams;

namespace rpx {
hipError_t launch_status();       // of the last launch: the sticky error, not cleared
void note_error(hipError_t error);
const char *demangled(const char *name);
hipError_t launch_untyped(const void *kernel, const Config &config, void **packed);

template <class... P> hipError_t launch_with_array(void (*kernel)(P...), dim3 grid, dim3 block, void **packed, size_t lds, hipStream_t stream) {
  launch_packed("(kernel by address)", Config(grid, block, lds, stream), kernel, packed);
  return launch_status();
}
inline hipError_t launch_with_array(const void *kernel, dim3 grid, dim3 block, void **packed, size_t lds, hipStream_t stream) {
  return launch_untyped(kernel, Config(grid, block, lds, stream), packed);
}
}  // namespace rpx

template <class F>
hipError_t hipLaunchKernel(F kernel, dim3 grid, dim3 block, void **arguments, size_t lds = 0, hipStream_t stream = nullptr) {
  return rpx::launch_with_array(kernel, grid, block, arguments, lds, stream);
}
template <class F>
hipError_t hipLaunchCooperativeKernel(F kernel, dim3 grid, dim3 block, void **arguments, unsigned lds = 0, hipStream_t stream = nullptr) {
  return rpx::launch_with_array(kernel, grid, block, arguments, lds, stream);
}
template <class F>
hipError_t hipExtLaunchKernel(F kernel, dim3 grid, dim3 block, void **arguments, size_t lds, hipStream_t stream, hipEvent_t start, hipEvent_t stop, int) {
  if (start) hipEventRecord(start, stream);
  hipError_t status = rpx::launch_with_array(kernel, grid, block, arguments, lds, stream);
  if (stop) hipEventRecord(stop, stream);
  return status;
}
template <class F> hipError_t hipFuncSetAttribute(F, hipFuncAttribute, int) { return hipSuccess; }
template <class F> hipError_t hipFuncSetCacheConfig(F, hipFuncCache_t) { return hipSuccess; }
template <class F> hipError_t hipFuncSetSharedMemConfig(F, hipSharedMemConfig) { return hipSuccess; }
template <class F> hipError_t hipFuncGetAttributes(hipFuncAttributes *attributes, F) {
  std::memset(attributes, 0, sizeof *attributes);
  attributes->maxThreadsPerBlock = 1024;
  attributes->numRegs = 32;
  attributes->maxDynamicSharedSizeBytes = 65536;
  return hipSuccess;
}
// The device is small on purpose (rpx::kComputeUnits), so that grids sized by occupancy stay small.
hipError_t rpx_occupancy(int *blocks, int block_size, size_t lds);
template <class F> hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, F, int block_size, size_t lds) {
  return rpx_occupancy(blocks, block_size, lds);
}
template <class F>
hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, F, int block_size, size_t lds, unsigned = 0) {
  return rpx_occupancy(blocks, block_size, lds);
}
template <class F> hipError_t hipOccupancyMaxPotentialBlockSize(int *grid, int *block, F, size_t = 0, int limit = 0) {
  *block = limit > 0 && limit < 256 ? limit : 256;
  *grid = 8;
  return hipSuccess;
}
template <class F, class S>
hipError_t hipOccupancyMaxPotentialBlockSizeVariableSMem(int *grid, int *block, F f, S, int limit = 0) {
  return hipOccupancyMaxPotentialBlockSize(grid, block, f, 0, limit);
}
template <class F, class S>
hipError_t hipOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(int *grid, int *block, F f, S, int limit = 0, unsigned = 0) {
  return hipOccupancyMaxPotentialBlockSize(grid, block, f, 0, limit);
}
template <class F> const char *hipKernelNameRefByPtr(F, hipStream_t) { return rpx::demangled("kernel"); }

#include "rpx/texture.h"
#include "rpx/graph_api.h"
#include "rpx/more_api.h"
#include "rpx/module_api.h"

#define HIP_DYNAMIC_SHARED(type, name) extern __shared__ type name[];
#define HIP_DYNAMIC_SHARED_ATTRIBUTE
