// SPDX-License-Identifier: Apache-2.0
// Called for every memory access of a program that was compiled with -fsanitize=thread, in place of that sanitizer's own
// library. What it does is chosen by ROCPORT_ACCESS:
//   races     which threads touch the same shared memory with no barrier between, one of them writing; and which write
//             different values to one place of global memory, with no barrier, atomic or launch between;
//   memory    reads of what nobody wrote, and accesses behind the end of an allocation or of shared memory;
//   lockstep  lanes meet at every access to shared memory, as on a machine that runs a wavefront in step.
// Atomics are single instructions that report themselves (rpx/atomics.h): they race with plain writes only.
#ifndef RPX_PLAIN_SHARED  // a sanitizer build has its own handlers
#include <cstdlib>
#include <cstring>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "internal.h"

namespace rpx {
namespace {

enum class Kind { kRead, kWrite, kAtomic, kAtomicStore };

bool atomic(Kind kind) { return kind == Kind::kAtomic || kind == Kind::kAtomicStore; }

constexpr u32 kNobody = ~0u;

// What is known of a 4-byte word of shared memory.
struct Word {
  u64 block = 0, epoch = 0;  // when it was touched
  u32 writer = kNobody, atomic = kNobody;
  u32 reader = kNobody, other_reader = kNobody;  // of two wavefronts
  u32 write_generation = 0, read_generation = 0;
};
std::unordered_map<std::size_t, Word> words;

// Two plain writes to one word are no race as long as they write the same: the second is looked at once it is done.
struct Pending {
  char *address = nullptr;
  std::size_t bytes = 0;
  char before[16];
  u32 other = kNobody;
  u32 thread = kNobody;
  Hazard kind = Hazard::kSharedRace;
  const void *site = nullptr;
} pending;

void settle() {
  if (!pending.address) return;
  bool same = !std::memcmp(pending.address, pending.before, pending.bytes);
  pending.address = nullptr;
  if (!same) hazard(pending.kind, pending.site, pending.other, pending.thread);
}

void conflict(u32 other, u32 generation, const char *p, std::size_t bytes, bool both_write, const void *site) {
  u32 me = linear_thread();
  if (other == me) return;
  bool one_wave = other / wave_width == me / wave_width;
  if (one_wave && generation != wave->generation) return;
  Hazard kind = one_wave ? Hazard::kLockstep : Hazard::kSharedRace;
  if (!both_write || bytes > sizeof pending.before) {
    hazard(kind, site, other, me);
    return;
  }
  pending = {const_cast<char *>(p), bytes, {}, other, me, kind, site};
  std::memcpy(pending.before, p, bytes);
}

void touch(const char *p, std::size_t bytes, Kind kind, const void *site) {
  u64 block = block_serial(), epoch = block_epoch();
  for (std::size_t at = reinterpret_cast<std::size_t>(p) / 4; at <= (reinterpret_cast<std::size_t>(p) + bytes - 1) / 4; ++at) {
    Word &w = words[at];
    if (w.block != block || w.epoch != epoch) {
      w = Word();
      w.block = block;
      w.epoch = epoch;
    }
    u32 me = linear_thread();
    if (atomic(kind)) {
      if (w.writer != kNobody) conflict(w.writer, w.write_generation, p, bytes, false, site);
      w.atomic = me;
      continue;
    }
    if (w.writer != kNobody) conflict(w.writer, w.write_generation, p, bytes, kind == Kind::kWrite, site);
    if (kind == Kind::kWrite) {
      if (w.atomic != kNobody && w.atomic / wave_width != me / wave_width) conflict(w.atomic, 0, p, bytes, false, site);
      if (w.reader != kNobody) conflict(w.reader, w.read_generation, p, bytes, false, site);
      if (w.other_reader != kNobody) conflict(w.other_reader, 0, p, bytes, false, site);
      w.writer = me;
      w.write_generation = wave->generation;
    } else {
      if (w.reader != kNobody && w.reader / wave_width != me / wave_width) w.other_reader = w.reader;
      w.reader = me;
      w.read_generation = wave->generation;
    }
  }
}

// Who wrote a 4-byte word of global memory last, without an atomic.
struct GlobalWord {
  u64 block = 0, epoch = 0;
  u32 writer = kNobody, generation = 0;
};
constexpr std::size_t kGlobalWords = 1 << 20;  // more are not followed: 64 MB
std::unordered_map<std::size_t, GlobalWord> global_words;
// Blocks that have used an atomic: what they write from then on may be ordered by it.
std::unordered_set<u64> ordered_blocks;
u64 global_epoch;

void touch_global(const char *p, std::size_t bytes, Kind kind, const void *site) {
  if (kind == Kind::kRead) return;
  if (global_epoch != grid_epoch()) {
    global_epoch = grid_epoch();
    global_words.clear();
    ordered_blocks.clear();
  }
  u64 block = block_serial(), epoch = block_epoch();
  if (atomic(kind)) {
    ordered_blocks.insert(block);
    return;
  }
  Allocation inside;
  if (ordered_blocks.count(block) || global_words.size() >= kGlobalWords || !find_allocation(p, &inside)) return;
  u32 me = linear_thread();
  for (std::size_t at = reinterpret_cast<std::size_t>(p) / 4; at <= (reinterpret_cast<std::size_t>(p) + bytes - 1) / 4; ++at) {
    GlobalWord &w = global_words[at];
    bool same_block = w.block == block;
    bool ordered = w.writer == kNobody || (same_block && (w.writer == me || w.epoch != epoch)) ||
                   (same_block && w.writer / wave_width == me / wave_width && w.generation != wave->generation);
    if (!ordered && bytes >= 4 && bytes <= sizeof pending.before && !pending.address) {
      pending = {const_cast<char *>(p), bytes, {}, w.writer, me, Hazard::kGlobalRace, site};
      std::memcpy(pending.before, p, bytes);
    }
    w = {block, epoch, me, wave->generation};
  }
}

// Which bytes of its shared memory a block has written.
struct Shadow {
  std::vector<char> fixed, dynamic;
};
std::unordered_map<u64, Shadow> shadows;

Segment fixed_segment() {
  static Segment segment = static_lds();
  return segment;
}

bool mark(std::vector<char> &flags, std::size_t offset, std::size_t bytes, std::size_t size, bool write) {
  if (flags.size() < size) flags.resize(size, 0);
  if (offset + bytes > size) return true;
  if (write) {
    std::memset(flags.data() + offset, 1, bytes);
    return true;
  }
  return std::memchr(flags.data() + offset, 1, bytes) != nullptr;
}

constexpr std::size_t kMargin = 256;  // of dynamic shared memory (lib/scheduler.cpp)

enum class Place { kFixed, kDynamic, kBehind, kElsewhere };

Place place_of(const char *p, std::size_t bytes) {
  Segment fixed = fixed_segment();
  if (p >= fixed.base && p < fixed.base + fixed.size) return Place::kFixed;
  const char *dynamic = static_cast<const char *>(dynamic_lds);
  if (!dynamic || p < dynamic || p >= dynamic + dynamic_lds_bytes() + kMargin) return Place::kElsewhere;
  return p + bytes > dynamic + dynamic_lds_bytes() ? Place::kBehind : Place::kDynamic;
}

void check_shared(const char *p, std::size_t bytes, bool write, Place place, const void *site) {
  const std::size_t size = dynamic_lds_bytes();
  const char *dynamic = static_cast<const char *>(dynamic_lds);
  if (place == Place::kBehind) {
    hazard(Hazard::kSharedBounds, site, p + bytes - 1 - dynamic, static_cast<long long>(size));
    return;
  }
  Shadow &shadow = shadows[block_serial()];
  Segment fixed = fixed_segment();
  bool known = place == Place::kFixed ? mark(shadow.fixed, static_cast<std::size_t>(p - fixed.base), bytes, fixed.size, write)
                                      : mark(shadow.dynamic, static_cast<std::size_t>(p - dynamic), bytes, size, write);
  if (!known && (place == Place::kDynamic || !static_lds_spared())) hazard(Hazard::kUninitialised, site, static_cast<long long>(bytes), -1);
}

void on_access(const void *pointer, std::size_t bytes, Kind kind, const void *site) {
  const u32 modes = settings().access;
  const char *p = static_cast<const char *>(pointer);
  const bool reads = kind == Kind::kRead || kind == Kind::kAtomic, writes = kind != Kind::kRead;
  if (!in_kernel()) {
    if (writes) note_written(p, bytes);
    return;
  }
  Place place;
  {
    RuntimeGuard undisturbed;
    settle();
    place = place_of(p, bytes);
    if (modes & kAccessMemory && place == Place::kElsewhere) {
      if (reads) check_access(p, bytes, false, site);
      if (writes) check_access(p, bytes, true, site);
    } else if (modes & kAccessMemory) {
      if (reads) check_shared(p, bytes, false, place, site);
      if (writes) check_shared(p, bytes, true, place, site);
    }
    if (modes & kAccessRaces && place == Place::kElsewhere) touch_global(p, bytes, kind, site);
    else if (modes & kAccessRaces) touch(p, bytes, kind, site);
  }
  if (modes & kAccessLockstep && place != Place::kElsewhere && !atomic(kind)) meet(~0ull);
}

}  // namespace

void access_block_done(u64 serial) {
  settle();
  shadows.erase(serial);
}

}  // namespace rpx

// Frame 1 is the user's access; the meeting's call path then begins there.
#define RPX_ACCESS(p, bytes, kind) \
  if (rpx::settings().access) rpx::on_access(p, bytes, rpx::Kind::kind, __builtin_return_address(0))

extern "C" {
void rpx_atomic_access(const void *p, unsigned long n) { RPX_ACCESS(p, n, kAtomic); }
void rpx_atomic_store(const void *p, unsigned long n) { RPX_ACCESS(p, n, kAtomicStore); }
void __tsan_init() {}
void __tsan_func_entry(void *) {}
void __tsan_func_exit() {}
#define RPX_SIZES(X) X(1) X(2) X(4) X(8) X(16)
#define RPX_DEFINE(n)                                                   \
  void __tsan_read##n(void *p) { RPX_ACCESS(p, n, kRead); }             \
  void __tsan_write##n(void *p) { RPX_ACCESS(p, n, kWrite); }           \
  void __tsan_unaligned_read##n(void *p) { RPX_ACCESS(p, n, kRead); }   \
  void __tsan_unaligned_write##n(void *p) { RPX_ACCESS(p, n, kWrite); } \
  void __tsan_read_write##n(void *p) {                                  \
    RPX_ACCESS(p, n, kRead);                                            \
    RPX_ACCESS(p, n, kWrite);                                           \
  }                                                                     \
  void __tsan_unaligned_read_write##n(void *p) {                        \
    RPX_ACCESS(p, n, kRead);                                            \
    RPX_ACCESS(p, n, kWrite);                                           \
  }                                                                     \
  void __tsan_volatile_read##n(void *p) { RPX_ACCESS(p, n, kRead); }    \
  void __tsan_volatile_write##n(void *p) { RPX_ACCESS(p, n, kWrite); }
RPX_SIZES(RPX_DEFINE)
void __tsan_read_range(void *p, unsigned long n) { RPX_ACCESS(p, n, kRead); }
void __tsan_write_range(void *p, unsigned long n) { RPX_ACCESS(p, n, kWrite); }
void __tsan_vptr_update(void *, void *) {}
void __tsan_vptr_read(void *) {}
void *__tsan_memcpy(void *to, const void *from, unsigned long n) {
  if (n) RPX_ACCESS(from, n, kRead);
  if (n) RPX_ACCESS(to, n, kWrite);
  return std::memcpy(to, from, n);
}
void *__tsan_memmove(void *to, const void *from, unsigned long n) {
  if (n) RPX_ACCESS(from, n, kRead);
  if (n) RPX_ACCESS(to, n, kWrite);
  return std::memmove(to, from, n);
}
void *__tsan_memset(void *to, int value, unsigned long n) {
  if (n) RPX_ACCESS(to, n, kWrite);
  return std::memset(to, value, n);
}

// The parameter types are those that GCC knows these functions by.
#define RPX_NOTED(p, T) rpx_atomic_access(const_cast<const void *>(p), sizeof(T))
#define RPX_STORED(p, T) rpx_atomic_store(const_cast<const void *>(p), sizeof(T))
#define RPX_ATOMICS(bits, T) \
  T __tsan_atomic##bits##_load(const volatile void *p, int) { return __atomic_load_n(static_cast<const volatile T *>(p), __ATOMIC_SEQ_CST); } \
  void __tsan_atomic##bits##_store(volatile void *p, T v, int) { RPX_STORED(p, T); __atomic_store_n(static_cast<volatile T *>(p), v, __ATOMIC_SEQ_CST); } \
  T __tsan_atomic##bits##_exchange(volatile void *p, T v, int) { RPX_STORED(p, T); return __atomic_exchange_n(static_cast<volatile T *>(p), v, __ATOMIC_SEQ_CST); } \
  T __tsan_atomic##bits##_fetch_add(volatile void *p, T v, int) { RPX_NOTED(p, T); return __atomic_fetch_add(static_cast<volatile T *>(p), v, __ATOMIC_SEQ_CST); } \
  T __tsan_atomic##bits##_fetch_sub(volatile void *p, T v, int) { RPX_NOTED(p, T); return __atomic_fetch_sub(static_cast<volatile T *>(p), v, __ATOMIC_SEQ_CST); } \
  T __tsan_atomic##bits##_fetch_and(volatile void *p, T v, int) { RPX_NOTED(p, T); return __atomic_fetch_and(static_cast<volatile T *>(p), v, __ATOMIC_SEQ_CST); } \
  T __tsan_atomic##bits##_fetch_or(volatile void *p, T v, int) { RPX_NOTED(p, T); return __atomic_fetch_or(static_cast<volatile T *>(p), v, __ATOMIC_SEQ_CST); } \
  T __tsan_atomic##bits##_fetch_xor(volatile void *p, T v, int) { RPX_NOTED(p, T); return __atomic_fetch_xor(static_cast<volatile T *>(p), v, __ATOMIC_SEQ_CST); } \
  bool __tsan_atomic##bits##_compare_exchange_strong(volatile void *p, void *e, T v, int, int) { \
    RPX_NOTED(p, T); \
    return __atomic_compare_exchange_n(static_cast<volatile T *>(p), static_cast<T *>(e), v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
  } \
  bool __tsan_atomic##bits##_compare_exchange_weak(volatile void *p, void *e, T v, int, int) { \
    RPX_NOTED(p, T); \
    return __atomic_compare_exchange_n(static_cast<volatile T *>(p), static_cast<T *>(e), v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
  }
RPX_ATOMICS(8, unsigned char)
RPX_ATOMICS(16, unsigned short)
RPX_ATOMICS(32, unsigned int)
RPX_ATOMICS(64, unsigned long)
void __tsan_atomic_thread_fence(int) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
void __tsan_atomic_signal_fence(int) {}
}
#else
#include "internal.h"
namespace rpx {
void access_block_done(u64) {}
}  // namespace rpx
#endif
