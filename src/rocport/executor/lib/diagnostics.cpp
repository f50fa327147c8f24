// SPDX-License-Identifier: Apache-2.0
// Settings from the environment, hazards, the report and the trace of device-to-host copies.
#include <cstdarg>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "internal.h"
#include "trace.h"

extern "C" char __executable_start, etext;
extern rpx::Index3 rpx_thread_index asm("threadIdx");
extern rpx::Index3 rpx_block_index asm("blockIdx");

namespace rpx {

namespace {

long number(const char *name, long otherwise) {
  const char *text = std::getenv(name);
  if (!text || !*text) return otherwise;
  char *end;
  long value = std::strtol(text, &end, 0);
  if (*end) {
    std::fprintf(stderr, "rocport: %s=%s is not a number\n", name, text);
    std::_Exit(2);
  }
  return value;
}

const char *const kNames[] = {
    "inactive-lane", "absent-lane", "mask-32bit", "width-over-wave", "divergent-barrier", "launch-config",
    "unchecked-error", "out-of-bounds", "lds-limit", "shared-race", "relies-on-lockstep", "mask-excludes-caller",
    "mask-names-inactive", "lane-outside-mask", "shared-out-of-bounds", "uninitialised-read", "uninitialised-copy",
    "global-race", "no-progress",
};
static_assert(sizeof(kNames) / sizeof(*kNames) == static_cast<int>(Hazard::kCount));

}  // namespace

const char *hazard_name(Hazard kind) { return kNames[static_cast<int>(kind)]; }

const Settings &settings() {
  static const Settings instance = [] {
    Settings s{};
    s.width = static_cast<u32>(number("ROCPORT_WAVE", RPX_DEFAULT_WAVE));
    if (s.width != 32 && s.width != 64) {
      std::fprintf(stderr, "rocport: ROCPORT_WAVE=%u: a wavefront has 32 or 64 lanes\n", s.width);
      std::_Exit(2);
    }
    wave_width = s.width;
    const char *order = std::getenv("ROCPORT_ORDER");
    if (!order || !*order || !std::strcmp(order, "forward")) {
      s.order = Settings::kForward;
    } else if (!std::strcmp(order, "reverse")) {
      s.order = Settings::kReverse;
    } else {
      s.order = Settings::kRandom;
      s.seed = static_cast<u64>(number("ROCPORT_ORDER", 1));
    }
    s.poison = static_cast<int>(number("ROCPORT_POISON", -1));
    s.stack = static_cast<std::size_t>(number("ROCPORT_STACK_KB", 256)) * 1024;
    s.lds_limit = static_cast<std::size_t>(number("ROCPORT_LDS_LIMIT", 65536));
    s.report = std::getenv("ROCPORT_REPORT");
    s.target = std::getenv("ROCPORT_TARGET");
    if (!s.target || !*s.target) s.target = s.width == 64 ? "gfx942" : "gfx1100";
    if (const char *access = std::getenv("ROCPORT_ACCESS")) {
      s.access |= std::strstr(access, "races") ? kAccessRaces : 0;
      s.access |= std::strstr(access, "lockstep") ? kAccessLockstep : 0;
      s.access |= std::strstr(access, "memory") ? kAccessMemory : 0;
    }
    if (const char *quiet = std::getenv("ROCPORT_QUIET")) {
      std::string list = std::string(",") + quiet + ",";
      for (int i = 0; i < static_cast<int>(Hazard::kCount); ++i)
        s.quiet[i] = list.find(std::string(",") + kNames[i] + ",") != std::string::npos;
    }
    return s;
  }();
  return instance;
}

// ---- hazards -------------------------------------------------------------------------------------------------------

namespace {

struct Sighting {
  u64 count = 0;
  long long a = 0, b = 0;
  std::string kernel;
  std::vector<const void *> sites;  // innermost first
};
std::mutex hazard_mutex;
std::map<std::pair<int, const void *>, Sighting> *sightings;

bool user_text(const void *p) { return p >= &__executable_start && p < &etext; }

// Return addresses of the running thread, by frame pointer: user code is compiled to keep them.
void walk(const void *first, std::vector<const void *> *out) {
  if (first) out->push_back(first);
  if (!in_kernel()) return;
  void *const *frame = static_cast<void *const *>(__builtin_frame_address(0));
  for (int i = 0; i < 24; ++i) {
    const void *site = frame[1];
    if (!user_text(site)) break;
    if (out->empty() || out->back() != site) out->push_back(site);
    void *const *up = static_cast<void *const *>(frame[0]);
    if (up <= frame || reinterpret_cast<const char *>(up) - reinterpret_cast<const char *>(frame) > (1 << 20)) break;
    frame = up;
  }
}

void quote(FILE *out, const char *text) {
  std::fputc('"', out);
  for (; *text; ++text) {
    unsigned char c = static_cast<unsigned char>(*text);
    if (c == '"' || c == '\\') std::fprintf(out, "\\%c", c);
    else if (c < 32) std::fprintf(out, "\\u%04x", c);
    else std::fputc(c, out);
  }
  std::fputc('"', out);
}

}  // namespace

void hazard(Hazard kind, const void *site, long long a, long long b) {
  if (settings().quiet[static_cast<int>(kind)]) return;
  RuntimeGuard undisturbed;
  std::lock_guard<std::mutex> guard(hazard_mutex);
  // What happens once tends to happen for every lane and iteration.
  static struct {
    const void *site;
    Sighting *sighting;
  } latest[static_cast<int>(Hazard::kCount)];
  auto &last = latest[static_cast<int>(kind)];
  if (last.sighting && last.site == site) {
    ++last.sighting->count;
    return;
  }
  if (!sightings) sightings = new std::map<std::pair<int, const void *>, Sighting>;
  Sighting &s = (*sightings)[{static_cast<int>(kind), site}];
  last = {site, &s};
  if (s.count++) return;
  s.a = a;
  s.b = b;
  s.kernel = kernel_name();
  walk(site, &s.sites);
}

namespace {

struct Launched {
  u64 launches = 0, lds = 0, threads = 0;
  const void *site = nullptr;
};
std::map<const char *, Launched> *launched;  // by the address of the name: one literal a launch site

}  // namespace

void note_launch(const Launch &launch) {
  if (!settings().report) return;
  if (!launched) launched = new std::map<const char *, Launched>;
  Launched &l = (*launched)[launch.name];
  const dim3 &b = launch.config.block;
  const u64 threads = (u64)b.x * b.y * b.z;
  if (!l.launches++ || launch.config.lds > l.lds) {
    l.lds = launch.config.lds;
    l.site = launch.site;
  }
  if (threads > l.threads) l.threads = threads;
}

void write_report() {
  static bool written;
  if (written) return;
  written = true;
  if (!settings().report) return;
  FILE *out = std::fopen(settings().report, "a");
  if (!out) return;
  if (sightings) {
    for (const auto &[key, s] : *sightings) {
      std::fprintf(out, "{\"hazard\": \"%s\", \"count\": %llu, \"a\": %lld, \"b\": %lld, \"kernel\": ", kNames[key.first],
                   s.count, s.a, s.b);
      quote(out, s.kernel.c_str());
      std::fprintf(out, ", \"sites\": [");
      for (std::size_t i = 0; i < s.sites.size(); ++i) std::fprintf(out, "%s\"%p\"", i ? ", " : "", s.sites[i]);
      std::fprintf(out, "]}\n");
    }
  }
  if (launched) {
    for (const auto &[name, l] : *launched) {
      std::fprintf(out, "{\"kernel\": ");
      quote(out, name);
      std::fprintf(out, ", \"launches\": %llu, \"lds\": %llu, \"threads\": %llu, \"site\": \"%p\"}\n", l.launches, l.lds, l.threads, l.site);
    }
  }
  const Statistics &t = statistics;
  std::fprintf(out,
               "{\"statistics\": {\"launches\": %llu, \"blocks\": %llu, \"threads\": %llu, \"switches\": %llu, "
               "\"wave_operations\": %llu, \"barriers\": %llu, \"preemptions\": %llu, \"width\": %u, \"lds_limit\": %zu}}\n",
               t.launches, t.blocks, t.threads, t.switches, t.wave_ops, t.barriers, t.preemptions, wave_width, settings().lds_limit);
  std::fclose(out);
}

// ---- the end of a run ----------------------------------------------------------------------------------------------

void fatal(const char *what) {
  std::fflush(stdout);
  std::fprintf(stderr, "rocport executor: %s (kernel %s)\n", what, kernel_name());
  write_report();
  std::_Exit(86);
}

void unsupported(const char *what) {
  std::fflush(stdout);
  std::fprintf(stderr, "rocport executor: not supported: %s (kernel %s)\n", what, kernel_name());
  write_report();
  std::_Exit(87);
}

namespace {

// A crash inside a kernel is told apart from one in host code; the default action then follows.
void on_crash(int signal_number, siginfo_t *info, void *) {
  char line[512];
  int n = std::snprintf(line, sizeof line, "rocport executor: signal %d at address %p %s %.200s, thread (%u,%u,%u) block (%u,%u,%u)\n",
                        signal_number, info->si_addr, in_kernel() ? "inside kernel" : "in host code after kernel", kernel_name(),
                        rpx_thread_index.x, rpx_thread_index.y, rpx_thread_index.z, rpx_block_index.x, rpx_block_index.y, rpx_block_index.z);
  if (write(2, line, static_cast<std::size_t>(n)) < 0) std::_Exit(3);
  rlimit memory;
  if (!in_kernel() && !info->si_addr && getrlimit(RLIMIT_DATA, &memory) == 0 && memory.rlim_cur != RLIM_INFINITY) {
    n = std::snprintf(line, sizeof line, "rocport executor: a null pointer: the run may use %llu MiB; did an allocation of the program fail?\n",
                      static_cast<unsigned long long>(memory.rlim_cur >> 20));
    if (write(2, line, static_cast<std::size_t>(n)) < 0) std::_Exit(3);
  }
  write_report();
  signal(signal_number, SIG_DFL);
  raise(signal_number);
}

// Whoever runs us has lost patience: say how far we came.
void on_stop(int) {
  char line[320];
  int n = std::snprintf(line, sizeof line, "rocport executor: stopped %s %.200s, launch %llu\n", in_kernel() ? "inside kernel" : "in host code after kernel",
                        kernel_name(), statistics.launches);
  if (write(2, line, static_cast<std::size_t>(n)) < 0) std::_Exit(3);
  write_report();
  std::_Exit(128 + SIGTERM);
}

struct Process {
  Process() {
    settings();
    std::atexit([] {
      report_unchecked();
      check_canaries(false);
      write_report();
    });
    static char stack[64 * 1024];
    stack_t alternate{};
    alternate.ss_sp = stack;
    alternate.ss_size = sizeof stack;
    sigaltstack(&alternate, nullptr);
    struct sigaction action;
    std::memset(&action, 0, sizeof action);
    action.sa_sigaction = on_crash;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    signal(SIGTERM, on_stop);
#ifndef __SANITIZE_ADDRESS__
    for (int s : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) sigaction(s, &action, nullptr);
#endif
  }
} process;

}  // namespace

// ---- trace ---------------------------------------------------------------------------------------------------------

void trace_copy(const void *host, std::size_t bytes) { write_trace(kernel_name(), host, bytes); }

// Kept by thread pointer, not thread-local: what is thread-local in the executable is the shared memory itself.
Segment static_lds() {
#ifdef RPX_PLAIN_SHARED
  return {nullptr, 0};
#else
  static void *known;
  static Segment found;
  void *thread = reinterpret_cast<void *>(pthread_self());
  if (known == thread) return found;
  Segment result{nullptr, 0};
  dl_iterate_phdr(
      [](dl_phdr_info *info, std::size_t, void *out) {
        if (info->dlpi_name && *info->dlpi_name) return 0;
        for (int i = 0; i < info->dlpi_phnum; ++i)
          if (info->dlpi_phdr[i].p_type == PT_TLS && info->dlpi_tls_data)
            *static_cast<Segment *>(out) = {static_cast<char *>(info->dlpi_tls_data), info->dlpi_phdr[i].p_memsz};
        return 1;  // the executable comes first
      },
      &result);
  known = thread;
  return found = result;
#endif
}

}  // namespace rpx
