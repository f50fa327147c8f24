// SPDX-License-Identifier: Apache-2.0
// Rarer parts of the runtime API: peers, memory shared between processes, virtual memory, waiting on values, attributes.
#pragma once

// ---- peers and processes: there is one device and one process -------------------------------------------------------

typedef enum hipDeviceP2PAttr {
  hipDevP2PAttrPerformanceRank, hipDevP2PAttrAccessSupported, hipDevP2PAttrNativeAtomicSupported, hipDevP2PAttrHipArrayAccessSupported
} hipDeviceP2PAttr;
hipError_t hipDeviceGetP2PAttribute(int *value, hipDeviceP2PAttr attribute, int from, int to);

#define HIP_IPC_HANDLE_SIZE 64
typedef struct hipIpcMemHandle_st { char reserved[HIP_IPC_HANDLE_SIZE]; } hipIpcMemHandle_t;
typedef struct hipIpcEventHandle_st { char reserved[HIP_IPC_HANDLE_SIZE]; } hipIpcEventHandle_t;
// Device memory is not shared with other processes: these give hipErrorNotSupported.
hipError_t hipIpcGetMemHandle(hipIpcMemHandle_t *handle, void *pointer);
hipError_t hipIpcOpenMemHandle(void **pointer, hipIpcMemHandle_t handle, unsigned flags);
hipError_t hipIpcCloseMemHandle(void *pointer);
hipError_t hipIpcGetEventHandle(hipIpcEventHandle_t *handle, hipEvent_t event);
hipError_t hipIpcOpenEventHandle(hipEvent_t *event, hipIpcEventHandle_t handle);

// ---- attributes of memory, streams and launches ----------------------------------------------------------------------

hipError_t hipDeviceGetUuid(hipUUID *uuid, hipDevice_t device);
hipError_t hipMemGetAddressRange(hipDeviceptr_t *base, size_t *bytes, hipDeviceptr_t pointer);
hipError_t hipMemPoolSetAccess(hipMemPool_t pool, const hipMemAccessDesc *access, size_t count);
hipError_t hipMemPoolGetAccess(hipMemAccessFlags *flags, hipMemPool_t pool, hipMemLocation *location);
typedef enum hipMemRangeAttribute {
  hipMemRangeAttributeReadMostly = 1, hipMemRangeAttributePreferredLocation, hipMemRangeAttributeAccessedBy,
  hipMemRangeAttributeLastPrefetchLocation, hipMemRangeAttributeCoherencyMode = 100
} hipMemRangeAttribute;
hipError_t hipMemRangeGetAttribute(void *data, size_t bytes, hipMemRangeAttribute attribute, const void *pointer, size_t count);

typedef enum hipAccessProperty { hipAccessPropertyNormal, hipAccessPropertyStreaming, hipAccessPropertyPersisting } hipAccessProperty;
typedef struct hipAccessPolicyWindow {
  void *base_ptr;
  hipAccessProperty hitProp;
  float hitRatio;
  hipAccessProperty missProp;
  size_t num_bytes;
} hipAccessPolicyWindow;
typedef enum hipLaunchAttributeID {
  hipLaunchAttributeAccessPolicyWindow = 1, hipLaunchAttributeCooperative = 2, hipLaunchAttributePriority = 8
} hipLaunchAttributeID;
typedef union hipLaunchAttributeValue {
  hipAccessPolicyWindow accessPolicyWindow;
  int cooperative, priority;
} hipLaunchAttributeValue;

// ---- values in memory that a stream waits for ------------------------------------------------------------------------

#define hipStreamWaitValueGte 0x0
#define hipStreamWaitValueEq 0x1
#define hipStreamWaitValueAnd 0x2
#define hipStreamWaitValueNor 0x3
hipError_t hipStreamWriteValue32(hipStream_t stream, void *pointer, uint32_t value, unsigned flags);
hipError_t hipStreamWriteValue64(hipStream_t stream, void *pointer, uint64_t value, unsigned flags);
hipError_t hipStreamWaitValue32(hipStream_t stream, void *pointer, uint32_t value, unsigned flags, uint32_t mask = 0xffffffff);
hipError_t hipStreamWaitValue64(hipStream_t stream, void *pointer, uint64_t value, unsigned flags, uint64_t mask = ~0ull);

// ---- virtual memory: a mapping is a piece of the reserved addresses ---------------------------------------------------

typedef struct ihipMemGenericAllocationHandle *hipMemGenericAllocationHandle_t;
typedef enum hipMemAllocationGranularity_flags { hipMemAllocationGranularityMinimum = 0, hipMemAllocationGranularityRecommended = 1 } hipMemAllocationGranularity_flags;
typedef struct hipMemAllocationProp {
  hipMemAllocationType type;
  union {
    hipMemAllocationHandleType requestedHandleType;
    hipMemAllocationHandleType requestedHandleTypes;
  };
  hipMemLocation location;
  void *win32HandleMetaData;
  struct { unsigned char compressionType, gpuDirectRDMACapable; unsigned short usage; } allocFlags;
} hipMemAllocationProp;
hipError_t hipMemGetAllocationGranularity(size_t *bytes, const hipMemAllocationProp *properties, hipMemAllocationGranularity_flags option);
hipError_t hipMemAddressReserve(void **pointer, size_t bytes, size_t alignment, void *address, unsigned long long flags);
hipError_t hipMemAddressFree(void *pointer, size_t bytes);
hipError_t hipMemCreate(hipMemGenericAllocationHandle_t *handle, size_t bytes, const hipMemAllocationProp *properties, unsigned long long flags);
hipError_t hipMemRelease(hipMemGenericAllocationHandle_t handle);
hipError_t hipMemMap(void *pointer, size_t bytes, size_t offset, hipMemGenericAllocationHandle_t handle, unsigned long long flags);
hipError_t hipMemUnmap(void *pointer, size_t bytes);
hipError_t hipMemSetAccess(void *pointer, size_t bytes, const hipMemAccessDesc *access, size_t count);
hipError_t hipMemGetAccess(unsigned long long *flags, const hipMemLocation *location, void *pointer);

hipError_t hipMemcpyDtoDAsync(hipDeviceptr_t to, hipDeviceptr_t from, size_t bytes, hipStream_t stream);
hipError_t hipMemsetD8Async(hipDeviceptr_t to, unsigned char value, size_t count, hipStream_t stream);
hipError_t hipMemsetD16Async(hipDeviceptr_t to, unsigned short value, size_t count, hipStream_t stream);
hipError_t hipDevicePrimaryCtxReset(hipDevice_t device);
hipError_t hipDevicePrimaryCtxGetState(hipDevice_t device, unsigned *flags, int *active);
hipError_t hipStreamGetDevice(hipStream_t stream, hipDevice_t *device);
