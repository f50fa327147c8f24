// SPDX-License-Identifier: Apache-2.0
// Called for every memory access of a program that was compiled with -fsanitize=thread, in place of that sanitizer's own
// library. Two uses, by ROCPORT_ACCESS:
//   races     which threads touch the same shared memory with no barrier between, one of them writing;
//   lockstep  lanes meet at every access to shared memory, as on a machine that runs a wavefront in step.
// Atomics are single instructions that are not reported here (rpx/atomics.h), so they race with nothing.
#ifndef RPX_PLAIN_SHARED  // a sanitizer build has its own handlers
#include <cstdlib>
#include <cstring>
#include <unordered_map>

#include "internal.h"

namespace rpx {
namespace {

enum Mode { kOff, kRaces, kLockstep };

// What is known of a 4-byte word of shared memory.
struct Word {
  u64 block = ~0ull;     // blocks begun when it was touched
  u64 barriers = 0;      // of the program, when it was touched
  u32 writer = ~0u, reader = ~0u;
  u32 write_generation = 0, read_generation = 0;
  bool written = false, read = false;
};

Mode mode() {
  static const Mode chosen = [] {
    const char *text = std::getenv("ROCPORT_ACCESS");
    return !text ? kOff : !std::strcmp(text, "races") ? kRaces : !std::strcmp(text, "lockstep") ? kLockstep : kOff;
  }();
  return chosen;
}

bool shared(const char *p) {
  static Segment segment = static_lds();
  if (p >= segment.base && p < segment.base + segment.size) return true;
  const char *dynamic = static_cast<const char *>(dynamic_lds);
  return dynamic && p >= dynamic && p < dynamic + dynamic_lds_bytes();
}

std::unordered_map<std::size_t, Word> words;

void conflict(u32 other, u32 generation, const void *site) {
  u32 me = linear_thread();
  if (other == me) return;
  if (other / wave_width != me / wave_width) hazard(Hazard::kSharedRace, site, other, me);
  else if (generation == wave->generation) hazard(Hazard::kLockstep, site, other, me);
}

void touch(const char *p, std::size_t bytes, bool write, const void *site) {
  for (std::size_t at = reinterpret_cast<std::size_t>(p) / 4; at <= (reinterpret_cast<std::size_t>(p) + bytes - 1) / 4; ++at) {
    Word &w = words[at];
    if (w.block != statistics.blocks || w.barriers != statistics.barriers) {
      w = Word();
      w.block = statistics.blocks;
      w.barriers = statistics.barriers;
    }
    if (w.written) conflict(w.writer, w.write_generation, site);
    if (write && w.read) conflict(w.reader, w.read_generation, site);
    if (write) {
      w.written = true;
      w.writer = linear_thread();
      w.write_generation = wave->generation;
    } else {
      w.read = true;
      w.reader = linear_thread();
      w.read_generation = wave->generation;
    }
  }
}

}  // namespace
}  // namespace rpx

// Frame 1 is the user's access; the meeting's call path then begins there.
#define RPX_ACCESS(p, bytes, write)                                                                     \
  do {                                                                                                  \
    if (!rpx::in_kernel() || rpx::mode() == rpx::kOff) return;                                          \
    const char *at = static_cast<const char *>(p);                                                      \
    if (!rpx::shared(at)) return;                                                                       \
    if (rpx::mode() == rpx::kLockstep) rpx::meet(~0ull);                                                \
    else rpx::touch(at, bytes, write, __builtin_return_address(0));                                     \
  } while (0)

extern "C" {
void __tsan_init() {}
void __tsan_func_entry(void *) {}
void __tsan_func_exit() {}
#define RPX_SIZES(X) X(1) X(2) X(4) X(8) X(16)
#define RPX_DEFINE(n)                                                        \
  void __tsan_read##n(void *p) { RPX_ACCESS(p, n, false); }                  \
  void __tsan_write##n(void *p) { RPX_ACCESS(p, n, true); }                  \
  void __tsan_unaligned_read##n(void *p) { RPX_ACCESS(p, n, false); }        \
  void __tsan_unaligned_write##n(void *p) { RPX_ACCESS(p, n, true); }        \
  void __tsan_read_write##n(void *p) { RPX_ACCESS(p, n, true); }             \
  void __tsan_unaligned_read_write##n(void *p) { RPX_ACCESS(p, n, true); }   \
  void __tsan_volatile_read##n(void *p) { RPX_ACCESS(p, n, false); }         \
  void __tsan_volatile_write##n(void *p) { RPX_ACCESS(p, n, true); }
RPX_SIZES(RPX_DEFINE)
void __tsan_read_range(void *p, unsigned long n) { RPX_ACCESS(p, n, false); }
void __tsan_write_range(void *p, unsigned long n) { RPX_ACCESS(p, n, true); }
void __tsan_vptr_update(void *, void *) {}
void __tsan_vptr_read(void *) {}
void *__tsan_memcpy(void *to, const void *from, unsigned long n) { return std::memcpy(to, from, n); }
void *__tsan_memmove(void *to, const void *from, unsigned long n) { return std::memmove(to, from, n); }
void *__tsan_memset(void *to, int value, unsigned long n) { return std::memset(to, value, n); }

// The parameter types are those that GCC knows these functions by.
#define RPX_ATOMICS(bits, T) \
  T __tsan_atomic##bits##_load(const volatile void *p, int) { return __atomic_load_n(static_cast<const volatile T *>(p), __ATOMIC_SEQ_CST); } \
  void __tsan_atomic##bits##_store(volatile void *p, T v, int) { __atomic_store_n(static_cast<volatile T *>(p), v, __ATOMIC_SEQ_CST); } \
  T __tsan_atomic##bits##_exchange(volatile void *p, T v, int) { return __atomic_exchange_n(static_cast<volatile T *>(p), v, __ATOMIC_SEQ_CST); } \
  T __tsan_atomic##bits##_fetch_add(volatile void *p, T v, int) { return __atomic_fetch_add(static_cast<volatile T *>(p), v, __ATOMIC_SEQ_CST); } \
  T __tsan_atomic##bits##_fetch_sub(volatile void *p, T v, int) { return __atomic_fetch_sub(static_cast<volatile T *>(p), v, __ATOMIC_SEQ_CST); } \
  T __tsan_atomic##bits##_fetch_and(volatile void *p, T v, int) { return __atomic_fetch_and(static_cast<volatile T *>(p), v, __ATOMIC_SEQ_CST); } \
  T __tsan_atomic##bits##_fetch_or(volatile void *p, T v, int) { return __atomic_fetch_or(static_cast<volatile T *>(p), v, __ATOMIC_SEQ_CST); } \
  T __tsan_atomic##bits##_fetch_xor(volatile void *p, T v, int) { return __atomic_fetch_xor(static_cast<volatile T *>(p), v, __ATOMIC_SEQ_CST); } \
  bool __tsan_atomic##bits##_compare_exchange_strong(volatile void *p, void *e, T v, int, int) { \
    return __atomic_compare_exchange_n(static_cast<volatile T *>(p), static_cast<T *>(e), v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
  } \
  bool __tsan_atomic##bits##_compare_exchange_weak(volatile void *p, void *e, T v, int, int) { \
    return __atomic_compare_exchange_n(static_cast<volatile T *>(p), static_cast<T *>(e), v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
  }
RPX_ATOMICS(8, unsigned char)
RPX_ATOMICS(16, unsigned short)
RPX_ATOMICS(32, unsigned int)
RPX_ATOMICS(64, unsigned long)
void __tsan_atomic_thread_fence(int) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
void __tsan_atomic_signal_fence(int) {}
}
#endif
