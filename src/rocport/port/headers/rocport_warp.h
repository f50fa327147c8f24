// rocport_warp.h - CUDA's 32-lane warps on AMD wavefronts of 32 or 64 lanes.
// SPDX-License-Identifier: Apache-2.0
//
// A CUDA warp has 32 lanes. An AMD wavefront has 64 lanes on CDNA and 32 on RDNA, and one program may be compiled for both.
// (HIP refuses to compile for 64 lanes on RDNA.) Code ported in the mode `logical32` calls the functions below in place of CUDA's warp intrinsics.
//
// What this header guarantees
//   * Every function works on the caller's *logical warp*: 32 consecutive lanes of its wavefront, so one of the two
//     halves of a 64-lane wavefront, or the whole of a 32-lane one. No value ever crosses from one half to the other.
//   * Results are those of CUDA: ballots, masks and lane ids have 32 bits, `warp_size` is 32, the default width of a
//     shuffle is 32, and a shuffle out of range behaves as the PTX instruction `shfl` says.
//   * The same source is right for both widths. Nothing reads HIP's warpSize, which is no constant since ROCm 7, and
//     nothing calls HIP's own *_sync functions, which want 64-bit masks and are not declared by every ROCm.
//   * Votes, matches and reductions cover the active lanes that the mask names. Lanes of the same half that the mask does
//     not name are left out, so converged lanes may call with different masks (one per tile, say), as on CUDA.
//
// What it cannot keep
//   * On CUDA the lanes named in a mask wait for one another, also where they come from different branches. Lanes of an
//     AMD wavefront that are on different branches run one branch after the other: a call sees only the lanes that execute
//     it at the same time. A program that lets the lanes of one warp meet from different branches, or spin on one
//     another, needs a change by hand; rocport reports those places.
//   * Reading a lane that is inactive gives an unspecified value, as on CUDA.
//
// It needs <hip/hip_runtime.h> only, and of that the intrinsics every HIP has: __shfl, __ballot and __lane_id.
#ifndef ROCPORT_WARP_H
#define ROCPORT_WARP_H

#if !defined(__HIPCC_RTC__)
#include <hip/hip_runtime.h>
#endif

#include "rocport_host.h"

#ifndef ROCPORT_DEVICE
#define ROCPORT_DEVICE __device__ inline __attribute__((always_inline))
#endif

// A lane may hand over a variable it never set, when only the values of other lanes are read. Without this attribute the
// optimizer may take such a call for impossible; HIP marks its own shuffles in the same way.
#if defined(__has_attribute)
#if __has_attribute(maybe_undef)
#define ROCPORT_MAYBE_UNDEF __attribute__((maybe_undef))
#endif
#endif
#ifndef ROCPORT_MAYBE_UNDEF
#define ROCPORT_MAYBE_UNDEF
#endif

#if defined(__has_builtin)
#if __has_builtin(__builtin_amdgcn_fence) && __has_builtin(__builtin_amdgcn_wave_barrier)
#define ROCPORT_HAS_WAVE_BARRIER 1
#endif
#endif

namespace rocport {

// Lanes of a warp, in device and host code.
static constexpr int warp_size = 32;
// The mask that names every lane of a warp.
static constexpr unsigned full_warp_mask = 0xffffffffu;

// ---- Lane and warp ids -----------------------------------------------------------------------------------------------

// The caller's lane in its warp, 0..31; PTX %laneid.
ROCPORT_DEVICE unsigned lane_id() { return __lane_id() & 31u; }

// The caller's position in its block, x fastest.
ROCPORT_DEVICE unsigned linear_thread_id() {
  return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}

// The caller's warp in its block, counted in 32-lane warps.
ROCPORT_DEVICE unsigned warp_id() { return linear_thread_id() >> 5; }

// How many 32-lane warps the block has.
ROCPORT_DEVICE unsigned warps_per_block() { return (blockDim.x * blockDim.y * blockDim.z + 31u) >> 5; }

// PTX %lanemask_eq, _lt, _le, _gt, _ge.
ROCPORT_DEVICE unsigned lanemask_eq() { return 1u << lane_id(); }
ROCPORT_DEVICE unsigned lanemask_lt() { return lanemask_eq() - 1u; }
ROCPORT_DEVICE unsigned lanemask_le() { return lanemask_lt() | lanemask_eq(); }
ROCPORT_DEVICE unsigned lanemask_gt() { return ~lanemask_le(); }
ROCPORT_DEVICE unsigned lanemask_ge() { return ~lanemask_lt(); }

// ---- Votes -----------------------------------------------------------------------------------------------------------

namespace detail {

// The predicates of the active lanes of the caller's warp. __ballot has one bit a lane of the wavefront; the upper half of
// a 64-lane wavefront finds its own in bits 32..63.
ROCPORT_DEVICE unsigned warp_ballot(bool predicate) {
  return static_cast<unsigned>(__ballot(predicate) >> (__lane_id() & 32u));
}

}  // namespace detail

// One bit for each active lane named in `mask` whose predicate is not zero.
ROCPORT_DEVICE unsigned ballot_sync(unsigned long long mask, int predicate) {
  return detail::warp_ballot(predicate != 0) & static_cast<unsigned>(mask);
}

// Whether the predicate holds in any active lane named in `mask`.
ROCPORT_DEVICE int any_sync(unsigned long long mask, int predicate) { return ballot_sync(mask, predicate) != 0u; }

// Whether the predicate holds in every active lane named in `mask`.
ROCPORT_DEVICE int all_sync(unsigned long long mask, int predicate) { return ballot_sync(mask, predicate == 0) == 0u; }

// The active lanes of the caller's warp.
ROCPORT_DEVICE unsigned activemask() { return detail::warp_ballot(true); }

// CUDA's votes from before the _sync names: over all active lanes of the warp.
ROCPORT_DEVICE unsigned ballot(int predicate) { return ballot_sync(full_warp_mask, predicate); }
ROCPORT_DEVICE int any(int predicate) { return any_sync(full_warp_mask, predicate); }
ROCPORT_DEVICE int all(int predicate) { return all_sync(full_warp_mask, predicate); }

// ---- Shuffles --------------------------------------------------------------------------------------------------------

namespace detail {

// The value of `lane` (0..31) of the caller's warp, moved in 32-bit words: any type whose bytes are its value. (Being
// trivially copyable is not asked for: HIP's own __hip_bfloat162 is not.)
template <class T>
ROCPORT_DEVICE T read_lane(const T& value, unsigned lane) {
  static_assert(!__is_polymorphic(T), "a warp shuffle moves bytes: the type must not have virtual functions");
  int words[(sizeof(T) + 3) / 4] = {};
  __builtin_memcpy(words, static_cast<const void*>(&value), sizeof(T));
  for (int& word : words) word = __shfl(word, static_cast<int>(lane), 32);
  T result = value;
  __builtin_memcpy(static_cast<void*>(&result), words, sizeof(T));
  return result;
}

// The operand `c` of PTX shfl for segments of `width` lanes; `clamp` is 0 for up and 31 for the other modes.
ROCPORT_DEVICE unsigned shfl_segments(int width, unsigned clamp) {
  return (static_cast<unsigned>(32 - width) << 8) | clamp;
}

// The source lane of one PTX shfl mode: `lane` if it is in range, the caller's own otherwise.
ROCPORT_DEVICE unsigned shfl_source(unsigned self, unsigned lane, bool in_range, bool* predicate) {
  if (predicate) *predicate = in_range;
  return in_range ? lane : self;
}

}  // namespace detail

// The four modes of the PTX instruction `shfl` with its operands as PTX has them: `b` is the lane or distance (its low five
// bits count), `c` holds the clamp in bits 0..4 and the segment mask in bits 8..12. `predicate`, if given, tells whether
// the source lane was in range; out of range the caller's own value comes back.
template <class T>
ROCPORT_DEVICE T ptx_shfl_idx(ROCPORT_MAYBE_UNDEF T value, unsigned b, unsigned c, bool* predicate = nullptr) {
  const unsigned self = lane_id(), segment = (c >> 8) & 31u, last = (self & segment) | (c & 31u & ~segment);
  const unsigned lane = (self & segment) | (b & 31u & ~segment);
  return detail::read_lane(value, detail::shfl_source(self, lane, lane <= last, predicate));
}
template <class T>
ROCPORT_DEVICE T ptx_shfl_up(ROCPORT_MAYBE_UNDEF T value, unsigned b, unsigned c, bool* predicate = nullptr) {
  const unsigned self = lane_id(), segment = (c >> 8) & 31u, first = (self & segment) | (c & 31u & ~segment);
  const int lane = static_cast<int>(self) - static_cast<int>(b & 31u);
  const bool in_range = lane >= static_cast<int>(first);
  return detail::read_lane(value, detail::shfl_source(self, static_cast<unsigned>(lane), in_range, predicate));
}
template <class T>
ROCPORT_DEVICE T ptx_shfl_down(ROCPORT_MAYBE_UNDEF T value, unsigned b, unsigned c, bool* predicate = nullptr) {
  const unsigned self = lane_id(), segment = (c >> 8) & 31u, last = (self & segment) | (c & 31u & ~segment);
  const unsigned lane = self + (b & 31u);
  return detail::read_lane(value, detail::shfl_source(self, lane, lane <= last, predicate));
}
template <class T>
ROCPORT_DEVICE T ptx_shfl_bfly(ROCPORT_MAYBE_UNDEF T value, unsigned b, unsigned c, bool* predicate = nullptr) {
  const unsigned self = lane_id(), segment = (c >> 8) & 31u, last = (self & segment) | (c & 31u & ~segment);
  const unsigned lane = self ^ (b & 31u);
  return detail::read_lane(value, detail::shfl_source(self, lane, lane <= last, predicate));
}

namespace detail {

// CUDA's shuffles are overloads from int up: a narrower integer comes back as an int.
template <class T>
struct promoted {
  using type = T;
};
template <> struct promoted<bool> { using type = int; };
template <> struct promoted<char> { using type = int; };
template <> struct promoted<signed char> { using type = int; };
template <> struct promoted<unsigned char> { using type = int; };
template <> struct promoted<short> { using type = int; };
template <> struct promoted<unsigned short> { using type = int; };

}  // namespace detail

// CUDA's shuffles. `width` (2, 4, 8, 16 or 32) cuts the warp into segments. The mask says nothing a wavefront needs: lanes
// on one branch move together, and reading a lane that the mask does not name is undefined on CUDA.
template <class T>
ROCPORT_DEVICE typename detail::promoted<T>::type shfl_sync(unsigned long long, ROCPORT_MAYBE_UNDEF T value, int lane, int width = 32) {
  return ptx_shfl_idx(value, static_cast<unsigned>(lane), detail::shfl_segments(width, 31u));
}
template <class T>
ROCPORT_DEVICE typename detail::promoted<T>::type shfl_up_sync(unsigned long long, ROCPORT_MAYBE_UNDEF T value, unsigned delta, int width = 32) {
  return ptx_shfl_up(value, delta, detail::shfl_segments(width, 0u));
}
template <class T>
ROCPORT_DEVICE typename detail::promoted<T>::type shfl_down_sync(unsigned long long, ROCPORT_MAYBE_UNDEF T value, unsigned delta, int width = 32) {
  return ptx_shfl_down(value, delta, detail::shfl_segments(width, 31u));
}
template <class T>
ROCPORT_DEVICE typename detail::promoted<T>::type shfl_xor_sync(unsigned long long, ROCPORT_MAYBE_UNDEF T value, int lane_mask, int width = 32) {
  return ptx_shfl_bfly(value, static_cast<unsigned>(lane_mask), detail::shfl_segments(width, 31u));
}

// CUDA's shuffles from before the _sync names.
template <class T>
ROCPORT_DEVICE typename detail::promoted<T>::type shfl(ROCPORT_MAYBE_UNDEF T value, int lane, int width = 32) {
  return shfl_sync(full_warp_mask, value, lane, width);
}
template <class T>
ROCPORT_DEVICE typename detail::promoted<T>::type shfl_up(ROCPORT_MAYBE_UNDEF T value, unsigned delta, int width = 32) {
  return shfl_up_sync(full_warp_mask, value, delta, width);
}
template <class T>
ROCPORT_DEVICE typename detail::promoted<T>::type shfl_down(ROCPORT_MAYBE_UNDEF T value, unsigned delta, int width = 32) {
  return shfl_down_sync(full_warp_mask, value, delta, width);
}
template <class T>
ROCPORT_DEVICE typename detail::promoted<T>::type shfl_xor(ROCPORT_MAYBE_UNDEF T value, int lane_mask, int width = 32) {
  return shfl_xor_sync(full_warp_mask, value, lane_mask, width);
}

// ---- Match -----------------------------------------------------------------------------------------------------------

// The active lanes named in `mask` whose value has the same bits as the caller's. One ballot a bit: no lane takes a branch
// of its own, so converged lanes may call with different masks.
template <class T>
ROCPORT_DEVICE unsigned match_any_sync(unsigned long long mask, T value) {
  static_assert(!__is_polymorphic(T), "a warp match compares bytes: the type must not have virtual functions");
  unsigned words[(sizeof(T) + 3) / 4] = {};
  __builtin_memcpy(words, static_cast<const void*>(&value), sizeof(T));
  unsigned same = ballot_sync(mask, 1);
  for (unsigned word : words) {
    for (int bit = 0; bit < (sizeof(T) < 4 ? static_cast<int>(8 * sizeof(T)) : 32); ++bit) {
      const bool set = (word >> bit) & 1u;
      const unsigned lanes = detail::warp_ballot(set);
      same &= set ? lanes : ~lanes;
    }
  }
  return same;
}

// The lanes named in `mask` if all of them hold the same bits, and `*predicate` 1; else 0 and 0.
template <class T>
ROCPORT_DEVICE unsigned match_all_sync(unsigned long long mask, T value, int* predicate) {
  const unsigned lanes = ballot_sync(mask, 1);
  const bool all_same = all_sync(mask, match_any_sync(mask, value) == lanes);
  *predicate = all_same;
  return all_same ? lanes : 0u;
}

// ---- Reductions ------------------------------------------------------------------------------------------------------

namespace detail {

struct add_op {
  ROCPORT_DEVICE static unsigned combine(unsigned a, unsigned b) { return a + b; }
  ROCPORT_DEVICE static unsigned by_bits(unsigned lanes, unsigned value) {
    unsigned sum = 0u;
    for (int bit = 0; bit < 32; ++bit) {
      sum += static_cast<unsigned>(__popc(warp_ballot((value >> bit) & 1u) & lanes)) << bit;
    }
    return sum;
  }
};

struct max_op {
  ROCPORT_DEVICE static unsigned combine(unsigned a, unsigned b) { return a > b ? a : b; }
  // From the highest bit down, keep the lanes that may still hold the largest value.
  ROCPORT_DEVICE static unsigned by_bits(unsigned lanes, unsigned value) {
    unsigned largest = 0u;
    for (int bit = 31; bit >= 0; --bit) {
      const unsigned set = warp_ballot((value >> bit) & 1u) & lanes;
      if (set != 0u) {
        lanes = set;
        largest |= 1u << bit;
      }
    }
    return largest;
  }
};

struct and_op {
  ROCPORT_DEVICE static unsigned combine(unsigned a, unsigned b) { return a & b; }
  ROCPORT_DEVICE static unsigned by_bits(unsigned lanes, unsigned value) {
    unsigned result = 0u;
    for (int bit = 0; bit < 32; ++bit) {
      result |= static_cast<unsigned>((warp_ballot((value >> bit) & 1u) & lanes) == lanes) << bit;
    }
    return result;
  }
};

struct xor_op {
  ROCPORT_DEVICE static unsigned combine(unsigned a, unsigned b) { return a ^ b; }
  ROCPORT_DEVICE static unsigned by_bits(unsigned lanes, unsigned value) {
    unsigned result = 0u;
    for (int bit = 0; bit < 32; ++bit) {
      result |= (static_cast<unsigned>(__popc(warp_ballot((value >> bit) & 1u) & lanes)) & 1u) << bit;
    }
    return result;
  }
};

// A butterfly where all 32 lanes take part; bit by bit over ballots where some do not.
template <class Op>
ROCPORT_DEVICE unsigned reduce(unsigned long long mask, unsigned value) {
  const unsigned lanes = ballot_sync(mask, 1);
  if (lanes == full_warp_mask) {
    for (int distance = 16; distance > 0; distance >>= 1) {
      value = Op::combine(value, shfl_xor_sync(full_warp_mask, value, distance));
    }
    return value;
  }
  return Op::by_bits(lanes, value);
}

// Maps int to unsigned so that the order is kept.
ROCPORT_DEVICE unsigned ordered(int value) { return static_cast<unsigned>(value) ^ 0x80000000u; }
ROCPORT_DEVICE int from_ordered(unsigned value) { return static_cast<int>(value ^ 0x80000000u); }

}  // namespace detail

// CUDA's __reduce_*_sync: over the active lanes named in `mask`; every one of them gets the result.
ROCPORT_DEVICE unsigned reduce_add_sync(unsigned long long mask, unsigned value) {
  return detail::reduce<detail::add_op>(mask, value);
}
ROCPORT_DEVICE int reduce_add_sync(unsigned long long mask, int value) {
  return static_cast<int>(reduce_add_sync(mask, static_cast<unsigned>(value)));
}
ROCPORT_DEVICE unsigned reduce_max_sync(unsigned long long mask, unsigned value) {
  return detail::reduce<detail::max_op>(mask, value);
}
ROCPORT_DEVICE int reduce_max_sync(unsigned long long mask, int value) {
  return detail::from_ordered(reduce_max_sync(mask, detail::ordered(value)));
}
ROCPORT_DEVICE unsigned reduce_min_sync(unsigned long long mask, unsigned value) {
  return ~reduce_max_sync(mask, ~value);
}
ROCPORT_DEVICE int reduce_min_sync(unsigned long long mask, int value) {
  return detail::from_ordered(reduce_min_sync(mask, detail::ordered(value)));
}
ROCPORT_DEVICE unsigned reduce_and_sync(unsigned long long mask, unsigned value) {
  return detail::reduce<detail::and_op>(mask, value);
}
ROCPORT_DEVICE unsigned reduce_or_sync(unsigned long long mask, unsigned value) {
  return ~reduce_and_sync(mask, ~value);
}
ROCPORT_DEVICE unsigned reduce_xor_sync(unsigned long long mask, unsigned value) {
  return detail::reduce<detail::xor_op>(mask, value);
}

// ---- Synchronization -------------------------------------------------------------------------------------------------

// Orders the memory accesses of the active lanes of the wavefront before and after the call, as __syncwarp does for the
// lanes named in its mask. The lanes run together already; what has to be held back is the compiler. It is no meeting
// point for lanes on different branches.
ROCPORT_DEVICE void syncwarp(unsigned long long = full_warp_mask) {
#if defined(ROCPORT_HAS_WAVE_BARRIER)
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
  __builtin_amdgcn_wave_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");
#else
  // Where HIP runs on something else than an AMD GPU: a wavefront-wide operation is what brings the lanes together.
  __threadfence_block();
  (void)__ballot(1);
#endif
}

// ---- Locks -----------------------------------------------------------------------------------------------------------

// The active lanes of the wavefront, one after another:
//   for (rocport::lane_turns turns; turns.next();) if (turns.mine()) { lock(m); ...; unlock(m); }
// No lane then waits for another lane of its own wavefront: that one has given the lock back before the next one asks.
class lane_turns {
 public:
  ROCPORT_DEVICE lane_turns() : left_(__ballot(1)) {}
  ROCPORT_DEVICE bool next() {
    if (left_ == 0) return false;
    turn_ = static_cast<unsigned>(__builtin_ctzll(left_));
    left_ &= left_ - 1;
    return true;
  }
  ROCPORT_DEVICE bool mine() const { return static_cast<unsigned>(__lane_id()) == turn_; }

 private:
  unsigned long long left_;
  unsigned turn_ = 0;
};

// ---- Host ------------------------------------------------------------------------------------------------------------

#if !defined(__HIPCC_RTC__)
// For cudaDeviceGetAttribute(value, cudaDevAttrWarpSize, device): the port's warps have 32 lanes on every device. Errors
// are those of the query.
inline hipError_t get_warp_size_attribute(int* value, int device) {
  const hipError_t status = hipDeviceGetAttribute(value, hipDeviceAttributeWarpSize, device);
  if (status == hipSuccess) *value = warp_size;
  return status;
}
#endif

}  // namespace rocport

#endif  // ROCPORT_WARP_H
