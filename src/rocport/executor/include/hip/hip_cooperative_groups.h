// SPDX-License-Identifier: Apache-2.0
// Cooperative groups: thread blocks, tiles, coalesced groups and the grid.
#pragma once

#include "hip/hip_runtime.h"

namespace cooperative_groups {

// What every group is: some lanes of a wavefront (mask), or a whole block or grid.
class thread_group {
 public:
  enum Kind { kLanes, kBlock, kGrid };
  RPX_INLINE void sync() const {
    if (kind_ == kLanes) rpx::meet(mask_);
    else if (kind_ == kBlock) rpx::block_barrier(0, 0);
    else rpx::grid_barrier();
  }
  RPX_INLINE unsigned long long size() const { return size_; }
  RPX_INLINE unsigned num_threads() const { return size_; }
  RPX_INLINE unsigned thread_rank() const {
    return kind_ == kLanes ? static_cast<unsigned>(__builtin_popcountll(mask_ & (rpx::bit(rpx::lane) - 1))) : rpx::linear_thread();
  }
  RPX_INLINE bool is_valid() const { return true; }
  RPX_INLINE rpx::u64 rpx_mask() const { return mask_; }

 protected:
  RPX_INLINE thread_group(Kind kind, rpx::u64 mask, unsigned size) : kind_(kind), mask_(mask), size_(size) {}
  Kind kind_;
  rpx::u64 mask_;
  unsigned size_;
};

class thread_block : public thread_group {
 public:
  RPX_INLINE thread_block() : thread_group(kBlock, ~0ull, blockDim.x * blockDim.y * blockDim.z) {}
  RPX_INLINE static void sync() { rpx::block_barrier(0, 0); }
  RPX_INLINE static unsigned thread_rank() { return rpx::linear_thread(); }
  RPX_INLINE static dim3 group_index() { return blockIdx; }
  RPX_INLINE static dim3 thread_index() { return threadIdx; }
  RPX_INLINE static dim3 group_dim() { return blockDim; }
  RPX_INLINE static dim3 dim_threads() { return blockDim; }
  RPX_INLINE static unsigned size() { return blockDim.x * blockDim.y * blockDim.z; }
  RPX_INLINE static unsigned num_threads() { return size(); }
  struct arrival_token {};
  RPX_INLINE arrival_token barrier_arrive() const { return {}; }
  RPX_INLINE void barrier_wait(arrival_token &&) const { rpx::block_barrier(0, 0); }
};
RPX_INLINE thread_block this_thread_block() { return thread_block(); }

class grid_group : public thread_group {
 public:
  RPX_INLINE grid_group() : thread_group(kGrid, ~0ull, 0) {}
  RPX_INLINE static void sync() { rpx::grid_barrier(); }
  RPX_INLINE static unsigned long long num_blocks() { return (unsigned long long)gridDim.x * gridDim.y * gridDim.z; }
  RPX_INLINE static unsigned long long block_rank() {
    return ((unsigned long long)blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  }
  RPX_INLINE static unsigned long long size() { return num_blocks() * thread_block::size(); }
  RPX_INLINE static unsigned long long num_threads() { return size(); }
  RPX_INLINE static unsigned long long thread_rank() { return block_rank() * thread_block::size() + rpx::linear_thread(); }
  RPX_INLINE static dim3 group_dim() { return gridDim; }
  RPX_INLINE static dim3 dim_blocks() { return gridDim; }
  RPX_INLINE static dim3 block_index() { return blockIdx; }
  struct arrival_token {};
  RPX_INLINE arrival_token barrier_arrive() const { return {}; }
  RPX_INLINE void barrier_wait(arrival_token &&) const { rpx::grid_barrier(); }
};
RPX_INLINE grid_group this_grid() { return grid_group(); }

class multi_grid_group : public grid_group {
 public:
  RPX_INLINE static unsigned num_grids() { return 1; }
  RPX_INLINE static unsigned grid_rank() { return 0; }
};
RPX_INLINE multi_grid_group this_multi_grid() { return multi_grid_group(); }

// The set lane of `mask` whose rank is `n`.
RPX_INLINE unsigned rpx_nth_lane(rpx::u64 mask, unsigned n) {
  for (; n && mask; --n) mask &= mask - 1;
  return mask ? static_cast<unsigned>(__builtin_ctzll(mask)) : rpx::lane;
}

class coalesced_group : public thread_group {
 public:
  RPX_INLINE explicit coalesced_group(rpx::u64 mask) : thread_group(kLanes, mask, static_cast<unsigned>(__builtin_popcountll(mask))) {}
  template <class T> RPX_INLINE T shfl(T v, int rank) const {
    return rpx::exchange(v, mask_, rpx_nth_lane(mask_, static_cast<unsigned>(rank) % size_));
  }
  template <class T> RPX_INLINE T shfl_up(T v, unsigned delta) const {
    unsigned rank = thread_rank();
    return rpx::exchange(v, mask_, delta > rank ? rpx::lane : rpx_nth_lane(mask_, rank - delta));
  }
  template <class T> RPX_INLINE T shfl_down(T v, unsigned delta) const {
    unsigned rank = thread_rank();
    return rpx::exchange(v, mask_, rank + delta >= size_ ? rpx::lane : rpx_nth_lane(mask_, rank + delta));
  }
  template <class T> RPX_INLINE T shfl_xor(T v, unsigned lanes) const {
    unsigned rank = thread_rank() ^ lanes;
    return rpx::exchange(v, mask_, rank >= size_ ? rpx::lane : rpx_nth_lane(mask_, rank));
  }
  RPX_INLINE unsigned long long ballot(int predicate) const { return compress(rpx::ballot(predicate != 0, mask_) & mask_); }
  RPX_INLINE int any(int predicate) const { return (rpx::ballot(predicate != 0, mask_) & mask_) != 0; }
  RPX_INLINE int all(int predicate) const { return (rpx::ballot(predicate == 0, mask_) & mask_) == 0; }
  template <class T> RPX_INLINE unsigned long long match_any(T v) const { return compress(rpx::match_any(v, mask_)); }
  template <class T> RPX_INLINE unsigned long long match_all(T v, int &all) const {
    rpx::u64 same = rpx::match_any(v, mask_);
    all = same == mask_;
    return all ? compress(mask_) : 0;
  }
  RPX_INLINE unsigned meta_group_rank() const { return 0; }
  RPX_INLINE unsigned meta_group_size() const { return 1; }

 private:
  RPX_INLINE unsigned long long compress(rpx::u64 lanes) const {
    unsigned long long result = 0;
    int at = 0;
    for (rpx::u64 rest = mask_; rest; rest &= rest - 1, ++at) result |= (lanes >> __builtin_ctzll(rest) & 1) << at;
    return result;
  }
};
RPX_INLINE coalesced_group coalesced_threads() { return coalesced_group(rpx::active_lanes()); }

// A tile of lanes, its size a power of two. A tile larger than the wavefront is a hazard, and acts as the wavefront.
class rpx_tile : public thread_group {
 public:
  RPX_INLINE explicit rpx_tile(unsigned size) : thread_group(kLanes, mask_of(size), size) {}
  RPX_INLINE unsigned thread_rank() const { return rpx::linear_thread() & (size_ - 1); }
  template <class T> RPX_INLINE T shfl(T v, int rank) const { return rpx::shuffle(v, rank, (int)size_, mask_); }
  template <class T> RPX_INLINE T shfl_up(T v, unsigned d) const { return rpx::shuffle_up(v, d, (int)size_, mask_); }
  template <class T> RPX_INLINE T shfl_down(T v, unsigned d) const { return rpx::shuffle_down(v, d, (int)size_, mask_); }
  template <class T> RPX_INLINE T shfl_xor(T v, unsigned m) const { return rpx::shuffle_xor(v, (int)m, (int)size_, mask_); }
  RPX_INLINE unsigned long long ballot(int predicate) const { return (rpx::ballot(predicate != 0, mask_) & mask_) >> first(); }
  RPX_INLINE int any(int predicate) const { return (rpx::ballot(predicate != 0, mask_) & mask_) != 0; }
  RPX_INLINE int all(int predicate) const { return (rpx::ballot(predicate == 0, mask_) & mask_) == 0; }
  template <class T> RPX_INLINE unsigned long long match_any(T v) const { return rpx::match_any(v, mask_) >> first(); }
  template <class T> RPX_INLINE unsigned long long match_all(T v, int &all) const {
    rpx::u64 same = rpx::match_any(v, mask_);
    all = same == (mask_ & rpx::wave->group);
    return all ? same >> first() : 0;
  }
  RPX_INLINE unsigned meta_group_rank() const { return rpx::linear_thread() / size_; }
  RPX_INLINE unsigned meta_group_size() const { return (thread_block::size() + size_ - 1) / size_; }

 private:
  RPX_INLINE static rpx::u64 mask_of(unsigned size) {
    unsigned w = rpx::clamp_width((int)size);
    return (w == 64 ? ~0ull : (1ull << w) - 1) << (rpx::lane & ~(w - 1));
  }
  RPX_INLINE unsigned first() const { return rpx::segment(rpx::lane, rpx::clamp_width((int)size_)); }
};

template <unsigned Size, class Parent = void> class thread_block_tile : public rpx_tile {
 public:
  RPX_INLINE thread_block_tile() : rpx_tile(Size) {}
  template <class P> RPX_INLINE thread_block_tile(const thread_block_tile<Size, P> &) : rpx_tile(Size) {}
  RPX_INLINE static constexpr unsigned size() { return Size; }
  RPX_INLINE static constexpr unsigned num_threads() { return Size; }
};

template <unsigned Size, class Parent> RPX_INLINE thread_block_tile<Size, Parent> tiled_partition(const Parent &) {
  static_assert(Size && !(Size & (Size - 1)), "the size of a tile is a power of two");
  return thread_block_tile<Size, Parent>();
}
RPX_INLINE rpx_tile tiled_partition(const thread_group &, unsigned size) { return rpx_tile(size); }

RPX_INLINE coalesced_group binary_partition(const coalesced_group &g, bool predicate) {
  rpx::u64 yes = rpx::ballot(predicate, g.rpx_mask()) & g.rpx_mask();
  return coalesced_group(predicate ? yes : g.rpx_mask() & rpx::wave->group & ~yes);
}
template <unsigned Size, class P> RPX_INLINE coalesced_group binary_partition(const thread_block_tile<Size, P> &g, bool predicate) {
  rpx::u64 yes = rpx::ballot(predicate, g.rpx_mask()) & g.rpx_mask();
  return coalesced_group(predicate ? yes : g.rpx_mask() & rpx::wave->group & ~yes);
}
template <class G, class L> RPX_INLINE coalesced_group labeled_partition(const G &g, L label) {
  return coalesced_group(rpx::match_any(label, g.rpx_mask()));
}

template <class G> RPX_INLINE void sync(const G &g) { g.sync(); }
template <class G> RPX_INLINE unsigned thread_rank(const G &g) { return static_cast<unsigned>(g.thread_rank()); }
template <class G> RPX_INLINE unsigned long long group_size(const G &g) { return g.size(); }
template <class G> RPX_INLINE bool is_valid(const G &) { return true; }

// ---- reductions and scans over the lanes of a group ------------------------------------------------------------------

template <class T = void> struct plus {
  template <class U> RPX_INLINE U operator()(U a, U b) const { return a + b; }
};
template <class T = void> struct less {
  template <class U> RPX_INLINE U operator()(U a, U b) const { return b < a ? b : a; }
};
template <class T = void> struct greater {
  template <class U> RPX_INLINE U operator()(U a, U b) const { return a < b ? b : a; }
};
template <class T = void> struct bit_and {
  template <class U> RPX_INLINE U operator()(U a, U b) const { return a & b; }
};
template <class T = void> struct bit_or {
  template <class U> RPX_INLINE U operator()(U a, U b) const { return a | b; }
};
template <class T = void> struct bit_xor {
  template <class U> RPX_INLINE U operator()(U a, U b) const { return a ^ b; }
};

template <class G, class T, class F> RPX_INLINE T reduce(const G &g, T v, F f) { return rpx::reduce_lanes(v, g.rpx_mask(), f); }
template <class G, class T, class F> RPX_INLINE T inclusive_scan(const G &g, T v, F f) {
  rpx::bring(v);
  rpx::meet(g.rpx_mask());
  rpx::u64 rest = rpx::wave->group & g.rpx_mask() & (rpx::bit(rpx::lane) | (rpx::bit(rpx::lane) - 1));
  T result = rpx::take<T>(static_cast<unsigned>(__builtin_ctzll(rest)));
  for (rest &= rest - 1; rest; rest &= rest - 1) result = f(result, rpx::take<T>(static_cast<unsigned>(__builtin_ctzll(rest))));
  return result;
}
template <class G, class T> RPX_INLINE T inclusive_scan(const G &g, T v) { return inclusive_scan(g, v, plus<T>()); }
template <class G, class T, class F> RPX_INLINE T exclusive_scan(const G &g, T v, F f) {
  rpx::bring(v);
  rpx::meet(g.rpx_mask());
  T result{};
  bool some = false;
  for (rpx::u64 rest = rpx::wave->group & g.rpx_mask() & (rpx::bit(rpx::lane) - 1); rest; rest &= rest - 1) {
    T next = rpx::take<T>(static_cast<unsigned>(__builtin_ctzll(rest)));
    result = some ? f(result, next) : next;
    some = true;
  }
  return result;
}
template <class G, class T> RPX_INLINE T exclusive_scan(const G &g, T v) { return exclusive_scan(g, v, plus<T>()); }

// ---- asynchronous copies: done by the group at once -------------------------------------------------------------------

template <class G, class T, class S> RPX_INLINE void memcpy_async(const G &g, T *to, const S *from, std::size_t bytes) {
  for (std::size_t i = static_cast<std::size_t>(g.thread_rank()); i < bytes; i += static_cast<std::size_t>(g.size()))
    reinterpret_cast<char *>(to)[i] = reinterpret_cast<const char *>(from)[i];
}
template <class G> RPX_INLINE void wait(const G &g) { g.sync(); }
template <unsigned N, class G> RPX_INLINE void wait_prior(const G &g) { g.sync(); }
template <class G, class F> RPX_INLINE void invoke_one(const G &g, F f) {
  if (g.thread_rank() == 0) f();
}

}  // namespace cooperative_groups
