// The scheduler behind hip/hip_runtime.h. SPDX-License-Identifier: Apache-2.0
#include "lanes.h"

#include <ucontext.h>

#include <cstdlib>
#include <memory>

namespace lanes {

thread_local unsigned current;
thread_local unsigned width;
thread_local dim3 block;

namespace {

constexpr unsigned max_threads = 128;
constexpr size_t stack_bytes = 256 * 1024;
enum State { ready, at_wave_operation, at_barrier, ended };

struct Thread {
  ucontext_t context;
  std::unique_ptr<char[]> stack;
  State state;
  const void* place;      // where the wavefront operation was called from
  int branch;             // tag of the branch the test put the thread on
  int payload;
  unsigned long long active;
  int received[64];
};

Thread threads[max_threads];
ucontext_t scheduler;
const std::function<void()>* body;

void enter() {
  (*body)();
  threads[current].state = ended;
  swapcontext(&threads[current].context, &scheduler);
}

void wait_as(State state) {
  threads[current].state = state;
  swapcontext(&threads[current].context, &scheduler);
}

// Lets the lanes at the place of the lowest waiting lane exchange their payloads. False if no lane waits.
bool execute(unsigned first, unsigned last) {
  Thread* leader = nullptr;
  for (unsigned i = first; i < last && !leader; ++i)
    if (threads[i].state == at_wave_operation) leader = &threads[i];
  if (!leader) return false;
  unsigned long long active = 0;
  for (unsigned i = first; i < last; ++i) {
    const Thread& t = threads[i];
    if (t.state == at_wave_operation && t.place == leader->place && t.branch == leader->branch) active |= 1ull << (i - first);
  }
  for (unsigned i = first; i < last; ++i) {
    if (!(active >> (i - first) & 1)) continue;
    threads[i].active = active;
    for (unsigned j = 0; j < 64; ++j)
      threads[i].received[j] = active >> j & 1 ? threads[first + j].payload : static_cast<int>(0xDEADBEEF);
    threads[i].state = ready;
  }
  return true;
}

Thread& exchange(const void* place, int payload) {
  Thread& me = threads[current];
  me.place = place;
  me.payload = payload;
  wait_as(at_wave_operation);
  return me;
}

}  // namespace

Index thread_index() {
  return {current % block.x, current / block.x % block.y, current / (block.x * block.y)};
}

void set_branch(int tag) { threads[current].branch = tag; }

void run(dim3 block_size, unsigned wavefront, const std::function<void()>& function) {
  block = block_size;
  width = wavefront;
  body = &function;
  const unsigned count = block.x * block.y * block.z;
  if (count > max_threads) std::abort();
  for (unsigned i = 0; i < count; ++i) {
    Thread& t = threads[i];
    if (!t.stack) t.stack.reset(new char[stack_bytes]);
    getcontext(&t.context);
    t.context.uc_stack.ss_sp = t.stack.get();
    t.context.uc_stack.ss_size = stack_bytes;
    t.context.uc_link = &scheduler;
    makecontext(&t.context, enter, 0);
    t.state = ready;
    t.branch = 0;
  }
  for (;;) {
    for (unsigned first = 0; first < count; first += width) {
      const unsigned last = first + width < count ? first + width : count;
      do {
        for (current = first; current < last; ++current)
          if (threads[current].state == ready) swapcontext(&scheduler, &threads[current].context);
      } while (execute(first, last));
    }
    bool waiting = false;
    for (unsigned i = 0; i < count; ++i) {
      if (threads[i].state != at_barrier) continue;
      threads[i].state = ready;
      waiting = true;
    }
    if (!waiting) return;
  }
}

}  // namespace lanes

__attribute__((noinline)) int __shfl(int value, int lane, int width) {
  const auto self = static_cast<int>(__lane_id());
  const int source = (lane & (width - 1)) + (self & ~(width - 1));
  return lanes::exchange(__builtin_return_address(0), value).received[source];
}

__attribute__((noinline)) unsigned long long __ballot(int predicate) {
  const lanes::Thread& me = lanes::exchange(__builtin_return_address(0), predicate != 0);
  unsigned long long result = 0;
  for (int i = 0; i < 64; ++i)
    if ((me.active >> i & 1) && me.received[i]) result |= 1ull << i;
  return result;
}

void __syncthreads() { lanes::wait_as(lanes::at_barrier); }
