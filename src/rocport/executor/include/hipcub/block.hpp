// SPDX-License-Identifier: Apache-2.0
// hipCUB's block-wide collectives. Each hands its items to the block through TempStorage and closes with a barrier, so
// the storage can be used again at once: stricter than hipCUB, whose storage needs a barrier of the caller's own.
#pragma once

#include <algorithm>

#include "hipcub/util.hpp"

namespace hipcub {

enum BlockReduceAlgorithm { BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY, BLOCK_REDUCE_RAKING, BLOCK_REDUCE_WARP_REDUCTIONS };
enum BlockScanAlgorithm { BLOCK_SCAN_RAKING, BLOCK_SCAN_RAKING_MEMOIZE, BLOCK_SCAN_WARP_SCANS };
enum BlockLoadAlgorithm { BLOCK_LOAD_DIRECT, BLOCK_LOAD_STRIPED, BLOCK_LOAD_VECTORIZE, BLOCK_LOAD_TRANSPOSE, BLOCK_LOAD_WARP_TRANSPOSE, BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED };
enum BlockStoreAlgorithm { BLOCK_STORE_DIRECT, BLOCK_STORE_STRIPED, BLOCK_STORE_VECTORIZE, BLOCK_STORE_TRANSPOSE, BLOCK_STORE_WARP_TRANSPOSE, BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED };
enum BlockHistogramAlgorithm { BLOCK_HISTO_SORT, BLOCK_HISTO_ATOMIC };

namespace detail {

template <class T, int Count> struct Store {
  alignas(T) unsigned char raw[sizeof(T) * (Count > 0 ? Count : 1)];
  RPX_INLINE T &operator[](int i) { return reinterpret_cast<T *>(raw)[i]; }
};
RPX_INLINE int tid() { return static_cast<int>(rpx::linear_thread()); }
RPX_INLINE int block_threads() { return static_cast<int>(blockDim.x * blockDim.y * blockDim.z); }
RPX_INLINE void barrier() { rpx::block_barrier(0, 0); }

// TempStorage that serves every instantiation: the bytes of `Items` items of T, and one more for a result.
template <class T, int Items> struct Temp {
  Store<T, Items + 1> items;
};

}  // namespace detail

#define RPX_COLLECTIVE(Name, Storage)                                    \
  using TempStorage = Storage;                                           \
  RPX_INLINE Name() : temp_(*own()) {}                                   \
  RPX_INLINE Name(TempStorage &t) : temp_(t) {}                          \
                                                                         \
 private:                                                                \
  TempStorage &temp_;                                                    \
  RPX_INLINE static TempStorage *own() {                                 \
    static TempStorage storage;                                          \
    return &storage;                                                     \
  }                                                                      \
                                                                         \
 public:

template <class T, int X, BlockReduceAlgorithm A = BLOCK_REDUCE_WARP_REDUCTIONS, int Y = 1, int Z = 1, int Arch = 1> class BlockReduce {
  static constexpr int N = X * Y * Z;
  using Storage = detail::Temp<T, N>;

 public:
  RPX_COLLECTIVE(BlockReduce, Storage)
  template <class F> RPX_INLINE T Reduce(T v, F f, int valid = N) {
    const int t = detail::tid();
    temp_.items[t] = v;
    detail::barrier();
    T result = v;
    if (t == 0) {
      const int n = valid < N ? valid : N;
      for (int i = 1; i < n; ++i) result = f(result, temp_.items[i]);
    }
    detail::barrier();
    return result;
  }
  template <int I, class F> RPX_INLINE T Reduce(T (&v)[I], F f) { return Reduce(ThreadReduce(v, f), f); }
  RPX_INLINE T Sum(T v, int valid = N) { return Reduce(v, hipcub::Sum(), valid); }
  template <int I> RPX_INLINE T Sum(T (&v)[I]) { return Reduce(v, hipcub::Sum()); }
};

template <class T, int X, BlockScanAlgorithm A = BLOCK_SCAN_RAKING, int Y = 1, int Z = 1, int Arch = 1> class BlockScan {
  static constexpr int N = X * Y * Z;
  using Storage = detail::Temp<T, 2 * N>;

 public:
  RPX_COLLECTIVE(BlockScan, Storage)
  // temp holds each thread's total, then what precedes it; the last item holds the block's total.
  template <class F> RPX_INLINE void scan(const T &own_total, F f, T *before, T *total) {
    const int t = detail::tid();
    temp_.items[t] = own_total;
    detail::barrier();
    if (t == 0) {
      T running = temp_.items[0];
      for (int i = 1; i < N; ++i) {
        temp_.items[N + i] = running;
        running = f(running, temp_.items[i]);
      }
      temp_.items[2 * N] = running;
    }
    detail::barrier();
    if (t > 0) *before = temp_.items[N + t];
    *total = temp_.items[2 * N];
    detail::barrier();
  }
  template <int I, class F> RPX_INLINE void InclusiveScan(T (&in)[I], T (&out)[I], F f, T &total) {
    T sum = ThreadReduce(in, f), before{};
    scan(sum, f, &before, &total);
    T running = detail::tid() ? f(before, in[0]) : in[0];
    out[0] = running;
    for (int i = 1; i < I; ++i) out[i] = running = f(running, in[i]);
  }
  template <int I, class F> RPX_INLINE void ExclusiveScan(T (&in)[I], T (&out)[I], T initial, F f, T &total) {
    T sum = ThreadReduce(in, f), before{};
    scan(sum, f, &before, &total);
    T running = detail::tid() ? f(initial, before) : initial;
    for (int i = 0; i < I; ++i) {
      T next = f(running, in[i]);
      out[i] = running;
      running = next;
    }
  }
  template <int I, class F, class P> RPX_INLINE void prefixed(T (&in)[I], T (&out)[I], F f, P &prefix, bool exclusive) {
    T total;
    T shifted[I];
    for (int i = 0; i < I; ++i) shifted[i] = in[i];
    T sum = ThreadReduce(in, f), before{};
    scan(sum, f, &before, &total);
    // The callback is for the first wavefront; its result of lane 0 seeds the block.
    if (rpx::wave->index == 0) {
      T seed = prefix(total);
      if (detail::tid() == 0) temp_.items[2 * N] = seed;
    }
    detail::barrier();
    T running = temp_.items[2 * N];
    detail::barrier();
    if (detail::tid()) running = f(running, before);
    for (int i = 0; i < I; ++i) {
      T next = f(running, shifted[i]);
      out[i] = exclusive ? running : next;
      running = next;
    }
  }

  template <class F> RPX_INLINE void InclusiveScan(T in, T &out, F f) { T total; InclusiveScan(in, out, f, total); }
  template <class F> RPX_INLINE void InclusiveScan(T in, T &out, F f, T &total) {
    T a[1] = {in}, b[1];
    InclusiveScan(a, b, f, total);
    out = b[0];
  }
  template <int I, class F> RPX_INLINE void InclusiveScan(T (&in)[I], T (&out)[I], F f) { T total; InclusiveScan(in, out, f, total); }
  template <class F> RPX_INLINE void ExclusiveScan(T in, T &out, T initial, F f) { T total; ExclusiveScan(in, out, initial, f, total); }
  template <class F> RPX_INLINE void ExclusiveScan(T in, T &out, T initial, F f, T &total) {
    T a[1] = {in}, b[1];
    ExclusiveScan(a, b, initial, f, total);
    out = b[0];
  }
  template <int I, class F> RPX_INLINE void ExclusiveScan(T (&in)[I], T (&out)[I], T initial, F f) { T total; ExclusiveScan(in, out, initial, f, total); }
  template <class F> RPX_INLINE void ExclusiveScan(T in, T &out, F f) { ExclusiveScan(in, out, T{}, f); }
  RPX_INLINE void InclusiveSum(T in, T &out) { InclusiveScan(in, out, hipcub::Sum()); }
  RPX_INLINE void InclusiveSum(T in, T &out, T &total) { InclusiveScan(in, out, hipcub::Sum(), total); }
  template <int I> RPX_INLINE void InclusiveSum(T (&in)[I], T (&out)[I]) { InclusiveScan(in, out, hipcub::Sum()); }
  template <int I> RPX_INLINE void InclusiveSum(T (&in)[I], T (&out)[I], T &total) { InclusiveScan(in, out, hipcub::Sum(), total); }
  RPX_INLINE void ExclusiveSum(T in, T &out) { ExclusiveScan(in, out, T(0), hipcub::Sum()); }
  RPX_INLINE void ExclusiveSum(T in, T &out, T &total) { ExclusiveScan(in, out, T(0), hipcub::Sum(), total); }
  template <int I> RPX_INLINE void ExclusiveSum(T (&in)[I], T (&out)[I]) { ExclusiveScan(in, out, T(0), hipcub::Sum()); }
  template <int I> RPX_INLINE void ExclusiveSum(T (&in)[I], T (&out)[I], T &total) { ExclusiveScan(in, out, T(0), hipcub::Sum(), total); }
#define RPX_IF_CALLBACK class P, std::enable_if_t<std::is_class<P>::value && std::is_invocable<P &, T>::value, int> = 0
  template <RPX_IF_CALLBACK> RPX_INLINE void ExclusiveSum(T in, T &out, P &prefix) {
    T a[1] = {in}, b[1];
    prefixed(a, b, hipcub::Sum(), prefix, true);
    out = b[0];
  }
  template <RPX_IF_CALLBACK> RPX_INLINE void InclusiveSum(T in, T &out, P &prefix) {
    T a[1] = {in}, b[1];
    prefixed(a, b, hipcub::Sum(), prefix, false);
    out = b[0];
  }
  template <int I, RPX_IF_CALLBACK> RPX_INLINE void ExclusiveSum(T (&in)[I], T (&out)[I], P &prefix) { prefixed(in, out, hipcub::Sum(), prefix, true); }
  template <int I, RPX_IF_CALLBACK> RPX_INLINE void InclusiveSum(T (&in)[I], T (&out)[I], P &prefix) { prefixed(in, out, hipcub::Sum(), prefix, false); }
  template <class F, RPX_IF_CALLBACK> RPX_INLINE void ExclusiveScan(T in, T &out, F f, P &prefix) {
    T a[1] = {in}, b[1];
    prefixed(a, b, f, prefix, true);
    out = b[0];
  }
  template <class F, RPX_IF_CALLBACK> RPX_INLINE void InclusiveScan(T in, T &out, F f, P &prefix) {
    T a[1] = {in}, b[1];
    prefixed(a, b, f, prefix, false);
    out = b[0];
  }
  template <int I, class F, RPX_IF_CALLBACK> RPX_INLINE void ExclusiveScan(T (&in)[I], T (&out)[I], F f, P &prefix) { prefixed(in, out, f, prefix, true); }
  template <int I, class F, RPX_IF_CALLBACK> RPX_INLINE void InclusiveScan(T (&in)[I], T (&out)[I], F f, P &prefix) { prefixed(in, out, f, prefix, false); }
#undef RPX_IF_CALLBACK
};

// ---- loads and stores ------------------------------------------------------------------------------------------------

template <class It, class T, int I> RPX_INLINE void LoadDirectBlocked(int t, It in, T (&v)[I]) {
  for (int i = 0; i < I; ++i) v[i] = in[t * I + i];
}
template <class It, class T, int I> RPX_INLINE void LoadDirectBlocked(int t, It in, T (&v)[I], int valid) {
  for (int i = 0; i < I; ++i)
    if (t * I + i < valid) v[i] = in[t * I + i];
}
template <class It, class T, int I, class D> RPX_INLINE void LoadDirectBlocked(int t, It in, T (&v)[I], int valid, D otherwise) {
  for (int i = 0; i < I; ++i) v[i] = t * I + i < valid ? static_cast<T>(in[t * I + i]) : static_cast<T>(otherwise);
}
template <class T, int I> RPX_INLINE void LoadDirectBlockedVectorized(int t, const T *in, T (&v)[I]) { LoadDirectBlocked(t, in, v); }
template <int N, class It, class T, int I> RPX_INLINE void LoadDirectStriped(int t, It in, T (&v)[I]) {
  for (int i = 0; i < I; ++i) v[i] = in[t + i * N];
}
template <int N, class It, class T, int I> RPX_INLINE void LoadDirectStriped(int t, It in, T (&v)[I], int valid) {
  for (int i = 0; i < I; ++i)
    if (t + i * N < valid) v[i] = in[t + i * N];
}
template <int N, class It, class T, int I, class D> RPX_INLINE void LoadDirectStriped(int t, It in, T (&v)[I], int valid, D otherwise) {
  for (int i = 0; i < I; ++i) v[i] = t + i * N < valid ? static_cast<T>(in[t + i * N]) : static_cast<T>(otherwise);
}
RPX_INLINE int rpx_warp_striped(int t, int items, int i) {
  const int w = HIPCUB_WARP_THREADS;
  return t / w * w * items + i * w + t % w;
}
template <class It, class T, int I> RPX_INLINE void LoadDirectWarpStriped(int t, It in, T (&v)[I]) {
  for (int i = 0; i < I; ++i) v[i] = in[rpx_warp_striped(t, I, i)];
}
template <class It, class T, int I> RPX_INLINE void LoadDirectWarpStriped(int t, It in, T (&v)[I], int valid) {
  for (int i = 0; i < I; ++i)
    if (rpx_warp_striped(t, I, i) < valid) v[i] = in[rpx_warp_striped(t, I, i)];
}
template <class It, class T, int I> RPX_INLINE void StoreDirectBlocked(int t, It out, T (&v)[I]) {
  for (int i = 0; i < I; ++i) out[t * I + i] = v[i];
}
template <class It, class T, int I> RPX_INLINE void StoreDirectBlocked(int t, It out, T (&v)[I], int valid) {
  for (int i = 0; i < I; ++i)
    if (t * I + i < valid) out[t * I + i] = v[i];
}
template <class T, int I> RPX_INLINE void StoreDirectBlockedVectorized(int t, T *out, T (&v)[I]) { StoreDirectBlocked(t, out, v); }
template <int N, class It, class T, int I> RPX_INLINE void StoreDirectStriped(int t, It out, T (&v)[I]) {
  for (int i = 0; i < I; ++i) out[t + i * N] = v[i];
}
template <int N, class It, class T, int I> RPX_INLINE void StoreDirectStriped(int t, It out, T (&v)[I], int valid) {
  for (int i = 0; i < I; ++i)
    if (t + i * N < valid) out[t + i * N] = v[i];
}
template <class It, class T, int I> RPX_INLINE void StoreDirectWarpStriped(int t, It out, T (&v)[I]) {
  for (int i = 0; i < I; ++i) out[rpx_warp_striped(t, I, i)] = v[i];
}
template <class It, class T, int I> RPX_INLINE void StoreDirectWarpStriped(int t, It out, T (&v)[I], int valid) {
  for (int i = 0; i < I; ++i)
    if (rpx_warp_striped(t, I, i) < valid) out[rpx_warp_striped(t, I, i)] = v[i];
}

template <class T, int X, int I, BlockLoadAlgorithm A = BLOCK_LOAD_DIRECT, int Y = 1, int Z = 1, int Arch = 1> class BlockLoad {
  static constexpr int N = X * Y * Z;
  using Storage = detail::Temp<T, 1>;

 public:
  RPX_COLLECTIVE(BlockLoad, Storage)
  template <class It, class... R> RPX_INLINE void Load(It in, T (&v)[I], R... rest) {
    if constexpr (A == BLOCK_LOAD_STRIPED) LoadDirectStriped<N>(detail::tid(), in, v, rest...);
    else LoadDirectBlocked(detail::tid(), in, v, rest...);
    if constexpr (A == BLOCK_LOAD_TRANSPOSE || A == BLOCK_LOAD_WARP_TRANSPOSE || A == BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED) detail::barrier();
  }
};
template <class T, int X, int I, BlockStoreAlgorithm A = BLOCK_STORE_DIRECT, int Y = 1, int Z = 1, int Arch = 1> class BlockStore {
  static constexpr int N = X * Y * Z;
  using Storage = detail::Temp<T, 1>;

 public:
  RPX_COLLECTIVE(BlockStore, Storage)
  template <class It, class... R> RPX_INLINE void Store(It out, T (&v)[I], R... rest) {
    if constexpr (A == BLOCK_STORE_TRANSPOSE || A == BLOCK_STORE_WARP_TRANSPOSE || A == BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED) detail::barrier();
    if constexpr (A == BLOCK_STORE_STRIPED) StoreDirectStriped<N>(detail::tid(), out, v, rest...);
    else StoreDirectBlocked(detail::tid(), out, v, rest...);
  }
};

// ---- exchange --------------------------------------------------------------------------------------------------------

template <class T, int X, int I, bool Slice = false, int Y = 1, int Z = 1, int Arch = 1> class BlockExchange {
  static constexpr int N = X * Y * Z;
  using Storage = detail::Temp<T, N * I>;

  template <class U, class From, class To> RPX_INLINE void move(const T (&in)[I], U (&out)[I], From from, To to) {
    T held[I];
    for (int i = 0; i < I; ++i) held[i] = in[i];
    for (int i = 0; i < I; ++i) temp_.items[from(i)] = held[i];
    detail::barrier();
    for (int i = 0; i < I; ++i) out[i] = temp_.items[to(i)];
    detail::barrier();
  }

 public:
  RPX_COLLECTIVE(BlockExchange, Storage)
  RPX_INLINE static int blocked(int i) { return detail::tid() * I + i; }
  RPX_INLINE static int striped(int i) { return detail::tid() + i * N; }
  RPX_INLINE static int warped(int i) { return rpx_warp_striped(detail::tid(), I, i); }
  template <class U> RPX_INLINE void StripedToBlocked(const T (&in)[I], U (&out)[I]) { move(in, out, striped, blocked); }
  template <class U> RPX_INLINE void BlockedToStriped(const T (&in)[I], U (&out)[I]) { move(in, out, blocked, striped); }
  template <class U> RPX_INLINE void WarpStripedToBlocked(const T (&in)[I], U (&out)[I]) { move(in, out, warped, blocked); }
  template <class U> RPX_INLINE void BlockedToWarpStriped(const T (&in)[I], U (&out)[I]) { move(in, out, blocked, warped); }
  template <class U, class R> RPX_INLINE void ScatterToBlocked(const T (&in)[I], U (&out)[I], R (&ranks)[I]) {
    move(in, out, [&](int i) { return static_cast<int>(ranks[i]); }, blocked);
  }
  template <class U, class R> RPX_INLINE void ScatterToStriped(const T (&in)[I], U (&out)[I], R (&ranks)[I]) {
    move(in, out, [&](int i) { return static_cast<int>(ranks[i]); }, striped);
  }
  RPX_INLINE void StripedToBlocked(T (&v)[I]) { StripedToBlocked(v, v); }
  RPX_INLINE void BlockedToStriped(T (&v)[I]) { BlockedToStriped(v, v); }
  RPX_INLINE void WarpStripedToBlocked(T (&v)[I]) { WarpStripedToBlocked(v, v); }
  RPX_INLINE void BlockedToWarpStriped(T (&v)[I]) { BlockedToWarpStriped(v, v); }
  template <class R> RPX_INLINE void ScatterToBlocked(T (&v)[I], R (&ranks)[I]) { ScatterToBlocked(v, v, ranks); }
  template <class R> RPX_INLINE void ScatterToStriped(T (&v)[I], R (&ranks)[I]) { ScatterToStriped(v, v, ranks); }
};

// ---- sorting ---------------------------------------------------------------------------------------------------------

namespace detail {

// Radix order: IEEE floats by value with -0 before +0, as the bits sort; restricted to bits [begin, end).
template <class K> RPX_INLINE rpx::BitsOf<K> radix_bits(const K &k) {
  using B = rpx::BitsOf<K>;
  B b = rpx::bit_copy<B>(k);
  constexpr B top = B(1) << (8 * sizeof(K) - 1);
  if constexpr (std::is_integral<K>::value) return std::is_signed<K>::value ? static_cast<B>(b ^ top) : b;
  else return b & top ? static_cast<B>(~b) : static_cast<B>(b | top);
}
template <class K> RPX_INLINE rpx::BitsOf<K> radix_part(const K &k, int begin, int end) {
  using B = rpx::BitsOf<K>;
  B b = static_cast<B>(radix_bits(k) >> begin);
  int bits = end - begin;
  return bits >= static_cast<int>(8 * sizeof(K)) ? b : static_cast<B>(b & ((B(1) << bits) - 1));
}

}  // namespace detail

template <class K, int X, int I, class V = NullType, int RadixBits = 4, bool Memoize = true, BlockScanAlgorithm A = BLOCK_SCAN_WARP_SCANS, int Shared = 0, int Y = 1, int Z = 1, int Arch = 1>
class BlockRadixSort {
  static constexpr int N = X * Y * Z;
  struct Item {
    K key;
    V value;
  };
  using Storage = detail::Temp<Item, N * I>;

  RPX_INLINE void sort(K (&keys)[I], V *values, int begin, int end, bool descending, bool striped) {
    const int t = detail::tid();
    for (int i = 0; i < I; ++i) {
      temp_.items[t * I + i].key = keys[i];
      if (values) temp_.items[t * I + i].value = values[i];
    }
    detail::barrier();
    if (t == 0) {
      Item *first = &temp_.items[0];
      std::stable_sort(first, first + N * I, [=](const Item &a, const Item &b) {
        auto x = detail::radix_part(a.key, begin, end), y = detail::radix_part(b.key, begin, end);
        return descending ? y < x : x < y;
      });
    }
    detail::barrier();
    for (int i = 0; i < I; ++i) {
      const Item &item = temp_.items[striped ? t + i * N : t * I + i];
      keys[i] = item.key;
      if (values) values[i] = item.value;
    }
    detail::barrier();
  }

 public:
  RPX_COLLECTIVE(BlockRadixSort, Storage)
  static constexpr int kBits = 8 * sizeof(K);
  RPX_INLINE void Sort(K (&k)[I], int b = 0, int e = kBits) { sort(k, nullptr, b, e, false, false); }
  RPX_INLINE void Sort(K (&k)[I], V (&v)[I], int b = 0, int e = kBits) { sort(k, v, b, e, false, false); }
  RPX_INLINE void SortDescending(K (&k)[I], int b = 0, int e = kBits) { sort(k, nullptr, b, e, true, false); }
  RPX_INLINE void SortDescending(K (&k)[I], V (&v)[I], int b = 0, int e = kBits) { sort(k, v, b, e, true, false); }
  RPX_INLINE void SortBlockedToStriped(K (&k)[I], int b = 0, int e = kBits) { sort(k, nullptr, b, e, false, true); }
  RPX_INLINE void SortBlockedToStriped(K (&k)[I], V (&v)[I], int b = 0, int e = kBits) { sort(k, v, b, e, false, true); }
  RPX_INLINE void SortDescendingBlockedToStriped(K (&k)[I], int b = 0, int e = kBits) { sort(k, nullptr, b, e, true, true); }
  RPX_INLINE void SortDescendingBlockedToStriped(K (&k)[I], V (&v)[I], int b = 0, int e = kBits) { sort(k, v, b, e, true, true); }
};

template <class K, int X, int I, class V = NullType, int Y = 1, int Z = 1> class BlockMergeSort {
  static constexpr int N = X * Y * Z;
  struct Item {
    K key;
    V value;
  };
  using Storage = detail::Temp<Item, N * I>;

  template <class F> RPX_INLINE void sort(K (&keys)[I], V *values, F less, int valid) {
    const int t = detail::tid();
    for (int i = 0; i < I; ++i) {
      temp_.items[t * I + i].key = keys[i];
      if (values) temp_.items[t * I + i].value = values[i];
    }
    detail::barrier();
    if (t == 0) {
      Item *first = &temp_.items[0];
      std::stable_sort(first, first + valid, [&](const Item &a, const Item &b) { return less(a.key, b.key); });
    }
    detail::barrier();
    for (int i = 0; i < I; ++i) {
      keys[i] = temp_.items[t * I + i].key;
      if (values) values[i] = temp_.items[t * I + i].value;
    }
    detail::barrier();
  }

 public:
  RPX_COLLECTIVE(BlockMergeSort, Storage)
  template <class F> RPX_INLINE void Sort(K (&k)[I], F f) { sort(k, nullptr, f, N * I); }
  template <class F> RPX_INLINE void Sort(K (&k)[I], V (&v)[I], F f) { sort(k, v, f, N * I); }
  template <class F> RPX_INLINE void StableSort(K (&k)[I], F f) { sort(k, nullptr, f, N * I); }
  template <class F> RPX_INLINE void StableSort(K (&k)[I], V (&v)[I], F f) { sort(k, v, f, N * I); }
  template <class F> RPX_INLINE void Sort(K (&k)[I], F f, int valid, K) { sort(k, nullptr, f, valid); }
  template <class F> RPX_INLINE void Sort(K (&k)[I], V (&v)[I], F f, int valid, K) { sort(k, v, f, valid); }
};

// ---- neighbours ------------------------------------------------------------------------------------------------------

template <class T, int X, int Y = 1, int Z = 1, int Arch = 1> class BlockDiscontinuity {
  static constexpr int N = X * Y * Z;
  using Storage = detail::Temp<T, 2 * N>;

 public:
  RPX_COLLECTIVE(BlockDiscontinuity, Storage)
  template <int I, class Flag, class F> RPX_INLINE void FlagHeads(Flag (&heads)[I], T (&v)[I], F f) { heads_impl(heads, v, f, nullptr); }
  template <int I, class Flag, class F> RPX_INLINE void FlagHeads(Flag (&heads)[I], T (&v)[I], F f, T before) { heads_impl(heads, v, f, &before); }
  template <int I, class Flag, class F> RPX_INLINE void FlagTails(Flag (&tails)[I], T (&v)[I], F f) { tails_impl(tails, v, f, nullptr); }
  template <int I, class Flag, class F> RPX_INLINE void FlagTails(Flag (&tails)[I], T (&v)[I], F f, T after) { tails_impl(tails, v, f, &after); }
  template <int I, class Flag, class F> RPX_INLINE void FlagHeadsAndTails(Flag (&heads)[I], Flag (&tails)[I], T (&v)[I], F f) {
    FlagHeads(heads, v, f);
    FlagTails(tails, v, f);
  }

 private:
  template <int I, class Flag, class F> RPX_INLINE void heads_impl(Flag (&heads)[I], T (&v)[I], F f, const T *before) {
    const int t = detail::tid();
    temp_.items[t] = v[I - 1];
    detail::barrier();
    if (t > 0) heads[0] = f(temp_.items[t - 1], v[0]);
    else heads[0] = before ? static_cast<Flag>(f(*before, v[0])) : Flag(1);
    for (int i = 1; i < I; ++i) heads[i] = f(v[i - 1], v[i]);
    detail::barrier();
  }
  template <int I, class Flag, class F> RPX_INLINE void tails_impl(Flag (&tails)[I], T (&v)[I], F f, const T *after) {
    const int t = detail::tid();
    temp_.items[t] = v[0];
    detail::barrier();
    if (t < N - 1) tails[I - 1] = f(v[I - 1], temp_.items[t + 1]);
    else tails[I - 1] = after ? static_cast<Flag>(f(v[I - 1], *after)) : Flag(1);
    for (int i = 0; i < I - 1; ++i) tails[i] = f(v[i], v[i + 1]);
    detail::barrier();
  }
};

template <class T, int X, int Y = 1, int Z = 1, int Arch = 1> class BlockAdjacentDifference {
  static constexpr int N = X * Y * Z;
  using Storage = detail::Temp<T, N>;

 public:
  RPX_COLLECTIVE(BlockAdjacentDifference, Storage)
  template <int I, class U, class F> RPX_INLINE void SubtractLeft(T (&in)[I], U (&out)[I], F f) { left(in, out, f, nullptr); }
  template <int I, class U, class F> RPX_INLINE void SubtractLeft(T (&in)[I], U (&out)[I], F f, T before) { left(in, out, f, &before); }
  template <int I, class U, class F> RPX_INLINE void SubtractRight(T (&in)[I], U (&out)[I], F f) { right(in, out, f, nullptr); }
  template <int I, class U, class F> RPX_INLINE void SubtractRight(T (&in)[I], U (&out)[I], F f, T after) { right(in, out, f, &after); }

 private:
  template <int I, class U, class F> RPX_INLINE void left(T (&in)[I], U (&out)[I], F f, const T *before) {
    const int t = detail::tid();
    temp_.items[t] = in[I - 1];
    detail::barrier();
    for (int i = I - 1; i > 0; --i) out[i] = f(in[i], in[i - 1]);
    if (t > 0) out[0] = f(in[0], temp_.items[t - 1]);
    else if (before) {
      T edge = *before;
      out[0] = f(in[0], edge);
    } else out[0] = static_cast<U>(in[0]);
    detail::barrier();
  }
  template <int I, class U, class F> RPX_INLINE void right(T (&in)[I], U (&out)[I], F f, const T *after) {
    const int t = detail::tid();
    temp_.items[t] = in[0];
    detail::barrier();
    for (int i = 0; i < I - 1; ++i) out[i] = f(in[i], in[i + 1]);
    if (t < N - 1) out[I - 1] = f(in[I - 1], temp_.items[t + 1]);
    else if (after) {
      T edge = *after;
      out[I - 1] = f(in[I - 1], edge);
    } else out[I - 1] = static_cast<U>(in[I - 1]);
    detail::barrier();
  }
};

template <class T, int X, int I, int Bins, BlockHistogramAlgorithm A = BLOCK_HISTO_SORT, int Y = 1, int Z = 1, int Arch = 1> class BlockHistogram {
  static constexpr int N = X * Y * Z;
  using Storage = detail::Temp<T, 1>;

 public:
  RPX_COLLECTIVE(BlockHistogram, Storage)
  template <class C> RPX_INLINE void InitHistogram(C (&bins)[Bins]) {
    for (int i = detail::tid(); i < Bins; i += N) bins[i] = 0;
  }
  template <class C> RPX_INLINE void Composite(T (&v)[I], C (&bins)[Bins]) {
    detail::barrier();
    for (int i = 0; i < I; ++i) atomicAdd(&bins[static_cast<std::size_t>(v[i])], C(1));
    detail::barrier();
  }
  template <class C> RPX_INLINE void Histogram(T (&v)[I], C (&bins)[Bins]) {
    InitHistogram(bins);
    Composite(v, bins);
  }
};

template <class T, int X, int Y = 1, int Z = 1> class BlockShuffle {
  static constexpr int N = X * Y * Z;
  using Storage = detail::Temp<T, N>;

 public:
  RPX_COLLECTIVE(BlockShuffle, Storage)
  RPX_INLINE void Offset(T in, T &out, int distance = 1) {
    const int t = detail::tid();
    temp_.items[t] = in;
    detail::barrier();
    if (t + distance >= 0 && t + distance < N) out = temp_.items[t + distance];
    detail::barrier();
  }
  RPX_INLINE void Rotate(T in, T &out, unsigned distance = 1) {
    const int t = detail::tid();
    temp_.items[t] = in;
    detail::barrier();
    out = temp_.items[(t + static_cast<int>(distance)) % N];
    detail::barrier();
  }
};

}  // namespace hipcub
