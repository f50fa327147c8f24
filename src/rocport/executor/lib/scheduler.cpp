// SPDX-License-Identifier: Apache-2.0
// Runs a grid on one host thread. See include/rpx/scheduler.h for the model.
//
// Threads of a block start one after another as plain calls on a "runner" stack. A thread that waits keeps the stack it
// is on; the next one starts on a fresh stack. So a kernel that never waits costs one call a thread, and one that does
// costs one switch a wait. Blocks run one at a time, unless one can only wait for another (grid barrier, spinning).
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <mutex>
#include <numeric>
#include <thread>
#include <unordered_set>
#include <vector>

#include <pthread.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "context.h"
#include "internal.h"

#if defined(__SANITIZE_ADDRESS__)
#define RPX_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define RPX_ASAN 1
#endif
#endif
#ifdef RPX_ASAN
#include <sanitizer/common_interface_defs.h>
#endif

// The index variables are const in user code (rpx/index.h); these are the same objects, writable.
rpx::Index3 rpx_thread_index asm("threadIdx");
rpx::Index3 rpx_block_index asm("blockIdx");
// Outside of kernels there is one thread: functors that Thrust's plain backend calls on the host advance by these.
rpx::Index3 rpx_block_dim asm("blockDim") = {1, 1, 1};
rpx::Index3 rpx_grid_dim asm("gridDim") = {1, 1, 1};

extern "C" char __executable_start, etext;

namespace rpx {

Wave *wave;
u32 lane;
u32 wave_width = 64;
void *dynamic_lds;
u32 region_depth, loop_iteration;
bool one_side;
Claim claim;
u32 rows_begun;
Statistics statistics;
volatile bool inside_runtime = true;

struct Stack {
  char *base;
  std::size_t size;
  void *top;
  Stack *next;
};

namespace {

struct Block {
  Index3 index;
  std::vector<Wave *> waves;
  u64 runnable = 0;
  bool at_grid = false, gave_way = false;
  int count = 0, all = 1, any = 0;           // arriving predicates of __syncthreads_count/and/or
  int result_count = 0, result_all = 1, result_any = 0;
  u64 first_key = 0;                         // call site of the threads at the barrier
  const void *first_site = nullptr, *other_site = nullptr;
  void *lds = nullptr;
  std::vector<char> saved_lds;
  u64 serial = 0, epoch = 0;
};

// Everything about the grid in progress; a launch from inside a kernel stacks another one on top.
struct Grid {
  const Launch *launch = nullptr;
  Block *block = nullptr;
  Stack *stack = nullptr;   // of the running thread
  void *host_sp = nullptr;
  u32 threads = 0, waves = 0;
  u32 lane_mask = 0;        // random order: lanes are visited in the order l ^ lane_mask
  u64 random = 1;
#ifdef RPX_ASAN
  const void *host_bottom = nullptr;
  std::size_t host_size = 0;
#endif
};

Grid grid;
u64 grid_barriers;
constexpr long kSlowTick = 15, kFastTick = 2;
void give_way();
u64 switches;                      // since the program began; tells a thread that others ran meanwhile
volatile bool kernel_running = false;
const char *last_kernel = "(no kernel yet)";
Stack *free_stacks;
std::vector<Wave *> free_waves;
std::recursive_mutex launch_mutex;
bool poison_static_lds = true;

constexpr std::size_t kPage = 4096;

Stack *new_stack() {
  // Stacks come in slabs. Each begins at a different cache set: thousands of stacks whose hot frames share one set
  // would evict each other.
  constexpr int kSlab = 64;
  static u32 colour;
  std::size_t size = settings().stack;
  std::size_t stride = size + kPage;
  char *slab = static_cast<char *>(
      mmap(nullptr, stride * kSlab, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  if (slab == MAP_FAILED) fatal("no memory for thread stacks; lower ROCPORT_STACK_KB or launch fewer threads a block");
  for (int i = kSlab - 1; i >= 0; --i) {
    Stack *s = new Stack;
    s->base = slab + i * stride;
    mprotect(s->base, kPage, PROT_NONE);
    s->size = size;
    s->top = s->base + stride - (colour++ % 61) * 192 - 64;
    s->next = free_stacks;
    free_stacks = s;
  }
  return free_stacks;
}

Stack *take_stack() {
  Stack *s = free_stacks ? free_stacks : new_stack();
  free_stacks = s->next;
  return s;
}

void give_stack(Stack *s) {
  s->next = free_stacks;
  free_stacks = s;
}

u64 random_word() {
  grid.random ^= grid.random << 13;
  grid.random ^= grid.random >> 7;
  grid.random ^= grid.random << 17;
  return grid.random;
}

Settings::Order visit_order;  // the setting, where the switches between threads can read it cheaply

inline u32 pick(u64 set) {
  switch (visit_order) {
    case Settings::kForward: return __builtin_ctzll(set);
    case Settings::kReverse: return 63 - __builtin_clzll(set);
    default: {
      u32 r = random_word() & 63;
      u64 turned = r ? (set >> r | set << (64 - r)) : set;
      return (__builtin_ctzll(turned) + r) & 63;
    }
  }
}

// ---- switching -----------------------------------------------------------------------------------------------------

[[noreturn]] void runner();

#ifdef RPX_ASAN
void *fake_stack_sink;
void announce_switch(const void *bottom, std::size_t size) {
  __sanitizer_start_switch_fiber(&fake_stack_sink, bottom, size);
}
void announce_arrival() { __sanitizer_finish_switch_fiber(fake_stack_sink, nullptr, nullptr); }
#endif

enum class Next { kResume, kStart, kHost };

void complete_operation(Wave *w);
bool release_barrier();
u64 leading(const Wave *w, u64 waiting);

// With one_side: the lanes whose turn it is wait at the block's barrier, and with them the wave.
inline bool stands_at_barrier(const Wave *w) {
  return one_side && w->at_barrier && (leading(w, w->at_op | w->at_barrier) & w->at_barrier);
}

// Decides what runs after the current thread waited or ended. kResume: wave and lane name the thread to go on with.
// kStart: the current wave has threads that have not begun. kHost: the block is done, or waits for other blocks.
Next choose() {
  for (;;) {
    Wave *w = wave;
    if (w->ready) {
      u32 l = pick(w->ready);
      w->ready &= ~bit(l);
      lane = l;
      // The stacks of a block do not fit into the first-level cache: have the next one's top on its way.
      if (w->ready) {
        const char *soon = static_cast<const char *>(w->sp[__builtin_ctzll(w->ready)]);
        __builtin_prefetch(soon);
        __builtin_prefetch(soon + 64);
        __builtin_prefetch(soon + 128);
      }
      return Next::kResume;
    }
    if (w->started < w->lanes) return Next::kStart;
    if (w->at_op && !w->preempted && !stands_at_barrier(w)) {
      complete_operation(w);
      continue;
    }
    Block *b = grid.block;
    b->runnable &= ~bit(w->index);
    if (b->runnable) {
      wave = b->waves[pick(b->runnable)];
      continue;
    }
    bool gave_way = false;
    for (Wave *other : b->waves) gave_way |= other->preempted != 0;
    if (gave_way) {
      b->gave_way = true;
      return Next::kHost;
    }
    if (release_barrier()) continue;
    return Next::kHost;
  }
}

inline void enter_lane() {
  rpx_thread_index = wave->tid[lane];
  grid.stack = wave->stack[lane];
  region_depth = wave->depth[lane];
  loop_iteration = wave->iteration[lane];
}

// What a waiting thread needs to go on.
inline void keep_thread(Wave *w, u32 l) {
  w->stack[l] = grid.stack;
  w->tid[l] = rpx_thread_index;
  w->depth[l] = region_depth;
  w->iteration[l] = loop_iteration;
}

// Leaves the current thread at `save` and runs whatever is next. Returns when the thread is resumed.
void switch_away(void **save, u32 my_lane, Wave *my_wave) {
  Next next = choose();
  if (next == Next::kResume && wave == my_wave && lane == my_lane) return;
  ++switches;
  void *target;
  if (next == Next::kResume) {
    enter_lane();
    target = wave->sp[lane];
  } else if (next == Next::kStart) {
    Stack *s = take_stack();
    grid.stack = s;
    target = fiber_prepare(s->top, runner);
  } else {
    target = grid.host_sp;
  }
#ifdef RPX_ASAN
  if (next == Next::kHost) announce_switch(grid.host_bottom, grid.host_size);
  else announce_switch(grid.stack->base + kPage, grid.stack->size);
#endif
  rpx_switch(save, target);
#ifdef RPX_ASAN
  announce_arrival();
#endif
}

// ---- starting threads ----------------------------------------------------------------------------------------------

inline void advance(Index3 &t) {
  if (++t.x == rpx_block_dim.x) {
    t.x = 0;
    if (++t.y == rpx_block_dim.y) {
      t.y = 0;
      ++t.z;
    }
  }
}

Index3 thread_at(u32 linear) {
  u32 x = rpx_block_dim.x, xy = x * rpx_block_dim.y;
  return {linear % x, linear % xy / x, linear / xy};
}

// The kernel has run, or runs, every thread of the block by itself.
void mark_all_begun() {
  claim.taken = false;
  for (Wave *w : grid.block->waves) w->started = w->lanes;
}

// Runs threads of the current wave from their beginning, until one of them waits (then this returns on that thread's
// stack after it has ended) or all have begun.
void run_unstarted() {
  Wave *w = wave;
  const bool forward = visit_order == Settings::kForward;
  const ThreadBody body = grid.launch->body;
  void *const closure = grid.launch->closure;
  while (w->started < w->lanes) {
    u32 i = w->started++;
    if (forward) {
      lane = i;
      rpx_thread_index = w->cursor;
      advance(w->cursor);
    } else {
      lane = visit_order == Settings::kReverse ? w->lanes - 1 - i
             : w->lanes == wave_width               ? i ^ grid.lane_mask
                                                    : i;
      rpx_thread_index = thread_at(w->index * wave_width + lane);
    }
    u64 before = switches;
    region_depth = loop_iteration = 0;
    claim.offered = forward && !i && !w->index;
    inside_runtime = false;
    body(closure);
    inside_runtime = true;
    if (claim.taken) mark_all_begun();
    if (switches != before) return;
  }
}

void runner() {
#ifdef RPX_ASAN
  const void *bottom;
  std::size_t size;
  __sanitizer_finish_switch_fiber(nullptr, &bottom, &size);
  if (!grid.host_bottom) {
    grid.host_bottom = bottom;
    grid.host_size = size;
  }
#endif
  for (;;) {
    run_unstarted();
    Next next = choose();
    if (next == Next::kStart) continue;
    ++switches;
    // This stack is free from here on; nothing else runs before the switch.
    give_stack(grid.stack);
    void *nowhere;
#ifdef RPX_ASAN
    if (next == Next::kResume) announce_switch(wave->stack[lane]->base + kPage, wave->stack[lane]->size);
    else announce_switch(grid.host_bottom, grid.host_size);
#endif
    if (next == Next::kResume) {
      enter_lane();
      rpx_switch(&nowhere, wave->sp[lane]);
    } else {
      rpx_switch(&nowhere, grid.host_sp);
    }
    __builtin_unreachable();
  }
}

// ---- wave operations -----------------------------------------------------------------------------------------------

// Return addresses from the kernel's own frame inwards to the waiting call; comparing them in order tells which of two
// lanes is at the earlier place of the program.
struct CallPath {
  static constexpr int kDepth = 24;
  const void *site[kDepth];
  int depth = 0;
};

void call_path(const Wave *w, u32 l, CallPath *path) {
  const void *inner[CallPath::kDepth];
  int n = 0;
  void *const *frame = w->frame[l];
  char *top = static_cast<char *>(w->stack[l]->top);
  while (n < CallPath::kDepth) {
    inner[n++] = frame[1];
    void *const *up = static_cast<void *const *>(frame[0]);
    if (up <= frame || reinterpret_cast<const char *>(up) >= top - 64) break;
    frame = up;
  }
  path->depth = n;
  for (int i = 0; i < n; ++i) path->site[i] = inner[n - 1 - i];
}

int compare(const CallPath &a, const CallPath &b) {
  int common = a.depth < b.depth ? a.depth : b.depth;
  for (int i = 0; i < common; ++i)
    if (a.site[i] != b.site[i]) return a.site[i] < b.site[i] ? -1 : 1;
  return a.depth - b.depth;
}

// The lanes of a wave that go first among those that wait: the deeper structure, then the earlier iteration, then the
// earlier place; where lanes part at a branch, the side that comes last.
u64 leading(const Wave *w, u64 waiting) {
  CallPath best, path;
  u64 group = 0;
  u32 depth = 0, iteration = 0;
  u32 side = 0;
  for (u64 rest = waiting; rest; rest &= rest - 1) {
    u32 l = __builtin_ctzll(rest);
    if (group && w->depth[l] < depth) continue;
    if (group && w->depth[l] == depth && w->iteration[l] > iteration) continue;
    bool ahead = !group || w->depth[l] > depth || w->iteration[l] < iteration;
    u32 mine = w->at_op & bit(l) ? w->branch[l] : 0;
    depth = w->depth[l];
    iteration = w->iteration[l];
    call_path(w, l, &path);
    int order = ahead ? -1 : compare(path, best);
    if (!ahead && mine && side && mine != side) order = mine > side ? -1 : 1;
    if (order < 0) {
      best = path;
      group = bit(l);
      side = mine;
    } else if (order == 0) {
      group |= bit(l);
    }
  }
  return group;
}

void complete_mixed(Wave *w) {
  u64 group = leading(w, w->at_op);
  u32 parity = w->generation & 1;
  for (u64 rest = group; rest; rest &= rest - 1) {
    u32 l = __builtin_ctzll(rest);
    if ((w->brought_odd >> l & 1) == parity) continue;
    for (int i = 0; i < kSlotWords; ++i) w->slot[parity][i][l] = w->slot[parity ^ 1][i][l];
  }
  w->group = group;
  w->at_op &= ~group;
  w->ready |= group;
  ++w->generation;
  w->mixed = w->at_op != 0;
}

void complete_operation(Wave *w) {
  ++statistics.wave_ops;
  if (w->mixed) return complete_mixed(w);
  w->group = w->at_op;
  w->ready = w->at_op;
  w->at_op = 0;
  ++w->generation;
}

// ---- barriers ------------------------------------------------------------------------------------------------------

bool release_barrier() {
  Block *b = grid.block;
  bool any = false;
  for (Wave *w : b->waves) any |= w->at_barrier != 0;
  if (!any) return false;
  ++statistics.barriers;
  ++b->epoch;
  if (b->other_site) hazard(Hazard::kDivergentBarrier, b->first_site, (long long)(std::size_t)b->other_site);
  b->other_site = b->first_site = nullptr;
  b->first_key = 0;
  for (Wave *w : b->waves) {
    if (!w->at_barrier) continue;
    u64 released = one_side ? leading(w, w->at_op | w->at_barrier) & w->at_barrier : w->at_barrier;
    if (!released) continue;
    w->ready |= released;
    w->at_barrier &= ~released;
    b->runnable |= bit(w->index);
  }
  b->result_count = b->count;
  b->result_all = b->all;
  b->result_any = b->any;
  b->count = 0;
  b->all = 1;
  b->any = 0;
  wave = b->waves[pick(b->runnable)];
  return true;
}

// Tells apart calls of one place that came by different ways: the caller's own return address, the depth of the stack,
// the structures and the iteration around the call. Lanes whose keys agree are taken to be together.
inline u64 site_key(void *const *frame) {
  const void *caller = static_cast<void *const *>(frame[0])[1];
  u64 way = (u64)(std::size_t)frame[1] * 0x9e3779b97f4a7c15ull + (u64)(std::size_t)caller * 31;
  return way ^ (u64)(static_cast<char *>(grid.stack->top) - reinterpret_cast<const char *>(frame)) << 40 ^
         (u64)region_depth << 56 ^ (u64)loop_iteration << 24;
}

inline void require_kernel(const char *what) {
  if (__builtin_expect(!kernel_running | claim.taken, 0)) fatal(claim.taken ? "a kernel that was taken for one whose threads never meet has them meet" : what);
}

}  // namespace

RPX_CONVERGENT void meet(u64) {
  inside_runtime = true;
  require_kernel("a wave operation was called from host code");
  Wave *w = wave;
  u32 l = lane;
  void *const *frame = static_cast<void *const *>(__builtin_frame_address(0));
  u64 key = site_key(frame);
  if (!w->at_op) {
    w->key = key;
    w->mixed = false;
    w->brought_odd = w->generation & 1 ? ~0ull : 0;
  } else if (key != w->key || (w->brought_odd & 1) != (w->generation & 1) || w->mixed) {
    w->mixed = true;
    w->brought_odd = w->generation & 1 ? w->brought_odd | bit(l) : w->brought_odd & ~bit(l);
  }
  w->at_op |= bit(l);
  w->frame[l] = frame;
  keep_thread(w, l);
  switch_away(&w->sp[l], l, w);
  inside_runtime = false;
}

RPX_CONVERGENT void part(u32 branch) {
  if (!kernel_running || claim.taken) return;
  wave->branch[lane] = branch;
  meet(~0ull);
  wave->branch[lane] = 0;
}

RPX_CONVERGENT int block_barrier(int operation, int predicate) {
  inside_runtime = true;
  require_kernel("__syncthreads was called from host code");
  Wave *w = wave;
  u32 l = lane;
  Block *b = grid.block;
  void *const *frame = static_cast<void *const *>(__builtin_frame_address(0));
  u64 key = site_key(frame);
  if (!b->first_key) {
    b->first_key = key;
    b->first_site = frame[1];
  } else if (key != b->first_key && frame[1] != b->first_site) {
    b->other_site = frame[1];
  }
  if (operation) {
    b->count += predicate != 0;
    b->all &= predicate != 0;
    b->any |= predicate != 0;
  }
  w->at_barrier |= bit(l);
  w->frame[l] = frame;
  keep_thread(w, l);
  switch_away(&w->sp[l], l, w);
  inside_runtime = false;
  return operation == 1 ? b->result_count : operation == 2 ? b->result_all : b->result_any;
}

RPX_CONVERGENT void grid_barrier() {
  inside_runtime = true;
  require_kernel("a grid barrier was called from host code");
  Wave *w = wave;
  u32 l = lane;
  w->at_grid |= bit(l);
  w->frame[l] = static_cast<void *const *>(__builtin_frame_address(0));
  keep_thread(w, l);
  switch_away(&w->sp[l], l, w);
  inside_runtime = false;
}

// ---- threads that only spin -----------------------------------------------------------------------------------------

namespace {

// A thread that gave way with the same registers and the same stack as before has done nothing since. When that holds for
// all that are left, round after round, none of them can ever end.
struct Spinning {
  static constexpr int kRounds = 4;
  static constexpr std::size_t kStates = 1 << 16;
  static constexpr u64 kSuspicious = 8;  // threads that gave way, before the watchdog looks more often
  std::unordered_set<u64> states;  // of threads, as they gave way
  int quiet_rounds = 0;            // rounds over all waiting blocks that brought no new state
  bool news = true;
  const void *site = nullptr;      // where the last one was stopped
};
Spinning spinning;
volatile long tick_milliseconds = kSlowTick;

u64 mix(u64 hash, const void *data, std::size_t bytes) {
  const char *p = static_cast<const char *>(data);
  for (; bytes >= 8; p += 8, bytes -= 8) {
    u64 word;
    std::memcpy(&word, p, 8);
    hash = (hash ^ word) * 0x9e3779b97f4a7c15ull;
    hash ^= hash >> 29;
  }
  return hash;
}

// The running thread gives way; `registers` is a hash of what it holds besides its stack.
void note_state(u64 registers, const void *stack, const void *site) {
  u64 thread[3] = {(u64)(std::size_t)grid.block, linear_thread(), registers};
  u64 hash = mix(1, thread, sizeof thread);
  const char *top = static_cast<const char *>(grid.stack->top);
  if (stack < top) hash = mix(hash, stack, static_cast<std::size_t>(top - static_cast<const char *>(stack)));
  if (spinning.states.size() >= Spinning::kStates) spinning.states.clear();
  spinning.news |= spinning.states.insert(hash).second;
  spinning.site = site;
}

}  // namespace

// Lets every other thread run first; also what the watchdog does to a thread that runs long without waiting.
RPX_CONVERGENT void yield() {
  inside_runtime = true;
  require_kernel("a device-side sleep was called from host code");
  if (tick_milliseconds == kFastTick) {
    u64 kept[10] = {};
#if defined(__x86_64__)
    __asm__ volatile("movq %%rbx, 0(%0); movq %%r12, 8(%0); movq %%r13, 16(%0); movq %%r14, 24(%0); movq %%r15, 32(%0)" ::"r"(kept) : "memory");
#else
    __asm__ volatile(
        "stp x19, x20, [%0]; stp x21, x22, [%0, #16]; stp x23, x24, [%0, #32]; stp x25, x26, [%0, #48]; stp x27, x28, [%0, #64]" ::"r"(kept)
        : "memory");
#endif
    void *const *frame = static_cast<void *const *>(__builtin_frame_address(0));
    note_state(mix(2, kept, sizeof kept), frame + 2, frame[1]);
  }
  give_way();
}

namespace {

void give_way() {
  Wave *w = wave;
  u32 l = lane;
  if (claim.taken) mark_all_begun();
  ++statistics.preemptions;
  w->preempted |= bit(l);
  keep_thread(w, l);
  switch_away(&w->sp[l], l, w);
  inside_runtime = false;
}

}  // namespace

void spare_static_lds() { poison_static_lds = false; }
bool static_lds_spared() { return !poison_static_lds; }
bool in_kernel() { return kernel_running; }
u64 block_serial() { return grid.block ? grid.block->serial : 0; }
u64 grid_epoch() { return statistics.launches + grid_barriers; }
u64 block_epoch() { return grid.block ? grid.block->epoch : 0; }
std::size_t dynamic_lds_bytes() { return grid.launch ? grid.launch->config.lds : 0; }
const char *kernel_name() { return last_kernel; }

bool is_shared(const void *pointer) {
  const char *p = static_cast<const char *>(pointer);
  const Segment fixed = static_lds();
  const char *dynamic = static_cast<const char *>(dynamic_lds);
  return (p >= static_cast<char *>(fixed.base) && p < static_cast<char *>(fixed.base) + fixed.size) ||
         (dynamic && p >= dynamic && p < dynamic + dynamic_lds_bytes());
}

// Static shared memory lies at 0, dynamic behind it, as in an LDS; what is neither has no address there.
constexpr u32 kDynamicAddress = 1u << 28;
u32 shared_address(const void *pointer) {
  const char *p = static_cast<const char *>(pointer);
  const char *fixed = static_cast<const char *>(static_lds().base), *dynamic = static_cast<const char *>(dynamic_lds);
  if (dynamic && p >= dynamic && p < dynamic + dynamic_lds_bytes()) return kDynamicAddress + static_cast<u32>(p - dynamic);
  return is_shared(pointer) ? static_cast<u32>(p - fixed) : ~0u;
}
void *shared_pointer(u32 address) {
  if (address >= kDynamicAddress) return static_cast<char *>(dynamic_lds) + (address - kDynamicAddress);
  return static_cast<char *>(static_lds().base) + address;
}

bool is_private(const void *pointer) {
  const char *here = static_cast<const char *>(__builtin_frame_address(0));
  const char *p = static_cast<const char *>(pointer);
  return p >= here && p < here + settings().stack;  // the stack grows down: the callers' frames lie above
}

__attribute__((noinline)) void report_inactive(u32 source) {
  bool absent = !(wave->members >> source & 1);
  hazard(absent ? Hazard::kAbsentLane : Hazard::kInactiveLane, __builtin_return_address(0), source, lane);
}

__attribute__((noinline)) void report_mask(u64 mask) {
  if (!(mask >> lane & 1)) return hazard(Hazard::kMaskCaller, __builtin_return_address(0), (long long)mask, lane);
  // One lane speaks for all.
  u64 missing = mask & wave->members & ~wave->group;
  if (lane != static_cast<u32>(__builtin_ctzll(wave->group))) return;
  hazard(Hazard::kMaskInactive, __builtin_return_address(0), (long long)mask, __builtin_ctzll(missing));
}

__attribute__((noinline)) void report_outside(u64 mask, u32 source) {
  if (wave_width == 64 && mask == 0xffffffff) return;  // a narrow mask is reported as such
  hazard(Hazard::kOutsideMask, __builtin_return_address(0), source, (long long)mask);
}

void narrow_mask(u64 mask, int bytes) {
  hazard(Hazard::kMask32, __builtin_return_address(0), (long long)mask, bytes);
}

void wide_width(int width) { hazard(Hazard::kWidthOverWave, __builtin_return_address(0), width, wave_width); }

// ---- a watchdog for threads that spin ------------------------------------------------------------------------------

namespace {

volatile pthread_t kernel_thread;
constexpr int kSignal = SIGURG;  // ignored by default, so a late one is harmless

// Registers but the program counter and the flags: where in its loop a spinning thread is stopped does not matter.
u64 register_state(ucontext_t *context, const void **stack, const char **pc) {
  mcontext_t &m = context->uc_mcontext;
#if defined(__x86_64__)
  *pc = reinterpret_cast<const char *>(m.gregs[REG_RIP]);
  *stack = reinterpret_cast<const void *>(m.gregs[REG_RSP]);
  u64 hash = mix(3, m.gregs, REG_RIP * sizeof m.gregs[0]);
  return m.fpregs ? mix(hash, m.fpregs->_st, sizeof m.fpregs->_st + sizeof m.fpregs->_xmm) : hash;
#else
  *pc = reinterpret_cast<const char *>(m.pc);
  *stack = reinterpret_cast<const void *>(m.sp);
  u64 hash = mix(3, m.regs, sizeof m.regs);
  const fpsimd_context *vectors = reinterpret_cast<const fpsimd_context *>(m.__reserved);
  return vectors->head.magic == FPSIMD_MAGIC ? mix(hash, vectors->vregs, sizeof vectors->vregs) : hash;
#endif
}

void on_tick(int, siginfo_t *, void *context) {
  if (!kernel_running || inside_runtime || !pthread_equal(pthread_self(), kernel_thread)) return;
  static u64 seen_switches;
  static u32 seen_started, seen_rows;
  static const Wave *seen_wave;
  static const void *seen_block;
  bool progress = seen_switches != switches || seen_wave != wave || seen_started != wave->started || seen_rows != rows_begun || seen_block != grid.block;
  seen_switches = switches;
  seen_wave = wave;
  seen_started = wave->started;
  seen_rows = rows_begun;
  seen_block = grid.block;
  if (progress) return;
  const char *pc;
  const void *stack;
  u64 registers = register_state(static_cast<ucontext_t *>(context), &stack, &pc);
  // Not inside a library: it may hold a lock that the next thread needs.
  if (pc < &__executable_start || pc >= &etext) return;
  inside_runtime = true;
  static u64 launch, before;
  if (launch != statistics.launches) {
    launch = statistics.launches;
    before = statistics.preemptions;
  }
  if (statistics.preemptions - before >= Spinning::kSuspicious) tick_milliseconds = kFastTick;
  if (tick_milliseconds == kFastTick) note_state(registers, stack, pc + 1);
  give_way();
}

void start_watchdog() {
#ifndef RPX_ASAN
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction action;
    std::memset(&action, 0, sizeof action);
    action.sa_sigaction = on_tick;
    action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_RESTART;
    sigaction(kSignal, &action, nullptr);
    std::thread([] {
      sigset_t all;
      sigfillset(&all);
      pthread_sigmask(SIG_BLOCK, &all, nullptr);
      for (;;) {
        timespec pause{0, tick_milliseconds * 1000000};
        nanosleep(&pause, nullptr);
        if (kernel_running && !inside_runtime) pthread_kill(kernel_thread, kSignal);
      }
    }).detach();
  });
#endif
}

// ---- blocks and grids ----------------------------------------------------------------------------------------------

Wave *take_wave() {
  if (free_waves.empty()) return static_cast<Wave *>(std::aligned_alloc(64, (sizeof(Wave) + 63) / 64 * 64));
  Wave *w = free_waves.back();
  free_waves.pop_back();
  return w;
}

void begin_block(Block *b, const Index3 &index) {
  b->index = index;
  b->runnable = 0;
  b->at_grid = b->gave_way = false;
  b->count = b->any = 0;
  b->all = 1;
  b->first_key = 0;
  b->first_site = b->other_site = nullptr;
  while (b->waves.size() < grid.waves) b->waves.push_back(take_wave());
  for (u32 i = 0; i < grid.waves; ++i) {
    Wave *w = b->waves[i];
    w->ready = w->at_op = w->at_barrier = w->at_grid = w->preempted = w->group = 0;
    w->generation = 0;
    w->index = i;
    w->started = 0;
    w->lanes = i + 1 < grid.waves ? wave_width : grid.threads - i * wave_width;
    w->members = w->lanes == 64 ? ~0ull : bit(w->lanes) - 1;
    w->mixed = false;
    w->cursor = thread_at(i * wave_width);
    b->runnable |= bit(i);
  }
  b->serial = ++statistics.blocks;
  b->epoch = 0;
}

// Runs the block until it is done or can only wait for others.
void run_block(Block *b) {
  grid.block = b;
  rpx_block_index = b->index;
  dynamic_lds = b->lds;
  b->gave_way = b->at_grid = false;
  if (!b->runnable) return;
  wave = b->waves[pick(b->runnable)];
  Next next = choose();
  if (next != Next::kHost) {
    ++switches;
    void *target;
    if (next == Next::kResume) {
      enter_lane();
      target = wave->sp[lane];
    } else {
      grid.stack = take_stack();
      target = fiber_prepare(grid.stack->top, runner);
    }
#ifdef RPX_ASAN
    announce_switch(grid.stack->base + kPage, grid.stack->size);
#endif
    rpx_switch(&grid.host_sp, target);
#ifdef RPX_ASAN
    announce_arrival();
#endif
  }
  for (Wave *w : b->waves) b->at_grid |= w->at_grid != 0;
}

void wake(Block *b, bool from_grid) {
  b->epoch += from_grid;
  for (Wave *w : b->waves) {
    u64 lanes = w->preempted | (from_grid ? w->at_grid : 0);
    w->preempted = 0;
    if (from_grid) w->at_grid = 0;
    w->ready |= lanes;
    if (lanes || w->at_op) b->runnable |= bit(w->index);
  }
}

void save_lds(Block *b, const Segment &lds) { b->saved_lds.assign(lds.base, lds.base + lds.size); }
void restore_lds(Block *b, const Segment &lds) {
  if (b->saved_lds.size() == lds.size && lds.size) std::memcpy(lds.base, b->saved_lds.data(), lds.size);
}

// Dynamic shared memory ends in a margin that shows writes behind it.
constexpr std::size_t kLdsMargin = 64;
constexpr unsigned char kLdsCanary = 0xc9;

Block *new_block(std::size_t lds_bytes) {
  Block *b = new Block;
  if (lds_bytes) {
    b->lds = std::aligned_alloc(256, (lds_bytes + 511) / 256 * 256);
    std::memset(static_cast<char *>(b->lds) + lds_bytes, kLdsCanary, kLdsMargin);
  }
  return b;
}

void check_lds_margin(Block *b, std::size_t lds_bytes) {
  unsigned char *margin = static_cast<unsigned char *>(b->lds) + lds_bytes;
  for (std::size_t i = 0; i < kLdsMargin; ++i) {
    if (margin[i] == kLdsCanary) continue;
    hazard(Hazard::kSharedBounds, nullptr, static_cast<long long>(lds_bytes + i), static_cast<long long>(lds_bytes));
    std::memset(margin, kLdsCanary, kLdsMargin);
    break;
  }
}

void finish_block(Block *b, std::size_t lds_bytes) {
  if (b->lds) check_lds_margin(b, lds_bytes);
  if (settings().access) access_block_done(b->serial);
}

void delete_block(Block *b) {
  for (Wave *w : b->waves) free_waves.push_back(w);
  std::free(b->lds);
  delete b;
}

Index3 block_at(u64 linear) {
  u64 x = rpx_grid_dim.x, xy = x * rpx_grid_dim.y;
  return {(u32)(linear % x), (u32)(linear % xy / x), (u32)(linear / xy)};
}

// Called before each round over the blocks that wait for one another.
void check_progress(const std::vector<Block *> &resident, bool progress) {
  spinning.quiet_rounds = progress || spinning.news ? 0 : spinning.quiet_rounds + 1;
  spinning.news = false;
  if (spinning.quiet_rounds < Spinning::kRounds) return;
  long long threads = 0;
  for (Block *r : resident)
    for (Wave *w : r->waves) threads += __builtin_popcountll(w->preempted);
  hazard(Hazard::kNoProgress, spinning.site, threads);
  fatal("no thread can make progress");
}

void run_grid(const Launch &launch) {
  const Config &c = launch.config;
  visit_order = settings().order;
  one_side = visit_order == Settings::kReverse;
  rpx_grid_dim = {c.grid.x, c.grid.y, c.grid.z};
  rpx_block_dim = {c.block.x, c.block.y, c.block.z};
  grid.launch = &launch;
  grid.threads = c.block.x * c.block.y * c.block.z;
  grid.waves = (grid.threads + wave_width - 1) / wave_width;
  grid.random = settings().seed * 0x9e3779b97f4a7c15ull + statistics.launches + 1;
  grid.lane_mask = random_word() & (wave_width - 1);
  const u64 blocks = (u64)c.grid.x * c.grid.y * c.grid.z;
  const Segment lds = static_lds();
  const int poison = settings().poison;
  std::vector<Block *> resident;  // blocks that wait for others
  Block *b = nullptr;
  u64 stride = 1, offset = 0;
  if (visit_order == Settings::kRandom && blocks > 1) {
    offset = random_word() % blocks;
    for (stride = random_word() % blocks | 1; std::gcd(stride, blocks) != 1; stride += 2) {
    }
  }
  for (u64 i = 0; i < blocks; ++i) {
    if (!b) b = new_block(c.lds);
    u64 at = visit_order == Settings::kReverse ? blocks - 1 - i : (i * stride + offset) % blocks;
    if (poison >= 0) {
      if (lds.size && poison_static_lds) std::memset(lds.base, poison, lds.size);
      if (b->lds) std::memset(b->lds, poison, c.lds);
    }
    begin_block(b, stride == 1 && !offset && visit_order != Settings::kReverse && i ? [&] {
      Index3 next = rpx_block_index;
      if (++next.x == c.grid.x) {
        next.x = 0;
        if (++next.y == c.grid.y) {
          next.y = 0;
          ++next.z;
        }
      }
      return next;
    }() : block_at(at));
    run_block(b);
    if (b->at_grid || b->gave_way) {
      save_lds(b, lds);
      resident.push_back(b);
      b = nullptr;
    } else {
      finish_block(b, c.lds);
    }
  }
  if (b) delete_block(b);
  if (!resident.empty()) tick_milliseconds = kFastTick;
  spinning = Spinning();
  u64 done = 0;
  while (!resident.empty()) {
    bool any_spins = false;
    for (Block *r : resident) any_spins |= r->gave_way;
    u64 progress = statistics.barriers + statistics.wave_ops + resident.size();
    if (!any_spins) ++grid_barriers;
    if (any_spins) check_progress(resident, progress != done);
    done = progress;
    std::vector<Block *> still;
    for (Block *r : resident) {
      if (any_spins && !r->gave_way) {
        still.push_back(r);
        continue;
      }
      restore_lds(r, lds);
      wake(r, !any_spins);
      run_block(r);
      if (r->at_grid || r->gave_way) {
        save_lds(r, lds);
        still.push_back(r);
      } else {
        finish_block(r, c.lds);
        delete_block(r);
      }
    }
    resident.swap(still);
  }
  tick_milliseconds = kSlowTick;
  statistics.threads += blocks * grid.threads;
}

}  // namespace

void run_launch(const Launch &launch) {
  std::lock_guard<std::recursive_mutex> guard(launch_mutex);
  const bool nested = kernel_running;
  // A launch from inside a kernel runs here and now, on top of the thread that makes it.
  Grid outer_grid = grid;
  Wave *outer_wave = wave;
  u32 outer_lane = lane, outer_depth = region_depth, outer_iteration = loop_iteration;
  void *outer_lds = dynamic_lds;
  Index3 outer_index[4] = {rpx_thread_index, rpx_block_index, rpx_block_dim, rpx_grid_dim};
  std::vector<char> outer_static;
  Segment lds = static_lds();
  if (nested) outer_static.assign(lds.base, lds.base + lds.size);
  const char *outer_name = last_kernel;

  inside_runtime = true;
  start_watchdog();
  kernel_thread = pthread_self();
  kernel_running = true;
  last_kernel = launch.name;
  ++statistics.launches;
  note_launch(launch);
  grid = Grid();
  run_grid(launch);
  kernel_running = nested;
  if (!nested) check_canaries(true);

  grid = outer_grid;
  wave = outer_wave;
  lane = outer_lane;
  region_depth = outer_depth;
  loop_iteration = outer_iteration;
  dynamic_lds = outer_lds;
  if (nested) {
    last_kernel = outer_name;
    rpx_thread_index = outer_index[0];
    rpx_block_index = outer_index[1];
    rpx_block_dim = outer_index[2];
    rpx_grid_dim = outer_index[3];
    if (lds.size) std::memcpy(lds.base, outer_static.data(), lds.size);
    inside_runtime = false;
  } else {
    rpx_thread_index = rpx_block_index = {0, 0, 0};
    rpx_block_dim = rpx_grid_dim = {1, 1, 1};
  }
  statistics.switches = switches;
}

}  // namespace rpx
