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
  const char *trace;     // ROCPORT_TRACE: device-to-host copies
  std::size_t trace_limit;  // ROCPORT_TRACE_MB
  const char *target;    // ROCPORT_TARGET: the gfx name that device properties give
  bool quiet[static_cast<int>(Hazard::kCount)];  // ROCPORT_QUIET: comma-separated hazard names
};
const Settings &settings();
const char *hazard_name(Hazard kind);

struct Statistics {
  u64 launches, blocks, threads, switches, wave_ops, barriers, preemptions;
};
extern Statistics statistics;

bool in_kernel();
std::size_t dynamic_lds_bytes();  // of the running launch
const char *kernel_name();  // of the running or the last launch; never null

// Memory (lib/memory.cpp): every device allocation is known, so that copies and accesses can be checked.
void *device_allocate(std::size_t bytes);
bool device_free(void *pointer);
struct Allocation {
  char *base;
  std::size_t size;
};
bool find_allocation(const void *pointer, Allocation *out);
void check_canaries(const char *when);
void device_memory_use(std::size_t *used, std::size_t *count);

// Static shared memory of this host thread: the executable's thread-local segment.
struct Segment {
  char *base;
  std::size_t size;
};
Segment static_lds();

void trace_copy(const void *host, std::size_t bytes);
void write_report();
void report_unchecked();  // a failed launch that the program never asked about

// Capturing streams (lib/graph.cpp): true when the launch was recorded rather than to be run.
bool capture_launch(const Launch &launch);
void run_launch(const Launch &launch);

}  // namespace rpx
