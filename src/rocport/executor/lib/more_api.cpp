// SPDX-License-Identifier: Apache-2.0
// Rarer parts of the runtime API: see rpx/more_api.h.
#include <cstring>

#include <sys/mman.h>

#include "streams.h"

using namespace rpx;

struct ihipMemGenericAllocationHandle {
  size_t bytes;
};

hipError_t hipDeviceGetP2PAttribute(int *value, hipDeviceP2PAttr, int from, int to) {
  *value = 0;
  return from || to ? fail(hipErrorInvalidDevice) : fail(hipErrorInvalidValue);
}

hipError_t hipIpcGetMemHandle(hipIpcMemHandle_t *, void *) { return fail(hipErrorNotSupported); }
hipError_t hipIpcOpenMemHandle(void **, hipIpcMemHandle_t, unsigned) { return fail(hipErrorNotSupported); }
hipError_t hipIpcCloseMemHandle(void *) { return fail(hipErrorNotSupported); }
hipError_t hipIpcGetEventHandle(hipIpcEventHandle_t *, hipEvent_t) { return fail(hipErrorNotSupported); }
hipError_t hipIpcOpenEventHandle(hipEvent_t *, hipIpcEventHandle_t) { return fail(hipErrorNotSupported); }

hipError_t hipDeviceGetUuid(hipUUID *uuid, hipDevice_t) {
  std::memcpy(uuid->bytes, "rocport-executor", 16);
  return hipSuccess;
}
hipError_t hipMemGetAddressRange(hipDeviceptr_t *base, size_t *bytes, hipDeviceptr_t pointer) {
  Allocation a;
  if (!find_allocation(pointer, &a)) return fail(hipErrorInvalidValue);
  if (base) *base = a.base;
  if (bytes) *bytes = a.size;
  return hipSuccess;
}
hipError_t hipMemPoolSetAccess(hipMemPool_t, const hipMemAccessDesc *, size_t) { return hipSuccess; }
hipError_t hipMemPoolGetAccess(hipMemAccessFlags *flags, hipMemPool_t, hipMemLocation *) {
  *flags = hipMemAccessFlagsProtReadWrite;
  return hipSuccess;
}
hipError_t hipMemRangeGetAttribute(void *data, size_t bytes, hipMemRangeAttribute, const void *, size_t) {
  std::memset(data, 0, bytes);
  return hipSuccess;
}

namespace {

template <class T> hipError_t write_value(hipStream_t stream, void *pointer, T value) {
  return hipLaunchHostFunc(stream, [](void *data) {
    auto *job = static_cast<std::pair<T *, T> *>(data);
    *job->first = job->second;
    delete job;
  }, new std::pair<T *, T>(static_cast<T *>(pointer), value));
}

// Everything before is done by now, so nothing can change a value that does not fit yet.
template <class T> hipError_t wait_value(void *pointer, T value, unsigned flags, T mask) {
  const T found = *static_cast<T *>(pointer) & mask;
  const bool met = flags == hipStreamWaitValueEq    ? found == value
                   : flags == hipStreamWaitValueAnd ? (found & value) != 0
                   : flags == hipStreamWaitValueNor ? static_cast<T>(~(found | value)) != 0
                                                    : found >= value;
  if (!met) unsupported("a stream that waits for a value which is written later");
  return hipSuccess;
}

}  // namespace

hipError_t hipStreamWriteValue32(hipStream_t stream, void *pointer, uint32_t value, unsigned) { return write_value(stream, pointer, value); }
hipError_t hipStreamWriteValue64(hipStream_t stream, void *pointer, uint64_t value, unsigned) { return write_value(stream, pointer, value); }
hipError_t hipStreamWaitValue32(hipStream_t, void *pointer, uint32_t value, unsigned flags, uint32_t mask) { return wait_value(pointer, value, flags, mask); }
hipError_t hipStreamWaitValue64(hipStream_t, void *pointer, uint64_t value, unsigned flags, uint64_t mask) { return wait_value(pointer, value, flags, mask); }

namespace {
constexpr size_t kGranularity = 2u << 20;
}
hipError_t hipMemGetAllocationGranularity(size_t *bytes, const hipMemAllocationProp *, hipMemAllocationGranularity_flags) {
  *bytes = kGranularity;
  return hipSuccess;
}
hipError_t hipMemAddressReserve(void **pointer, size_t bytes, size_t, void *, unsigned long long) {
  if (!bytes || bytes % kGranularity) return fail(hipErrorInvalidValue);
  void *p = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) return fail(hipErrorOutOfMemory);
  *pointer = p;
  return hipSuccess;
}
hipError_t hipMemAddressFree(void *pointer, size_t bytes) { return munmap(pointer, bytes) ? fail(hipErrorInvalidValue) : hipSuccess; }
hipError_t hipMemCreate(hipMemGenericAllocationHandle_t *handle, size_t bytes, const hipMemAllocationProp *, unsigned long long) {
  if (!bytes || bytes % kGranularity) return fail(hipErrorInvalidValue);
  *handle = new ihipMemGenericAllocationHandle{bytes};
  return hipSuccess;
}
hipError_t hipMemRelease(hipMemGenericAllocationHandle_t handle) {
  delete handle;
  return hipSuccess;
}
hipError_t hipMemMap(void *pointer, size_t bytes, size_t offset, hipMemGenericAllocationHandle_t handle, unsigned long long) {
  if (!handle || offset || bytes > handle->bytes) return fail(hipErrorInvalidValue);
  return mprotect(pointer, bytes, PROT_READ | PROT_WRITE) ? fail(hipErrorInvalidValue) : hipSuccess;
}
hipError_t hipMemUnmap(void *pointer, size_t bytes) { return mprotect(pointer, bytes, PROT_NONE) ? fail(hipErrorInvalidValue) : hipSuccess; }
hipError_t hipMemSetAccess(void *, size_t, const hipMemAccessDesc *, size_t) { return hipSuccess; }
hipError_t hipMemGetAccess(unsigned long long *flags, const hipMemLocation *, void *) {
  *flags = hipMemAccessFlagsProtReadWrite;
  return hipSuccess;
}

hipError_t hipMemcpyDtoDAsync(hipDeviceptr_t to, hipDeviceptr_t from, size_t bytes, hipStream_t stream) {
  return hipMemcpyAsync(to, from, bytes, hipMemcpyDeviceToDevice, stream);
}
hipError_t hipMemsetD8Async(hipDeviceptr_t to, unsigned char value, size_t count, hipStream_t stream) { return hipMemsetAsync(to, value, count, stream); }
hipError_t hipMemsetD16Async(hipDeviceptr_t to, unsigned short value, size_t count, hipStream_t) { return hipMemsetD16(to, value, count); }
hipError_t hipDevicePrimaryCtxReset(hipDevice_t) { return hipSuccess; }
hipError_t hipDevicePrimaryCtxGetState(hipDevice_t, unsigned *flags, int *active) {
  *flags = 0;
  *active = 1;
  return hipSuccess;
}
hipError_t hipStreamGetDevice(hipStream_t, hipDevice_t *device) {
  *device = 0;
  return hipSuccess;
}
