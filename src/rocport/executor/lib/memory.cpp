// SPDX-License-Identifier: Apache-2.0
// Device allocations: ordinary memory with a margin on both sides that shows writes out of bounds.
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

std::map<char *, std::size_t> *allocations;  // base -> size
std::recursive_mutex memory_mutex;
std::size_t in_use;

// First byte of [p, p + n) that is not the canary; -1 when whole.
long broken(const char *p, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i)
    if (static_cast<unsigned char>(p[i]) != kCanary) return static_cast<long>(i);
  return -1;
}

void check(char *base, std::size_t size) {
  long after = broken(base + size, rounded(size) - size + kMargin);
  if (after >= 0) hazard(Hazard::kOutOfBounds, nullptr, static_cast<long long>(size) + after, static_cast<long long>(size));
  for (std::size_t i = 0; i < kMargin; ++i) {
    if (static_cast<unsigned char>(base[-1 - static_cast<long>(i)]) == kCanary) continue;
    hazard(Hazard::kOutOfBounds, nullptr, -1 - static_cast<long long>(i), static_cast<long long>(size));
    break;
  }
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
  if (!allocations) allocations = new std::map<char *, std::size_t>;
  (*allocations)[base] = bytes;
  in_use += bytes;
  return base;
}

bool device_free(void *pointer) {
  std::lock_guard<std::recursive_mutex> guard(memory_mutex);
  if (!allocations) return false;
  auto at = allocations->find(static_cast<char *>(pointer));
  if (at == allocations->end()) return false;
  check(at->first, at->second);
  in_use -= at->second;
  char *base = at->first;
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
  if (p > at->first + at->second) return false;
  *out = {at->first, at->second};
  return true;
}

void check_canaries(const char *) {
  std::lock_guard<std::recursive_mutex> guard(memory_mutex);
  if (!allocations) return;
  for (auto &[base, size] : *allocations) check(base, size);
}

void device_memory_use(std::size_t *used, std::size_t *count) {
  std::lock_guard<std::recursive_mutex> guard(memory_mutex);
  *used = in_use;
  *count = allocations ? allocations->size() : 0;
}

}  // namespace rpx
