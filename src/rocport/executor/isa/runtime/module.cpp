// SPDX-License-Identifier: Apache-2.0
// What clang's host code registers before main(), and modules that a program loads.
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>

#include "state.h"

namespace rt {
namespace {

// What the compiler's wrapper section holds.
struct Wrapper {
  unsigned magic, version;
  const void *binary;
  void *unused;
};
constexpr unsigned kWrapperMagic = 0x48495046;  // "HIPF"

struct Managed {
  void **pointer;
  std::string name;
  void *memory;
};
struct FatBinary {
  const void *binary = nullptr;
  std::vector<Managed> managed;
  std::unique_ptr<ihipModule_t> module;
  bool tried = false;
};
struct HostFunction {
  FatBinary *binary;
  std::string name;
};
struct HostVariable {
  FatBinary *binary;
  std::string name;
  std::size_t size;
};
struct Registry {
  std::recursive_mutex mutex;
  std::set<FatBinary *> binaries;
  std::map<const void *, HostFunction> functions;
  std::map<const void *, HostVariable> variables;
  std::set<ihipModule_t *> modules;
};
Registry &registry() {
  static auto *one = new Registry;
  return *one;
}

void name_managed(ihipModule_t *module, const std::string &name, void *memory) {
  auto at = module->symbols.find(name);
  if (at == module->symbols.end()) return;
  std::memcpy(module->base + at->second.value, &memory, sizeof memory);
  module->managed[name] = memory;
}

ihipModule_t *module_of(FatBinary *binary, hipError_t *why) {
  if (!binary->module && !binary->tried) {
    binary->tried = true;
    std::string reason;
    std::string image = extract(binary->binary, device().target, &reason);
    if (image.empty()) {
      say("no code for %s in this program: it was built for %s; build with --offload-arch=%s, or set "
          "ROCPORT_EXEC_TARGET",
          device().target, reason.empty() ? "nothing" : reason.c_str(), device().target);
    } else {
      binary->module = load_code_object(std::move(image), &reason);
      if (!binary->module) say("a code object of this program cannot be loaded: %s", reason.c_str());
      for (const Managed &m : binary->managed)
        if (binary->module) name_managed(binary->module.get(), m.name, m.memory);
    }
  }
  if (!binary->module) *why = hipErrorNoBinaryForGpu;
  return binary->module.get();
}

bool is_module(hipModule_t module) {
  std::lock_guard<std::recursive_mutex> guard(registry().mutex);
  return registry().modules.count(module) != 0;
}

hipError_t load(hipModule_t *out, const void *image) {
  if (!out || !image) return fail(hipErrorInvalidValue);
  std::string reason;
  std::string code = extract(image, device().target, &reason);
  if (code.empty()) {
    say("hipModuleLoad: no code for %s: %s", device().target, reason.empty() ? "an empty bundle" : reason.c_str());
    return fail(hipErrorNoBinaryForGpu);
  }
  auto module = load_code_object(std::move(code), &reason);
  if (!module) {
    say("hipModuleLoad: %s", reason.c_str());
    return fail(hipErrorInvalidImage);
  }
  if (module->target != device().target) {
    say("hipModuleLoad: code for %s, and the device is %s", module->target.c_str(), device().target);
    return fail(hipErrorNoBinaryForGpu);
  }
  for (const auto &[name, symbol] : module->symbols) {  // managed variables get memory of their own
    const std::string suffix = ".managed";
    if (name.size() <= suffix.size() || name.compare(name.size() - suffix.size(), suffix.size(), suffix)) continue;
    void *memory = allocate(symbol.size, Kind::managed);
    std::memcpy(memory, module->base + symbol.value, symbol.size);
    name_managed(module.get(), name.substr(0, name.size() - suffix.size()), memory);
  }
  std::lock_guard<std::recursive_mutex> guard(registry().mutex);
  registry().modules.insert(module.get());
  *out = module.release();
  return hipSuccess;
}

hipError_t with_symbol(const void *symbol, std::size_t bytes, std::size_t offset, char **address) {
  hipError_t why = hipSuccess;
  std::size_t size = 0;
  *address = static_cast<char *>(registered_symbol(symbol, &size, &why));
  if (!*address) return fail(why);
  if (offset + bytes > size) {
    say("out of bounds: a copy of %zu bytes at byte %zu of a device variable of %zu bytes", bytes, offset, size);
    return fail(hipErrorInvalidValue);
  }
  *address += offset;
  return hipSuccess;
}

// The function behind a pointer of the host's kernel, or behind a handle.
ihipModuleSymbol_t *any_function(const void *pointer, hipError_t *why) {
  if (ihipModuleSymbol_t *found = registered_function(pointer, why)) return found;
  std::lock_guard<std::recursive_mutex> guard(registry().mutex);
  auto has = [&](ihipModule_t *module) {
    for (auto &entry : module->functions)
      if (entry.second.get() == pointer) return true;
    return false;
  };
  for (ihipModule_t *module : registry().modules)
    if (has(module)) return static_cast<ihipModuleSymbol_t *>(const_cast<void *>(pointer));
  for (FatBinary *binary : registry().binaries)
    if (binary->module && has(binary->module.get())) return static_cast<ihipModuleSymbol_t *>(const_cast<void *>(pointer));
  return nullptr;
}

int register_limit(const Kernel &kernel) { return kernel.vgprs + kernel.agprs; }

}  // namespace

ihipModuleSymbol_t *registered_function(const void *host, hipError_t *why) {
  std::lock_guard<std::recursive_mutex> guard(registry().mutex);
  auto at = registry().functions.find(host);
  if (at == registry().functions.end()) return *why = hipErrorInvalidDeviceFunction, nullptr;
  ihipModule_t *module = module_of(at->second.binary, why);
  if (!module) return nullptr;
  ihipModuleSymbol_t *function = function_of(module, at->second.name);
  if (!function) {
    say("kernel %s is not in the program's code for %s", at->second.name.c_str(), device().target);
    *why = hipErrorInvalidDeviceFunction;
  }
  return function;
}

void *registered_symbol(const void *host, std::size_t *size, hipError_t *why) {
  std::lock_guard<std::recursive_mutex> guard(registry().mutex);
  auto at = registry().variables.find(host);
  if (at == registry().variables.end()) return *why = hipErrorInvalidSymbol, nullptr;
  ihipModule_t *module = module_of(at->second.binary, why);
  if (!module) return nullptr;
  void *address = symbol_address(module, at->second.name, size);
  if (!address) *why = hipErrorInvalidSymbol;
  return address;
}

// Waves that a unit holds of a kernel, by its registers, its shared memory and the threads of a block.
int occupancy(const Kernel &kernel, int threads, std::size_t dynamic_lds) {
  const int wave = kernel.wavefront ? kernel.wavefront : 64;
  if (threads <= 0 || threads > kernel.max_threads) return 0;
  const int waves = (threads + wave - 1) / wave;
  const int file = wave == 64 ? 512 : 1024;  // registers a lane may have, over all waves of one of the four SIMDs
  const int granule = 8;
  const int registers = (std::max(register_limit(kernel), 1) + granule - 1) / granule * granule;
  const int by_registers = std::min(file / registers, wave == 64 ? 8 : 16) * 4 / waves;
  const std::size_t lds = kernel.lds + dynamic_lds;
  const int by_lds = lds ? static_cast<int>(device().lds / lds) : 1 << 20;
  return std::max(0, std::min({by_registers, by_lds, 2048 / (waves * wave)}));
}

}  // namespace rt

using namespace rt;

extern "C" {

// ---- the compiler's side -------------------------------------------------------------------------------------------

void **__hipRegisterFatBinary(const void *data) {
  const auto *wrapper = static_cast<const Wrapper *>(data);
  auto *binary = new FatBinary;
  if (wrapper->magic == kWrapperMagic && wrapper->version == 1)
    binary->binary = wrapper->binary;
  else
    say("a fat binary with magic %#x and version %u: not one that HIP's compiler writes", wrapper->magic, wrapper->version);
  binary->tried = !binary->binary;
  std::lock_guard<std::recursive_mutex> guard(registry().mutex);
  registry().binaries.insert(binary);
  return reinterpret_cast<void **>(binary);
}
void __hipRegisterFunction(void **handle, const void *host, char *, const char *name, unsigned, void *, void *, void *,
                           void *, int *) {
  std::lock_guard<std::recursive_mutex> guard(registry().mutex);
  registry().functions[host] = {reinterpret_cast<FatBinary *>(handle), name};
}
void __hipRegisterVar(void **handle, void *host, char *, const char *name, int, size_t size, int, int) {
  std::lock_guard<std::recursive_mutex> guard(registry().mutex);
  registry().variables[host] = {reinterpret_cast<FatBinary *>(handle), name, size};
}
void __hipRegisterManagedVar(void **handle, void **pointer, void *initial, const char *name, size_t size, unsigned) {
  auto *binary = reinterpret_cast<FatBinary *>(handle);
  void *memory = allocate(size, Kind::managed);
  std::memcpy(memory, initial, size);
  *pointer = memory;
  std::lock_guard<std::recursive_mutex> guard(registry().mutex);
  binary->managed.push_back({pointer, name, memory});
  registry().variables[pointer] = {binary, name, size};
}
void __hipRegisterSurface(void **, void *, char *, char *, int, int) { (void)unserved("a surface reference"); }
void __hipRegisterTexture(void **, void *, char *, char *, int, int, int) { (void)unserved("a texture reference"); }
void __hipUnregisterFatBinary(void **) {}

struct Configuration {
  dim3 grid, block;
  size_t lds;
  hipStream_t stream;
};
static thread_local std::vector<Configuration> configurations;
hipError_t __hipPushCallConfiguration(dim3 grid, dim3 block, size_t lds, hipStream_t stream) {
  configurations.push_back({grid, block, lds, stream});
  return hipSuccess;
}
hipError_t __hipPopCallConfiguration(dim3 *grid, dim3 *block, size_t *lds, hipStream_t *stream) {
  if (configurations.empty()) return fail(hipErrorMissingConfiguration);
  const Configuration c = configurations.back();
  configurations.pop_back();
  *grid = c.grid;
  *block = c.block;
  *lds = c.lds;
  *stream = c.stream;
  return hipSuccess;
}

// ---- launches ------------------------------------------------------------------------------------------------------

static hipError_t launch(ihipModuleSymbol_t *function, const Launch &how, void **arguments, void **extra,
                         hipStream_t stream) {
  if (!valid(stream)) return fail(hipErrorInvalidHandle);
  const void *packed = nullptr;
  size_t bytes = 0;
  for (void **e = extra; e && *e != HIP_LAUNCH_PARAM_END; e += 2) {
    if (*e == HIP_LAUNCH_PARAM_BUFFER_POINTER) packed = e[1];
    if (*e == HIP_LAUNCH_PARAM_BUFFER_SIZE) bytes = *static_cast<size_t *>(e[1]);
  }
  if (hipError_t bad = check_launch(function, how)) return fail(bad);
  const std::string kernarg = pack_arguments(*function->kernel, arguments, packed, bytes);
  return enqueue(stream, hipGraphNodeTypeKernel, [=] { return run_kernel(function, how, kernarg); });
}

static hipError_t launch_host(const void *host, dim3 grid, dim3 block, void **arguments, size_t lds, hipStream_t stream,
                              bool cooperative) {
  hipError_t why = hipSuccess;
  ihipModuleSymbol_t *function = any_function(host, &why);
  if (!function) return fail(why);
  Launch how;
  how.grid = grid;
  how.block = block;
  how.lds = static_cast<unsigned>(lds);
  how.cooperative = cooperative;
  return launch(function, how, arguments, nullptr, stream);
}

hipError_t hipLaunchKernel(const void *host, dim3 grid, dim3 block, void **arguments, size_t lds, hipStream_t stream) {
  return launch_host(host, grid, block, arguments, lds, stream, false);
}
hipError_t hipExtLaunchKernel(const void *host, dim3 grid, dim3 block, void **arguments, size_t lds, hipStream_t stream,
                              hipEvent_t start, hipEvent_t stop, int) {
  if (start) (void)hipEventRecord(start, stream);
  hipError_t bad = launch_host(host, grid, block, arguments, lds, stream, false);
  if (stop) (void)hipEventRecord(stop, stream);
  return bad;
}
hipError_t hipLaunchCooperativeKernel(const void *host, dim3 grid, dim3 block, void **arguments, unsigned lds,
                                      hipStream_t stream) {
  return launch_host(host, grid, block, arguments, lds, stream, true);
}
hipError_t hipLaunchByPtr(const void *) { return unserved("hipLaunchByPtr"); }

static hipError_t launch_module(hipFunction_t function, Launch how, void **arguments, void **extra, hipStream_t stream) {
  hipError_t why = hipErrorInvalidResourceHandle;
  if (!any_function(function, &why)) return fail(hipErrorInvalidResourceHandle);
  return launch(function, how, arguments, extra, stream);
}
hipError_t hipModuleLaunchKernel(hipFunction_t function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                                 unsigned bz, unsigned lds, hipStream_t stream, void **arguments, void **extra) {
  Launch how;
  how.grid = {gx, gy, gz};
  how.block = {bx, by, bz};
  how.lds = lds;
  return launch_module(function, how, arguments, extra, stream);
}
hipError_t hipModuleLaunchCooperativeKernel(hipFunction_t function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                                            unsigned by, unsigned bz, unsigned lds, hipStream_t stream, void **arguments) {
  Launch how;
  how.grid = {gx, gy, gz};
  how.block = {bx, by, bz};
  how.lds = lds;
  how.cooperative = true;
  return launch_module(function, how, arguments, nullptr, stream);
}
// Sizes in threads, as HSA counts them.
hipError_t hipExtModuleLaunchKernel(hipFunction_t function, uint32_t gx, uint32_t gy, uint32_t gz, uint32_t bx,
                                    uint32_t by, uint32_t bz, size_t lds, hipStream_t stream, void **arguments,
                                    void **extra, hipEvent_t start, hipEvent_t stop, uint32_t) {
  if (!bx || !by || !bz) return fail(hipErrorInvalidConfiguration);
  if (gx % bx || gy % by || gz % bz) return unserved("hipExtModuleLaunchKernel with a last block that is smaller");
  if (start) (void)hipEventRecord(start, stream);
  hipError_t bad = hipModuleLaunchKernel(function, gx / bx, gy / by, gz / bz, bx, by, bz, static_cast<unsigned>(lds),
                                         stream, arguments, extra);
  if (stop) (void)hipEventRecord(stop, stream);
  return bad;
}
hipError_t hipHccModuleLaunchKernel(hipFunction_t function, uint32_t gx, uint32_t gy, uint32_t gz, uint32_t bx,
                                    uint32_t by, uint32_t bz, size_t lds, hipStream_t stream, void **arguments,
                                    void **extra, hipEvent_t start, hipEvent_t stop) {
  return hipExtModuleLaunchKernel(function, gx, gy, gz, bx, by, bz, lds, stream, arguments, extra, start, stop, 0);
}

// ---- modules -------------------------------------------------------------------------------------------------------

hipError_t hipModuleLoadData(hipModule_t *module, const void *image) { return load(module, image); }
hipError_t hipModuleLoadDataEx(hipModule_t *module, const void *image, unsigned, hipJitOption *, void **) {
  return load(module, image);
}
hipError_t hipModuleLoad(hipModule_t *module, const char *path) {
  if (!module || !path) return fail(hipErrorInvalidValue);
  std::ifstream file(path, std::ios::binary);
  if (!file) return fail(hipErrorFileNotFound);
  const std::string image((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  return image.size() < 32 ? fail(hipErrorInvalidImage) : load(module, image.data());
}
hipError_t hipModuleUnload(hipModule_t module) {
  std::lock_guard<std::recursive_mutex> guard(registry().mutex);
  if (!registry().modules.erase(module)) return fail(hipErrorInvalidResourceHandle);
  for (auto &[name, memory] : module->managed) release(memory);
  delete module;
  return hipSuccess;
}
hipError_t hipModuleGetFunction(hipFunction_t *function, hipModule_t module, const char *name) {
  if (!function || !name) return fail(hipErrorInvalidValue);
  if (!is_module(module)) return fail(hipErrorInvalidResourceHandle);
  *function = function_of(module, name);
  return *function ? hipSuccess : fail(hipErrorNotFound);
}
hipError_t hipModuleGetGlobal(hipDeviceptr_t *pointer, size_t *bytes, hipModule_t module, const char *name) {
  if (!name) return fail(hipErrorInvalidValue);
  if (!is_module(module)) return fail(hipErrorInvalidResourceHandle);
  void *address = symbol_address(module, name, bytes);
  if (!address) return fail(hipErrorNotFound);
  if (pointer) *pointer = address;
  return hipSuccess;
}
hipError_t hipGetFuncBySymbol(hipFunction_t *function, const void *host) {
  hipError_t why = hipSuccess;
  if (!function) return fail(hipErrorInvalidValue);
  *function = registered_function(host, &why);
  return fail(why);
}
const char *hipApiName(uint32_t) { return "unknown"; }  // numbers of tracing callbacks, which nobody makes here
const char *hipKernelNameRef(const hipFunction_t function) { return function ? function->kernel->name.c_str() : ""; }
const char *hipKernelNameRefByPtr(const void *host, hipStream_t) {
  hipError_t why = hipSuccess;
  const ihipModuleSymbol_t *function = any_function(host, &why);
  return function ? function->kernel->name.c_str() : "";
}

// ---- variables -----------------------------------------------------------------------------------------------------

hipError_t hipGetSymbolAddress(void **pointer, const void *symbol) {
  char *address;
  if (!pointer) return fail(hipErrorInvalidValue);
  if (hipError_t bad = with_symbol(symbol, 0, 0, &address)) return bad;
  *pointer = address;
  return hipSuccess;
}
hipError_t hipGetSymbolSize(size_t *size, const void *symbol) {
  hipError_t why = hipSuccess;
  if (!size) return fail(hipErrorInvalidValue);
  return registered_symbol(symbol, size, &why) ? hipSuccess : fail(why);
}
hipError_t hipMemcpyToSymbolAsync(const void *symbol, const void *from, size_t bytes, size_t offset, hipMemcpyKind kind,
                                  hipStream_t stream) {
  char *address;
  if (hipError_t bad = with_symbol(symbol, bytes, offset, &address)) return bad;
  return hipMemcpyAsync(address, from, bytes, kind, stream);
}
hipError_t hipMemcpyToSymbol(const void *symbol, const void *from, size_t bytes, size_t offset, hipMemcpyKind kind) {
  return hipMemcpyToSymbolAsync(symbol, from, bytes, offset, kind, nullptr);
}
hipError_t hipMemcpyFromSymbolAsync(void *to, const void *symbol, size_t bytes, size_t offset, hipMemcpyKind kind,
                                    hipStream_t stream) {
  char *address;
  if (hipError_t bad = with_symbol(symbol, bytes, offset, &address)) return bad;
  return hipMemcpyAsync(to, address, bytes, kind, stream);
}
hipError_t hipMemcpyFromSymbol(void *to, const void *symbol, size_t bytes, size_t offset, hipMemcpyKind kind) {
  return hipMemcpyFromSymbolAsync(to, symbol, bytes, offset, kind, nullptr);
}

// ---- what is known of a kernel -------------------------------------------------------------------------------------

hipError_t hipFuncGetAttributes(hipFuncAttributes *attributes, const void *host) {
  hipError_t why = hipSuccess;
  if (!attributes) return fail(hipErrorInvalidValue);
  const ihipModuleSymbol_t *function = any_function(host, &why);
  if (!function) return fail(why);
  std::memset(attributes, 0, sizeof *attributes);
  attributes->binaryVersion = std::atoi(device().target + 3);
  attributes->ptxVersion = attributes->binaryVersion;
  attributes->localSizeBytes = function->kernel->scratch;
  attributes->sharedSizeBytes = function->kernel->lds;
  attributes->maxThreadsPerBlock = function->kernel->max_threads;
  attributes->maxDynamicSharedSizeBytes = static_cast<int>(device().lds - function->kernel->lds);
  attributes->numRegs = register_limit(*function->kernel);
  return hipSuccess;
}
hipError_t hipFuncGetAttribute(int *value, hipFunction_attribute attribute, hipFunction_t function) {
  hipFuncAttributes a;
  if (!value) return fail(hipErrorInvalidValue);
  if (hipError_t bad = hipFuncGetAttributes(&a, function)) return bad;
  switch (attribute) {
    case HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: *value = a.maxThreadsPerBlock; break;
    case HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: *value = static_cast<int>(a.sharedSizeBytes); break;
    case HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: *value = static_cast<int>(a.localSizeBytes); break;
    case HIP_FUNC_ATTRIBUTE_NUM_REGS: *value = a.numRegs; break;
    case HIP_FUNC_ATTRIBUTE_BINARY_VERSION:
    case HIP_FUNC_ATTRIBUTE_PTX_VERSION: *value = a.binaryVersion; break;
    case HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: *value = a.maxDynamicSharedSizeBytes; break;
    default: *value = 0; break;
  }
  return hipSuccess;
}
hipError_t hipFuncSetAttribute(const void *host, hipFuncAttribute attribute, int value) {
  hipError_t why = hipSuccess;
  ihipModuleSymbol_t *function = any_function(host, &why);
  if (!function) return fail(why);
  if (attribute == hipFuncAttributeMaxDynamicSharedMemorySize &&
      (value < 0 || function->kernel->lds + static_cast<size_t>(value) > device().lds))
    return fail(hipErrorInvalidValue);
  return hipSuccess;
}
hipError_t hipFuncSetCacheConfig(const void *, hipFuncCache_t) { return hipSuccess; }
hipError_t hipFuncSetSharedMemConfig(const void *, hipSharedMemConfig) { return hipSuccess; }

hipError_t hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, hipFunction_t function, int threads,
                                                                       size_t lds, unsigned) {
  hipError_t why = hipSuccess;
  if (!blocks || threads <= 0) return fail(hipErrorInvalidValue);
  const ihipModuleSymbol_t *found = any_function(function, &why);
  if (!found) return fail(why);
  *blocks = occupancy(*found->kernel, threads, lds);
  return hipSuccess;
}
hipError_t hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, hipFunction_t function, int threads, size_t lds) {
  return hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads, lds, 0);
}
hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *host, int threads, size_t lds,
                                                                 unsigned flags) {
  return hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
      blocks, static_cast<hipFunction_t>(const_cast<void *>(host)), threads, lds, flags);
}
hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *host, int threads, size_t lds) {
  return hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, host, threads, lds, 0);
}
hipError_t hipModuleOccupancyMaxPotentialBlockSizeWithFlags(int *grid, int *block, hipFunction_t function, size_t lds,
                                                            int limit, unsigned) {
  hipError_t why = hipSuccess;
  if (!grid || !block) return fail(hipErrorInvalidValue);
  const ihipModuleSymbol_t *found = any_function(function, &why);
  if (!found) return fail(why);
  int best = 0, resident = 0;
  const int most = limit > 0 ? std::min(limit, found->kernel->max_threads) : found->kernel->max_threads;
  for (int threads = most; threads > 0; threads -= found->kernel->wavefront) {
    const int here = occupancy(*found->kernel, threads, lds) * threads;
    if (here > resident) best = threads, resident = here;
  }
  if (!best) return fail(hipErrorInvalidValue);
  *block = best;
  *grid = occupancy(*found->kernel, best, lds) * compute_units();
  return hipSuccess;
}
hipError_t hipModuleOccupancyMaxPotentialBlockSize(int *grid, int *block, hipFunction_t function, size_t lds, int limit) {
  return hipModuleOccupancyMaxPotentialBlockSizeWithFlags(grid, block, function, lds, limit, 0);
}
hipError_t hipOccupancyMaxPotentialBlockSize(int *grid, int *block, const void *host, size_t lds, int limit) {
  return hipModuleOccupancyMaxPotentialBlockSizeWithFlags(
      grid, block, static_cast<hipFunction_t>(const_cast<void *>(host)), lds, limit, 0);
}

}  // extern "C"
