// rocport_barrier.h - libcu++'s barrier, latch, pipeline and memcpy_async, without libcu++.
// SPDX-License-Identifier: Apache-2.0
//
// What this header guarantees
//   * A barrier or latch counts arrivals and phases by atomic operations of its scope; who waits polls the phase.
//   * A copy is made where it is asked for, by the threads that ask. What CUDA promises once the barrier's phase is
//     complete, or behind consumer_wait, holds then too; the overlap of copying and computing is lost.
//   * A pipeline of a block or tile, made without roles, synchronizes its group in consumer_wait, and in producer_acquire
//     as soon as a stage is used again.
//
// What it does not have
//   * Lanes of one wavefront do not wait for one another from different branches: all lanes of a wavefront that arrive
//     have to have arrived before one of them waits.
//   * Pipelines with producer and consumer roles, transaction counts and bulk copies (TMA), semaphores.
#ifndef ROCPORT_BARRIER_H
#define ROCPORT_BARRIER_H

#include "rocport_std.h"

#if defined(__HIPCC__) && !defined(_LIBCUDACXX_STD_VER) && !defined(_CCCL_STD_VER)

#include "rocport_warp.h"

#define ROCPORT_WAITS __device__ inline __attribute__((always_inline))

namespace cuda {

namespace detail {

struct no_completion {
  ROCPORT_WAITS void operator()() const {}
};

}  // namespace detail

// ---- Barriers --------------------------------------------------------------------------------------------------------

// Threads arrive; the last of `expected` runs the completion and begins the next phase. As in libcu++ nothing is
// initialised by default, so that it may lie in shared memory: init(&barrier, expected) comes first.
template <thread_scope Scope = thread_scope_system, class Completion = detail::no_completion>
class barrier {
 public:
  using arrival_token = unsigned;

  barrier() = default;
  ROCPORT_WAITS explicit barrier(::std::ptrdiff_t expected, Completion completion = Completion())
      : expected_(static_cast<unsigned>(expected)), left_(expected_), phase_(0u), completion_(completion) {}
  barrier(const barrier&) = delete;
  barrier& operator=(const barrier&) = delete;

  friend ROCPORT_WAITS void init(barrier* made, ::std::ptrdiff_t expected, Completion completion = Completion()) {
    made->expected_ = static_cast<unsigned>(expected);
    made->left_ = static_cast<unsigned>(expected);
    made->phase_ = 0u;
    made->completion_ = completion;
  }
  static ROCPORT_STD constexpr ::std::ptrdiff_t max() { return (1l << 20) - 1; }

  // The phase cannot end before the caller's own arrival is counted, so it may be read before.
  ROCPORT_WAITS arrival_token arrive(::std::ptrdiff_t count = 1) {
    const unsigned phase = of(phase_).load(memory_order_relaxed), arrived = static_cast<unsigned>(count);
    if (of(left_).fetch_sub(arrived, memory_order_acq_rel) == arrived) {
      completion_();
      of(left_).store(of(expected_).load(memory_order_relaxed), memory_order_relaxed);
      of(phase_).store(phase + 1u, memory_order_release);
    }
    return phase;
  }
  ROCPORT_WAITS bool try_wait(arrival_token token) const { return of(phase_).load(memory_order_acquire) != token; }
  ROCPORT_WAITS bool try_wait_parity(bool parity) const {
    return static_cast<bool>(of(phase_).load(memory_order_acquire) & 1u) != parity;
  }
  template <class Duration>
  ROCPORT_WAITS bool try_wait_for(arrival_token token, const Duration&) const {
    return try_wait(token);
  }
  template <class Duration>
  ROCPORT_WAITS bool try_wait_parity_for(bool parity, const Duration&) const {
    return try_wait_parity(parity);
  }
  ROCPORT_WAITS void wait(arrival_token token) const {
    while (!try_wait(token)) detail::pause();
  }
  ROCPORT_WAITS void wait_parity(bool parity) const {
    while (!try_wait_parity(parity)) detail::pause();
  }
  ROCPORT_WAITS void arrive_and_wait() { wait(arrive()); }
  ROCPORT_WAITS void arrive_and_drop() {
    of(expected_).fetch_sub(1u, memory_order_relaxed);
    static_cast<void>(arrive());
  }

 private:
  static ROCPORT_WAITS atomic_ref<unsigned, Scope> of(const unsigned& part) {
    return atomic_ref<unsigned, Scope>(const_cast<unsigned&>(part));
  }
  unsigned expected_, left_, phase_;
  Completion completion_;
};

// A barrier of one phase.
template <thread_scope Scope = thread_scope_system>
class latch {
 public:
  latch() = default;
  ROCPORT_WAITS explicit latch(::std::ptrdiff_t expected) : left_(static_cast<unsigned>(expected)) {}
  latch(const latch&) = delete;
  latch& operator=(const latch&) = delete;

  friend ROCPORT_WAITS void init(latch* made, ::std::ptrdiff_t expected) {
    made->left_ = static_cast<unsigned>(expected);
  }
  ROCPORT_WAITS void count_down(::std::ptrdiff_t count = 1) {
    of(left_).fetch_sub(static_cast<unsigned>(count), memory_order_acq_rel);
  }
  ROCPORT_WAITS bool try_wait() const { return of(left_).load(memory_order_acquire) == 0u; }
  ROCPORT_WAITS void wait() const {
    while (!try_wait()) detail::pause();
  }
  ROCPORT_WAITS void arrive_and_wait(::std::ptrdiff_t count = 1) {
    count_down(count);
    wait();
  }

 private:
  static ROCPORT_WAITS atomic_ref<unsigned, Scope> of(const unsigned& part) {
    return atomic_ref<unsigned, Scope>(const_cast<unsigned&>(part));
  }
  unsigned left_;
};

namespace std {
template <class Completion = ::cuda::detail::no_completion>
using barrier = ::cuda::barrier<thread_scope_system, Completion>;
using latch = ::cuda::latch<thread_scope_system>;
}  // namespace std

// ---- Pipelines -------------------------------------------------------------------------------------------------------

template <thread_scope Scope, ::std::uint8_t Stages>
class pipeline_shared_state {};

template <thread_scope Scope>
class pipeline {
 public:
  // `stages` of a group; `lanes` of the caller's warp where the group lies in one, 0 for the block.
  ROCPORT_WAITS pipeline(unsigned stages, unsigned lanes) : left_(stages), lanes_(lanes) {}
  pipeline(pipeline&&) = default;
  pipeline(const pipeline&) = delete;
  pipeline& operator=(const pipeline&) = delete;

  // Who writes a stage again waits for those who read it.
  ROCPORT_WAITS void producer_acquire() {
    if (left_ == 0u) {
      meet();
    } else {
      --left_;
    }
  }
  ROCPORT_WAITS void producer_commit() {}
  ROCPORT_WAITS void consumer_wait() { meet(); }
  template <class Duration>
  ROCPORT_WAITS bool consumer_wait_for(const Duration&) {
    meet();
    return true;
  }
  ROCPORT_WAITS void consumer_release() {}
  ROCPORT_WAITS bool quit() { return true; }

 private:
  ROCPORT_WAITS void meet() const {
    if (Scope == thread_scope_thread) return;
    if (lanes_ == 0u) {
      __syncthreads();
    } else {
      ::rocport::syncwarp(lanes_);
    }
  }
  unsigned left_, lanes_;
};

namespace detail {

template <class Group>
ROCPORT_WAITS auto lanes_of(const Group& group, int) -> decltype(group.lanes()) {
  return group.lanes();
}
template <class Group>
ROCPORT_WAITS unsigned lanes_of(const Group&, long) {
  return 0u;
}

}  // namespace detail

ROCPORT_WAITS pipeline<thread_scope_thread> make_pipeline() { return pipeline<thread_scope_thread>(0u, 0u); }
template <class Group, thread_scope Scope, ::std::uint8_t Stages>
ROCPORT_WAITS pipeline<Scope> make_pipeline(const Group& group, pipeline_shared_state<Scope, Stages>*) {
  return pipeline<Scope>(Stages, detail::lanes_of(group, 0));
}
template <::std::uint8_t Prior>
ROCPORT_WAITS void pipeline_consumer_wait_prior(pipeline<thread_scope_thread>&) {}
template <thread_scope Scope, class Completion>
ROCPORT_WAITS void pipeline_producer_commit(pipeline<thread_scope_thread>&, barrier<Scope, Completion>&) {}

// ---- Copies ----------------------------------------------------------------------------------------------------------

// A number of bytes that says how the copy is aligned.
template <::std::size_t Alignment>
struct aligned_size_t {
  static constexpr ::std::size_t align = Alignment;
  ::std::size_t value;
  ROCPORT_STD explicit constexpr aligned_size_t(::std::size_t bytes) : value(bytes) {}
  ROCPORT_STD constexpr operator ::std::size_t() const { return value; }
};

enum class async_contract_fulfillment { none, async };

namespace detail {

// `threads` of them copy; the caller is number `first`.
ROCPORT_WAITS async_contract_fulfillment copy(void* destination, const void* source, ::std::size_t bytes,
                                              ::std::size_t first = 0, ::std::size_t threads = 1) {
  char* to = static_cast<char*>(destination);
  const char* from = static_cast<const char*>(source);
  const ::std::size_t uneven =
      (reinterpret_cast<::std::size_t>(to) | reinterpret_cast<::std::size_t>(from) | bytes) & 15u;
  if (uneven == 0u) {
    for (::std::size_t i = first * 16u; i < bytes; i += threads * 16u) {
      __builtin_memcpy(__builtin_assume_aligned(to + i, 16), __builtin_assume_aligned(from + i, 16), 16);
    }
  } else if ((uneven & 3u) == 0u) {
    for (::std::size_t i = first * 4u; i < bytes; i += threads * 4u) {
      __builtin_memcpy(__builtin_assume_aligned(to + i, 4), __builtin_assume_aligned(from + i, 4), 4);
    }
  } else {
    for (::std::size_t i = first; i < bytes; i += threads) to[i] = from[i];
  }
  return async_contract_fulfillment::none;
}

}  // namespace detail

// By the calling thread; `done` is the barrier or pipeline that CUDA's copy reports to.
template <class Done>
ROCPORT_WAITS async_contract_fulfillment memcpy_async(void* to, const void* from, ::std::size_t bytes, Done&) {
  return detail::copy(to, from, bytes);
}
// By the threads of a group.
template <class Group, class Done>
ROCPORT_WAITS async_contract_fulfillment memcpy_async(const Group& group, void* to, const void* from,
                                                      ::std::size_t bytes, Done&) {
  return detail::copy(to, from, bytes, group.thread_rank(), group.size());
}

}  // namespace cuda

#undef ROCPORT_WAITS

#endif
#endif  // ROCPORT_BARRIER_H
