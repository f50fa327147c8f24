// SPDX-License-Identifier: Apache-2.0
// The dispatcher: opens kernels, sets waves up as the hardware does from the kernel descriptor, and runs workgroups on
// all cores. A workgroup's waves take turns; a wave that spins is put aside so that the one it waits for can run.
#include <dlfcn.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include <xmmintrin.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <numeric>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "wave.h"

struct rp_kernel {
  void *handle;
  const rp_kernel_info *info;
  int (*run)(rp_wave *);
};

namespace {

constexpr u64 SLICE = 1 << 18;      // ops a wave runs before another gets its turn
constexpr size_t RESIDENT = 4096;  // workgroups that one thread keeps alive at most

void say(rp_error *error, int code, const char *text) {
  if (!error) return;
  error->code = code;
  snprintf(error->text, sizeof error->text, "%s", text);
}

// Faults: a handler that jumps back into the thread that runs a wave, and passes on what is not ours.

struct Guard {
  sigjmp_buf place;
  u64 address;
  rp_wave *wave;
};
thread_local Guard *guard = nullptr;
struct sigaction former[2];

void on_fault(int signal, siginfo_t *info, void *context) {
  if (guard) {
    guard->address = (u64)info->si_addr;
    siglongjmp(guard->place, 1);
  }
  const struct sigaction &old = former[signal == SIGBUS];
  if (old.sa_flags & SA_SIGINFO && old.sa_sigaction) return old.sa_sigaction(signal, info, context);
  if (old.sa_handler != SIG_DFL && old.sa_handler != SIG_IGN && old.sa_handler) return old.sa_handler(signal);
  sigaction(signal, &old, nullptr);
}

void catch_faults() {
  static std::mutex lock;
  std::lock_guard<std::mutex> held(lock);
  int k = 0;
  for (int signal : {SIGSEGV, SIGBUS}) {
    struct sigaction now;
    sigaction(signal, nullptr, &now);
    if (!(now.sa_flags & SA_SIGINFO) || now.sa_sigaction != on_fault) {
      former[k] = now;
      struct sigaction mine;
      memset(&mine, 0, sizeof mine);
      mine.sa_sigaction = on_fault;
      mine.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK;
      sigaction(signal, &mine, nullptr);
    }
    k++;
  }
}

// A load whose result is not to be used before the wait that covers it.
struct Pending {
  u32 kind, at, rows;
  u64 lanes;
  std::vector<u32> values;
};

struct Random {
  u64 state;
  u64 next() {  // splitmix64
    u64 z = (state += 0x9e3779b97f4a7c15ull);
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
  }
};

enum State : u8 { READY, WAITING, DONE };

// Watched launches: who touched a word of memory last, and when. An epoch is what lies between two barriers.
struct Touch {
  u32 first = ~0u, group = ~0u, wave = 0, epoch = 0;  // workgroup that did so first, and last
  u8 bytes = 0;  // of the word
  bool many = false;  // other waves of the group have read in the same epoch, too
};
struct Word {
  Touch write, read, atomic;
};

struct Stored {
  u32 pc;
  u64 hash;
};

}  // namespace

struct rp_trace {
  bool complete = false;
  std::vector<std::vector<Stored>> waves;  // by workgroup * waves + wave
};

struct rp_group {
  u32 id[3];
  std::vector<rp_wave> waves;
  std::vector<u8> state;
  std::vector<u32> order;
  std::vector<std::vector<Pending>> pending;
  u32 *registers = nullptr;
  size_t register_bytes = 0;
  std::vector<u8> lds, scratch;
  u32 index = 0, epoch = 0, signals = 0;
  bool ordered = false;  // has used an atomic operation on memory, which may order what it does
  std::vector<bool> written;  // bytes of LDS
  std::unordered_map<u64, Word> words;  // of LDS
  ~rp_group() {
    if (registers) munmap(registers, register_bytes);
  }
};

namespace {

struct Dispatch {
  const rp_kernel *kernel;
  const rp_kernel_info *info;
  rp_launch *launch;
  rp_error *error;
  std::vector<u8> kernarg, packet;
  std::vector<u32> group_order;
  u64 groups, threads_of_group, lds_bytes;
  u32 wave_count, rows;
  bool cdna;
  std::atomic<u64> next{0}, instructions{0};
  std::atomic<bool> stop{false};
  std::mutex lock;
  u64 clock;
  // Watched launches
  rp_watch watch;
  std::unordered_map<u64, Word> words;
  std::vector<bool> ordered;  // by workgroup
  std::vector<u8> atomics;    // by op: it is an atomic operation
  std::vector<std::vector<bool>> told;  // by kind and op
  std::vector<size_t> traced;           // by workgroup * waves + wave

  void fail(int code, const rp_group *g, const rp_wave *w, const char *what);
  void fill_kernarg();
  void fill_packet();
  void set_up(rp_group &g, u64 index);
  void set_up_wave(rp_group &g, u32 k);
  int run_wave(rp_group &g, u32 k);
  int run_checked(rp_group &g, u32 k);
  void describe(rp_error &e, int code, const rp_group *g, const rp_wave *w, const rp_op *op, const char *what);
  void find(int code, const rp_group &g, const rp_wave &w, const rp_op *op, const char *what);
  void look(rp_group &g, rp_wave &w, const rp_op *op);
  void touch(rp_group &g, rp_wave &w, const rp_op *op, Word &word, bool shared, bool write, bool atomic, u8 bytes);
  void compare(rp_group &g, rp_wave &w, const rp_op *op, u64 hash);
  std::string spin(rp_group &g, rp_wave &w);
  std::string place(const rp_op *op) const;
  bool run_group(rp_group &g, Random &random);
  void work(u64 seed);
};

void Dispatch::describe(rp_error &e, int code, const rp_group *g, const rp_wave *w, const rp_op *op, const char *what) {
  memset(&e, 0, sizeof e);
  e.code = code;
  if (g) memcpy(e.workgroup, g->id, sizeof g->id);
  char where[900] = "";
  if (w) {
    e.wave = w->index;
    e.lane = w->lane;
    e.address = w->address;
    u64 k = (u64)(op - info->ops);
    if (k < info->op_count) {
      e.pc = op->pc;
      snprintf(e.instruction, sizeof e.instruction, "%s", info->mnemonics[k]);
      if (info->lines && info->lines[k][0]) snprintf(e.source, sizeof e.source, "%s", info->lines[k]);
      snprintf(where, sizeof where, " at %s, workgroup (%u,%u,%u), wave %u", place(op).c_str(), g->id[0], g->id[1],
               g->id[2], w->index);
    }
  }
  snprintf(e.text, sizeof e.text, "kernel %s: %s%s", info->name, what, where);
}

// "pc 0x1234 (S_BARRIER, file:line)"
std::string Dispatch::place(const rp_op *op) const {
  const u64 k = (u64)(op - info->ops);
  if (k >= info->op_count) return "its end";
  char text[700];
  const char *line = info->lines ? info->lines[k] : "";
  snprintf(text, sizeof text, "pc %#llx (%s%s%s)", (unsigned long long)op->pc, info->mnemonics[k], line[0] ? ", " : "", line);
  return text;
}

void Dispatch::fail(int code, const rp_group *g, const rp_wave *w, const char *what) {
  std::lock_guard<std::mutex> held(lock);
  if (stop.exchange(true)) return;
  if (error) describe(*error, code, g, w, w ? w->ip : nullptr, what);
}

// Where a wave that does not end turns, and where another one of its workgroup waits.
std::string Dispatch::spin(rp_group &g, rp_wave &w) {
  const rp_op *low = w.ip, *high = w.ip, *op = w.ip;
  u64 lanes = 0;
  for (u32 n = 0; op && n < 1 << 14; n++) {
    low = std::min(low, op), high = std::max(high, op);
    lanes |= w.s[RP_EXEC] | (info->wave_size == 64 ? (u64)w.s[RP_EXEC + 1] << 32 : 0);
    w.ip = op;
    op = op->fn(&w, op);
  }
  w.ip = low;
  char text[100];
  snprintf(text, sizeof text, " with lanes %#llx", (unsigned long long)lanes);
  std::string said = "; it turns between " + place(low) + " and " + place(high) + text;
  for (u32 k = 0; k < wave_count; k++)
    if (&g.waves[k] != &w && g.state[k] != DONE)
      return said + "; wave " + std::to_string(k) + (g.state[k] == WAITING ? " waits before " : " is at ") + place(g.waves[k].ip);
  return said;
}

void Dispatch::find(int code, const rp_group &g, const rp_wave &w, const rp_op *op, const char *what) {
  auto &once = told[code - RP_SHARED_RACE];
  const size_t k = (size_t)(op - info->ops);
  if (!launch->found || once[k]) return;
  once[k] = true;
  rp_error e;
  describe(e, code, &g, &w, op, what);
  launch->found(launch->user, &e);
}

// Whether an access meets one of another wave in no order. An atomic operation may be polled by plain reads, and orders
// what its workgroup does with memory; a plain write beside it is a race.
void Dispatch::touch(rp_group &g, rp_wave &w, const rp_op *op, Word &word, bool shared, bool write, bool atomic, u8 bytes) {
  auto meets = [&](const Touch &t, bool reads) {
    if (t.group == ~0u || !(t.bytes & bytes)) return 0;
    const u32 other = t.group != g.index ? t.group : t.first;
    if (other != g.index && !shared && !ordered[other] && !ordered[g.index]) return (int)RP_GLOBAL_RACE;
    if (t.group != g.index) return 0;
    return t.epoch == g.epoch && (t.wave != w.index || (reads && t.many)) ? (int)RP_SHARED_RACE : 0;
  };
  int code = meets(word.write, false);
  if (!code && write && !atomic) code = std::max(meets(word.read, true), meets(word.atomic, true));
  if (code == RP_SHARED_RACE) find(code, g, w, op, "two waves touch the same place with no barrier between, and one writes");
  if (code == RP_GLOBAL_RACE) find(code, g, w, op, "two workgroups touch the same place in no order, and one writes");
  Touch &t = atomic ? word.atomic : write ? word.write : word.read;
  const bool same = t.group == g.index && t.epoch == g.epoch;
  t.many = same && (t.many || t.wave != w.index);
  t.bytes = same ? t.bytes | bytes : bytes;
  if (t.first == ~0u) t.first = g.index;
  t.group = g.index, t.wave = w.index, t.epoch = g.epoch;
}

// The accesses of the op that ran.
void Dispatch::look(rp_group &g, rp_wave &w, const rp_op *op) {
  const bool store = op->kind == RP_STORE, atomic = atomics[(size_t)(op - info->ops)];
  u64 hash = 0xcbf29ce484222325ull;
  bool global = false;
  for (u32 k = 0; k < w.watch->count; k++) {
    const rp_access &a = w.watch->seen[k];
    const bool lds = a.place >= w.lds && a.place < w.lds + w.lds_bytes;
    const bool write = (store || atomic) && memcmp(a.before, a.place, a.bytes) != 0;
    if (lds) {
      const size_t at = (size_t)(a.place - w.lds);
      for (u32 b = 0; b < a.bytes; b++) {
        if (!store && !g.written[at + b]) {
          find(RP_UNWRITTEN_LDS, g, w, op, "a read of LDS that nobody wrote");
          break;
        }
        if (store || atomic) g.written[at + b] = true;
      }
    } else {
      if (atomic) ordered[g.index] = true;
      global = true;
      hash = (hash ^ (u64)a.place) * 0x100000001b3ull;
      for (u32 b = 0; b < a.bytes; b++) hash = (hash ^ a.place[b]) * 0x100000001b3ull;
    }
    if (store && !atomic && !write) continue;  // the same value again is no race
    const u64 base = lds ? (u64)(a.place - w.lds) : (u64)a.place;
    auto &map = lds ? g.words : words;
    for (u64 b = base; b < base + a.bytes;) {
      const u64 end = std::min((b | 3) + 1, base + a.bytes);
      const u8 mask = (u8)(((1u << (end - b)) - 1) << (b & 3));
      touch(g, w, op, map[b >> 2], lds, write, atomic, mask);
      b = end;
    }
  }
  w.watch->count = 0;
  if ((store || atomic) && global && launch->trace) compare(g, w, op, hash);
}

void Dispatch::compare(rp_group &g, rp_wave &w, const rp_op *op, u64 hash) {
  const size_t wave = (size_t)g.index * wave_count + w.index;
  auto &stored = launch->trace->waves[wave];
  if (!launch->trace->complete) {
    stored.push_back({op->pc, hash});
    return;
  }
  size_t &at = traced[wave];
  if (at == ~(size_t)0) return;
  if (at >= stored.size() || stored[at].pc != op->pc || stored[at].hash != hash) {
    find(RP_DEPENDS, g, w, op, "what is stored depends on what registers, LDS or scratch held before, or on a missing wait");
    at = ~(size_t)0;  // what follows from it is no news
    return;
  }
  ++at;
}

void Dispatch::fill_kernarg() {
  kernarg.assign(info->kernarg_bytes + 256, 0);
  memcpy(kernarg.data(), launch->kernarg, std::min<u64>(launch->kernarg_bytes, info->kernarg_bytes));
  const rp_launch &l = *launch;
  for (u32 k = 0; k < info->hidden_count; k++) {
    const rp_hidden &h = info->hidden[k];
    u64 value = h.kind < RP_HIDDEN_KINDS ? l.hidden[h.kind] : 0;
    switch (h.kind) {
      case RP_HIDDEN_BLOCK_COUNT_X: case RP_HIDDEN_BLOCK_COUNT_Y: case RP_HIDDEN_BLOCK_COUNT_Z:
        value = l.grid[h.kind - RP_HIDDEN_BLOCK_COUNT_X]; break;
      case RP_HIDDEN_GROUP_SIZE_X: case RP_HIDDEN_GROUP_SIZE_Y: case RP_HIDDEN_GROUP_SIZE_Z:
        value = l.block[h.kind - RP_HIDDEN_GROUP_SIZE_X]; break;
      case RP_HIDDEN_GRID_DIMS: value = l.grid[2] * l.block[2] > 1 ? 3 : l.grid[1] * l.block[1] > 1 ? 2 : 1; break;
      case RP_HIDDEN_DYNAMIC_LDS_SIZE: value = l.dynamic_lds; break;
      case RP_HIDDEN_SHARED_BASE: value = RP_SHARED_APERTURE; break;
      case RP_HIDDEN_PRIVATE_BASE: value = RP_PRIVATE_APERTURE; break;
      default: break;
    }
    if ((u64)h.offset + h.size <= info->kernarg_bytes) memcpy(kernarg.data() + h.offset, &value, std::min<u32>(h.size, 8));
  }
}

void Dispatch::fill_packet() {
  packet.assign(64, 0);
  auto put = [&](size_t at, auto value) { memcpy(packet.data() + at, &value, sizeof value); };
  put(2, (u16)3);
  for (int k = 0; k < 3; k++) {
    put(4 + 2 * k, (u16)launch->block[k]);
    put(12 + 4 * k, (u32)(launch->grid[k] * launch->block[k]));
  }
  put(24, (u32)info->scratch_bytes);
  put(28, (u32)lds_bytes);
  put(40, (u64)kernarg.data());
}

void Dispatch::set_up(rp_group &g, u64 index) {
  const rp_launch &l = *launch;
  g.index = (u32)index;
  g.epoch = g.signals = 0;
  g.words.clear();
  g.id[0] = (u32)(index % l.grid[0]);
  g.id[1] = (u32)(index / l.grid[0] % l.grid[1]);
  g.id[2] = (u32)(index / l.grid[0] / l.grid[1]);
  const u32 wave = info->wave_size;
  const size_t bytes = (size_t)wave_count * rows * wave * 4;
  if (!g.registers) {
    g.register_bytes = (bytes + 4095) & ~4095ull;
    g.registers = (u32 *)mmap(nullptr, g.register_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    g.waves.resize(wave_count);
    g.state.resize(wave_count);
    g.order.resize(wave_count);
    g.pending.resize(wave_count);
    std::iota(g.order.begin(), g.order.end(), 0);
  }
  const u32 fill = l.has_poison ? l.poison : 0;
  if (g.lds.size() != lds_bytes + 64) {
    g.lds.assign(lds_bytes + 64, 0);
  }
  if (l.flags & RP_WATCH) g.written.assign(g.lds.size(), false);
  if (l.flags & RP_POISON_MEMORY)
    for (size_t k = 0; k + 4 <= g.lds.size(); k += 4) memcpy(g.lds.data() + k, &fill, 4);
  const size_t scratch = (size_t)wave_count * wave * info->scratch_bytes;
  if (g.scratch.size() != scratch) g.scratch.assign(scratch, 0);
  if (l.flags & RP_POISON_MEMORY)
    for (size_t k = 0; k + 4 <= scratch; k += 4) memcpy(g.scratch.data() + k, &fill, 4);
  for (u32 k = 0; k < wave_count; k++) set_up_wave(g, k);
}

void Dispatch::set_up_wave(rp_group &g, u32 k) {
  const rp_launch &l = *launch;
  rp_wave &w = g.waves[k];
  const u32 wave = info->wave_size, fill = l.has_poison ? l.poison : 0;
  memset(&w, 0, sizeof w);
  for (u32 &s : w.s) s = fill;
  w.v = g.registers + (size_t)k * rows * wave;
  if (fill) {
    std::fill(w.v, w.v + (size_t)std::min(info->vgprs, (u32)RP_ROWS) * wave, fill);
    if (rows > RP_ROWS) std::fill(w.v + RP_ROWS * wave, w.v + (size_t)rows * wave, fill);
  }
  w.lds = g.lds.data();
  w.lds_bytes = (u32)lds_bytes;
  w.scratch = g.scratch.data() + (size_t)k * wave * info->scratch_bytes;
  w.scratch_bytes = info->scratch_bytes;
  w.image = l.image;
  w.index = k;
  w.kernel = info;
  w.group = &g;
  w.signals = &g.signals;
  w.launch = launch;
  w.watch = l.flags & RP_WATCH ? &watch : nullptr;
  w.clock = clock;
  w.mode = info->rsrc1 >> 12 & 0xff;
  u32 sgpr = 0;
  auto put = [&](u64 value, int words) {
    for (int j = 0; j < words; j++) w.s[sgpr++] = (u32)(value >> 32 * (j & 1));
  };
  const u32 p = info->properties;
  if (p & 1) {  // private segment buffer: a descriptor whose base is the aperture
    put((u64)RP_PRIVATE_APERTURE << 32, 2);
    put(0xffffffffu, 1);
    put(0, 1);
  }
  if (p & 2) put((u64)packet.data(), 2);
  if (p & 4) put(l.hidden[RP_HIDDEN_QUEUE_PTR], 2);
  if (p & 8) put((u64)kernarg.data(), 2);
  if (p & 16) put(0, 2);
  if (p & 32) put(0, 2);
  if (p & 64) put(info->scratch_bytes, 1);
  for (u32 j = 0; j < (info->preload & 127u); j++) {
    u32 word;
    memcpy(&word, kernarg.data() + 4 * (j + (info->preload >> 7)), 4);
    put(word, 1);
  }
  // System SGPRs follow the declared count of user SGPRs, which may be more than what is enabled.
  sgpr = info->rsrc2 >> 1 & 31;
  for (int d = 0; d < 3; d++)
    if (info->rsrc2 >> (7 + d) & 1) put(g.id[d], 1);
  if (info->rsrc2 >> 10 & 1) put(0, 1);
  if (info->rsrc2 & 1) put(0, 1);
  // Architected workgroup ids (gfx12): ttmp9 is x, ttmp7 y and z; ttmp8 holds the wave's index.
  w.s[117] = g.id[0];
  w.s[115] = (g.id[1] & 0xffff) | g.id[2] << 16;
  w.s[116] = k << 25;
  w.s[RP_M0] = fill;
  const u64 first = (u64)k * wave;
  const u64 lanes = std::min<u64>(wave, threads_of_group - first);
  const u64 exec = lanes >= 64 ? ~0ull : (1ull << lanes) - 1;
  w.s[RP_EXEC] = (u32)exec;
  w.s[RP_EXEC + 1] = (u32)(exec >> 32);
  for (u64 j = 0; j < wave; j++) {
    const u64 t = first + j;
    const u32 x = (u32)(t % l.block[0]), y = (u32)(t / l.block[0] % l.block[1]), z = (u32)(t / l.block[0] / l.block[1]);
    w.v[j] = x | y << 10 | z << 20;
  }
  const rp_op *ops = info->ops;
  u32 a = 0, b = info->op_count;
  while (a < b) {
    u32 m = (a + b) / 2;
    if (ops[m].pc < info->entry) a = m + 1; else b = m;
  }
  w.ip = ops + a;
  static const u32 rounding[4] = {0, 2, 1, 3};
  auto csr = [&](u32 round, u32 denormal) {
    return 0x1f80u | rounding[round & 3] << 13 | (denormal & 1 ? 0 : 0x40u) | (denormal & 2 ? 0 : 0x8000u);
  };
  w.csr = csr(w.mode, w.mode >> 4);
  w.csr_double = csr(w.mode >> 2, w.mode >> 6);
  g.state[k] = READY;
  g.pending[k].clear();
}

int Dispatch::run_wave(rp_group &g, u32 k) {
  rp_wave &w = g.waves[k];
  w.slice = SLICE;
  guard->wave = &w;
  _mm_setcsr(w.csr);
  return launch->flags & (RP_CHECK_WAITS | RP_WATCH) ? run_checked(g, k) : kernel->run(&w);
}

// As rocport_isa_run, but the accesses are looked at (RP_WATCH), and what loads write becomes visible only at the wait
// that covers it (RP_CHECK_WAITS).
int Dispatch::run_checked(rp_group &g, u32 k) {
  rp_wave &w = g.waves[k];
  auto &pending = g.pending[k];
  const u32 wave = info->wave_size, poison = launch->has_poison ? launch->poison : 0x7fc0dead;
  auto commit = [&](const Pending &load) {
    if (load.kind == RP_LOAD_SCALAR) {
      memcpy(w.s + load.at, load.values.data(), load.rows * 4);
      return;
    }
    for (u32 r = 0; r < load.rows && !load.values.empty(); r++)
      for (u32 l = 0; l < wave; l++)
        if (load.lanes >> l & 1) w.v[load.at + r * wave + l] = load.values[r * wave + l];
  };
  auto wait = [&](u32 vector, u32 lds, u32 scalar) {
    // In order within a kind; scalar loads come back in any order, so that only a wait for none of them helps.
    u32 counts[2] = {0, 0}, scalars = 0;
    for (const Pending &p : pending) p.kind == RP_LOAD_SCALAR ? scalars++ : counts[p.kind == RP_LOAD_LDS]++;
    u32 free_vector = counts[0] > vector ? counts[0] - vector : 0, free_lds = counts[1] > lds ? counts[1] - lds : 0;
    std::vector<Pending> left;
    for (Pending &p : pending) {
      bool ready = p.kind == RP_LOAD_SCALAR ? scalar == 0
                   : p.kind == RP_LOAD_LDS  ? free_lds && free_lds-- : free_vector && free_vector--;
      if (ready) commit(p); else left.push_back(std::move(p));
    }
    pending = std::move(left);
  };
  const bool waits = launch->flags & RP_CHECK_WAITS;
  const rp_op *op = w.ip;
  u64 n = w.slice;
  w.stop = RP_YIELD;
  while (n--) {
    w.ip = op;
    const rp_op *here = op;
    const u64 exec = wave == 64 ? w.s[RP_EXEC] | (u64)w.s[RP_EXEC + 1] << 32 : w.s[RP_EXEC];
    if (here->kind == RP_WAIT && waits) wait(here->o[0], here->o[1], here->o[2]);
    op = op->fn(&w, op);
    if (w.watch && w.watch->count) look(g, w, here);
    if (!op && waits && w.watch && w.stop == RP_BARRIER)
      for (const Pending &p : pending)
        if (p.kind == RP_LOAD_LDS && !p.rows) {
          find(RP_DEPENDS, g, w, here, "a barrier with a store to LDS that nobody waited for");
          break;
        }
    if (!op) break;
    if (!waits) continue;
    if (here->kind == RP_LOAD_VECTOR || here->kind == RP_LOAD_LDS) {
      Pending load{here->kind, here->o[RP_OPERANDS - 1], here->aux, exec, {}};
      load.values.assign(w.v + load.at, w.v + load.at + (size_t)load.rows * wave);
      for (u32 r = 0; r < load.rows; r++)
        for (u32 l = 0; l < wave; l++)
          if (exec >> l & 1) w.v[load.at + r * wave + l] = poison;
      pending.push_back(std::move(load));
    } else if (here->kind == RP_LOAD_SCALAR) {
      Pending load{here->kind, here->o[RP_OPERANDS - 1], here->aux, 0, {}};
      load.values.assign(w.s + load.at, w.s + load.at + load.rows);
      for (u32 r = 0; r < load.rows; r++) w.s[load.at + r] = poison;
      pending.push_back(std::move(load));
    } else if (here->kind == RP_STORE && (cdna || here->aux)) {
      pending.push_back({here->aux ? (u32)RP_LOAD_LDS : (u32)RP_LOAD_VECTOR, 0, 0, 0, {}});
    }
  }
  w.executed += w.slice - (n + 1);
  if (!op) return (int)w.stop;
  w.ip = op;
  return RP_YIELD;
}

const char *reason(int code) {
  switch (code) {
    case RP_TRAP: return "a trap: an assertion failed or the code is unreachable";
    case RP_UNSUPPORTED: return "an instruction that the executor does not translate";
    case RP_BAD_JUMP: return "a jump to an address that holds no translated code";
    case RP_FAULT: return "a memory access outside of what is allocated";
    case RP_HANG: return "no end within the limit of instructions: a hang, or a limit too low";
    case RP_DIVERGED: return "waves of the workgroup wait at different barriers";
  }
  return "stopped";
}

// Runs the group until it is done (true) or all waves that could run have used a slice (false).
bool Dispatch::run_group(rp_group &g, Random &random) {
  for (;;) {
    bool ran = false, yielded = false, waiting = false;
    if (launch->seed && wave_count > 1)
      for (u32 k = wave_count - 1; k > 0; k--) std::swap(g.order[k], g.order[random.next() % (k + 1)]);
    for (u32 at = 0; at < wave_count; at++) {
      const u32 k = g.order[at];
      rp_wave &w = g.waves[k];
      if (stop.load(std::memory_order_relaxed)) return true;
      if (g.state[k] == DONE) continue;
      if (g.state[k] == WAITING) {
        waiting = true;
        continue;
      }
      const int r = run_wave(g, k);
      ran = true;
      if (r == RP_END) {
        g.state[k] = DONE;
      } else if (r == RP_BARRIER) {
        g.state[k] = WAITING;
        waiting = true;
      } else if (r == RP_YIELD) {
        yielded = true;
        if (launch->limit && w.executed > launch->limit) {
          const std::string where = reason(RP_HANG) + spin(g, w);
          fail(RP_HANG, &g, &w, where.c_str());
          return true;
        }
      } else {
        char text[500];
        const u64 op = (u64)(w.ip - info->ops);
        if (r == RP_FAULT && w.address)
          snprintf(text, sizeof text, "%s (address %#llx)", reason(r), (unsigned long long)w.address);
        else if (r == RP_UNSUPPORTED && info->refusals && op < info->op_count)
          snprintf(text, sizeof text, "%s (%s)", reason(r), info->refusals[op]);
        else
          snprintf(text, sizeof text, "%s", reason(r));
        fail(r, &g, &w, text);
        return true;
      }
    }
    if (yielded) return false;
    if (waiting) {
      u32 barrier = 0;
      for (u32 k = 0; k < wave_count; k++) {
        if (g.state[k] != WAITING) continue;
        if (barrier && barrier != g.waves[k].barrier && launch->flags & RP_CHECK_DIVERGENCE) {
          fail(RP_DIVERGED, &g, &g.waves[k], reason(RP_DIVERGED));
          return true;
        }
        barrier = g.waves[k].barrier;
        g.state[k] = READY;
      }
      ++g.epoch;
      g.signals = 0;
      continue;
    }
    if (!ran) return true;
  }
}

void Dispatch::work(u64 seed) {
  const u32 csr = _mm_getcsr();
  Guard mine;
  Random random{seed};
  std::deque<std::unique_ptr<rp_group>> resident;
  std::vector<std::unique_ptr<rp_group>> spare;
  volatile u64 executed = 0;
  guard = &mine;
  if (sigsetjmp(mine.place, 0)) {
    rp_wave *w = mine.wave;
    w->address = mine.address;
    char text[200];
    snprintf(text, sizeof text, "%s (address %#llx)", reason(RP_FAULT), (unsigned long long)mine.address);
    fail(RP_FAULT, w->group, w, text);
  } else {
    const bool all = launch->flags & RP_COOPERATIVE;
    bool more = true;
    while (!stop.load(std::memory_order_relaxed)) {
      if (more && (resident.empty() || all || resident.size() < RESIDENT)) {
        const u64 k = next.fetch_add(1);
        if (k >= groups) {
          more = false;
        } else {
          std::unique_ptr<rp_group> g;
          if (spare.empty()) g.reset(new rp_group);
          else g = std::move(spare.back()), spare.pop_back();
          set_up(*g, group_order.empty() ? k : group_order[k]);
          resident.push_front(std::move(g));
        }
      }
      if (resident.empty()) break;
      std::unique_ptr<rp_group> g = std::move(resident.front());
      resident.pop_front();
      rp_group *raw = g.get();
      resident.push_back(std::move(g));
      if (run_group(*raw, random)) {
        for (rp_wave &w : raw->waves) executed = executed + w.executed;
        spare.push_back(std::move(resident.back()));
        resident.pop_back();
      } else if (!more && resident.size() == 1 && groups > 1) {
        sched_yield();  // what it spins for may run in another thread
      }
    }
  }
  guard = nullptr;
  _mm_setcsr(csr);
  instructions += executed;
}

}  // namespace

extern "C" {

rp_trace *rp_trace_new(void) { return new rp_trace; }
void rp_trace_free(rp_trace *trace) { delete trace; }

uint32_t rp_abi(void) { return RP_ISA_ABI; }

rp_kernel *rp_kernel_open(const char *path, rp_error *error) {
  void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    say(error, -1, dlerror());
    return nullptr;
  }
  auto *info = (const rp_kernel_info *)dlsym(handle, "rocport_isa_kernel");
  auto run = (int (*)(rp_wave *))dlsym(handle, "rocport_isa_run");
  if (!info || !run || info->abi != RP_ISA_ABI) {
    say(error, -1, "not a kernel of this engine: translate the code object again");
    dlclose(handle);
    return nullptr;
  }
  return new rp_kernel{handle, info, run};
}

void rp_kernel_close(rp_kernel *kernel) {
  if (!kernel) return;
  dlclose(kernel->handle);
  delete kernel;
}

const rp_kernel_info *rp_kernel_describe(const rp_kernel *kernel) { return kernel->info; }

int rp_dispatch(const rp_kernel *kernel, rp_launch *launch, rp_error *error) {
  Dispatch d;
  d.kernel = kernel;
  d.info = kernel->info;
  d.launch = launch;
  d.error = error;
  if (error) memset(error, 0, sizeof *error);
  char text[200];
  d.threads_of_group = (u64)launch->block[0] * launch->block[1] * launch->block[2];
  d.groups = (u64)launch->grid[0] * launch->grid[1] * launch->grid[2];
  launch->instructions = launch->lane_instructions = 0;
  if (!d.threads_of_group || !d.groups || d.threads_of_group > std::max<u32>(d.info->max_block, 1)) {
    snprintf(text, sizeof text, "kernel %s: %llu work-items of %llu workgroups; expected 1 to %u work-items and a workgroup",
             d.info->name, (unsigned long long)d.threads_of_group, (unsigned long long)d.groups, d.info->max_block);
    say(error, RP_BAD_LAUNCH, text);
    return RP_BAD_LAUNCH;
  }
  d.lds_bytes = (u64)d.info->lds_bytes + launch->dynamic_lds;
  d.wave_count = (u32)((d.threads_of_group + d.info->wave_size - 1) / d.info->wave_size);
  d.cdna = !strncmp(d.info->target, "gfx9", 4);
  d.rows = d.cdna ? 2 * RP_ROWS : RP_ROWS;
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  d.clock = (u64)now.tv_sec * 100000000ull + (u64)now.tv_nsec / 10;
  d.fill_kernarg();
  d.fill_packet();
  if (launch->seed) {
    d.group_order.resize(d.groups);
    std::iota(d.group_order.begin(), d.group_order.end(), 0);
    Random random{launch->seed};
    for (u64 k = d.groups - 1; k > 0; k--) std::swap(d.group_order[k], d.group_order[random.next() % (k + 1)]);
  }
  if (launch->flags & RP_WATCH) {
    if (!d.info->watched) {
      snprintf(text, sizeof text, "kernel %s: not translated for a watched launch", d.info->name);
      say(error, RP_BAD_LAUNCH, text);
      return RP_BAD_LAUNCH;
    }
    d.watch.count = 0;
    d.ordered.assign(d.groups, false);
    d.told.assign(RP_DEPENDS - RP_SHARED_RACE + 1, std::vector<bool>(d.info->op_count, false));
    for (u32 k = 0; k < d.info->op_count; k++) {
      const std::string name = d.info->mnemonics[k];
      const bool plain = name.rfind("DS_", 0) ? name.find("ATOMIC") == std::string::npos
                                              : name.find("READ") != std::string::npos || name.find("WRITE") != std::string::npos ||
                                                    name.find("LOAD") != std::string::npos || name.find("STORE_") != std::string::npos;
      d.atomics.push_back(!plain);
    }
    if (launch->trace) launch->trace->waves.resize(d.groups * d.wave_count);
    d.traced.assign(d.groups * d.wave_count, 0);
    launch->threads = 1;
  }
  catch_faults();
  cpu_set_t cores;
  u32 threads = launch->threads;
  if (!threads) threads = sched_getaffinity(0, sizeof cores, &cores) == 0 ? (u32)CPU_COUNT(&cores) : 1;
  threads = (u32)std::min<u64>(threads, d.groups);
  std::vector<std::thread> others;
  for (u32 k = 1; k < threads; k++) others.emplace_back([&d, k, launch] { d.work(launch->seed + k); });
  d.work(launch->seed);
  for (std::thread &t : others) t.join();
  if (launch->trace) launch->trace->complete = true;
  launch->instructions = d.instructions;
  launch->lane_instructions = d.instructions * d.info->wave_size;
  return d.stop ? (error ? error->code : RP_FAULT) : 0;
}
}
