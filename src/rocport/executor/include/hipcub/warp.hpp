// SPDX-License-Identifier: Apache-2.0
// hipCUB's wavefront-wide collectives. `Threads` 0 is the wavefront's width, known at run time.
#pragma once

#include "hipcub/block.hpp"

namespace hipcub {

namespace detail {

struct WarpTemp {
  unsigned char unused;
};

// Values of more than 64 bytes cannot be handed over at once.
template <class T, class F> RPX_INLINE T logical_reduce(const T &v, int width, int valid, F f) {
  rpx::bring(v);
  rpx::meet(~0ull);
  const unsigned first = rpx::segment(rpx::lane, rpx::clamp_width(width));
  T result = v;
  if (rpx::lane != first) return result;
  for (int i = 1; i < valid; ++i)
    if (rpx::wave->group >> (first + static_cast<unsigned>(i)) & 1) result = f(result, rpx::take<T>(first + static_cast<unsigned>(i)));
  return result;
}

}  // namespace detail

#define RPX_WARP_COLLECTIVE(Name)                     \
  using TempStorage = detail::WarpTemp;               \
  RPX_INLINE Name() {}                                \
  RPX_INLINE Name(TempStorage &) {}                   \
  RPX_INLINE static int width() { return Threads ? Threads : static_cast<int>(rpx::wave_width); }

template <class T, int Threads = 0, int Arch = 1> class WarpReduce {
 public:
  RPX_WARP_COLLECTIVE(WarpReduce)
  template <class F> RPX_INLINE T Reduce(T v, F f) { return detail::logical_reduce(v, width(), width(), f); }
  template <class F> RPX_INLINE T Reduce(T v, F f, int valid) { return detail::logical_reduce(v, width(), valid, f); }
  RPX_INLINE T Sum(T v) { return Reduce(v, hipcub::Sum()); }
  RPX_INLINE T Sum(T v, int valid) { return Reduce(v, hipcub::Sum(), valid); }
  template <class F, class Flag> RPX_INLINE T HeadSegmentedReduce(T v, Flag head, F f) {
    rpx::u64 heads = rpx::ballot(head != 0, ~0ull);
    rpx::bring(v);
    rpx::meet(~0ull);
    const unsigned end = rpx::segment(rpx::lane, (unsigned)width()) + (unsigned)width();
    T result = v;
    for (unsigned l = rpx::lane + 1; l < end && !(heads >> l & 1); ++l) result = f(result, rpx::take<T>(l));
    return result;
  }
  template <class F, class Flag> RPX_INLINE T TailSegmentedReduce(T v, Flag tail, F f) {
    rpx::u64 tails = rpx::ballot(tail != 0, ~0ull);
    rpx::bring(v);
    rpx::meet(~0ull);
    const unsigned end = rpx::segment(rpx::lane, (unsigned)width()) + (unsigned)width();
    T result = v;
    for (unsigned l = rpx::lane; l + 1 < end && !(tails >> l & 1); ++l) result = f(result, rpx::take<T>(l + 1));
    return result;
  }
  template <class Flag> RPX_INLINE T HeadSegmentedSum(T v, Flag head) { return HeadSegmentedReduce(v, head, hipcub::Sum()); }
  template <class Flag> RPX_INLINE T TailSegmentedSum(T v, Flag tail) { return TailSegmentedReduce(v, tail, hipcub::Sum()); }
};

template <class T, int Threads = 0, int Arch = 1> class WarpScan {
  // Results of lanes [first, this one], and of the lanes before this one.
  template <class F> RPX_INLINE void scan(T v, F f, T *inclusive, T *exclusive, bool *some, T *total) {
    rpx::bring(v);
    rpx::meet(~0ull);
    const unsigned w = rpx::clamp_width(width()), first = rpx::segment(rpx::lane, w);
    T running = rpx::take<T>(first);
    *some = false;
    for (unsigned l = first + 1; l < first + w; ++l) {
      if (!(rpx::wave->group >> l & 1)) break;
      if (l == rpx::lane) {
        *exclusive = running;
        *some = true;
      }
      T next = f(running, rpx::take<T>(l));
      if (l - 1 == rpx::lane) *inclusive = running;
      running = next;
      if (l == rpx::lane) *inclusive = running;
    }
    if (rpx::lane == first) *inclusive = v;
    *total = running;
  }

 public:
  RPX_WARP_COLLECTIVE(WarpScan)
  template <class F> RPX_INLINE void InclusiveScan(T in, T &out, F f, T &total) {
    T exclusive{}, inclusive = in;
    bool some;
    scan(in, f, &inclusive, &exclusive, &some, &total);
    out = inclusive;
  }
  template <class F> RPX_INLINE void ExclusiveScan(T in, T &out, T initial, F f, T &total) {
    T exclusive{}, inclusive = in;
    bool some;
    scan(in, f, &inclusive, &exclusive, &some, &total);
    out = some ? f(initial, exclusive) : initial;
  }
  template <class F> RPX_INLINE void InclusiveScan(T in, T &out, F f) { T total; InclusiveScan(in, out, f, total); }
  template <class F> RPX_INLINE void ExclusiveScan(T in, T &out, T initial, F f) { T total; ExclusiveScan(in, out, initial, f, total); }
  template <class F> RPX_INLINE void ExclusiveScan(T in, T &out, F f) { ExclusiveScan(in, out, T{}, f); }
  RPX_INLINE void InclusiveSum(T in, T &out) { InclusiveScan(in, out, hipcub::Sum()); }
  RPX_INLINE void InclusiveSum(T in, T &out, T &total) { InclusiveScan(in, out, hipcub::Sum(), total); }
  RPX_INLINE void ExclusiveSum(T in, T &out) { ExclusiveScan(in, out, T(0), hipcub::Sum()); }
  RPX_INLINE void ExclusiveSum(T in, T &out, T &total) { ExclusiveScan(in, out, T(0), hipcub::Sum(), total); }
  template <class F> RPX_INLINE void Scan(T in, T &inclusive, T &exclusive, F f) {
    InclusiveScan(in, inclusive, f);
    ExclusiveScan(in, exclusive, f);
  }
  RPX_INLINE T Broadcast(T in, unsigned source) { return __shfl(in, static_cast<int>(source), width()); }
};

template <class T, int I, int Threads = 0, int Arch = 1> class WarpExchange {
  template <class From> RPX_INLINE void gather(const T (&in)[I], T (&out)[I], From from) {
    T held[I];
    for (int i = 0; i < I; ++i) held[i] = in[i];
    for (int i = 0; i < I; ++i) {
      rpx::bring(held[i]);
      rpx::meet(~0ull);
      for (int j = 0; j < I; ++j) {
        int item = from(j);  // global item number within the logical warp, blocked: lane * I + i
        if (item % I == i) out[j] = rpx::take<T>(rpx::segment(rpx::lane, (unsigned)width()) + static_cast<unsigned>(item / I));
      }
    }
  }

 public:
  RPX_WARP_COLLECTIVE(WarpExchange)
  RPX_INLINE static int lane_in() { return static_cast<int>(rpx::lane) % width(); }
  RPX_INLINE void BlockedToStriped(const T (&in)[I], T (&out)[I]) {
    gather(in, out, [](int j) { return lane_in() + j * width(); });
  }
  RPX_INLINE void StripedToBlocked(const T (&in)[I], T (&out)[I]) {
    // Striped item n sits in lane n % width at position n / width.
    gather(in, out, [](int j) {
      int n = lane_in() * I + j;
      return n % width() * I + n / width();
    });
  }
  template <class R> RPX_INLINE void ScatterToStriped(const T (&in)[I], T (&out)[I], R (&ranks)[I]) {
    T held[I];
    R held_ranks[I];
    for (int i = 0; i < I; ++i) held[i] = in[i], held_ranks[i] = ranks[i];
    for (int i = 0; i < I; ++i) {
      struct Sent {
        T value;
        int rank;
      };
      rpx::bring(Sent{held[i], static_cast<int>(held_ranks[i])});
      rpx::meet(~0ull);
      const unsigned first = rpx::segment(rpx::lane, (unsigned)width());
      for (int l = 0; l < width(); ++l) {
        Sent sent = rpx::take<Sent>(first + static_cast<unsigned>(l));
        if (sent.rank % width() == lane_in()) out[sent.rank / width()] = sent.value;
      }
    }
  }
  template <class R> RPX_INLINE void ScatterToStriped(T (&v)[I], R (&ranks)[I]) { ScatterToStriped(v, v, ranks); }
};

enum WarpLoadAlgorithm { WARP_LOAD_DIRECT, WARP_LOAD_STRIPED, WARP_LOAD_VECTORIZE, WARP_LOAD_TRANSPOSE };
enum WarpStoreAlgorithm { WARP_STORE_DIRECT, WARP_STORE_STRIPED, WARP_STORE_VECTORIZE, WARP_STORE_TRANSPOSE };
template <class T, int I, WarpLoadAlgorithm A = WARP_LOAD_DIRECT, int Threads = 0, int Arch = 1> class WarpLoad {
 public:
  RPX_WARP_COLLECTIVE(WarpLoad)
  RPX_INLINE static int item(int i) { return A == WARP_LOAD_STRIPED ? (int)rpx::lane % width() + i * width() : (int)rpx::lane % width() * I + i; }
  template <class It> RPX_INLINE void Load(It in, T (&v)[I]) {
    for (int i = 0; i < I; ++i) v[i] = in[item(i)];
  }
  template <class It> RPX_INLINE void Load(It in, T (&v)[I], int valid) {
    for (int i = 0; i < I; ++i)
      if (item(i) < valid) v[i] = in[item(i)];
  }
  template <class It, class D> RPX_INLINE void Load(It in, T (&v)[I], int valid, D otherwise) {
    for (int i = 0; i < I; ++i) v[i] = item(i) < valid ? static_cast<T>(in[item(i)]) : static_cast<T>(otherwise);
  }
};
template <class T, int I, WarpStoreAlgorithm A = WARP_STORE_DIRECT, int Threads = 0, int Arch = 1> class WarpStore {
 public:
  RPX_WARP_COLLECTIVE(WarpStore)
  RPX_INLINE static int item(int i) { return A == WARP_STORE_STRIPED ? (int)rpx::lane % width() + i * width() : (int)rpx::lane % width() * I + i; }
  template <class It> RPX_INLINE void Store(It out, T (&v)[I]) {
    for (int i = 0; i < I; ++i) out[item(i)] = v[i];
  }
  template <class It> RPX_INLINE void Store(It out, T (&v)[I], int valid) {
    for (int i = 0; i < I; ++i)
      if (item(i) < valid) out[item(i)] = v[i];
  }
};
template <class K, int I, int Threads = 0, class V = NullType, int Arch = 1> class WarpMergeSort {
  struct Item {
    K key;
    V value;
  };
  template <class F> RPX_INLINE void sort(K (&keys)[I], V *values, F less) {
    Item all[I * 64];
    for (int i = 0; i < I; ++i) {
      Item mine{keys[i], values ? values[i] : V()};
      rpx::bring(mine);
      rpx::meet(~0ull);
      const unsigned first = rpx::segment(rpx::lane, (unsigned)width());
      for (int l = 0; l < width(); ++l) all[l * I + i] = rpx::take<Item>(first + static_cast<unsigned>(l));
    }
    std::stable_sort(all, all + I * width(), [&](const Item &a, const Item &b) { return less(a.key, b.key); });
    for (int i = 0; i < I; ++i) {
      keys[i] = all[(int)rpx::lane % width() * I + i].key;
      if (values) values[i] = all[(int)rpx::lane % width() * I + i].value;
    }
  }

 public:
  RPX_WARP_COLLECTIVE(WarpMergeSort)
  template <class F> RPX_INLINE void Sort(K (&k)[I], F f) { sort(k, nullptr, f); }
  template <class F> RPX_INLINE void Sort(K (&k)[I], V (&v)[I], F f) { sort(k, v, f); }
  template <class F> RPX_INLINE void StableSort(K (&k)[I], F f) { sort(k, nullptr, f); }
  template <class F> RPX_INLINE void StableSort(K (&k)[I], V (&v)[I], F f) { sort(k, v, f); }
};
#undef RPX_WARP_COLLECTIVE

}  // namespace hipcub
