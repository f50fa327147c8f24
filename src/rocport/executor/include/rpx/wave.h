// SPDX-License-Identifier: Apache-2.0
// HIP's wave and block intrinsics over the scheduler's meetings. All are always inlined, so that the return address of
// the meeting is the place in the program.
#pragma once

#include "rpx/scheduler.h"

// The wavefront width. A run-time value, unless the program is built for one width (-DROCPORT_FIXED_WAVE=64) because it
// needs a constant.
#ifdef ROCPORT_FIXED_WAVE
constexpr int warpSize = ROCPORT_FIXED_WAVE;
#else
namespace rpx {
struct WarpSize {
  RPX_INLINE operator int() const { return static_cast<int>(wave_width); }
};
}  // namespace rpx
static constexpr rpx::WarpSize warpSize{};
#endif

// ---- shuffles ------------------------------------------------------------------------------------------------------

namespace rpx {

RPX_INLINE u32 segment(u32 l, u32 width) { return l & ~(width - 1); }

template <class T> RPX_INLINE T shuffle(const T &v, int source, int width, u64 mask) {
  u32 w = clamp_width(width);
  return exchange(v, mask, segment(lane, w) + (static_cast<u32>(source) & (w - 1)));
}
template <class T> RPX_INLINE T shuffle_up(const T &v, unsigned delta, int width, u64 mask) {
  u32 w = clamp_width(width);
  u32 from = lane - delta;
  bool inside = delta <= lane - segment(lane, w);
  return exchange(v, mask, inside ? from : lane);
}
template <class T> RPX_INLINE T shuffle_down(const T &v, unsigned delta, int width, u64 mask) {
  u32 w = clamp_width(width);
  bool inside = delta < w && lane + delta < segment(lane, w) + w;
  return exchange(v, mask, inside ? lane + delta : lane);
}
template <class T> RPX_INLINE T shuffle_xor(const T &v, int lanes, int width, u64 mask) {
  u32 w = clamp_width(width);
  u32 from = lane ^ static_cast<u32>(lanes);
  return exchange(v, mask, from < segment(lane, w) + w ? from : lane);
}

}  // namespace rpx

template <class T> RPX_INLINE T __shfl(T v, int source, int width = warpSize) { return rpx::shuffle(v, source, width, ~0ull); }
template <class T> RPX_INLINE T __shfl_up(T v, unsigned delta, int width = warpSize) {
  return rpx::shuffle_up(v, delta, width, ~0ull);
}
template <class T> RPX_INLINE T __shfl_down(T v, unsigned delta, int width = warpSize) {
  return rpx::shuffle_down(v, delta, width, ~0ull);
}
template <class T> RPX_INLINE T __shfl_xor(T v, int lanes, int width = warpSize) {
  return rpx::shuffle_xor(v, lanes, width, ~0ull);
}
template <class M, class T> RPX_INLINE T __shfl_sync(M mask, T v, int source, int width = warpSize) {
  T result = rpx::shuffle(v, source, width, rpx::wave_mask(mask));
  rpx::check_mask(mask);
  return result;
}
template <class M, class T> RPX_INLINE T __shfl_up_sync(M mask, T v, unsigned delta, int width = warpSize) {
  T result = rpx::shuffle_up(v, delta, width, rpx::wave_mask(mask));
  rpx::check_mask(mask);
  return result;
}
template <class M, class T> RPX_INLINE T __shfl_down_sync(M mask, T v, unsigned delta, int width = warpSize) {
  T result = rpx::shuffle_down(v, delta, width, rpx::wave_mask(mask));
  rpx::check_mask(mask);
  return result;
}
template <class M, class T> RPX_INLINE T __shfl_xor_sync(M mask, T v, int lanes, int width = warpSize) {
  T result = rpx::shuffle_xor(v, lanes, width, rpx::wave_mask(mask));
  rpx::check_mask(mask);
  return result;
}

// ---- votes, ballots, matches ---------------------------------------------------------------------------------------

RPX_INLINE unsigned long long __ballot(int predicate) { return rpx::ballot(predicate != 0, ~0ull); }
RPX_INLINE unsigned long long __ballot64(int predicate) { return rpx::ballot(predicate != 0, ~0ull); }
RPX_INLINE int __any(int predicate) { return rpx::ballot(predicate != 0, ~0ull) != 0; }
RPX_INLINE int __all(int predicate) { return rpx::ballot(predicate == 0, ~0ull) == 0; }
RPX_INLINE unsigned long long __activemask() { return rpx::active_lanes(); }

template <class M> RPX_INLINE unsigned long long __ballot_sync(M mask, int predicate) {
  rpx::u64 m = rpx::wave_mask(mask);
  rpx::u64 result = rpx::ballot(predicate != 0, m) & m;
  rpx::check_mask(mask);
  return result;
}
template <class M> RPX_INLINE int __any_sync(M mask, int predicate) {
  rpx::u64 m = rpx::wave_mask(mask);
  bool result = (rpx::ballot(predicate != 0, m) & m) != 0;
  rpx::check_mask(mask);
  return result;
}
template <class M> RPX_INLINE int __all_sync(M mask, int predicate) {
  rpx::u64 m = rpx::wave_mask(mask);
  bool result = (rpx::ballot(predicate == 0, m) & m) == 0;
  rpx::check_mask(mask);
  return result;
}

namespace rpx {

template <class T> RPX_INLINE u64 match_any(const T &value, u64 mask) {
  static_assert(sizeof(T) <= 8, "a match compares at most 64 bits");
  bring(value);
  meet(mask);
  const u64 *in = met_values()[0];
  u64 mine = in[lane], result = 0;
  for (u64 rest = wave->group; rest; rest &= rest - 1) {
    int l = __builtin_ctzll(rest);
    result |= static_cast<u64>(in[l] == mine) << l;
  }
  return result & mask;
}

template <class T, class F> RPX_INLINE T reduce_lanes(const T &value, u64 mask, F combine) {
  bring(value);
  meet(mask);
  u64 rest = wave->group & mask;
  T result = take<T>(__builtin_ctzll(rest));
  for (rest &= rest - 1; rest; rest &= rest - 1) result = combine(result, take<T>(__builtin_ctzll(rest)));
  return result;
}

}  // namespace rpx

template <class T> RPX_INLINE unsigned long long __match_any(T value) { return rpx::match_any(value, ~0ull); }
template <class M, class T> RPX_INLINE unsigned long long __match_any_sync(M mask, T value) {
  rpx::u64 result = rpx::match_any(value, rpx::wave_mask(mask));
  rpx::check_mask(mask);
  return result;
}
template <class M, class T> RPX_INLINE unsigned long long __match_all_sync(M mask, T value, int *all) {
  rpx::u64 m = rpx::wave_mask(mask);
  rpx::u64 same = rpx::match_any(value, m), present = rpx::wave->group & m;
  rpx::check_mask(mask);
  *all = same == present;
  return *all ? present : 0;
}
template <class T> RPX_INLINE unsigned long long __match_all(T value, int *all) { return __match_all_sync(~0ull, value, all); }

#define RPX_REDUCE(name, expression)                                                          \
  template <class M, class T> RPX_INLINE T name(M mask, T value) {                            \
    T result = rpx::reduce_lanes(value, rpx::wave_mask(mask), [](T a, T b) -> T { return expression; }); \
    rpx::check_mask(mask);                                                                    \
    return result;                                                                            \
  }
RPX_REDUCE(__reduce_add_sync, a + b)
RPX_REDUCE(__reduce_min_sync, b < a ? b : a)
RPX_REDUCE(__reduce_max_sync, a < b ? b : a)
RPX_REDUCE(__reduce_and_sync, a & b)
RPX_REDUCE(__reduce_or_sync, a | b)
RPX_REDUCE(__reduce_xor_sync, a ^ b)
#undef RPX_REDUCE

RPX_INLINE void __syncwarp() { rpx::meet(~0ull); }
template <class M> RPX_INLINE void __syncwarp(M mask) {
  rpx::meet(rpx::wave_mask(mask));
  rpx::check_mask(mask);
}

// ---- barriers and fences -------------------------------------------------------------------------------------------

RPX_INLINE void __syncthreads() { rpx::block_barrier(0, 0); }
RPX_INLINE int __syncthreads_count(int predicate) { return rpx::block_barrier(1, predicate); }
RPX_INLINE int __syncthreads_and(int predicate) { return rpx::block_barrier(2, predicate); }
RPX_INLINE int __syncthreads_or(int predicate) { return rpx::block_barrier(3, predicate); }
RPX_INLINE void __threadfence() { __asm__ volatile("" ::: "memory"); }
RPX_INLINE void __threadfence_block() { __asm__ volatile("" ::: "memory"); }
RPX_INLINE void __threadfence_system() { __asm__ volatile("" ::: "memory"); }
RPX_INLINE void __nanosleep(unsigned) { rpx::yield(); }

// ---- who am I ------------------------------------------------------------------------------------------------------

RPX_INLINE unsigned __lane_id() { return rpx::lane; }
RPX_INLINE unsigned __laneid() { return rpx::lane; }
RPX_INLINE unsigned long long __lanemask_lt() { return rpx::bit(rpx::lane) - 1; }
RPX_INLINE unsigned long long __lanemask_eq() { return rpx::bit(rpx::lane); }
RPX_INLINE unsigned long long __lanemask_le() { return __lanemask_lt() | __lanemask_eq(); }
RPX_INLINE unsigned long long __lanemask_gt() { return rpx::all_lanes() & ~__lanemask_le(); }
RPX_INLINE unsigned long long __lanemask_ge() { return rpx::all_lanes() & ~__lanemask_lt(); }
RPX_INLINE unsigned __smid() { return blockIdx.x & 3; }

// ---- the AMD builtins that HIP code calls directly -----------------------------------------------------------------

RPX_INLINE unsigned __builtin_amdgcn_wavefrontsize() { return rpx::wave_width; }
RPX_INLINE unsigned __builtin_amdgcn_mbcnt_lo(unsigned mask, unsigned base) {
  rpx::u64 below = rpx::bit(rpx::lane) - 1;
  return base + __builtin_popcount(mask & static_cast<unsigned>(below));
}
RPX_INLINE unsigned __builtin_amdgcn_mbcnt_hi(unsigned mask, unsigned base) {
  rpx::u64 below = rpx::bit(rpx::lane) - 1;
  return base + __builtin_popcount(mask & static_cast<unsigned>(below >> 32));
}
RPX_INLINE int __builtin_amdgcn_readfirstlane(int value) {
  rpx::bring(value);
  rpx::meet(~0ull);
  return rpx::take<int>(__builtin_ctzll(rpx::wave->group));
}
RPX_INLINE int __builtin_amdgcn_readlane(int value, int source) {
  return rpx::exchange(value, ~0ull, static_cast<unsigned>(source) & (rpx::wave_width - 1));
}
RPX_INLINE int __builtin_amdgcn_ds_bpermute(int address, int value) {
  return rpx::exchange(value, ~0ull, static_cast<unsigned>(address >> 2) & (rpx::wave_width - 1));
}
RPX_INLINE int __builtin_amdgcn_ds_permute(int address, int value) {
  struct Sent {
    int to, value;
  };
  rpx::bring(Sent{static_cast<int>(static_cast<unsigned>(address >> 2) & (rpx::wave_width - 1)), value});
  rpx::meet(~0ull);
  int result = 0;
  for (rpx::u64 rest = rpx::wave->group; rest; rest &= rest - 1) {
    Sent sent = rpx::take<Sent>(__builtin_ctzll(rest));
    if (sent.to == static_cast<int>(rpx::lane)) result = sent.value;
  }
  return result;
}

namespace rpx {

// The lane that a DPP control makes `l` read; -1 when it lies outside of its row or wavefront.
// Source: "Data Parallel Primitives (DPP)" in AMD's CDNA3 and RDNA3 ISA manuals.
inline int dpp_source(int control, int l, int width) {
  int row = l & ~15, at = l & 15;
  if (control < 0x100) return (l & ~3) | (control >> (2 * (l & 3)) & 3);                     // quad_perm
  if (control >= 0x101 && control <= 0x10f) return at + (control & 15) < 16 ? l + (control & 15) : -1;  // row_shl
  if (control >= 0x111 && control <= 0x11f) return at - (control & 15) >= 0 ? l - (control & 15) : -1;  // row_shr
  if (control >= 0x121 && control <= 0x12f) return row | ((at - (control & 15)) & 15);        // row_ror
  switch (control) {
    case 0x130: return l + 1 < width ? l + 1 : -1;          // wave_shl:1
    case 0x134: return (l + 1) % width;                     // wave_rol:1
    case 0x138: return l - 1;                               // wave_shr:1
    case 0x13c: return (l + width - 1) % width;             // wave_ror:1
    case 0x140: return row | (15 - at);                     // row_mirror
    case 0x141: return (l & ~7) | (7 - (l & 7));            // row_half_mirror
    case 0x142: return l >= 16 ? row - 1 : -1;              // row_bcast:15
    case 0x143: return l >= 32 ? 31 : -1;                   // row_bcast:31
    default: break;
  }
  if (control >= 0x150 && control <= 0x15f) return row | (control & 15);                      // row_share, row_newbcast
  if (control >= 0x160 && control <= 0x16f) return row | (at ^ (control & 15));               // row_xmask
  unsupported("this DPP control");
}

// The lane that `ds_swizzle` with this offset makes `l` read. Source: the same manuals, "DS_SWIZZLE_B32".
inline int swizzle_source(int offset, int l) {
  if (offset & 0x8000) return (l & ~3) | (offset >> (2 * (l & 3)) & 3);
  int at = l & 31;
  return (l & ~31) | (((at & (offset & 31)) | (offset >> 5 & 31)) ^ (offset >> 10 & 31));
}

template <class T> RPX_INLINE T dpp(T old, T value, int control, int row_mask, int bank_mask, bool bound_control) {
  bring(value);
  meet(~0ull);
  if (!(row_mask >> (lane / 16 & 3) & 1) || !(bank_mask >> (lane / 4 & 3) & 1)) return old;
  int from = dpp_source(control, static_cast<int>(lane), static_cast<int>(wave_width));
  if (from < 0 || !(wave->group >> from & 1)) return bound_control ? zero<T>() : old;
  return take<T>(static_cast<u32>(from));
}

}  // namespace rpx

template <class T> RPX_INLINE T __builtin_amdgcn_update_dpp(T old, T value, int control, int rows, int banks, bool bound) {
  return rpx::dpp(old, value, control, rows, banks, bound);
}
template <class T> RPX_INLINE T __builtin_amdgcn_mov_dpp(T value, int control, int rows, int banks, bool bound) {
  return rpx::dpp(value, value, control, rows, banks, bound);
}
RPX_INLINE int __builtin_amdgcn_ds_swizzle(int value, int offset) {
  return rpx::exchange(value, ~0ull, static_cast<unsigned>(rpx::swizzle_source(offset, static_cast<int>(rpx::lane))));
}
RPX_INLINE int __hip_ds_bpermute(int address, int value) { return __builtin_amdgcn_ds_bpermute(address, value); }
RPX_INLINE int __hip_ds_permute(int address, int value) { return __builtin_amdgcn_ds_permute(address, value); }

RPX_INLINE unsigned long long __builtin_amdgcn_read_exec() { return rpx::active_lanes(); }
RPX_INLINE unsigned __builtin_amdgcn_read_exec_lo() { return static_cast<unsigned>(rpx::active_lanes()); }
RPX_INLINE unsigned __builtin_amdgcn_read_exec_hi() { return static_cast<unsigned>(rpx::active_lanes() >> 32); }
RPX_INLINE unsigned long long __builtin_amdgcn_ballot_w64(bool p) { return rpx::ballot(p, ~0ull); }
RPX_INLINE unsigned __builtin_amdgcn_ballot_w32(bool p) { return static_cast<unsigned>(rpx::ballot(p, ~0ull)); }
RPX_INLINE void __builtin_amdgcn_wave_barrier() { rpx::meet(~0ull); }
RPX_INLINE void __builtin_amdgcn_s_barrier() { rpx::block_barrier(0, 0); }
RPX_INLINE void __builtin_amdgcn_fence(int, const char *, ...) { __asm__ volatile("" ::: "memory"); }
RPX_INLINE void __builtin_amdgcn_s_waitcnt(int) {}
RPX_INLINE void __builtin_amdgcn_sched_barrier(int) {}
RPX_INLINE void __builtin_amdgcn_sched_group_barrier(int, int, int) {}
RPX_INLINE void __builtin_amdgcn_s_sleep(int) { rpx::yield(); }
RPX_INLINE void __builtin_amdgcn_s_setprio(int) {}
RPX_INLINE bool __builtin_amdgcn_is_shared(const void *pointer) { return rpx::is_shared(pointer); }
RPX_INLINE bool __builtin_amdgcn_is_private(const void *pointer) { return rpx::is_private(pointer); }
RPX_INLINE unsigned __builtin_amdgcn_workitem_id_x() { return threadIdx.x; }
RPX_INLINE unsigned __builtin_amdgcn_workitem_id_y() { return threadIdx.y; }
RPX_INLINE unsigned __builtin_amdgcn_workitem_id_z() { return threadIdx.z; }
RPX_INLINE unsigned __builtin_amdgcn_workgroup_id_x() { return blockIdx.x; }
RPX_INLINE unsigned __builtin_amdgcn_workgroup_id_y() { return blockIdx.y; }
RPX_INLINE unsigned __builtin_amdgcn_workgroup_id_z() { return blockIdx.z; }
#ifndef __ATOMIC_RELAXED
#error "this compiler has no __atomic builtins"
#endif
