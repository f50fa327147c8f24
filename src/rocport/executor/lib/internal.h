// SPDX-License-Identifier: Apache-2.0
// What the parts of the runtime share. User code never sees this header.
#pragma once

#define RPX_RUNTIME 1

#include <cstdio>
#include <string>

#include "rpx/launch.h"

namespace rpx {

// From the environment, once (lib/settings.cpp).
struct Settings {
  u32 width;             // ROCPORT_WAVE
  enum Order { kForward, kReverse, kRandom } order;  // ROCPORT_ORDER: forward, reverse or a seed
  u64 seed;
  int poison;            // ROCPORT_POISON: -1 off, else the byte that fresh memory holds
  std::size_t stack;     // ROCPORT_STACK_KB
  std::size_t lds_limit; // ROCPORT_LDS_LIMIT, bytes a block may use
  const char *report;    // ROCPORT_REPORT: JSON lines of hazards and statistics
  const char *target;    // ROCPORT_TARGET: the gfx name that device properties give
  bool quiet[static_cast<int>(Hazard::kCount)];  // ROCPORT_QUIET: comma-separated hazard names
  u32 access;            // ROCPORT_ACCESS: comma-separated, what lib/access.cpp does at each access
};
enum Access : u32 { kAccessRaces = 1, kAccessLockstep = 2, kAccessMemory = 4 };
const Settings &settings();
const char *hazard_name(Hazard kind);

struct Statistics {
  u64 launches, blocks, threads, switches, wave_ops, barriers, preemptions;
};
extern Statistics statistics;

bool in_kernel();
// The watchdog leaves a thread alone while this is set.
extern volatile bool inside_runtime;
struct RuntimeGuard {
  const bool before = inside_runtime;
  RuntimeGuard() { inside_runtime = true; }
  ~RuntimeGuard() { inside_runtime = before; }
};
bool static_lds_spared();
std::size_t dynamic_lds_bytes();  // of the running launch
u64 block_serial();  // of the running block: every block of the program has its own
u64 block_epoch();   // barriers that the running block has passed
u64 grid_epoch();    // launches begun, and barriers that whole grids have passed
const char *kernel_name();  // of the running or the last launch; never null

// Memory (lib/memory.cpp): every device allocation is known, so that copies and accesses can be checked.
void *device_allocate(std::size_t bytes);
bool device_free(void *pointer);
struct Allocation {
  char *base;
  std::size_t size;
};
bool find_allocation(const void *pointer, Allocation *out);
void check_canaries(bool after_launch);
void device_memory_use(std::size_t *used, std::size_t *count);

// What has been written, with ROCPORT_ACCESS=memory; nothing happens without.
void note_written(const void *pointer, std::size_t bytes);
void note_copied(void *to, const void *from, std::size_t bytes, const void *site);
void check_access(const char *pointer, std::size_t bytes, bool write, const void *site);  // by a kernel, of global memory
void access_block_done(u64 serial);

// Static shared memory of this host thread: the executable's thread-local segment.
struct Segment {
  char *base;
  std::size_t size;
};
Segment static_lds();

void note_launch(const Launch &launch);  // for the report's list of kernels
void trace_copy(const void *host, std::size_t bytes);
void write_report();
void report_unchecked();  // a failed launch that the program never asked about

// Capturing streams (lib/graph.cpp): true when the launch was recorded rather than to be run.
bool capture_launch(const Launch &launch);
void run_launch(const Launch &launch);

}  // namespace rpx
