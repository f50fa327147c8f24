// SPDX-License-Identifier: Apache-2.0
// The HIP runtime API over host memory.
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <dlfcn.h>
#include <sys/resource.h>
#include <unistd.h>

#include "streams.h"

namespace rpx {
namespace {

hipError_t last_error = hipSuccess;
bool launch_error_unseen = false;
const void *launch_error_site = nullptr;
std::set<hipStream_t> *streams;

struct KnownKernel {
  const char *name;
  PackedLauncher launcher;
  const ArgumentLayout *layout;
  std::size_t arguments;
};
std::map<const void *, KnownKernel> *known_kernels;

bool valid(hipStream_t stream) {
  return reinterpret_cast<std::size_t>(stream) <= 2 || (streams && streams->count(stream));
}

template <class F> hipError_t enqueue(hipStream_t stream, hipGraphNodeType type, F f) {
  if (!valid(stream)) return fail(hipErrorInvalidHandle);
  if (capturing(stream)) record(stream, type, f);
  else f();
  return hipSuccess;
}

void copy(void *to, const void *from, size_t bytes, hipMemcpyKind kind, const void *site) {
  if (!bytes) return;
  std::memmove(to, from, bytes);
  note_copied(to, from, bytes, site);
  Allocation a, b;
  bool to_host = kind == hipMemcpyDeviceToHost || (kind == hipMemcpyDefault && find_allocation(from, &a) && !find_allocation(to, &b));
  if (to_host) trace_copy(to, bytes);
}

// A copy must stay inside of the device allocation it touches: real hardware may fault here, and values are lost.
hipError_t check_range(const void *pointer, size_t bytes, const void *site) {
  Allocation a;
  if (!find_allocation(pointer, &a)) return hipSuccess;
  size_t offset = static_cast<size_t>(static_cast<const char *>(pointer) - a.base);
  if (offset + bytes <= a.size) return hipSuccess;
  hazard(Hazard::kOutOfBounds, site, static_cast<long long>(offset + bytes) - 1, static_cast<long long>(a.size));
  return hipErrorInvalidValue;
}


}  // namespace

hipError_t fail(hipError_t error) {
  if (error != hipSuccess) last_error = error;
  return error;
}
hipError_t launch_status() { return last_error; }
void note_error(hipError_t error) { fail(error); }
const char *demangled(const char *name) { return name; }

void submit(const Launch &launch) {
  const Config &c = launch.config;
  const u64 threads = (u64)c.block.x * c.block.y * c.block.z;
  bool bad = !c.grid.x || !c.grid.y || !c.grid.z || !threads || threads > 1024 || c.block.z > 1024;
  if (bad || c.lds > settings().lds_limit) {
    if (bad) hazard(Hazard::kLaunchConfig, launch.site, (long long)threads, c.grid.x);
    else hazard(Hazard::kLdsLimit, launch.site, (long long)c.lds, (long long)settings().lds_limit);
    fail(bad ? hipErrorInvalidConfiguration : hipErrorInvalidValue);
    launch_error_unseen = true;
    launch_error_site = launch.site;
    launch.destroy(launch.closure);
    return;
  }
  if (!valid(c.stream)) {
    fail(hipErrorInvalidHandle);
    launch.destroy(launch.closure);
    return;
  }
  if (capture_launch(launch)) return;
  run_launch(launch);
  launch.destroy(launch.closure);
}

void report_unchecked() {
  if (launch_error_unseen) hazard(Hazard::kUncheckedError, launch_error_site, last_error);
}

void register_kernel(const void *kernel, const char *name, PackedLauncher launcher, const ArgumentLayout *layout, std::size_t arguments) {
  if (!known_kernels) known_kernels = new std::map<const void *, KnownKernel>;
  (*known_kernels)[kernel] = {name, launcher, layout, arguments};
}

const void *find_kernel(const char *name, const char *file) {
  if (!known_kernels) return nullptr;
  for (const auto &[address, known] : *known_kernels) {
    Dl_info where;
    if (!std::strcmp(known.name, name) && dladdr(address, &where) && !std::strcmp(where.dli_fname, file)) return address;
  }
  return nullptr;
}

std::vector<void *> spread_arguments(const void *kernel, void *buffer) {
  std::vector<void *> packed;
  auto at = known_kernels ? known_kernels->find(kernel) : std::map<const void *, KnownKernel>::iterator();
  if (!known_kernels || at == known_kernels->end()) return packed;
  std::size_t offset = 0;
  for (std::size_t i = 0; i < at->second.arguments; ++i) {
    const ArgumentLayout &a = at->second.layout[i];
    offset = (offset + a.alignment - 1) / a.alignment * a.alignment;
    packed.push_back(static_cast<char *>(buffer) + offset);
    offset += a.bytes;
  }
  return packed;
}

bool launch_by_address(const void *kernel, const Config &config, void **packed) {
  if (!known_kernels) return false;
  auto at = known_kernels->find(kernel);
  if (at == known_kernels->end()) return false;
  at->second.launcher(at->second.name, kernel, config, packed);
  return true;
}

hipError_t launch_untyped(const void *kernel, const Config &config, void **packed) {
  if (!launch_by_address(kernel, config, packed))
    unsupported("launching a kernel that is known only by its address and is a template or of another file");
  return last_error;
}

void end_captures_into(hipGraph_t graph) {
  if (!streams) return;
  for (hipStream_t s : *streams)
    if (s->capture == graph) {
      s->capture = nullptr;
      s->owns_capture = false;
    }
}

}  // namespace rpx

using namespace rpx;

// ---- errors --------------------------------------------------------------------------------------------------------

hipError_t hipGetLastError() {
  hipError_t error = last_error;
  last_error = hipSuccess;
  launch_error_unseen = false;
  return error;
}
hipError_t hipExtGetLastError() { return hipGetLastError(); }
hipError_t hipPeekAtLastError() {
  launch_error_unseen = false;
  return last_error;
}
const char *hipGetErrorName(hipError_t error) {
  for (int i = 0; i < kErrorCount; ++i)
    if (kErrors[i].code == error) return kErrors[i].name;
  return "hipErrorUnknown";
}
const char *hipGetErrorString(hipError_t error) {
  for (int i = 0; i < kErrorCount; ++i)
    if (kErrors[i].code == error) return kErrors[i].text;
  return "unknown error";
}
hipError_t hipDrvGetErrorName(hipError_t error, const char **name) {
  *name = hipGetErrorName(error);
  return hipSuccess;
}
hipError_t hipDrvGetErrorString(hipError_t error, const char **text) {
  *text = hipGetErrorString(error);
  return hipSuccess;
}

// ---- devices -------------------------------------------------------------------------------------------------------

namespace {

// Programs size their buffers by what the device has: half of what the run may use, the rest is for their host side.
constexpr size_t kMostMemory = 16ull << 30;
size_t device_memory() {
  rlimit limit;
  if (getrlimit(RLIMIT_DATA, &limit) || limit.rlim_cur == RLIM_INFINITY) return kMostMemory;
  return limit.rlim_cur / 2 < kMostMemory ? limit.rlim_cur / 2 : kMostMemory;
}

hipError_t check_device(int device) { return device == 0 ? hipSuccess : fail(hipErrorInvalidDevice); }

// gfx942 -> 9.4, gfx1100 -> 11.0: what HIP reports as the compute capability.
void capability(int *major, int *minor) {
  const char *digits = settings().target + 3;
  size_t n = std::strlen(digits);
  *major = n > 2 ? std::atoi(std::string(digits, n - 2).c_str()) : 9;
  *minor = n > 2 ? digits[n - 2] - '0' : 0;
}

}  // namespace

hipError_t hipInit(unsigned) { return hipSuccess; }
hipError_t hipDriverGetVersion(int *version) {
  *version = HIP_VERSION;
  return hipSuccess;
}
hipError_t hipRuntimeGetVersion(int *version) {
  *version = HIP_VERSION;
  return hipSuccess;
}
hipError_t hipGetDeviceCount(int *count) {
  *count = 1;
  return hipSuccess;
}
hipError_t hipSetDevice(int device) { return check_device(device); }
hipError_t hipGetDevice(int *device) {
  *device = 0;
  return hipSuccess;
}
hipError_t hipSetDeviceFlags(unsigned) { return hipSuccess; }
hipError_t hipGetDeviceFlags(unsigned *flags) {
  *flags = 0;
  return hipSuccess;
}
hipError_t hipGetDeviceProperties(hipDeviceProp_t *p, int device) {
  if (device) return fail(hipErrorInvalidDevice);
  std::memset(p, 0, sizeof *p);
  std::snprintf(p->name, sizeof p->name, "rocport CPU executor (%s, wave%u)", settings().target, wave_width);
  std::snprintf(p->gcnArchName, sizeof p->gcnArchName, "%s", settings().target);
  capability(&p->major, &p->minor);
  p->totalGlobalMem = device_memory();
  p->sharedMemPerBlock = p->sharedMemPerMultiprocessor = p->maxSharedMemoryPerMultiProcessor = settings().lds_limit;
  p->sharedMemPerBlockOptin = settings().lds_limit;
  p->totalConstMem = 1u << 31 >> 1;
  p->memPitch = 0x7fffffff;
  p->textureAlignment = p->texturePitchAlignment = p->surfaceAlignment = 256;
  p->regsPerBlock = p->regsPerMultiprocessor = 65536;
  p->warpSize = static_cast<int>(wave_width);
  p->maxThreadsPerBlock = 1024;
  for (int &n : p->maxThreadsDim) n = 1024;
  p->maxGridSize[0] = 0x7fffffff;
  p->maxGridSize[1] = p->maxGridSize[2] = 65536;
  p->clockRate = 1700000;
  p->memoryClockRate = 1300000;
  p->memoryBusWidth = 8192;
  p->clockInstructionRate = 100000;
  p->multiProcessorCount = kComputeUnits;
  p->l2CacheSize = 4 << 20;
  p->maxThreadsPerMultiProcessor = 2048;
  p->maxBlocksPerMultiProcessor = 2;
  p->concurrentKernels = p->canMapHostMemory = p->cooperativeLaunch = p->managedMemory = p->unifiedAddressing = 1;
  p->concurrentManagedAccess = p->pageableMemoryAccess = p->hostNativeAtomicSupported = p->memoryPoolsSupported = 1;
  p->asyncEngineCount = 1;
  p->maxTexture1D = p->maxTexture1DLinear = 1 << 27;
  for (int &n : p->maxTexture2D) n = 16384;
  for (int &n : p->maxTexture3D) n = 8192;
  p->arch.hasGlobalInt32Atomics = p->arch.hasGlobalFloatAtomicExch = p->arch.hasSharedInt32Atomics = 1;
  p->arch.hasSharedFloatAtomicExch = p->arch.hasFloatAtomicAdd = p->arch.hasGlobalInt64Atomics = p->arch.hasSharedInt64Atomics = 1;
  p->arch.hasDoubles = p->arch.hasWarpVote = p->arch.hasWarpBallot = p->arch.hasWarpShuffle = p->arch.has3dGrid = 1;
  return hipSuccess;
}
hipError_t hipDeviceGetAttribute(int *value, hipDeviceAttribute_t attribute, int device) {
  hipDeviceProp_t p;
  if (hipError_t bad = hipGetDeviceProperties(&p, device)) return bad;
  switch (attribute) {
    case hipDeviceAttributeWarpSize: *value = p.warpSize; break;
    case hipDeviceAttributeMultiprocessorCount:
    case hipDeviceAttributePhysicalMultiProcessorCount: *value = p.multiProcessorCount; break;
    case hipDeviceAttributeMaxThreadsPerBlock:
    case hipDeviceAttributeMaxBlockDimX:
    case hipDeviceAttributeMaxBlockDimY:
    case hipDeviceAttributeMaxBlockDimZ: *value = 1024; break;
    case hipDeviceAttributeMaxThreadsPerMultiProcessor: *value = p.maxThreadsPerMultiProcessor; break;
    case hipDeviceAttributeMaxGridDimX: *value = p.maxGridSize[0]; break;
    case hipDeviceAttributeMaxGridDimY:
    case hipDeviceAttributeMaxGridDimZ: *value = p.maxGridSize[1]; break;
    case hipDeviceAttributeMaxSharedMemoryPerBlock:
    case hipDeviceAttributeMaxSharedMemoryPerMultiprocessor:
    case hipDeviceAttributeSharedMemPerBlockOptin:
    case hipDeviceAttributeSharedMemPerMultiprocessor: *value = static_cast<int>(p.sharedMemPerBlock); break;
    case hipDeviceAttributeMaxRegistersPerBlock:
    case hipDeviceAttributeMaxRegistersPerMultiprocessor: *value = p.regsPerBlock; break;
    case hipDeviceAttributeMaxBlocksPerMultiprocessor:
    case hipDeviceAttributeMaxBlocksPerMultiProcessor: *value = p.maxBlocksPerMultiProcessor; break;
    case hipDeviceAttributeTotalConstantMemory: *value = 1 << 30; break;
    case hipDeviceAttributeClockRate: *value = p.clockRate; break;
    case hipDeviceAttributeClockInstructionRate:
    case hipDeviceAttributeWallClockRate: *value = 1000000; break;  // kHz of wall_clock64(), which counts nanoseconds
    case hipDeviceAttributeMemoryClockRate: *value = p.memoryClockRate; break;
    case hipDeviceAttributeMemoryBusWidth: *value = p.memoryBusWidth; break;
    case hipDeviceAttributeL2CacheSize: *value = p.l2CacheSize; break;
    case hipDeviceAttributeComputeCapabilityMajor: *value = p.major; break;
    case hipDeviceAttributeComputeCapabilityMinor: *value = p.minor; break;
    case hipDeviceAttributeTextureAlignment:
    case hipDeviceAttributeTexturePitchAlignment:
    case hipDeviceAttributeSurfaceAlignment: *value = 256; break;
    case hipDeviceAttributeMaxPitch: *value = 0x7fffffff; break;
    case hipDeviceAttributeConcurrentKernels:
    case hipDeviceAttributeCooperativeLaunch:
    case hipDeviceAttributeManagedMemory:
    case hipDeviceAttributeConcurrentManagedAccess:
    case hipDeviceAttributePageableMemoryAccess:
    case hipDeviceAttributeDirectManagedMemAccessFromHost:
    case hipDeviceAttributeHostNativeAtomicSupported:
    case hipDeviceAttributeCanMapHostMemory:
    case hipDeviceAttributeUnifiedAddressing:
    case hipDeviceAttributeMemoryPoolsSupported:
    case hipDeviceAttributeHostRegisterSupported:
    case hipDeviceAttributeImageSupport:
    case hipDeviceAttributeAsyncEngineCount: *value = 1; break;
    default: *value = 0; break;
  }
  return hipSuccess;
}
hipError_t hipDeviceGet(hipDevice_t *device, int ordinal) {
  *device = ordinal;
  return check_device(ordinal);
}
hipError_t hipDeviceGetName(char *name, int length, hipDevice_t device) {
  hipDeviceProp_t p;
  if (hipError_t bad = hipGetDeviceProperties(&p, device)) return bad;
  std::snprintf(name, static_cast<size_t>(length), "%s", p.name);
  return hipSuccess;
}
hipError_t hipDeviceGetPCIBusId(char *id, int length, int device) {
  std::snprintf(id, static_cast<size_t>(length), "0000:00:00.0");
  return check_device(device);
}
hipError_t hipDeviceGetByPCIBusId(int *device, const char *) {
  *device = 0;
  return hipSuccess;
}
hipError_t hipDeviceTotalMem(size_t *bytes, hipDevice_t device) {
  *bytes = device_memory();
  return check_device(device);
}
hipError_t hipDeviceComputeCapability(int *major, int *minor, hipDevice_t device) {
  capability(major, minor);
  return check_device(device);
}
hipError_t hipChooseDevice(int *device, const hipDeviceProp_t *) {
  *device = 0;
  return hipSuccess;
}
hipError_t hipDeviceSynchronize() { return hipSuccess; }
hipError_t hipDeviceReset() { return hipSuccess; }
hipError_t hipDeviceSetLimit(hipLimit_t, size_t) { return hipSuccess; }
hipError_t hipDeviceGetLimit(size_t *value, hipLimit_t limit) {
  *value = limit == hipLimitStackSize ? settings().stack : 8u << 20;
  return hipSuccess;
}
hipError_t hipDeviceSetCacheConfig(hipFuncCache_t) { return hipSuccess; }
hipError_t hipDeviceGetCacheConfig(hipFuncCache_t *config) {
  *config = hipFuncCachePreferNone;
  return hipSuccess;
}
hipError_t hipDeviceSetSharedMemConfig(hipSharedMemConfig) { return hipSuccess; }
hipError_t hipDeviceGetSharedMemConfig(hipSharedMemConfig *config) {
  *config = hipSharedMemBankSizeFourByte;
  return hipSuccess;
}
hipError_t hipDeviceGetStreamPriorityRange(int *least, int *greatest) {
  *least = 1;
  *greatest = -1;
  return hipSuccess;
}
hipError_t hipDeviceCanAccessPeer(int *can, int, int) {
  *can = 0;
  return hipSuccess;
}
hipError_t hipDeviceEnablePeerAccess(int, unsigned) { return fail(hipErrorInvalidDevice); }
hipError_t hipDeviceDisablePeerAccess(int) { return fail(hipErrorPeerAccessNotEnabled); }
hipError_t hipMemGetInfo(size_t *free, size_t *total) {
  size_t used, count;
  device_memory_use(&used, &count);
  *total = device_memory();
  *free = used < device_memory() ? device_memory() - used : 0;
  return hipSuccess;
}
hipError_t hipProfilerStart() { return hipSuccess; }
hipError_t hipProfilerStop() { return hipSuccess; }
hipError_t hipCtxCreate(hipCtx_t *context, unsigned, hipDevice_t) {
  *context = reinterpret_cast<hipCtx_t>(1);
  return hipSuccess;
}
hipError_t hipCtxDestroy(hipCtx_t) { return hipSuccess; }
hipError_t hipCtxSetCurrent(hipCtx_t) { return hipSuccess; }
hipError_t hipCtxGetCurrent(hipCtx_t *context) {
  *context = reinterpret_cast<hipCtx_t>(1);
  return hipSuccess;
}
hipError_t hipCtxSynchronize() { return hipSuccess; }
hipError_t hipDevicePrimaryCtxRetain(hipCtx_t *context, hipDevice_t) { return hipCtxGetCurrent(context); }
hipError_t hipDevicePrimaryCtxRelease(hipDevice_t) { return hipSuccess; }
hipError_t rpx_occupancy(int *blocks, int block_size, size_t lds) {
  if (block_size <= 0 || block_size > 1024) {
    *blocks = 0;
    return hipSuccess;
  }
  int by_threads = 2048 / block_size, by_lds = lds ? static_cast<int>(settings().lds_limit / lds) : 2;
  int n = by_threads < by_lds ? by_threads : by_lds;
  *blocks = n > 2 ? 2 : n;
  return hipSuccess;
}

// ---- memory --------------------------------------------------------------------------------------------------------

hipError_t hipMalloc(void **pointer, size_t bytes) {
  if (!pointer) return fail(hipErrorInvalidValue);
  if (!bytes) {
    *pointer = nullptr;
    return hipSuccess;
  }
  if (bytes > kMostMemory) return fail(hipErrorOutOfMemory);
  *pointer = device_allocate(bytes);
  return *pointer ? hipSuccess : fail(hipErrorOutOfMemory);
}
hipError_t hipFree(void *pointer) {
  if (!pointer) return hipSuccess;
  return device_free(pointer) ? hipSuccess : fail(hipErrorInvalidValue);
}
hipError_t hipHostMalloc(void **pointer, size_t bytes, unsigned) {
  hipError_t error = hipMalloc(pointer, bytes);
  if (error == hipSuccess) note_written(*pointer, bytes);  // the host may write it unseen
  return error;
}
hipError_t hipHostFree(void *pointer) { return hipFree(pointer); }
hipError_t hipMallocManaged(void **pointer, size_t bytes, unsigned flags) { return hipHostMalloc(pointer, bytes, flags); }
hipError_t hipMallocPitch(void **pointer, size_t *pitch, size_t width, size_t height) {
  *pitch = (width + 255) / 256 * 256;
  return hipMalloc(pointer, *pitch * height);
}
hipError_t hipHostRegister(void *, size_t, unsigned) { return hipSuccess; }
hipError_t hipHostUnregister(void *) { return hipSuccess; }
hipError_t hipHostGetDevicePointer(void **device, void *host, unsigned) {
  *device = host;
  return hipSuccess;
}
hipError_t hipHostGetFlags(unsigned *flags, void *) {
  *flags = 0;
  return hipSuccess;
}
hipError_t hipPointerGetAttributes(hipPointerAttribute_t *attributes, const void *pointer) {
  std::memset(attributes, 0, sizeof *attributes);
  Allocation a;
  if (!find_allocation(pointer, &a)) {
    attributes->type = hipMemoryTypeUnregistered;
    return fail(hipErrorInvalidValue);
  }
  attributes->type = hipMemoryTypeDevice;
  attributes->devicePointer = const_cast<void *>(pointer);
  return hipSuccess;
}
hipError_t hipMemPtrGetInfo(void *pointer, size_t *bytes) {
  Allocation a;
  if (!find_allocation(pointer, &a)) return fail(hipErrorInvalidValue);
  *bytes = a.size;
  return hipSuccess;
}
hipError_t hipMemcpy(void *to, const void *from, size_t bytes, hipMemcpyKind kind) {
  const void *site = __builtin_return_address(0);
  if (bytes && (!to || !from)) return fail(hipErrorInvalidValue);
  if (hipError_t bad = check_range(to, bytes, site)) return fail(bad);
  if (hipError_t bad = check_range(from, bytes, site)) return fail(bad);
  copy(to, from, bytes, kind, site);
  return hipSuccess;
}
hipError_t hipMemcpyAsync(void *to, const void *from, size_t bytes, hipMemcpyKind kind, hipStream_t stream) {
  const void *site = __builtin_return_address(0);
  if (bytes && (!to || !from)) return fail(hipErrorInvalidValue);
  if (hipError_t bad = check_range(to, bytes, site)) return fail(bad);
  if (hipError_t bad = check_range(from, bytes, site)) return fail(bad);
  return enqueue(stream, hipGraphNodeTypeMemcpy, [=] { copy(to, from, bytes, kind, site); });
}
hipError_t hipMemcpyWithStream(void *to, const void *from, size_t bytes, hipMemcpyKind kind, hipStream_t stream) {
  return hipMemcpyAsync(to, from, bytes, kind, stream);
}
hipError_t hipMemcpyPeer(void *to, int, const void *from, int, size_t bytes) { return hipMemcpy(to, from, bytes, hipMemcpyDeviceToDevice); }
hipError_t hipMemcpyPeerAsync(void *to, int, const void *from, int, size_t bytes, hipStream_t stream) {
  return hipMemcpyAsync(to, from, bytes, hipMemcpyDeviceToDevice, stream);
}
hipError_t hipMemcpyHtoD(hipDeviceptr_t to, const void *from, size_t bytes) { return hipMemcpy(to, from, bytes, hipMemcpyHostToDevice); }
hipError_t hipMemcpyDtoH(void *to, hipDeviceptr_t from, size_t bytes) { return hipMemcpy(to, from, bytes, hipMemcpyDeviceToHost); }
hipError_t hipMemcpyDtoD(hipDeviceptr_t to, hipDeviceptr_t from, size_t bytes) { return hipMemcpy(to, from, bytes, hipMemcpyDeviceToDevice); }
hipError_t hipMemcpyHtoDAsync(hipDeviceptr_t to, const void *from, size_t bytes, hipStream_t stream) {
  return hipMemcpyAsync(to, from, bytes, hipMemcpyHostToDevice, stream);
}
hipError_t hipMemcpyDtoHAsync(void *to, hipDeviceptr_t from, size_t bytes, hipStream_t stream) {
  return hipMemcpyAsync(to, from, bytes, hipMemcpyDeviceToHost, stream);
}
static hipError_t copy_2d(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                          hipMemcpyKind kind, hipStream_t stream, const void *site) {
  if (!width || !height) return hipSuccess;
  if (!to || !from) return fail(hipErrorInvalidValue);
  if (width > to_pitch || width > from_pitch) return fail(hipErrorInvalidPitchValue);
  if (hipError_t bad = check_range(to, (height - 1) * to_pitch + width, site)) return fail(bad);
  if (hipError_t bad = check_range(from, (height - 1) * from_pitch + width, site)) return fail(bad);
  return enqueue(stream, hipGraphNodeTypeMemcpy, [=] {
    for (size_t y = 0; y < height; ++y)
      copy(static_cast<char *>(to) + y * to_pitch, static_cast<const char *>(from) + y * from_pitch, width, kind, site);
  });
}
hipError_t hipMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height, hipMemcpyKind kind) {
  return copy_2d(to, to_pitch, from, from_pitch, width, height, kind, nullptr, __builtin_return_address(0));
}
hipError_t hipMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                            hipMemcpyKind kind, hipStream_t stream) {
  return copy_2d(to, to_pitch, from, from_pitch, width, height, kind, stream, __builtin_return_address(0));
}
static hipError_t set(void *to, int value, size_t bytes, hipStream_t stream, const void *site) {
  if (bytes && !to) return fail(hipErrorInvalidValue);
  if (hipError_t bad = check_range(to, bytes, site)) return fail(bad);
  return enqueue(stream, hipGraphNodeTypeMemset, [=] {
    if (bytes) std::memset(to, value, bytes);
    note_written(to, bytes);
  });
}
hipError_t hipMemset(void *to, int value, size_t bytes) { return set(to, value, bytes, nullptr, __builtin_return_address(0)); }
hipError_t hipMemsetAsync(void *to, int value, size_t bytes, hipStream_t stream) {
  return set(to, value, bytes, stream, __builtin_return_address(0));
}
hipError_t hipMemset2D(void *to, size_t pitch, int value, size_t width, size_t height) {
  return hipMemset2DAsync(to, pitch, value, width, height, nullptr);
}
hipError_t hipMemset2DAsync(void *to, size_t pitch, int value, size_t width, size_t height, hipStream_t stream) {
  return enqueue(stream, hipGraphNodeTypeMemset, [=] {
    for (size_t y = 0; y < height; ++y) {
      std::memset(static_cast<char *>(to) + y * pitch, value, width);
      note_written(static_cast<char *>(to) + y * pitch, width);
    }
  });
}
hipError_t hipMemsetD8(hipDeviceptr_t to, unsigned char value, size_t count) { return hipMemset(to, value, count); }
hipError_t hipMemsetD16(hipDeviceptr_t to, unsigned short value, size_t count) {
  for (size_t i = 0; i < count; ++i) static_cast<unsigned short *>(to)[i] = value;
  note_written(to, 2 * count);
  return hipSuccess;
}
hipError_t hipMemsetD32(hipDeviceptr_t to, int value, size_t count) { return hipMemsetD32Async(to, value, count, nullptr); }
hipError_t hipMemsetD32Async(hipDeviceptr_t to, int value, size_t count, hipStream_t stream) {
  return enqueue(stream, hipGraphNodeTypeMemset, [=] {
    for (size_t i = 0; i < count; ++i) static_cast<int *>(to)[i] = value;
    note_written(to, 4 * count);
  });
}
hipError_t hipMemPrefetchAsync(const void *, size_t, int, hipStream_t) { return hipSuccess; }
hipError_t hipMemAdvise(const void *, size_t, hipMemoryAdvise, int) { return hipSuccess; }
hipError_t hipFreeAsync(void *pointer, hipStream_t stream) {
  if (capturing(stream)) return enqueue(stream, hipGraphNodeTypeEmpty, [] {});  // a replay may use it again
  return hipFree(pointer);
}
hipError_t hipDeviceGetDefaultMemPool(hipMemPool_t *pool, int) {
  *pool = reinterpret_cast<hipMemPool_t>(1);
  return hipSuccess;
}
hipError_t hipDeviceGetMemPool(hipMemPool_t *pool, int device) { return hipDeviceGetDefaultMemPool(pool, device); }
hipError_t hipDeviceSetMemPool(int, hipMemPool_t) { return hipSuccess; }
hipError_t hipMemPoolCreate(hipMemPool_t *pool, const hipMemPoolProps *) { return hipDeviceGetDefaultMemPool(pool, 0); }
hipError_t hipMemPoolDestroy(hipMemPool_t) { return hipSuccess; }
hipError_t hipMemPoolSetAttribute(hipMemPool_t, hipMemPoolAttr, void *) { return hipSuccess; }
hipError_t hipMemPoolGetAttribute(hipMemPool_t, hipMemPoolAttr attribute, void *value) {
  size_t used, count;
  device_memory_use(&used, &count);
  if (attribute >= hipMemPoolAttrReleaseThreshold) *static_cast<unsigned long long *>(value) = used;
  else *static_cast<int *>(value) = 0;
  return hipSuccess;
}
hipError_t hipMemPoolTrimTo(hipMemPool_t, size_t) { return hipSuccess; }

// ---- streams and events --------------------------------------------------------------------------------------------

hipError_t hipStreamCreate(hipStream_t *stream) { return hipStreamCreateWithPriority(stream, 0, 0); }
hipError_t hipStreamCreateWithFlags(hipStream_t *stream, unsigned flags) { return hipStreamCreateWithPriority(stream, flags, 0); }
hipError_t hipStreamCreateWithPriority(hipStream_t *stream, unsigned flags, int priority) {
  if (!streams) streams = new std::set<hipStream_t>;
  *stream = new ihipStream_t;
  (*stream)->flags = flags;
  (*stream)->priority = priority;
  streams->insert(*stream);
  return hipSuccess;
}
hipError_t hipStreamDestroy(hipStream_t stream) {
  if (reinterpret_cast<size_t>(stream) <= 2 || !valid(stream)) return fail(hipErrorInvalidHandle);
  streams->erase(stream);
  delete stream;
  return hipSuccess;
}
hipError_t hipStreamSynchronize(hipStream_t stream) { return valid(stream) ? hipSuccess : fail(hipErrorInvalidHandle); }
hipError_t hipStreamQuery(hipStream_t stream) { return valid(stream) ? hipSuccess : fail(hipErrorInvalidHandle); }
hipError_t hipStreamWaitEvent(hipStream_t stream, hipEvent_t event, unsigned) {
  if (!valid(stream) || !event) return fail(hipErrorInvalidHandle);
  // A stream that waits for an event of a capture joins that capture.
  if (event->capture && reinterpret_cast<size_t>(stream) > 2 && !stream->capture) stream->capture = event->capture;
  return hipSuccess;
}
hipError_t hipStreamAddCallback(hipStream_t stream, hipStreamCallback_t callback, void *data, unsigned) {
  return enqueue(stream, hipGraphNodeTypeHost, [=] { callback(stream, hipSuccess, data); });
}
hipError_t hipStreamGetFlags(hipStream_t stream, unsigned *flags) {
  *flags = reinterpret_cast<size_t>(stream) > 2 ? stream->flags : 0;
  return hipSuccess;
}
hipError_t hipStreamGetPriority(hipStream_t stream, int *priority) {
  *priority = reinterpret_cast<size_t>(stream) > 2 ? stream->priority : 0;
  return hipSuccess;
}
hipError_t hipStreamAttachMemAsync(hipStream_t, void *, size_t, unsigned) { return hipSuccess; }
hipError_t hipLaunchHostFunc(hipStream_t stream, hipHostFn_t function, void *data) {
  return enqueue(stream, hipGraphNodeTypeHost, [=] { function(data); });
}
hipError_t hipEventCreate(hipEvent_t *event) {
  *event = new ihipEvent_t;
  return hipSuccess;
}
hipError_t hipEventCreateWithFlags(hipEvent_t *event, unsigned) { return hipEventCreate(event); }
hipError_t hipEventDestroy(hipEvent_t event) {
  if (!event) return fail(hipErrorInvalidHandle);
  delete event;
  return hipSuccess;
}
hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream) {
  if (!event || !valid(stream)) return fail(hipErrorInvalidHandle);
  event->when = std::chrono::steady_clock::now();
  event->recorded = true;
  event->capture = capturing(stream) ? stream->capture : nullptr;
  return hipSuccess;
}
hipError_t hipEventRecordWithFlags(hipEvent_t event, hipStream_t stream, unsigned) { return hipEventRecord(event, stream); }
hipError_t hipEventSynchronize(hipEvent_t event) { return event ? hipSuccess : fail(hipErrorInvalidHandle); }
hipError_t hipEventQuery(hipEvent_t event) { return event ? hipSuccess : fail(hipErrorInvalidHandle); }
hipError_t hipEventElapsedTime(float *milliseconds, hipEvent_t start, hipEvent_t stop) {
  if (!start || !stop || !start->recorded || !stop->recorded) return fail(hipErrorInvalidHandle);
  *milliseconds = std::chrono::duration<float, std::milli>(stop->when - start->when).count();
  return hipSuccess;
}
