// SPDX-License-Identifier: Apache-2.0
// The trace of device-to-host copies that ROCPORT_TRACE names (read by differential.py), of both executors' runtimes.
// One record a copy: "RPXT", sequence number, bytes, bytes stored, length of the name, kernel name, the data.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>

static inline void write_trace(const char *kernel, const void *host, std::size_t bytes) {
  static std::mutex mutex;  // a record is written whole
  std::lock_guard<std::mutex> guard(mutex);
  static const char *path = std::getenv("ROCPORT_TRACE");
  static FILE *out = path && *path ? std::fopen(path, "wb") : nullptr;
  static const char *megabytes = std::getenv("ROCPORT_TRACE_MB");
  static std::size_t room = static_cast<std::size_t>(megabytes && *megabytes ? std::atoll(megabytes) : 256) << 20;
  static std::uint64_t sequence;
  if (!out || !host) return;
  const std::size_t kept = bytes < room ? bytes : room;
  room -= kept;
  const std::uint64_t head[4] = {sequence++, bytes, kept, std::strlen(kernel)};
  std::fwrite("RPXT", 1, 4, out);
  std::fwrite(head, 1, sizeof head, out);
  std::fwrite(kernel, 1, head[3], out);
  std::fwrite(host, 1, kept, out);
  std::fflush(out);
}
