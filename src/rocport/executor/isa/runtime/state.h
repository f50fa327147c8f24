// SPDX-License-Identifier: Apache-2.0
// What the parts of the HIP runtime share. Device memory is host memory; every operation of a stream is done when the
// call returns, unless the stream is being captured.
#pragma once

#define __HIP_PLATFORM_AMD__ 1
#define __HIP_DISABLE_CPP_FUNCTIONS__ 1
#include <hip/hip_runtime_api.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

struct ihipStream_t {
  unsigned flags = 0;
  int priority = 0;
  ihipGraph *capture = nullptr;
  bool owns_capture = false;
};

struct ihipEvent_t {
  std::chrono::steady_clock::time_point when;
  bool recorded = false;
  bool timed = true;
  ihipGraph *capture = nullptr;
};

struct hipArray {
  void *data;
  hipChannelFormatDesc format;
  std::size_t width, height, depth, pitch;
  unsigned flags;
};

namespace rt {

// ---- errors --------------------------------------------------------------------------------------------------------

// Remembers the error for hipGetLastError, and returns it.
hipError_t fail(hipError_t error);
// Says once on standard error what is not served, and returns hipErrorNotSupported.
hipError_t unserved(const char *what);
// One line on standard error, written at once.
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

// ---- settings ------------------------------------------------------------------------------------------------------

// One gfx target, from rocport's facts (targets.inc, written when the library is built).
struct Device {
  const char *target, *family;
  int wavefront;
  std::size_t lds;
  int max_threads;
};
// The target that ROCPORT_EXEC_TARGET names; gfx942 when it names none.
const Device &device();
std::size_t device_memory();  // bytes
int compute_units();
std::string setting(const char *name, const char *otherwise);

// ---- memory --------------------------------------------------------------------------------------------------------

enum class Kind { device, host, managed };
struct Allocation {
  char *base = nullptr;
  std::size_t size = 0;
  Kind kind = Kind::device;
  unsigned flags = 0;
  char *owned = nullptr;  // start of the pages; null when the memory is the program's own (registered)
  std::size_t pages = 0;
};
void *allocate(std::size_t bytes, Kind kind, unsigned flags = 0);
bool release(void *pointer);
// The allocation that holds the address, or ends right at it.
bool find_allocation(const void *pointer, Allocation *out);
// hipErrorInvalidValue when [p, p + bytes) starts inside a known allocation and leaves it.
hipError_t check_range(const void *pointer, std::size_t bytes, const char *what);
// Says which allocations have been written outside of their bounds.
void check_margins(const char *after);
void memory_use(std::size_t *used, std::size_t *count);
// A kernel's name as its launch spells it: without the types of its arguments.
std::string spelled(const std::string &symbol);
// The last kernel that this thread launched, so spelled.
std::string &last_kernel();

// ---- streams and graphs --------------------------------------------------------------------------------------------

using Work = std::function<hipError_t()>;
bool valid(hipStream_t stream);
bool capturing(hipStream_t stream);
// What to do with the call of the library function `what`: 0, run it; 1, nothing, since the stream is being captured and
// has recorded it; 2, refuse, since the stream is being captured and the call cannot be made again.
int in_capture(hipStream_t stream, const char *what);
// Records the work into the stream's capture, or does it.
hipError_t enqueue(hipStream_t stream, hipGraphNodeType type, Work work);
hipGraphNode_t record(hipStream_t stream, hipGraphNodeType type, Work work);
void end_captures_into(ihipGraph *graph);

// ---- code objects --------------------------------------------------------------------------------------------------

struct Argument {
  std::size_t offset, size;
  std::string kind;  // as in the metadata: by_value, global_buffer, hidden_block_count_x, ...
};
struct Kernel {
  std::string name, symbol;
  std::vector<Argument> arguments;
  std::size_t kernarg_size = 0, lds = 0, scratch = 0;
  int vgprs = 0, sgprs = 0, agprs = 0, max_threads = 1024, wavefront = 64;
  bool dynamic_stack = false;
};
struct Symbol {
  std::uint64_t value = 0, size = 0;
  bool object = false;
};

}  // namespace rt

// A code object in memory; what hipModule_t points to.
struct ihipModule_t {
  std::string image;  // the ELF file
  std::string target;
  std::map<std::string, rt::Kernel> kernels;
  std::map<std::string, rt::Symbol> symbols;
  std::map<std::string, std::unique_ptr<ihipModuleSymbol_t>> functions;
  std::map<std::string, void *> managed;  // symbol -> memory it names
  char *base = nullptr;                   // where the segments lie
  std::size_t extent = 0;
  std::string file;  // the ELF file, in the cache
  bool broken = false;
};
// One kernel of a module; what hipFunction_t points to.
struct ihipModuleSymbol_t {
  ihipModule_t *module;
  rt::Kernel *kernel;
  const void *entry = nullptr;  // of the engine
  int dynamic_lds_limit = 0;
};

namespace rt {

// The code object for `target` in a bundle of clang, or the ELF file itself; empty, with what there is, when none fits.
std::string extract(const void *image, const std::string &target, std::string *there);
// Reads kernels and symbols of an ELF file, and maps its segments. Null, with the reason, when it cannot.
std::unique_ptr<ihipModule_t> load_code_object(std::string image, std::string *why);
// The device address of a global variable; null when there is none of the name.
void *symbol_address(ihipModule_t *module, const std::string &name, std::size_t *size);
// The function of that name; null when there is none.
ihipModuleSymbol_t *function_of(ihipModule_t *module, const std::string &name);
// What the program's own registration says of a host address; null, with the error, when it is not known.
ihipModuleSymbol_t *registered_function(const void *host, hipError_t *why);
void *registered_symbol(const void *host, std::size_t *size, hipError_t *why);

// ---- launches ------------------------------------------------------------------------------------------------------

struct Launch {
  dim3 grid, block;  // in blocks, in threads
  unsigned lds = 0;  // dynamic
  bool cooperative = false;
  dim3 remainder{0, 0, 0};  // threads of the last block, where it is smaller
};
// Checks the launch and runs it; the arguments are packed as the kernel's metadata says.
hipError_t run_kernel(ihipModuleSymbol_t *function, const Launch &launch, const std::string &kernarg);
// The kernel's arguments as its segment holds them, from one pointer each or from a packed buffer.
std::string pack_arguments(const Kernel &kernel, void **arguments, const void *packed, std::size_t packed_size);
hipError_t check_launch(const ihipModuleSymbol_t *function, const Launch &launch);
int occupancy(const Kernel &kernel, int threads, std::size_t dynamic_lds);

// ---- calls that kernels make of the host ---------------------------------------------------------------------------

void *hostcall_buffer();
void *device_heap();
// What a cooperative launch passes for its grid barrier.
void *grid_barrier(const Launch &launch);
// Runs rocport's Python and gives what it printed on standard output; false when it failed.
bool python(std::vector<std::string> arguments, std::string *output);
// Serves hostcalls while it lives.
struct HostcallService {
  HostcallService();
  ~HostcallService();
};

}  // namespace rt
