// SPDX-License-Identifier: Apache-2.0
// PyTorch's device side for extensions that run on the CPU executor: streams, guards, checks, properties, allocator.
// Its tensors are backend.cpp's; the one device is the executor's. Both spellings, c10::cuda and c10::hip, name the same.
#pragma once

#include <hip/hip_runtime.h>

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>
#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <c10/core/Device.h>
#include <c10/core/Stream.h>
#include <c10/util/Exception.h>
#include <c10/util/complex.h>

#include <cstring>
#include <optional>

#define C10_CUDA_API
#define C10_HIP_API
#define C10_CUDA_EXPORT
#define C10_CUDA_IMPORT

#define C10_CUDA_CHECK(EXPRESSION)                                                                       \
  do {                                                                                                   \
    const hipError_t rpx_error = (EXPRESSION);                                                           \
    TORCH_CHECK(rpx_error == hipSuccess, "HIP error: ", hipGetErrorString(rpx_error), " in " #EXPRESSION); \
  } while (0)
#define C10_CUDA_CHECK_WARN(EXPRESSION)                                                                       \
  do {                                                                                                        \
    const hipError_t rpx_error = (EXPRESSION);                                                                \
    if (rpx_error != hipSuccess) TORCH_WARN("HIP warning: ", hipGetErrorString(rpx_error), " in " #EXPRESSION); \
  } while (0)
#define C10_CUDA_ERROR_HANDLED(EXPRESSION) (EXPRESSION)
#define C10_CUDA_IGNORE_ERROR(EXPRESSION) ((void)(EXPRESSION))
#define C10_CUDA_CLEAR_ERROR() ((void)hipGetLastError())
#define C10_CUDA_KERNEL_LAUNCH_CHECK() C10_CUDA_CHECK(hipGetLastError())
#define C10_HIP_CHECK(EXPRESSION) C10_CUDA_CHECK(EXPRESSION)
#define C10_HIP_CHECK_WARN(EXPRESSION) C10_CUDA_CHECK_WARN(EXPRESSION)
#define C10_HIP_IGNORE_ERROR(EXPRESSION) C10_CUDA_IGNORE_ERROR(EXPRESSION)
#define C10_HIP_CLEAR_ERROR() C10_CUDA_CLEAR_ERROR()
#define C10_HIP_KERNEL_LAUNCH_CHECK() C10_CUDA_KERNEL_LAUNCH_CHECK()
#define AT_CUDA_CHECK(EXPRESSION) C10_CUDA_CHECK(EXPRESSION)

namespace c10::cuda {

inline DeviceIndex device_count() noexcept { return 1; }
inline DeviceIndex device_count_ensure_non_zero() { return 1; }
inline DeviceIndex current_device() { return 0; }
inline void set_device(DeviceIndex, bool = false) {}
inline void device_synchronize() { C10_CUDA_CHECK(hipDeviceSynchronize()); }
inline void warn_or_error_on_sync() {}
inline DeviceIndex ExchangeDevice(DeviceIndex) { return 0; }
inline DeviceIndex MaybeExchangeDevice(DeviceIndex) { return 0; }
inline void MaybeSetDevice(DeviceIndex) {}
inline void SetDevice(DeviceIndex) {}

/// The executor's streams are in order and finish at once.
class CUDAStream {
 public:
  enum Unchecked { UNCHECKED };
  CUDAStream() = default;
  explicit CUDAStream(hipStream_t stream) : stream_(stream) {}
  explicit CUDAStream(Stream) {}
  CUDAStream(Unchecked, Stream) {}
  operator hipStream_t() const { return stream_; }
  operator Stream() const { return unwrap(); }
  hipStream_t stream() const { return stream_; }
  Stream unwrap() const { return Stream(Stream::DEFAULT, device()); }
  Device device() const { return Device(DeviceType::CUDA, 0); }
  DeviceType device_type() const { return DeviceType::CUDA; }
  DeviceIndex device_index() const { return 0; }
  StreamId id() const { return 0; }
  int priority() const { return 0; }
  bool query() const { return hipStreamQuery(stream_) == hipSuccess; }
  void synchronize() const { C10_CUDA_CHECK(hipStreamSynchronize(stream_)); }
  bool operator==(const CUDAStream &other) const noexcept { return stream_ == other.stream_; }
  bool operator!=(const CUDAStream &other) const noexcept { return stream_ != other.stream_; }

 private:
  hipStream_t stream_ = nullptr;
};

inline CUDAStream &rpx_current_stream() {
  static CUDAStream stream;
  return stream;
}
inline CUDAStream getCurrentCUDAStream(DeviceIndex = -1) { return rpx_current_stream(); }
inline CUDAStream getDefaultCUDAStream(DeviceIndex = -1) { return {}; }
inline void setCurrentCUDAStream(CUDAStream stream) { rpx_current_stream() = stream; }
inline CUDAStream getStreamFromPool(bool = false, DeviceIndex = -1) {
  hipStream_t stream;
  C10_CUDA_CHECK(hipStreamCreate(&stream));
  return CUDAStream(stream);
}
inline CUDAStream getStreamFromPool(int, DeviceIndex device = -1) { return getStreamFromPool(false, device); }
inline CUDAStream getStreamFromExternal(hipStream_t stream, DeviceIndex) { return CUDAStream(stream); }

struct CUDAGuard {
  explicit CUDAGuard(DeviceIndex) {}
  explicit CUDAGuard(Device) {}
  CUDAGuard(const CUDAGuard &) = delete;
  CUDAGuard &operator=(const CUDAGuard &) = delete;
  ~CUDAGuard() {}
  void set_device(Device) {}
  void reset_device(Device) {}
  void set_index(DeviceIndex) {}
  Device original_device() const { return Device(DeviceType::CUDA, 0); }
  Device current_device() const { return Device(DeviceType::CUDA, 0); }
};

struct OptionalCUDAGuard {
  OptionalCUDAGuard() = default;
  explicit OptionalCUDAGuard(std::optional<Device>) {}
  explicit OptionalCUDAGuard(std::optional<DeviceIndex>) {}
  OptionalCUDAGuard(const OptionalCUDAGuard &) = delete;
  OptionalCUDAGuard &operator=(const OptionalCUDAGuard &) = delete;
  ~OptionalCUDAGuard() {}
  void set_device(Device) {}
  void reset_device(Device) {}
  void set_index(DeviceIndex) {}
  void reset() {}
};

struct CUDAStreamGuard {
  explicit CUDAStreamGuard(CUDAStream stream) : before_(getCurrentCUDAStream()) { setCurrentCUDAStream(stream); }
  explicit CUDAStreamGuard(Stream) : before_(getCurrentCUDAStream()) {}
  CUDAStreamGuard(const CUDAStreamGuard &) = delete;
  CUDAStreamGuard &operator=(const CUDAStreamGuard &) = delete;
  ~CUDAStreamGuard() { setCurrentCUDAStream(before_); }
  void reset_stream(CUDAStream stream) { setCurrentCUDAStream(stream); }
  CUDAStream original_stream() const { return before_; }
  CUDAStream current_stream() const { return getCurrentCUDAStream(); }

 private:
  CUDAStream before_;
};

struct OptionalCUDAStreamGuard {
  OptionalCUDAStreamGuard() = default;
  explicit OptionalCUDAStreamGuard(std::optional<CUDAStream> stream) {
    if (stream) guard_.emplace(*stream);
  }
  void reset_stream(CUDAStream stream) { guard_.emplace(stream); }
  void reset() { guard_.reset(); }

 private:
  std::optional<CUDAStreamGuard> guard_;
};

using HIPStream = CUDAStream;
using HIPGuard = CUDAGuard;
using OptionalHIPGuard = OptionalCUDAGuard;
using HIPStreamGuard = CUDAStreamGuard;
using OptionalHIPStreamGuard = OptionalCUDAStreamGuard;
using HIPStreamMasqueradingAsCUDA = CUDAStream;
using HIPGuardMasqueradingAsCUDA = CUDAGuard;
using OptionalHIPGuardMasqueradingAsCUDA = OptionalCUDAGuard;
using HIPStreamGuardMasqueradingAsCUDA = CUDAStreamGuard;
using OptionalHIPStreamGuardMasqueradingAsCUDA = OptionalCUDAStreamGuard;
inline CUDAStream getCurrentHIPStream(DeviceIndex device = -1) { return getCurrentCUDAStream(device); }
inline CUDAStream getDefaultHIPStream(DeviceIndex device = -1) { return getDefaultCUDAStream(device); }
inline void setCurrentHIPStream(CUDAStream stream) { setCurrentCUDAStream(stream); }
inline CUDAStream getCurrentHIPStreamMasqueradingAsCUDA(DeviceIndex device = -1) { return getCurrentCUDAStream(device); }
inline CUDAStream getDefaultHIPStreamMasqueradingAsCUDA(DeviceIndex device = -1) { return getDefaultCUDAStream(device); }
inline void setCurrentHIPStreamMasqueradingAsCUDA(CUDAStream stream) { setCurrentCUDAStream(stream); }
inline CUDAStream getStreamFromPoolMasqueradingAsCUDA(bool high = false, DeviceIndex device = -1) {
  return getStreamFromPool(high, device);
}

namespace CUDACachingAllocator {
inline Allocator *get() { return c10::GetAllocator(c10::DeviceType::CUDA); }
inline void *raw_alloc(size_t bytes) { return c10::GetCPUAllocator()->raw_allocate(bytes); }
inline void *raw_alloc_with_stream(size_t bytes, hipStream_t) { return raw_alloc(bytes); }
inline void raw_delete(void *memory) { c10::GetCPUAllocator()->raw_deallocate(memory); }
inline void emptyCache() {}
inline void recordStream(const DataPtr &, CUDAStream) {}
}  // namespace CUDACachingAllocator
namespace HIPCachingAllocator = CUDACachingAllocator;

}  // namespace c10::cuda

#ifdef ROCPORT_SOURCE_LEVEL
// PyTorch defines it in headers read by the device compiler only.
namespace at {
template <typename T>
struct RestrictPtrTraits {
  typedef T *__restrict__ PtrType;
};
}  // namespace at
namespace torch {
using at::RestrictPtrTraits;
}
#endif

namespace c10::hip {
using namespace c10::cuda;
}

namespace at::cuda {

using namespace c10::cuda;

inline hipDeviceProp_t *getDeviceProperties(c10::DeviceIndex) {
  static hipDeviceProp_t properties = [] {
    hipDeviceProp_t p;
    C10_CUDA_CHECK(hipGetDeviceProperties(&p, 0));
    return p;
  }();
  return &properties;
}
inline hipDeviceProp_t *getCurrentDeviceProperties() { return getDeviceProperties(0); }
inline int warp_size() { return getCurrentDeviceProperties()->warpSize; }
inline int64_t getNumGPUs() { return 1; }
inline bool is_available() { return true; }
inline bool canDeviceAccessPeer(c10::DeviceIndex, c10::DeviceIndex) { return false; }
inline c10::Allocator *getCUDADeviceAllocator() { return c10::GetAllocator(c10::DeviceType::CUDA); }
inline c10::Allocator *getHIPDeviceAllocator() { return c10::GetAllocator(c10::DeviceType::CUDA); }

/// An event that has happened when it is recorded: streams finish at once.
class CUDAEvent {
 public:
  CUDAEvent() = default;
  explicit CUDAEvent(unsigned) {}
  void record() {}
  void record(const CUDAStream &) {}
  void recordOnce(const CUDAStream &) {}
  void block(const CUDAStream &) {}
  bool query() const { return true; }
  void synchronize() const {}
  bool isCreated() const { return true; }
};

}  // namespace at::cuda

namespace at::hip {
using namespace at::cuda;
namespace detail {}
}  // namespace at::hip
namespace at::cuda::detail {}
namespace at::hip::detail {
using namespace at::cuda::detail;
}

namespace rpx::torch_atomics {
template <typename T>
RPX_DEVICE inline T add(T *address, T value) { return atomicAdd(address, value); }
template <typename T>
RPX_DEVICE T through_float(T *address, T value) {
  auto *bits = reinterpret_cast<unsigned short *>(address);
  unsigned short before = __atomic_load_n(bits, __ATOMIC_RELAXED), after;
  T old;
  do {
    std::memcpy(&old, &before, sizeof old);
    const T sum = static_cast<T>(static_cast<float>(old) + static_cast<float>(value));
    std::memcpy(&after, &sum, sizeof after);
  } while (!__atomic_compare_exchange_n(bits, &before, after, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
  return old;
}
RPX_DEVICE inline c10::Half add(c10::Half *address, c10::Half value) { return through_float(address, value); }
RPX_DEVICE inline c10::BFloat16 add(c10::BFloat16 *address, c10::BFloat16 value) { return through_float(address, value); }
template <typename T>
RPX_DEVICE inline c10::complex<T> add(c10::complex<T> *address, c10::complex<T> value) {  // each part by itself
  T *parts = reinterpret_cast<T *>(address);
  return {atomicAdd(parts, value.real()), atomicAdd(parts + 1, value.imag())};
}
template <typename T>
RPX_DEVICE T whole(T *address, T value) { return __atomic_fetch_add(address, value, __ATOMIC_RELAXED); }
RPX_DEVICE inline int8_t add(int8_t *address, int8_t value) { return whole(address, value); }
RPX_DEVICE inline uint8_t add(uint8_t *address, uint8_t value) { return whole(address, value); }
RPX_DEVICE inline int16_t add(int16_t *address, int16_t value) { return whole(address, value); }
RPX_DEVICE inline int64_t add(int64_t *address, int64_t value) { return whole(address, value); }
RPX_DEVICE inline bool add(bool *address, bool value) {
  return __atomic_fetch_or(reinterpret_cast<unsigned char *>(address), static_cast<unsigned char>(value), __ATOMIC_RELAXED);
}
}  // namespace rpx::torch_atomics
template <typename T>
RPX_DEVICE inline T gpuAtomicAdd(T *address, T value) { return rpx::torch_atomics::add(address, value); }
template <typename T>
RPX_DEVICE inline void gpuAtomicAddNoReturn(T *address, T value) { rpx::torch_atomics::add(address, value); }
