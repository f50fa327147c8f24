// SPDX-License-Identifier: Apache-2.0
// What kernels ask of the host: device printf, assertions' texts, memory for device malloc. A kernel writes a packet,
// pushes it to a stack and spins until the host has answered; a thread of ours answers. The layout is that of the
// device libraries (https://github.com/ROCm/llvm-project, amd/device-libs/ockl/src/hostcall_impl.cl and cprintf.cl).
#include <atomic>
#include <condition_variable>
#include <thread>

#include <sys/mman.h>

#include "state.h"

namespace rt {
namespace {

struct Header {
  std::uint64_t next, active;
  std::uint32_t service;
  std::atomic<std::uint32_t> control;  // bit 0: waits for the host
};
struct Payload {
  std::uint64_t slots[64][8];
};
struct Signal {  // amd_signal_t
  std::int64_t kind;
  std::atomic<std::int64_t> value;
  std::uint64_t mailbox;  // 0: no interrupt
  std::uint32_t event, reserved;
  std::uint64_t times[2], queue;
  std::uint32_t more[2];
};
struct Buffer {
  Header *headers;
  Payload *payloads;
  Signal *doorbell;
  std::atomic<std::uint64_t> free_stack, ready_stack;
  std::uint64_t index_mask;
};
enum Service : std::uint32_t { kFunctionCall = 1, kPrintf = 2, kMemory = 3 };

constexpr std::uint64_t kPackets = 8192;  // at least as many as waves that run at once

Buffer *make_buffer() {
  const std::size_t bytes = 4096 + kPackets * (sizeof(Header) + sizeof(Payload));
  char *memory = static_cast<char *>(
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  if (memory == MAP_FAILED) return nullptr;
  auto *buffer = reinterpret_cast<Buffer *>(memory);
  buffer->doorbell = reinterpret_cast<Signal *>(memory + 1024);
  buffer->doorbell->kind = 1;  // AMD_SIGNAL_KIND_USER
  buffer->headers = reinterpret_cast<Header *>(memory + 4096);
  buffer->payloads = reinterpret_cast<Payload *>(memory + 4096 + kPackets * sizeof(Header));
  buffer->index_mask = kPackets - 1;
  // A name of a packet is a tag above its index; 0 is nobody, so the first tag is 1.
  for (std::uint64_t i = 0; i < kPackets; ++i) buffer->headers[i].next = i ? kPackets + i - 1 : 0;
  buffer->free_stack = kPackets + kPackets - 1;
  return buffer;
}

// ---- messages ------------------------------------------------------------------------------------------------------

// The first word of a message's packet: is it the first, is it the last, how many words follow, which message it is.
constexpr std::uint64_t kBegin = 1, kEnd = 2;
unsigned length_of(std::uint64_t d) { return static_cast<unsigned>(d >> 5 & 7); }
std::uint64_t id_of(std::uint64_t d) { return d >> 8; }

std::map<std::uint64_t, std::vector<std::uint64_t>> messages;
std::uint64_t next_message = 1;

// printf as C has it, with the arguments in words: a string's text lies in the words themselves.
int print(const std::vector<std::uint64_t> &words) {
  std::size_t at = 1;  // word 0 says the stream
  auto text = [&]() -> std::string {
    if (at >= words.size()) return "";
    const char *start = reinterpret_cast<const char *>(&words[at]);
    const std::size_t room = (words.size() - at) * 8, n = strnlen(start, room);
    at += (n + 1 + 7) / 8;
    return std::string(start, n);
  };
  auto word = [&] { return at < words.size() ? words[at++] : 0; };
  const std::string format = text();
  std::string out;
  char piece[512];
  for (std::size_t i = 0; i < format.size();) {
    if (format[i] != '%') {
      out += format[i++];
      continue;
    }
    std::size_t j = i + 1;
    std::string spec = "%";
    while (j < format.size() && std::strchr("-+ #0123456789.*", format[j])) {
      if (format[j] == '*')
        spec += std::to_string(static_cast<int>(word()));
      else
        spec += format[j];
      ++j;
    }
    std::string length;
    while (j < format.size() && std::strchr("hljztLq", format[j])) length += format[j++];
    const char kind = j < format.size() ? format[j++] : '%';
    i = j;
    switch (kind) {
      case '%': out += '%'; break;
      case 's': {
        const std::string argument = text();
        std::vector<char> wide(argument.size() + 512);
        std::snprintf(wide.data(), wide.size(), (spec + "s").c_str(), argument.c_str());
        out += wide.data();
        break;
      }
      case 'a': case 'A': case 'e': case 'E': case 'f': case 'F': case 'g': case 'G': {
        const std::uint64_t bits = word();
        double value;
        std::memcpy(&value, &bits, 8);
        std::snprintf(piece, sizeof piece, (spec + kind).c_str(), value);
        out += piece;
        break;
      }
      case 'c':
        std::snprintf(piece, sizeof piece, (spec + "c").c_str(), static_cast<int>(word()));
        out += piece;
        break;
      case 'p':
        std::snprintf(piece, sizeof piece, (spec + "p").c_str(), reinterpret_cast<void *>(word()));
        out += piece;
        break;
      case 'd': case 'i': {
        const std::uint64_t w = word();
        const long long value = length == "hh"   ? static_cast<signed char>(w)
                                : length == "h"  ? static_cast<short>(w)
                                : length.empty() ? static_cast<int>(w)
                                                 : static_cast<long long>(w);
        std::snprintf(piece, sizeof piece, (spec + "ll" + kind).c_str(), value);
        out += piece;
        break;
      }
      case 'u': case 'o': case 'x': case 'X': {
        const std::uint64_t w = word();
        const unsigned long long value = length == "hh"   ? static_cast<unsigned char>(w)
                                         : length == "h"  ? static_cast<unsigned short>(w)
                                         : length.empty() ? static_cast<unsigned>(w)
                                                          : w;
        std::snprintf(piece, sizeof piece, (spec + "ll" + kind).c_str(), value);
        out += piece;
        break;
      }
      default: (void)word(); break;
    }
  }
  std::FILE *stream = !words.empty() && (words[0] & 1) ? stderr : stdout;
  std::fwrite(out.data(), 1, out.size(), stream);
  return static_cast<int>(out.size());
}

void serve_message(std::uint64_t *slots) {
  std::uint64_t d = slots[0];
  std::uint64_t id = id_of(d);
  if (d & kBegin) id = next_message++;
  auto &words = messages[id];
  for (unsigned i = 0; i < length_of(d) && i < 7; ++i) words.push_back(slots[1 + i]);
  if (d & kEnd) {
    slots[0] = static_cast<std::uint64_t>(print(words));
    messages.erase(id);
  } else {
    slots[0] = (d & ~kBegin & 0xff) | id << 8;
  }
}

// Memory for device malloc: the device libraries find the slab of an address by masking it, so slabs lie at multiples
// of their 2 MiB.
constexpr std::uint64_t kSlab = 2u << 20;
std::map<std::uint64_t, std::pair<void *, std::size_t>> lent;

std::uint64_t lend(std::uint64_t bytes) {
  const std::size_t whole = bytes + kSlab;
  void *mapped = mmap(nullptr, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) return 0;
  const std::uint64_t address = (reinterpret_cast<std::uint64_t>(mapped) + kSlab - 1) / kSlab * kSlab;
  lent[address] = {mapped, whole};
  return address;
}
std::uint64_t give_back(std::uint64_t address) {
  auto at = lent.find(address);
  if (at == lent.end()) return 0;
  munmap(at->second.first, at->second.second);
  lent.erase(at);
  return 0;
}

void serve(std::uint32_t service, std::uint64_t *slots) {
  switch (service) {
    case kPrintf: serve_message(slots); break;
    case kMemory: slots[0] = slots[0] ? give_back(slots[0]) : lend(slots[1]); break;
    case kFunctionCall: {
      std::uint64_t output[2] = {0, 0};
      reinterpret_cast<void (*)(std::uint64_t *, std::uint64_t *)>(slots[0])(output, slots + 1);
      slots[0] = output[0];
      slots[1] = output[1];
      break;
    }
    default: (void)unserved(("a host call of kind " + std::to_string(service)).c_str()); break;
  }
}

bool serve_all(Buffer *buffer) {
  std::uint64_t name = buffer->ready_stack.exchange(0, std::memory_order_acquire);
  const bool any = name != 0;
  std::vector<std::uint64_t> order;  // the stack's top is the youngest
  for (; name; name = buffer->headers[name & buffer->index_mask].next) order.push_back(name & buffer->index_mask);
  for (auto at = order.rbegin(); at != order.rend(); ++at) {
    Header &header = buffer->headers[*at];
    for (int lane = 0; lane < 64; ++lane)
      if (header.active >> lane & 1) serve(header.service, buffer->payloads[*at].slots[lane]);
    header.control.fetch_and(~1u, std::memory_order_release);
  }
  return any;
}

struct Server {
  std::mutex mutex;
  std::condition_variable wake;
  int users = 0;
  Buffer *buffer = make_buffer();
  Server() { std::thread([this] { loop(); }).detach(); }
  void loop() {
    for (;;) {
      {
        std::unique_lock<std::mutex> lock(mutex);
        wake.wait(lock, [this] { return users > 0; });
      }
      int idle = 0;
      for (;;) {
        if (serve_all(buffer)) {
          idle = 0;
        } else if (++idle > 50) {
          std::this_thread::sleep_for(std::chrono::microseconds(20));
        } else {
          std::this_thread::yield();
        }
        std::lock_guard<std::mutex> lock(mutex);
        if (!users) break;
      }
    }
  }
};
Server &server() {
  static auto *one = new Server;
  return *one;
}

}  // namespace

void *hostcall_buffer() { return server().buffer; }

// What device malloc keeps its books in: zero at first, and without slabs of its own (dm.cl, __ockl_dm_init_v1).
void *device_heap() {
  static void *heap = mmap(nullptr, 131072, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return heap;
}

// The structure that the device libraries' grid barrier counts in (cg.cl).
void *grid_barrier(const Launch &launch) {
  struct Info {
    void *grids;
    std::uint32_t grid, grids_count;
    std::uint64_t before, all;
    std::uint32_t words[2], workgroups;
  };
  static thread_local Info info;
  info = {};
  info.grids_count = 1;
  info.workgroups = launch.grid.x * launch.grid.y * launch.grid.z;
  info.all = std::uint64_t{info.workgroups} * launch.block.x * launch.block.y * launch.block.z;
  return &info;
}

HostcallService::HostcallService() {
  Server &s = server();
  std::lock_guard<std::mutex> lock(s.mutex);
  ++s.users;
  s.wake.notify_one();
}
HostcallService::~HostcallService() {
  Server &s = server();
  {
    std::lock_guard<std::mutex> lock(s.mutex);
    --s.users;
  }
  std::fflush(stdout);
}

}  // namespace rt
