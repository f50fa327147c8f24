// SPDX-License-Identifier: Apache-2.0
// Errors, settings, and what the device says of itself.
#include <cstdarg>
#include <cstdlib>
#include <set>

#include <unistd.h>

#include "state.h"

namespace rt {
namespace {

thread_local hipError_t last_error = hipSuccess;

const Device kDevices[] = {
#include "targets.inc"
};
struct ErrorText {
  hipError_t code;
  const char *name, *text;
};
const ErrorText kErrors[] = {
#include "error_table.inc"
};
const ErrorText *text_of(hipError_t error) {
  for (const ErrorText &e : kErrors)
    if (e.code == error) return &e;
  return nullptr;
}

// What to do where something is not served, by a part of its name.
const char *next_step(const std::string &what) {
  for (const char *word : {"exture", "hipTex", "urface"})
    if (what.find(word) != std::string::npos)
      return "`rocport run --executor source` serves textures over arrays and linear memory";
  for (const char *word : {"Ipc", "External", "ShareableHandle"})
    if (what.find(word) != std::string::npos)
      return "memory stays in its process here: what shares it with another one, or with graphics, needs the device";
  if (what.find("captured stream") != std::string::npos) return "call it before the capture begins";
  return "docs/exec.md says what is served; ROCPORT_EXEC_TRACE=- shows the calls with their arguments";
}

}  // namespace

hipError_t fail(hipError_t error) {
  if (error != hipSuccess) last_error = error;
  return error;
}

void say(const char *format, ...) {
  char line[1024];
  va_list list;
  va_start(list, format);
  int n = std::snprintf(line, sizeof line, "rocport: ");
  n += std::vsnprintf(line + n, sizeof line - 2 - static_cast<std::size_t>(n), format, list);
  va_end(list);
  if (n > static_cast<int>(sizeof line) - 2) n = sizeof line - 2;
  line[n++] = '\n';
  std::fflush(stdout);
  if (write(2, line, static_cast<std::size_t>(n)) < 0) return;
}

hipError_t unserved(const char *what) {
  static std::mutex mutex;
  static std::set<std::string> said;
  std::lock_guard<std::mutex> guard(mutex);
  if (said.insert(what).second)
    say("%s is not served by the ISA executor's runtime: hipErrorNotSupported; %s", what, next_step(what));
  return fail(hipErrorNotSupported);
}

std::string setting(const char *name, const char *otherwise) {
  const char *value = std::getenv(name);
  return value && *value ? value : otherwise;
}

const Device &device() {
  static const Device &found = [&]() -> const Device & {
    std::string wanted = setting("ROCPORT_EXEC_TARGET", "gfx942");
    wanted = wanted.substr(0, wanted.find(':'));
    for (const Device &d : kDevices)
      if (wanted == d.target) return d;
    say("ROCPORT_EXEC_TARGET=%s: not a target that rocport knows", wanted.c_str());
    std::exit(2);
  }();
  return found;
}

std::size_t device_memory() {
  static const std::size_t bytes = std::strtoull(setting("ROCPORT_EXEC_MEMORY_MB", "8192").c_str(), nullptr, 10) << 20;
  return bytes;
}

// Few on purpose: programs size their grids by it.
int compute_units() {
  static const int count = std::atoi(setting("ROCPORT_EXEC_CUS", "8").c_str());
  return count > 0 ? count : 1;
}

namespace {

// gfx942 -> 9.4, gfx1100 -> 11.0: what HIP reports as the compute capability.
void capability(int *major, int *minor) {
  const std::string digits = device().target + 3;
  *major = std::atoi(digits.substr(0, digits.size() - 2).c_str());
  *minor = digits[digits.size() - 2] - '0';
}

hipError_t check_device(int ordinal) { return ordinal == 0 ? hipSuccess : fail(hipErrorInvalidDevice); }

constexpr int kThreadsPerUnit = 2048;
constexpr int kMostPitch = 0x7fffffff;

}  // namespace
}  // namespace rt

using namespace rt;

extern "C" {

hipError_t hipGetLastError() {
  hipError_t error = last_error;
  last_error = hipSuccess;
  return error;
}
hipError_t hipExtGetLastError() { return hipGetLastError(); }
hipError_t hipPeekAtLastError() { return last_error; }
const char *hipGetErrorName(hipError_t error) {
  const ErrorText *t = text_of(error);
  return t ? t->name : "hipErrorUnknown";
}
const char *hipGetErrorString(hipError_t error) {
  const ErrorText *t = text_of(error);
  return t ? t->text : "unknown error";
}
hipError_t hipDrvGetErrorName(hipError_t error, const char **name) {
  if (!name || !text_of(error)) return hipErrorInvalidValue;
  *name = hipGetErrorName(error);
  return hipSuccess;
}
hipError_t hipDrvGetErrorString(hipError_t error, const char **text) {
  if (!text || !text_of(error)) return hipErrorInvalidValue;
  *text = hipGetErrorString(error);
  return hipSuccess;
}

hipError_t hipInit(unsigned flags) { return flags ? fail(hipErrorInvalidValue) : hipSuccess; }
hipError_t hipDriverGetVersion(int *version) {
  if (!version) return fail(hipErrorInvalidValue);
  *version = HIP_VERSION;
  return hipSuccess;
}
hipError_t hipRuntimeGetVersion(int *version) { return hipDriverGetVersion(version); }
hipError_t hipGetDeviceCount(int *count) {
  if (!count) return fail(hipErrorInvalidValue);
  *count = 1;
  return hipSuccess;
}
hipError_t hipSetDevice(int ordinal) { return check_device(ordinal); }
hipError_t hipSetValidDevices(int *, int) { return hipSuccess; }
hipError_t hipGetDevice(int *ordinal) {
  if (!ordinal) return fail(hipErrorInvalidValue);
  *ordinal = 0;
  return hipSuccess;
}
hipError_t hipSetDeviceFlags(unsigned) { return hipSuccess; }
hipError_t hipGetDeviceFlags(unsigned *flags) {
  *flags = 0;
  return hipSuccess;
}
hipError_t hipGetDevicePropertiesR0600(hipDeviceProp_tR0600 *p, int ordinal) {
  if (!p) return fail(hipErrorInvalidValue);
  if (hipError_t bad = check_device(ordinal)) return bad;
  const Device &d = device();
  const bool images = std::strncmp(d.family, "CDNA", 4) != 0 || !std::strcmp(d.family, "CDNA1");
  std::memset(p, 0, sizeof *p);
  std::snprintf(p->name, sizeof p->name, "rocport ISA executor (%s)", d.target);
  std::snprintf(p->gcnArchName, sizeof p->gcnArchName, "%s", d.target);
  std::memcpy(p->uuid.bytes, "rocport-executor", 16);
  capability(&p->major, &p->minor);
  p->totalGlobalMem = device_memory();
  p->sharedMemPerBlock = p->sharedMemPerBlockOptin = d.lds;
  p->sharedMemPerMultiprocessor = p->maxSharedMemoryPerMultiProcessor = d.lds;
  p->totalConstMem = 0x7fffffff;
  p->memPitch = kMostPitch;
  p->textureAlignment = p->texturePitchAlignment = p->surfaceAlignment = 256;
  p->regsPerBlock = p->regsPerMultiprocessor = 65536;
  p->warpSize = d.wavefront;
  p->maxThreadsPerBlock = d.max_threads;
  for (int &n : p->maxThreadsDim) n = d.max_threads;
  p->maxGridSize[0] = 0x7fffffff;
  p->maxGridSize[1] = p->maxGridSize[2] = 65536;
  p->clockRate = 1700000;
  p->memoryClockRate = 1300000;
  p->memoryBusWidth = 8192;
  p->clockInstructionRate = 100000;
  p->multiProcessorCount = compute_units();
  p->l2CacheSize = 4 << 20;
  p->maxThreadsPerMultiProcessor = kThreadsPerUnit;
  p->maxBlocksPerMultiProcessor = kThreadsPerUnit / d.wavefront;
  p->concurrentKernels = p->canMapHostMemory = p->cooperativeLaunch = p->managedMemory = p->unifiedAddressing = 1;
  p->concurrentManagedAccess = p->memoryPoolsSupported = p->hostRegisterSupported = p->asyncEngineCount = 1;
  p->streamPrioritiesSupported = p->canUseHostPointerForRegisteredMem = 1;
  if (images) {
    p->maxTexture1D = p->maxTexture1DLinear = 16384;
    for (int &n : p->maxTexture2D) n = 16384;
    for (int &n : p->maxTexture3D) n = 8192;
  }
  p->arch.hasGlobalInt32Atomics = p->arch.hasGlobalFloatAtomicExch = p->arch.hasSharedInt32Atomics = 1;
  p->arch.hasSharedFloatAtomicExch = p->arch.hasFloatAtomicAdd = p->arch.hasGlobalInt64Atomics = 1;
  p->arch.hasSharedInt64Atomics = p->arch.hasDoubles = p->arch.hasWarpVote = p->arch.hasWarpBallot = 1;
  p->arch.hasWarpShuffle = p->arch.hasThreadFenceSystem = p->arch.hasSyncThreadsExt = p->arch.has3dGrid = 1;
  return hipSuccess;
}
hipError_t hipDeviceGetAttribute(int *value, hipDeviceAttribute_t attribute, int ordinal) {
  if (!value) return fail(hipErrorInvalidValue);
  hipDeviceProp_tR0600 p;
  if (hipError_t bad = hipGetDevicePropertiesR0600(&p, ordinal)) return bad;
  switch (attribute) {
    case hipDeviceAttributeWarpSize: *value = p.warpSize; break;
    case hipDeviceAttributeMultiprocessorCount:
    case hipDeviceAttributePhysicalMultiProcessorCount: *value = p.multiProcessorCount; break;
    case hipDeviceAttributeMaxThreadsPerBlock:
    case hipDeviceAttributeMaxThreadsDim:
    case hipDeviceAttributeMaxBlockDimX:
    case hipDeviceAttributeMaxBlockDimY:
    case hipDeviceAttributeMaxBlockDimZ: *value = p.maxThreadsPerBlock; break;
    case hipDeviceAttributeMaxThreadsPerMultiProcessor: *value = p.maxThreadsPerMultiProcessor; break;
    case hipDeviceAttributeMaxBlocksPerMultiProcessor: *value = p.maxBlocksPerMultiProcessor; break;
    case hipDeviceAttributeMaxGridDimX: *value = p.maxGridSize[0]; break;
    case hipDeviceAttributeMaxGridDimY:
    case hipDeviceAttributeMaxGridDimZ: *value = p.maxGridSize[1]; break;
    case hipDeviceAttributeMaxSharedMemoryPerBlock:
    case hipDeviceAttributeMaxSharedMemoryPerMultiprocessor:
    case hipDeviceAttributeSharedMemPerBlockOptin:
    case hipDeviceAttributeSharedMemPerMultiprocessor: *value = static_cast<int>(p.sharedMemPerBlock); break;
    case hipDeviceAttributeMaxRegistersPerBlock:
    case hipDeviceAttributeMaxRegistersPerMultiprocessor: *value = p.regsPerBlock; break;
    case hipDeviceAttributeTotalConstantMemory:
    case hipDeviceAttributeTotalGlobalMem:
    case hipDeviceAttributeMaxPitch: *value = kMostPitch; break;
    case hipDeviceAttributeClockRate: *value = p.clockRate; break;
    case hipDeviceAttributeClockInstructionRate:
    case hipDeviceAttributeWallClockRate: *value = p.clockInstructionRate; break;
    case hipDeviceAttributeMemoryClockRate: *value = p.memoryClockRate; break;
    case hipDeviceAttributeMemoryBusWidth: *value = p.memoryBusWidth; break;
    case hipDeviceAttributeL2CacheSize: *value = p.l2CacheSize; break;
    case hipDeviceAttributeComputeCapabilityMajor: *value = p.major; break;
    case hipDeviceAttributeComputeCapabilityMinor: *value = p.minor; break;
    case hipDeviceAttributeTextureAlignment:
    case hipDeviceAttributeTexturePitchAlignment:
    case hipDeviceAttributeSurfaceAlignment: *value = 256; break;
    case hipDeviceAttributeMaxTexture1DWidth:
    case hipDeviceAttributeMaxTexture1DLinear: *value = p.maxTexture1D; break;
    case hipDeviceAttributeMaxTexture2DWidth:
    case hipDeviceAttributeMaxTexture2DHeight: *value = p.maxTexture2D[0]; break;
    case hipDeviceAttributeMaxTexture3DWidth:
    case hipDeviceAttributeMaxTexture3DHeight:
    case hipDeviceAttributeMaxTexture3DDepth: *value = p.maxTexture3D[0]; break;
    case hipDeviceAttributeConcurrentKernels:
    case hipDeviceAttributeCooperativeLaunch:
    case hipDeviceAttributeManagedMemory:
    case hipDeviceAttributeConcurrentManagedAccess:
    case hipDeviceAttributeCanMapHostMemory:
    case hipDeviceAttributeCanUseHostPointerForRegisteredMem:
    case hipDeviceAttributeUnifiedAddressing:
    case hipDeviceAttributeMemoryPoolsSupported:
    case hipDeviceAttributeVirtualMemoryManagementSupported:
    case hipDeviceAttributeHostRegisterSupported:
    case hipDeviceAttributeStreamPrioritiesSupported:
    case hipDeviceAttributeCanUseStreamWaitValue:
    case hipDeviceAttributeFineGrainSupport:
    case hipDeviceAttributeAsyncEngineCount: *value = 1; break;
    default: *value = 0; break;
  }
  return hipSuccess;
}
hipError_t hipChooseDeviceR0600(int *ordinal, const hipDeviceProp_tR0600 *) { return hipGetDevice(ordinal); }
hipError_t hipDeviceGet(hipDevice_t *found, int ordinal) {
  if (!found) return fail(hipErrorInvalidValue);
  *found = ordinal;
  return check_device(ordinal);
}
hipError_t hipDeviceGetName(char *name, int length, hipDevice_t ordinal) {
  hipDeviceProp_tR0600 p;
  if (!name || length <= 0) return fail(hipErrorInvalidValue);
  if (hipError_t bad = hipGetDevicePropertiesR0600(&p, ordinal)) return bad;
  std::snprintf(name, static_cast<size_t>(length), "%s", p.name);
  return hipSuccess;
}
hipError_t hipDeviceGetUuid(hipUUID *uuid, hipDevice_t ordinal) {
  if (!uuid) return fail(hipErrorInvalidValue);
  std::memcpy(uuid->bytes, "rocport-executor", 16);
  return check_device(ordinal);
}
hipError_t hipDeviceGetPCIBusId(char *id, int length, int ordinal) {
  if (!id || length <= 0) return fail(hipErrorInvalidValue);
  std::snprintf(id, static_cast<size_t>(length), "0000:00:00.0");
  return check_device(ordinal);
}
hipError_t hipDeviceGetByPCIBusId(int *ordinal, const char *) { return hipGetDevice(ordinal); }
hipError_t hipDeviceTotalMem(size_t *bytes, hipDevice_t ordinal) {
  if (!bytes) return fail(hipErrorInvalidValue);
  *bytes = device_memory();
  return check_device(ordinal);
}
hipError_t hipDeviceComputeCapability(int *major, int *minor, hipDevice_t ordinal) {
  if (!major || !minor) return fail(hipErrorInvalidValue);
  capability(major, minor);
  return check_device(ordinal);
}
hipError_t hipDeviceSynchronize() { return hipSuccess; }
hipError_t hipDeviceReset() { return hipSuccess; }
static size_t limits[hipLimitRange] = {1024, 1 << 20, 8 << 20};
hipError_t hipDeviceSetLimit(hipLimit_t limit, size_t value) {
  if (limit >= hipLimitRange) return fail(hipErrorUnsupportedLimit);
  limits[limit] = value;
  return hipSuccess;
}
hipError_t hipDeviceGetLimit(size_t *value, hipLimit_t limit) {
  if (!value) return fail(hipErrorInvalidValue);
  if (limit >= hipLimitRange) return fail(hipErrorUnsupportedLimit);
  *value = limits[limit];
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
hipError_t hipDeviceCanAccessPeer(int *can, int from, int to) {
  if (!can) return fail(hipErrorInvalidValue);
  *can = 0;
  return from || to ? fail(hipErrorInvalidDevice) : hipSuccess;
}
hipError_t hipDeviceEnablePeerAccess(int, unsigned) { return fail(hipErrorInvalidDevice); }
hipError_t hipDeviceDisablePeerAccess(int) { return fail(hipErrorPeerAccessNotEnabled); }
hipError_t hipDeviceGetP2PAttribute(int *value, hipDeviceP2PAttr, int from, int to) {
  if (!value) return fail(hipErrorInvalidValue);
  *value = 0;
  return fail(from || to ? hipErrorInvalidDevice : hipErrorInvalidValue);
}
hipError_t hipProfilerStart() { return hipSuccess; }
hipError_t hipProfilerStop() { return hipSuccess; }

static thread_local std::vector<hipCtx_t> contexts;
static hipCtx_t the_context() { return reinterpret_cast<hipCtx_t>(&limits); }
hipError_t hipCtxCreate(hipCtx_t *context, unsigned, hipDevice_t ordinal) {
  if (!context) return fail(hipErrorInvalidValue);
  *context = the_context();
  contexts.push_back(*context);
  return check_device(ordinal);
}
hipError_t hipCtxDestroy(hipCtx_t context) {
  if (!context) return fail(hipErrorInvalidValue);
  if (!contexts.empty()) contexts.pop_back();
  return hipSuccess;
}
hipError_t hipCtxPushCurrent(hipCtx_t context) {
  contexts.push_back(context);
  return hipSuccess;
}
hipError_t hipCtxPopCurrent(hipCtx_t *context) {
  if (contexts.empty()) return fail(hipErrorInvalidContext);
  if (context) *context = contexts.back();
  contexts.pop_back();
  return hipSuccess;
}
hipError_t hipCtxSetCurrent(hipCtx_t context) {
  if (!contexts.empty()) contexts.pop_back();
  if (context) contexts.push_back(context);
  return hipSuccess;
}
hipError_t hipCtxGetCurrent(hipCtx_t *context) {
  if (!context) return fail(hipErrorInvalidValue);
  *context = contexts.empty() ? nullptr : contexts.back();
  return hipSuccess;
}
hipChannelFormatDesc hipCreateChannelDesc(int x, int y, int z, int w, hipChannelFormatKind kind) {
  return {x, y, z, w, kind};
}
hipError_t hipCtxGetDevice(hipDevice_t *ordinal) { return hipGetDevice(ordinal); }
hipError_t hipCtxSynchronize() { return hipSuccess; }
hipError_t hipDevicePrimaryCtxRetain(hipCtx_t *context, hipDevice_t ordinal) {
  if (!context) return fail(hipErrorInvalidValue);
  *context = the_context();
  return check_device(ordinal);
}
hipError_t hipDevicePrimaryCtxRelease(hipDevice_t ordinal) { return check_device(ordinal); }
hipError_t hipDevicePrimaryCtxReset(hipDevice_t ordinal) { return check_device(ordinal); }
hipError_t hipDevicePrimaryCtxSetFlags(hipDevice_t ordinal, unsigned) { return check_device(ordinal); }
hipError_t hipDevicePrimaryCtxGetState(hipDevice_t ordinal, unsigned *flags, int *active) {
  if (flags) *flags = 0;
  if (active) *active = 1;
  return check_device(ordinal);
}

}  // extern "C"
