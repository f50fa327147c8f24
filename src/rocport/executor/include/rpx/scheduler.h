// SPDX-License-Identifier: Apache-2.0
// Lanes, wavefronts and blocks: the state that inlined device code reads, and the calls at which threads meet.
//
// Every GPU thread runs as a plain call until it first waits; only then does it keep its stack, and the scheduler goes on
// with the next thread on a fresh one (lib/scheduler.cpp). A wave operation completes when no lane of the wavefront can
// run: among the waiting lanes those at the earliest call site meet, which is where a lockstep machine reconverges.
#pragma once

#include <cstring>
#include <type_traits>

#include "rpx/index.h"

namespace rpx {

using u64 = unsigned long long;
using u32 = unsigned int;

constexpr int kMaxLanes = 64;
constexpr int kSlotWords = 8;  // bytes a lane can hand over in one meeting: 64

struct Stack;

struct Wave {
  // Values the lanes bring to a meeting, one plane a 64-bit word. Two buffers: a lane may bring its next value while
  // others still read the last one.
  u64 slot[2][kSlotWords][kMaxLanes];
  u64 ready;        // lanes that can run
  u64 at_op;        // lanes waiting at a wave operation
  u64 at_barrier;   // lanes waiting at the block's barrier
  u64 at_grid;      // lanes waiting at the grid's barrier
  u64 preempted;    // lanes that ran long without waiting, or gave way
  u64 group;        // lanes that took part in the last completed operation
  u64 brought_odd;  // of the waiting lanes, those whose value lies in buffer 1
  u64 members;      // lanes that have a thread
  u64 key;          // call site of the lanes at_op, when it is one
  u32 generation;   // completed operations; its lowest bit names the buffer that arriving lanes write
  u32 index;        // of this wave in its block
  u32 started, lanes;
  u32 branch[kMaxLanes];  // where lanes at_op wait to enter one side of a branch: its number, else 0
  bool mixed;       // lanes wait at more than one call site, or since different generations
  Index3 cursor;    // index of the next thread to start
  void *sp[kMaxLanes];
  Index3 tid[kMaxLanes];
  Stack *stack[kMaxLanes];
  void *const *frame[kMaxLanes];  // frame of the call that waits
  u32 depth[kMaxLanes];           // control structures around that call (see Region)
  u32 iteration[kMaxLanes];       // of the innermost loop around it
};

extern Wave *wave;         // of the running thread
extern u32 lane;           // of the running thread, within its wave
extern u32 wave_width;     // 32 or 64
extern void *dynamic_lds;  // the running block's dynamic shared memory
extern u32 region_depth, loop_iteration;  // of the running thread
extern bool one_side;      // lanes on different sides of a branch run one side to its end, then the other
void part(u32 branch);     // with one_side: wait for the lanes of the wave that take another way; 0 where they join

// The rewriter puts one into each branch and around each loop that can reach a wave operation. Where lanes wait at
// different calls, those in the deepest structure go first: lanes that left a loop, or skipped a branch, wait for the
// rest, as they do on the device. Addresses alone would not tell: compilers lay out loops as they like.
//
// In the order `reverse` lanes part as well (one_side): each waits where it enters a branch, an iteration or the end of a
// loop until the others of its wave wait too, and the side that the source has last runs to its end first. A wave then
// stands at one barrier at a time, as the device counts waves and not lanes.
struct Depth {
  RPX_INLINE Depth() { ++region_depth; }
  RPX_INLINE ~Depth() { --region_depth; }
  Depth(const Depth &) = delete;
};
// Sides of branches are numbered in the order of the source.
struct Region : Depth {
  RPX_INLINE explicit Region(u32 number) {
    if (__builtin_expect(one_side, 0)) part(number);
  }
};
struct Join {
  RPX_INLINE Join() {}
  RPX_INLINE ~Join() {
    if (__builtin_expect(one_side, 0)) part(0);
  }
  Join(const Join &) = delete;
};
struct Loop {
  u32 count = 0, outer;
  RPX_INLINE Loop() : outer(loop_iteration) { ++region_depth; }
  RPX_INLINE ~Loop() {
    --region_depth;
    loop_iteration = outer;
    if (__builtin_expect(one_side, 0)) part(0);
  }
  Loop(const Loop &) = delete;
};
struct Body : Depth {
  RPX_INLINE explicit Body(Loop &loop) {
    loop_iteration = ++loop.count;
    if (__builtin_expect(one_side, 0)) part(0);
  }
};
// The body of a loop that takes a lock and reaches no wave operation. A lane that has gone round often only spins: the
// watchdog takes it from there, and knows it by its stack, which must not change.
struct Attempt : Depth {
  static constexpr u32 kRounds = 1000;
  RPX_INLINE explicit Attempt(Loop &loop) {
    if (__builtin_expect(!one_side, 1) || loop.count >= kRounds) return;
    loop_iteration = ++loop.count;
    part(0);
  }
};

// Wait at a wave operation until the lanes that can meet here have met; wave->group then names them.
RPX_CONVERGENT void meet(u64 mask);
RPX_CONVERGENT int block_barrier(int operation, int predicate);  // 0 plain, 1 count, 2 and, 3 or
RPX_CONVERGENT void grid_barrier();
RPX_CONVERGENT void yield();

enum class Hazard : int {
  kInactiveLane,      // a shuffle reads a lane that did not take part
  kAbsentLane,        // ... or a lane that has no thread
  kMask32,            // a 32-bit mask at wave width 64
  kWidthOverWave,     // a shuffle width, or tile, larger than the wavefront
  kDivergentBarrier,  // threads of a block wait at different barriers
  kLaunchConfig,      // a launch that a device refuses
  kUncheckedError,    // ... and the program never asks
  kOutOfBounds,       // the margin of an allocation was written, or a copy leaves its allocation
  kLdsLimit,          // more dynamic shared memory than the target has
  kSharedRace,        // two wavefronts touch the same shared memory between barriers, one writes
  kLockstep,          // ... two lanes of one wavefront do, with no wave operation between
  kMaskCaller,        // a lane calls with a mask that leaves it out
  kMaskInactive,      // a mask names a lane that has a thread and took no part
  kOutsideMask,       // a shuffle reads a lane that its mask does not name
  kSharedBounds,      // dynamic shared memory was touched behind its end
  kUninitialised,     // a kernel reads memory that nobody wrote
  kUninitialisedCopy, // ... a copy to the host does
  kGlobalRace,        // two threads write different values to one place of global memory, in no order
  kNoProgress,        // every thread that is left spins, and none can end
  kCount
};
void hazard(Hazard kind, const void *site, long long a = 0, long long b = 0);
void spare_static_lds();  // static shared memory is not to be poisoned: the program has thread_local variables of its own
bool is_shared(const void *pointer);   // into the running block's shared memory, static or dynamic
bool is_private(const void *pointer);  // onto the running thread's stack
[[noreturn]] void fatal(const char *what);
[[noreturn]] void unsupported(const char *what);

// ---- the running thread --------------------------------------------------------------------------------------------

RPX_INLINE u64 bit(u32 l) { return 1ull << l; }
RPX_INLINE u32 linear_thread() { return wave->index * wave_width + lane; }
RPX_INLINE u64 all_lanes() { return wave_width == 64 ? ~0ull : 0xffffffffull; }
RPX_INLINE const u64 (*met_values())[kMaxLanes] { return wave->slot[(wave->generation + 1) & 1]; }

template <class T> constexpr int words_of() { return (int)((sizeof(T) + 7) / 8); }

// Put this lane's value where the other lanes will look for it.
template <class T> RPX_INLINE void bring(const T &value) {
  static_assert(words_of<T>() <= kSlotWords, "a value handed between lanes is at most 64 bytes");
  u64 w[words_of<T>()] = {};
  std::memcpy(w, static_cast<const void *>(&value), sizeof(T));
  u64(*out)[kMaxLanes] = wave->slot[wave->generation & 1];
  for (int i = 0; i < words_of<T>(); ++i) out[i][lane] = w[i];
}

template <class T> RPX_INLINE T take(u32 source) {
  u64 w[words_of<T>()];
  const u64(*in)[kMaxLanes] = met_values();
  for (int i = 0; i < words_of<T>(); ++i) w[i] = in[i][source];
  alignas(T) unsigned char raw[sizeof(T)];
  std::memcpy(raw, w, sizeof(T));
  T result;
  std::memcpy(static_cast<void *>(&result), raw, sizeof(T));
  return result;
}

// What an inactive lane gives: zero, as ds_bpermute does for a lane whose EXEC bit is off.
template <class T> RPX_INLINE T zero() {
  T result;
  std::memset(static_cast<void *>(&result), 0, sizeof(T));
  return result;
}

__attribute__((noinline)) void report_inactive(u32 source);
__attribute__((noinline)) void report_mask(u64 mask);
__attribute__((noinline)) void report_outside(u64 mask, u32 source);

// After a `_sync` operation: its mask should name the lane that called, and no lane that took no part.
template <class M> RPX_INLINE void check_mask(M mask) {
  if (sizeof(M) < 8 && wave_width == 64) return;  // reported as narrow
  u64 m = (u64)mask;
  if (__builtin_expect(((m & wave->members & ~wave->group) | (~m & bit(lane))) != 0, 0)) report_mask(m);
}

template <class T> RPX_INLINE T exchange(const T &value, u64 mask, u32 source) {
  bring(value);
  meet(mask);
  if (__builtin_expect(!(mask >> source & 1), 0)) report_outside(mask, source);
  if (__builtin_expect(!(wave->group >> source & 1), 0)) {
    report_inactive(source);
    return zero<T>();
  }
  return take<T>(source);
}

RPX_INLINE u64 ballot(bool predicate, u64 mask) {
  bring<u64>(predicate);
  meet(mask);
  const u64 *in = met_values()[0];
  u64 result = 0;
  for (u64 rest = wave->group; rest; rest &= rest - 1) {
    int l = __builtin_ctzll(rest);
    result |= in[l] << l;
  }
  return result;
}

RPX_INLINE u64 active_lanes() {
  meet(~0ull);
  return wave->group;
}

void narrow_mask(u64 mask, int bytes);  // hazard kMask32 where the width asks for 64 bits
template <class M> RPX_INLINE u64 wave_mask(M mask) {
  if (sizeof(M) < 8 && wave_width == 64) narrow_mask((u64)mask, sizeof(M));
  return (u64)mask;
}

void wide_width(int width);
RPX_INLINE u32 clamp_width(int width) {
  if (__builtin_expect((u32)width > wave_width, 0)) {
    wide_width(width);
    return wave_width;
  }
  return (u32)width;
}

// ---- kernels that loop over their block --------------------------------------------------------------------------------

struct Claim {
  bool offered;  // no thread of the block has begun: the kernel may run all of them by itself
  bool taken;
};
extern Claim claim;
extern u32 rows_begun;  // tells the watchdog that such a kernel gets on

// The rewriter makes the body of a kernel whose threads never meet the body of a loop over this: pieces of rows of the
// block's threads, short enough to be seen getting on and long enough to vectorize.
class Rows {
 public:
  u32 first, last, y, z;
  RPX_INLINE Rows();
  RPX_INLINE bool next() {
    ++rows_begun;
    first = last;
    if (first >= width_) {
      first = 0;
      if (++y >= height_) {
        y = 0;
        if (++z >= depth_) return false;
      }
    }
    last = first + kPiece < width_ ? first + kPiece : width_;
    return true;
  }

 private:
  static constexpr u32 kPiece = 64;
  u32 width_, height_, depth_;
};
#ifndef RPX_RUNTIME
inline Rows::Rows() {
  if (claim.offered) {
    claim = {false, true};
    last = y = z = 0;
    width_ = blockDim.x, height_ = blockDim.y, depth_ = blockDim.z;
    // The loop's own variable counts the threads. Whoever still asked the global one would compute something else: it
    // then points nowhere, so that this is loud.
    const_cast<Index3 &>(threadIdx) = Index3{~0u, ~0u, ~0u};
  } else {
    last = threadIdx.x, y = threadIdx.y, z = threadIdx.z;
    width_ = last + 1, height_ = y + 1, depth_ = z + 1;
  }
}
#endif

// `extern __shared__ T name[]` at namespace scope.
template <class T> struct DynamicArray {
  RPX_INLINE operator T *() const { return static_cast<T *>(dynamic_lds); }
  template <class I> RPX_INLINE T &operator[](I i) const { return static_cast<T *>(dynamic_lds)[i]; }
  template <class I> RPX_INLINE T *operator+(I i) const { return static_cast<T *>(dynamic_lds) + i; }
};

}  // namespace rpx
