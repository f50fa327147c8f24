// rocport_cg.h - CUDA's cooperative groups of threads, with 32-lane warps on AMD wavefronts of 32 or 64 lanes.
// SPDX-License-Identifier: Apache-2.0
//
// HIP has cooperative groups too, but without reduce, scans, their operators, tiles of tiles and asynchronous copies; its
// tiles shuffle only arithmetic types; their votes are not declared by every ROCm; and its coalesced groups have up to 64
// lanes on a 64-lane wavefront. Ported code that used `cooperative_groups` uses the namespace `rocport::cg` instead.
//
// What this header guarantees
//   * Tiles of 1 to 32 threads, coalesced groups and partitions lie within one 32-lane warp (see rocport_warp.h), with
//     CUDA's ranks, sizes, masks and shuffles, on wavefronts of both widths.
//   * A block, the grid and a multi-device grid synchronize through HIP.
//   * memcpy_async copies at once, by the threads of the group; wait and wait_prior synchronize the group.
//
// What it does not have
//   * Tiles of more than 32 threads, clusters, and reduce_update_async / reduce_store_async.
//   * As in rocport_warp.h, lanes of one warp that come from different branches do not wait for one another.
#ifndef ROCPORT_CG_H
#define ROCPORT_CG_H

#include "rocport_warp.h"

#if !defined(__HIPCC_RTC__)
#include <hip/hip_cooperative_groups.h>
#endif

// CUDA's header shows a plain C++ compiler nothing.
#if !defined(ROCPORT_HOST_ONLY)

namespace rocport {
namespace cg {

namespace detail {

enum group_kind { lanes_kind, block_kind, grid_kind };

ROCPORT_DEVICE unsigned block_size() { return blockDim.x * blockDim.y * blockDim.z; }

// The lane of the n-th set bit of `lanes`, counted from 0; 32 if there are fewer.
ROCPORT_DEVICE unsigned nth_lane(unsigned lanes, unsigned n) {
  for (unsigned i = 0; i < n; ++i) lanes &= lanes - 1u;
  return lanes == 0u ? 32u : static_cast<unsigned>(__ffs(static_cast<int>(lanes)) - 1);
}

// The bits of `value` at the set bits of `lanes`, moved together.
ROCPORT_DEVICE unsigned pack(unsigned value, unsigned lanes) {
  unsigned packed = 0u;
  for (unsigned rank = 0; lanes != 0u; ++rank, lanes &= lanes - 1u) {
    if (value & lanes & (~lanes + 1u)) packed |= 1u << rank;
  }
  return packed;
}

}  // namespace detail

// ---- Groups ----------------------------------------------------------------------------------------------------------

// Any group: what a function takes that works for blocks, tiles and coalesced groups.
class thread_group {
 public:
  ROCPORT_DEVICE unsigned long long size() const;
  ROCPORT_DEVICE unsigned long long num_threads() const { return size(); }
  ROCPORT_DEVICE unsigned long long thread_rank() const;
  ROCPORT_DEVICE void sync() const;
  ROCPORT_DEVICE bool is_valid() const { return true; }

 protected:
  ROCPORT_DEVICE explicit thread_group(detail::group_kind kind, unsigned lanes = 0u) : kind_(kind), lanes_(lanes) {}
  friend ROCPORT_DEVICE thread_group tiled_partition(const thread_group& parent, unsigned size);

  detail::group_kind kind_;
  unsigned lanes_;  // of the caller's warp; for groups within a warp
};

// All threads of the block.
class thread_block : public thread_group {
 public:
  struct arrival_token {};
  ROCPORT_DEVICE thread_block() : thread_group(detail::block_kind) {}
  ROCPORT_DEVICE static void sync() { __syncthreads(); }
  ROCPORT_DEVICE static unsigned size() { return detail::block_size(); }
  ROCPORT_DEVICE static unsigned num_threads() { return detail::block_size(); }
  ROCPORT_DEVICE static unsigned thread_rank() { return linear_thread_id(); }
  ROCPORT_DEVICE static dim3 group_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
  ROCPORT_DEVICE static dim3 thread_index() { return dim3(threadIdx.x, threadIdx.y, threadIdx.z); }
  ROCPORT_DEVICE static dim3 group_dim() { return dim3(blockDim.x, blockDim.y, blockDim.z); }
  ROCPORT_DEVICE static dim3 dim_threads() { return group_dim(); }
  // Arriving does not block, so all of the barrier may be in the wait.
  ROCPORT_DEVICE static arrival_token barrier_arrive() { return arrival_token(); }
  ROCPORT_DEVICE static void barrier_wait(arrival_token&&) { __syncthreads(); }
};

ROCPORT_DEVICE thread_block this_thread_block() { return thread_block(); }

#if !defined(__HIPCC_RTC__)
// All threads of a kernel launched with hipLaunchCooperativeKernel.
class grid_group : public thread_group {
 public:
  struct arrival_token {};
  ROCPORT_DEVICE grid_group() : thread_group(detail::grid_kind) {}
  ROCPORT_DEVICE static void sync() { ::cooperative_groups::this_grid().sync(); }
  ROCPORT_DEVICE static bool is_valid() { return ::cooperative_groups::this_grid().is_valid(); }
  ROCPORT_DEVICE static unsigned long long num_blocks() {
    return static_cast<unsigned long long>(gridDim.x) * gridDim.y * gridDim.z;
  }
  ROCPORT_DEVICE static unsigned long long block_rank() {
    return blockIdx.x + static_cast<unsigned long long>(gridDim.x) * (blockIdx.y + gridDim.y * blockIdx.z);
  }
  ROCPORT_DEVICE static unsigned long long size() { return num_blocks() * detail::block_size(); }
  ROCPORT_DEVICE static unsigned long long num_threads() { return size(); }
  ROCPORT_DEVICE static unsigned long long thread_rank() {
    return block_rank() * detail::block_size() + linear_thread_id();
  }
  ROCPORT_DEVICE static dim3 group_dim() { return dim3(gridDim.x, gridDim.y, gridDim.z); }
  ROCPORT_DEVICE static dim3 dim_blocks() { return group_dim(); }
  ROCPORT_DEVICE static dim3 block_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
  ROCPORT_DEVICE static arrival_token barrier_arrive() { return arrival_token(); }
  ROCPORT_DEVICE static void barrier_wait(arrival_token&&) { sync(); }
};

ROCPORT_DEVICE grid_group this_grid() { return grid_group(); }

using ::cooperative_groups::multi_grid_group;
using ::cooperative_groups::this_multi_grid;
#endif

// Some lanes of a warp, ranked by lane.
class coalesced_group : public thread_group {
 public:
  // `lanes` of the caller's warp; the caller's own bit must be set.
  ROCPORT_DEVICE explicit coalesced_group(unsigned lanes, unsigned meta_rank = 0u, unsigned meta_size = 1u)
      : thread_group(detail::lanes_kind, lanes), meta_rank_(meta_rank), meta_size_(meta_size) {}

  ROCPORT_DEVICE unsigned size() const { return static_cast<unsigned>(__popc(lanes_)); }
  ROCPORT_DEVICE unsigned num_threads() const { return size(); }
  ROCPORT_DEVICE unsigned thread_rank() const { return static_cast<unsigned>(__popc(lanes_ & lanemask_lt())); }
  ROCPORT_DEVICE unsigned meta_group_rank() const { return meta_rank_; }
  ROCPORT_DEVICE unsigned meta_group_size() const { return meta_size_; }
  ROCPORT_DEVICE void sync() const { syncwarp(lanes_); }
  // The lanes of the warp in this group.
  ROCPORT_DEVICE unsigned lanes() const { return lanes_; }

  // By reference: what a lane has not set may be passed, `int at; if (g.thread_rank() == 0) at = ...; g.shfl(at, 0)`, and
  // clang 19 counts an object's `this` as the first argument when it looks for maybe_undef.
  template <class T>
  ROCPORT_DEVICE T shfl(const T& value, unsigned rank) const {
    return rocport::shfl(value, static_cast<int>(detail::nth_lane(lanes_, rank % size())));
  }
  template <class T>
  ROCPORT_DEVICE T shfl_up(const T& value, unsigned delta) const {
    const unsigned rank = thread_rank();
    return shfl(value, delta <= rank ? rank - delta : rank);
  }
  template <class T>
  ROCPORT_DEVICE T shfl_down(const T& value, unsigned delta) const {
    const unsigned rank = thread_rank();
    return shfl(value, delta < size() - rank ? rank + delta : rank);
  }
  ROCPORT_DEVICE unsigned ballot(int predicate) const {
    return detail::pack(ballot_sync(lanes_, predicate), lanes_);
  }
  ROCPORT_DEVICE int any(int predicate) const { return any_sync(lanes_, predicate); }
  ROCPORT_DEVICE int all(int predicate) const { return all_sync(lanes_, predicate); }
  template <class T>
  ROCPORT_DEVICE unsigned match_any(T value) const {
    return detail::pack(match_any_sync(lanes_, value), lanes_);
  }
  template <class T>
  ROCPORT_DEVICE unsigned match_all(T value, int& predicate) const {
    return detail::pack(match_all_sync(lanes_, value, &predicate), lanes_);
  }

 private:
  unsigned meta_rank_, meta_size_;
};

// The active lanes of the caller's warp.
ROCPORT_DEVICE coalesced_group coalesced_threads() { return coalesced_group(activemask()); }

namespace detail {

// `Size` neighbouring lanes of a warp, starting at a multiple of `Size`.
template <unsigned Size>
class tile : public thread_group {
  static_assert(Size > 0 && (Size & (Size - 1)) == 0, "the size of a tile is a power of two");
  static_assert(Size <= 32, "a tile of more than 32 threads spans several warps; use the block and shared memory");

 public:
  ROCPORT_DEVICE tile(unsigned meta_rank, unsigned meta_size)
      : thread_group(lanes_kind, lanes()), meta_rank_(meta_rank), meta_size_(meta_size) {}

  ROCPORT_DEVICE static constexpr unsigned size() { return Size; }
  ROCPORT_DEVICE static constexpr unsigned num_threads() { return Size; }
  ROCPORT_DEVICE static unsigned thread_rank() { return lane_id() & (Size - 1u); }
  ROCPORT_DEVICE unsigned meta_group_rank() const { return meta_rank_; }
  ROCPORT_DEVICE unsigned meta_group_size() const { return meta_size_; }
  ROCPORT_DEVICE static void sync() { syncwarp(lanes()); }
  // The lanes of the warp in this tile.
  ROCPORT_DEVICE static unsigned lanes() { return (full_warp_mask >> (32u - Size)) << first_lane(); }

  template <class T>
  ROCPORT_DEVICE static T shfl(ROCPORT_MAYBE_UNDEF T value, int rank) {
    return rocport::shfl(value, rank, static_cast<int>(Size));
  }
  template <class T>
  ROCPORT_DEVICE static T shfl_up(ROCPORT_MAYBE_UNDEF T value, unsigned delta) {
    return rocport::shfl_up(value, delta, static_cast<int>(Size));
  }
  template <class T>
  ROCPORT_DEVICE static T shfl_down(ROCPORT_MAYBE_UNDEF T value, unsigned delta) {
    return rocport::shfl_down(value, delta, static_cast<int>(Size));
  }
  template <class T>
  ROCPORT_DEVICE static T shfl_xor(ROCPORT_MAYBE_UNDEF T value, unsigned mask) {
    return rocport::shfl_xor(value, static_cast<int>(mask), static_cast<int>(Size));
  }
  ROCPORT_DEVICE static unsigned ballot(int predicate) { return ballot_sync(lanes(), predicate) >> first_lane(); }
  ROCPORT_DEVICE static int any(int predicate) { return any_sync(lanes(), predicate); }
  ROCPORT_DEVICE static int all(int predicate) { return all_sync(lanes(), predicate); }
  template <class T>
  ROCPORT_DEVICE static unsigned match_any(T value) {
    return match_any_sync(lanes(), value) >> first_lane();
  }
  template <class T>
  ROCPORT_DEVICE static unsigned match_all(T value, int& predicate) {
    return match_all_sync(lanes(), value, &predicate) >> first_lane();
  }

 private:
  ROCPORT_DEVICE static unsigned first_lane() { return lane_id() & ~(Size - 1u); }
  unsigned meta_rank_, meta_size_;
};

}  // namespace detail

// A tile that knows its parent's type, and converts to one that does not (Parent = void).
template <unsigned Size, class Parent = void>
class thread_block_tile : public detail::tile<Size> {
 public:
  using detail::tile<Size>::tile;
  template <class Other>
  ROCPORT_DEVICE thread_block_tile(const thread_block_tile<Size, Other>& other) : detail::tile<Size>(other) {}
};

// ---- Partitions ------------------------------------------------------------------------------------------------------

template <unsigned Size>
ROCPORT_DEVICE thread_block_tile<Size, thread_block> tiled_partition(const thread_block&) {
  const unsigned rank = linear_thread_id(), threads = detail::block_size();
  return thread_block_tile<Size, thread_block>(rank / Size, (threads + Size - 1u) / Size);
}
template <unsigned Size, unsigned ParentSize, class Parent>
ROCPORT_DEVICE thread_block_tile<Size, thread_block_tile<ParentSize, Parent>> tiled_partition(
    const thread_block_tile<ParentSize, Parent>& parent) {
  static_assert(Size <= ParentSize, "a tile is not larger than the tile it is cut from");
  return thread_block_tile<Size, thread_block_tile<ParentSize, Parent>>(parent.thread_rank() / Size, ParentSize / Size);
}

// `size` threads of the parent at a time, by rank.
ROCPORT_DEVICE coalesced_group tiled_partition(const coalesced_group& parent, unsigned size) {
  const unsigned tile = parent.thread_rank() / size;
  unsigned lanes = parent.lanes();
  for (unsigned i = 0; i < tile * size; ++i) lanes &= lanes - 1u;
  unsigned rest = lanes;
  for (unsigned i = 0; i < size; ++i) rest &= rest - 1u;
  return coalesced_group(lanes & ~rest, tile, (parent.size() + size - 1u) / size);
}
template <unsigned Size>
ROCPORT_DEVICE coalesced_group tiled_partition(const coalesced_group& parent) {
  return tiled_partition(parent, Size);
}
ROCPORT_DEVICE thread_group tiled_partition(const thread_group& parent, unsigned size) {
  if (parent.kind_ == detail::lanes_kind) return tiled_partition(coalesced_group(parent.lanes_), size);
  const unsigned first = lane_id() & ~(size - 1u);
  return thread_group(detail::lanes_kind, (full_warp_mask >> (32u - size)) << first);
}
ROCPORT_DEVICE thread_group tiled_partition(const thread_block& parent, unsigned size) {
  return tiled_partition(static_cast<const thread_group&>(parent), size);
}

// The threads of a tile or coalesced group that gave the same label.
template <class Group, class Label>
ROCPORT_DEVICE coalesced_group labeled_partition(const Group& group, Label label) {
  const unsigned lanes = group.lanes();
  const unsigned mine = match_any_sync(lanes, label);
  // Groups are numbered by their first lane.
  const bool first = (mine & lanemask_lt()) == 0u;
  const unsigned leaders = ballot_sync(lanes, first);
  const unsigned leader = static_cast<unsigned>(__ffs(static_cast<int>(mine)) - 1);
  const unsigned rank = static_cast<unsigned>(__popc(leaders & ((1u << leader) - 1u)));
  return coalesced_group(mine, rank, static_cast<unsigned>(__popc(leaders)));
}
template <class Group>
ROCPORT_DEVICE coalesced_group binary_partition(const Group& group, bool predicate) {
  const unsigned lanes = group.lanes(), yes = ballot_sync(lanes, predicate);
  const unsigned groups = yes == 0u || yes == lanes ? 1u : 2u;
  return coalesced_group(predicate ? yes : lanes & ~yes, predicate && groups == 2u ? 1u : 0u, groups);
}

// ---- What a thread_group of unknown kind does ------------------------------------------------------------------------

ROCPORT_DEVICE unsigned long long thread_group::size() const {
  if (kind_ == detail::lanes_kind) return static_cast<unsigned>(__popc(lanes_));
#if !defined(__HIPCC_RTC__)
  if (kind_ == detail::grid_kind) return grid_group::size();
#endif
  return detail::block_size();
}
ROCPORT_DEVICE unsigned long long thread_group::thread_rank() const {
  if (kind_ == detail::lanes_kind) return static_cast<unsigned>(__popc(lanes_ & lanemask_lt()));
#if !defined(__HIPCC_RTC__)
  if (kind_ == detail::grid_kind) return grid_group::thread_rank();
#endif
  return linear_thread_id();
}
ROCPORT_DEVICE void thread_group::sync() const {
  if (kind_ == detail::lanes_kind) {
    syncwarp(lanes_);
    return;
  }
#if !defined(__HIPCC_RTC__)
  if (kind_ == detail::grid_kind) {
    grid_group::sync();
    return;
  }
#endif
  __syncthreads();
}

template <class Group>
ROCPORT_DEVICE void sync(const Group& group) {
  group.sync();
}
template <class Group>
ROCPORT_DEVICE unsigned long long thread_rank(const Group& group) {
  return group.thread_rank();
}
template <class Group>
ROCPORT_DEVICE unsigned long long group_size(const Group& group) {
  return group.size();
}

ROCPORT_DEVICE coalesced_group this_thread() { return coalesced_group(lanemask_eq()); }

// ---- Reduce and scan -------------------------------------------------------------------------------------------------

template <class T>
struct plus {
  ROCPORT_DEVICE T operator()(T a, T b) const { return a + b; }
};
template <class T>
struct less {
  ROCPORT_DEVICE T operator()(T a, T b) const { return b < a ? b : a; }
};
template <class T>
struct greater {
  ROCPORT_DEVICE T operator()(T a, T b) const { return a < b ? b : a; }
};
template <class T>
struct bit_and {
  ROCPORT_DEVICE T operator()(T a, T b) const { return a & b; }
};
template <class T>
struct bit_or {
  ROCPORT_DEVICE T operator()(T a, T b) const { return a | b; }
};
template <class T>
struct bit_xor {
  ROCPORT_DEVICE T operator()(T a, T b) const { return a ^ b; }
};

// The value of all threads of the group combined; every thread gets it. `op` is associative.
template <unsigned Size, class Parent, class T, class Op>
ROCPORT_DEVICE T reduce(const thread_block_tile<Size, Parent>& group, T value, Op op) {
  for (unsigned distance = Size / 2u; distance > 0u; distance /= 2u) {
    value = op(value, group.shfl_xor(value, distance));
  }
  return value;
}
template <class T, class Op>
ROCPORT_DEVICE T reduce(const coalesced_group& group, T value, Op op) {
  const unsigned rank = group.thread_rank(), size = group.size();
  for (unsigned distance = 1u; distance < size; distance *= 2u) {
    const T other = group.shfl_down(value, distance);
    if (rank + distance < size) value = op(value, other);
  }
  return group.shfl(value, 0u);
}

// The values of the threads up to and with the caller combined, in order of rank.
template <class Group, class T, class Op>
ROCPORT_DEVICE T inclusive_scan(const Group& group, T value, Op op) {
  const unsigned rank = group.thread_rank(), size = group.size();
  for (unsigned distance = 1u; distance < size; distance *= 2u) {
    const T other = group.shfl_up(value, distance);
    if (rank >= distance) value = op(other, value);
  }
  return value;
}
template <class Group, class T>
ROCPORT_DEVICE T inclusive_scan(const Group& group, T value) {
  return inclusive_scan(group, value, plus<T>());
}

// The same without the caller's own value; the thread of rank 0 gets T().
template <class Group, class T, class Op>
ROCPORT_DEVICE T exclusive_scan(const Group& group, T value, Op op) {
  const T before = group.shfl_up(inclusive_scan(group, value, op), 1u);
  return group.thread_rank() == 0u ? T() : before;
}
template <class Group, class T>
ROCPORT_DEVICE T exclusive_scan(const Group& group, T value) {
  return exclusive_scan(group, value, plus<T>());
}

// `call` is run by the thread of rank 0.
template <class Group, class Call, class... Arguments>
ROCPORT_DEVICE void invoke_one(const Group& group, Call&& call, Arguments&&... arguments) {
  if (group.thread_rank() == 0u) call(static_cast<Arguments&&>(arguments)...);
}
template <class Group, class Call, class... Arguments>
ROCPORT_DEVICE auto invoke_one_broadcast(const Group& group, Call&& call, Arguments&&... arguments) {
  decltype(call(static_cast<Arguments&&>(arguments)...)) result{};
  if (group.thread_rank() == 0u) result = call(static_cast<Arguments&&>(arguments)...);
  return group.shfl(result, 0);
}

// ---- Copies ----------------------------------------------------------------------------------------------------------

// Copies `bytes` bytes between global and shared memory, by all threads of the group.
template <class Group, class T>
ROCPORT_DEVICE void memcpy_async(const Group& group, T* destination, const T* source, size_t bytes) {
  char* to = reinterpret_cast<char*>(destination);
  const char* from = reinterpret_cast<const char*>(source);
  const size_t threads = group.size(), first = group.thread_rank();
  const size_t misaligned = (reinterpret_cast<size_t>(to) | reinterpret_cast<size_t>(from) | bytes) & 15u;
  if (misaligned == 0u) {
    for (size_t i = first * 16u; i < bytes; i += threads * 16u) __builtin_memcpy(to + i, from + i, 16);
  } else if ((misaligned & 3u) == 0u) {
    for (size_t i = first * 4u; i < bytes; i += threads * 4u) __builtin_memcpy(to + i, from + i, 4);
  } else {
    for (size_t i = first; i < bytes; i += threads) to[i] = from[i];
  }
}
// With the lengths of both sides, in elements: the shorter one counts.
template <class Group, class T, class To, class From>
ROCPORT_DEVICE void memcpy_async(const Group& group, T* destination, const To& room, const T* source, const From& there) {
  const size_t to = room, from = there;
  memcpy_async(group, destination, source, (to < from ? to : from) * sizeof(T));
}
// A number of bytes that, as both addresses, is a multiple of Alignment.
template <size_t Alignment>
struct aligned_size_t {
  static constexpr size_t align = Alignment;
  size_t value;
  __host__ __device__ constexpr aligned_size_t(size_t bytes) : value(bytes) {}
  __host__ __device__ constexpr operator size_t() const { return value; }
};
template <class Group>
ROCPORT_DEVICE void wait(const Group& group) {
  group.sync();
}
template <unsigned Stages, class Group>
ROCPORT_DEVICE void wait_prior(const Group& group) {
  group.sync();
}

}  // namespace cg
}  // namespace rocport

#endif  // !ROCPORT_HOST_ONLY

#endif  // ROCPORT_CG_H
