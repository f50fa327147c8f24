// SPDX-License-Identifier: Apache-2.0
// Device allocations: ordinary memory with a margin on both sides that shows writes out of bounds. With
// ROCPORT_ACCESS=memory each also knows which of its bytes have been written.
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

#include "internal.h"

namespace rpx {
namespace {

#ifdef RPX_PLAIN_SHARED
// The address sanitizer watches the exact size itself.
constexpr std::size_t kMargin = 0;
std::size_t rounded(std::size_t bytes) { return bytes; }
#else
constexpr std::size_t kMargin = 256;
std::size_t rounded(std::size_t bytes) { return (bytes + 255) / 256 * 256; }
#endif
constexpr unsigned char kCanary = 0xc9;
// Looking at the margins of every allocation after every launch is cheap as long as there are not many.
constexpr std::size_t kCheckedAtLaunch = 64;

struct Known {
  std::size_t size;
  char *written;  // one byte for each; null when nobody asks
};
using Allocations = std::map<char *, Known>;
Allocations *allocations;
std::recursive_mutex memory_mutex;
std::size_t in_use;

// First byte of [p, p + n) that is not the canary; -1 when whole.
long broken(const char *p, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i)
    if (static_cast<unsigned char>(p[i]) != kCanary) return static_cast<long>(i);
  return -1;
}

// Reports a broken margin, and mends it: the next kernel is not to blame.
void check(char *base, std::size_t size) {
  std::size_t behind = rounded(size) - size + kMargin;
  long after = broken(base + size, behind);
  if (after >= 0) {
    hazard(Hazard::kOutOfBounds, nullptr, static_cast<long long>(size) + after, static_cast<long long>(size));
    std::memset(base + size, kCanary, behind);
  }
  for (std::size_t i = 0; i < kMargin; ++i) {
    if (static_cast<unsigned char>(base[-1 - static_cast<long>(i)]) == kCanary) continue;
    hazard(Hazard::kOutOfBounds, nullptr, -1 - static_cast<long long>(i), static_cast<long long>(size));
    std::memset(base - kMargin, kCanary, kMargin);
    break;
  }
}

// The allocation that holds `p` or has it in its margins; end() when there is none.
Allocations::iterator around(const char *p) {
  auto at = allocations->upper_bound(const_cast<char *>(p) + kMargin);
  while (at != allocations->begin()) {
    --at;
    if (p >= at->first - kMargin && p < at->first + rounded(at->second.size) + kMargin) return at;
    if (p >= at->first) break;
  }
  return allocations->end();
}

}  // namespace

void *device_allocate(std::size_t bytes) {
  std::lock_guard<std::recursive_mutex> guard(memory_mutex);
  std::size_t whole = rounded(bytes) + 2 * kMargin;
  if (bytes > (1ull << 40)) return nullptr;
  void *memory = nullptr;
  if (posix_memalign(&memory, 256, whole)) return nullptr;
  char *raw = static_cast<char *>(memory);
  char *base = raw + kMargin;
  std::memset(raw, kCanary, kMargin);
  std::memset(base + bytes, kCanary, rounded(bytes) - bytes + kMargin);
  int poison = settings().poison;
  if (poison >= 0) std::memset(base, poison, bytes);
  if (!allocations) allocations = new Allocations;
  char *written = settings().access & kAccessMemory ? static_cast<char *>(std::calloc(bytes, 1)) : nullptr;
  (*allocations)[base] = {bytes, written};
  in_use += bytes;
  return base;
}

bool device_free(void *pointer) {
  std::lock_guard<std::recursive_mutex> guard(memory_mutex);
  if (!allocations) return false;
  auto at = allocations->find(static_cast<char *>(pointer));
  if (at == allocations->end()) return false;
  char *base = at->first;
  check(base, at->second.size);
  in_use -= at->second.size;
  std::free(at->second.written);
  allocations->erase(at);
  std::free(base - kMargin);
  return true;
}

bool find_allocation(const void *pointer, Allocation *out) {
  std::lock_guard<std::recursive_mutex> guard(memory_mutex);
  if (!allocations) return false;
  char *p = static_cast<char *>(const_cast<void *>(pointer));
  auto at = allocations->upper_bound(p);
  if (at == allocations->begin()) return false;
  --at;
  if (p > at->first + at->second.size) return false;
  *out = {at->first, at->second.size};
  return true;
}

void check_canaries(bool after_launch) {
  std::lock_guard<std::recursive_mutex> guard(memory_mutex);
  if (!allocations || (after_launch && allocations->size() > kCheckedAtLaunch)) return;
  for (auto &[base, known] : *allocations) check(base, known.size);
}

void device_memory_use(std::size_t *used, std::size_t *count) {
  std::lock_guard<std::recursive_mutex> guard(memory_mutex);
  *used = in_use;
  *count = allocations ? allocations->size() : 0;
}

// ---- what has been written -----------------------------------------------------------------------------------------

namespace {

// The written-flags of [p, p + *n), cut to the allocation; null when none is kept.
char *flags_of(const char *p, std::size_t *n) {
  auto at = around(p);
  if (at == allocations->end() || !at->second.written || p < at->first) return nullptr;
  std::size_t offset = static_cast<std::size_t>(p - at->first);
  if (offset >= at->second.size) return nullptr;
  if (*n > at->second.size - offset) *n = at->second.size - offset;
  return at->second.written + offset;
}

}  // namespace

void note_written(const void *pointer, std::size_t bytes) {
  if (!(settings().access & kAccessMemory)) return;
  std::lock_guard<std::recursive_mutex> guard(memory_mutex);
  if (!allocations || allocations->empty() || !bytes) return;
  if (char *flags = flags_of(static_cast<const char *>(pointer), &bytes)) std::memset(flags, 1, bytes);
}

void note_copied(void *to, const void *from, std::size_t bytes, const void *site) {
  if (!(settings().access & kAccessMemory)) return;
  std::lock_guard<std::recursive_mutex> guard(memory_mutex);
  if (!allocations || allocations->empty() || !bytes) return;
  std::size_t given = bytes, taken = bytes;
  char *source = flags_of(static_cast<const char *>(from), &given);
  char *target = flags_of(static_cast<const char *>(to), &taken);
  if (target && source) {
    std::memmove(target, source, given < taken ? given : taken);
  } else if (target) {
    std::memset(target, 1, taken);
  } else if (source) {
    std::size_t missing = 0, first = 0;
    for (std::size_t i = 0; i < given; ++i) {
      if (source[i]) continue;
      if (!missing++) first = i;
    }
    if (missing) hazard(Hazard::kUninitialisedCopy, site, static_cast<long long>(missing), missing == given ? -1 : static_cast<long long>(first));
  }
}

void check_access(const char *p, std::size_t bytes, bool write, const void *site) {
  std::lock_guard<std::recursive_mutex> guard(memory_mutex);
  if (!allocations || allocations->empty()) return;
  auto at = around(p);
  if (at == allocations->end()) return;
  long offset = p - at->first;
  long size = static_cast<long>(at->second.size);
  if (offset < 0 || offset + static_cast<long>(bytes) > size) {
    hazard(Hazard::kOutOfBounds, site, offset < 0 ? offset : offset + static_cast<long>(bytes) - 1, size);
    return;
  }
  char *flags = at->second.written + offset;
  if (!at->second.written) return;
  if (write) {
    std::memset(flags, 1, bytes);
  } else if (!std::memchr(flags, 1, bytes)) {
    // Only when none of it was: a wide load may take in padding.
    hazard(Hazard::kUninitialised, site, static_cast<long long>(bytes), offset);
  }
}

}  // namespace rpx
