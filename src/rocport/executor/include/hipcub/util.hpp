// SPDX-License-Identifier: Apache-2.0
// hipCUB's operators, pairs, traits and iterators.
#pragma once

#include <cstddef>
#include <cstring>
#include <iterator>
#include <limits>
#include <type_traits>
#include <utility>

#include "hip/hip_runtime.h"

#define HIPCUB_DEVICE
#define HIPCUB_HOST
#define HIPCUB_HOST_DEVICE
#define HIPCUB_FORCEINLINE inline
#define HIPCUB_RUNTIME_FUNCTION
#define HIPCUB_NAMESPACE hipcub
#define HIPCUB_MAX(a, b) (((b) > (a)) ? (b) : (a))
#define HIPCUB_MIN(a, b) (((b) < (a)) ? (b) : (a))
#define HIPCUB_WARP_THREADS (static_cast<int>(rpx::wave_width))
#define HIPCUB_DEVICE_WARP_THREADS HIPCUB_WARP_THREADS
#define HIPCUB_ARCH 1
#define HipcubDebug(e) (e)

namespace hipcub {

struct NullType {
  template <class T> NullType &operator=(const T &) { return *this; }
  bool operator==(const NullType &) const { return true; }
};

struct Equality {
  template <class A, class B> RPX_INLINE constexpr bool operator()(const A &a, const B &b) const { return a == b; }
};
struct Inequality {
  template <class A, class B> RPX_INLINE constexpr bool operator()(const A &a, const B &b) const { return a != b; }
};
template <class E> struct InequalityWrapper {
  E op;
  InequalityWrapper(E e) : op(e) {}
  template <class A, class B> RPX_INLINE bool operator()(const A &a, const B &b) { return !op(a, b); }
};
struct Sum {
  template <class A, class B> RPX_INLINE constexpr auto operator()(const A &a, const B &b) const { return a + b; }
};
struct Difference {
  template <class A, class B> RPX_INLINE constexpr auto operator()(const A &a, const B &b) const { return a - b; }
};
struct Division {
  template <class A, class B> RPX_INLINE constexpr auto operator()(const A &a, const B &b) const { return a / b; }
};
struct Max {
  template <class A, class B> RPX_INLINE constexpr std::common_type_t<A, B> operator()(const A &a, const B &b) const { return a < b ? b : a; }
};
struct Min {
  template <class A, class B> RPX_INLINE constexpr std::common_type_t<A, B> operator()(const A &a, const B &b) const { return b < a ? b : a; }
};

template <class K, class V> struct KeyValuePair {
  using Key = K;
  using Value = V;
  K key;
  V value;
  KeyValuePair() = default;
  RPX_INLINE KeyValuePair(const K &k, const V &v) : key(k), value(v) {}
  RPX_INLINE bool operator!=(const KeyValuePair &b) const { return value != b.value || key != b.key; }
  RPX_INLINE bool operator==(const KeyValuePair &b) const { return value == b.value && key == b.key; }
};

struct ArgMax {
  template <class K, class T> RPX_INLINE KeyValuePair<K, T> operator()(const KeyValuePair<K, T> &a, const KeyValuePair<K, T> &b) const {
    return b.value > a.value || (a.value == b.value && b.key < a.key) ? b : a;
  }
};
struct ArgMin {
  template <class K, class T> RPX_INLINE KeyValuePair<K, T> operator()(const KeyValuePair<K, T> &a, const KeyValuePair<K, T> &b) const {
    return b.value < a.value || (a.value == b.value && b.key < a.key) ? b : a;
  }
};
template <class B> struct CastOp {
  template <class A> RPX_INLINE B operator()(const A &a) const { return static_cast<B>(a); }
};
template <class F> struct SwizzleScanOp {
  F op;
  template <class T> RPX_INLINE T operator()(const T &a, const T &b) { return op(b, a); }
};
template <class F> struct ReduceBySegmentOp {
  F op;
  template <class P> RPX_INLINE P operator()(const P &a, const P &b) {
    P r;
    r.key = a.key + b.key;
    r.value = b.key ? b.value : op(a.value, b.value);
    return r;
  }
};

// ---- types -----------------------------------------------------------------------------------------------------------

template <bool B, class T = void> struct If : std::conditional<B, T, void> {};
template <class T> struct Uninitialized {
  alignas(T) unsigned char storage[sizeof(T)];
  RPX_INLINE T &Alias() { return reinterpret_cast<T &>(*this); }
};
enum Category { NOT_A_NUMBER, SIGNED_INTEGER, UNSIGNED_INTEGER, FLOATING_POINT };
template <class T> struct Traits {
  using UnsignedBits = rpx::BitsOf<T>;
  static constexpr Category CATEGORY = std::is_floating_point<T>::value ? FLOATING_POINT
                                       : std::is_integral<T>::value     ? (std::is_signed<T>::value ? SIGNED_INTEGER : UNSIGNED_INTEGER)
                                                                        : NOT_A_NUMBER;
  static constexpr bool PRIMITIVE = std::is_arithmetic<T>::value, NULL_TYPE = false;
  static T Max() { return std::numeric_limits<T>::max(); }
  static T Lowest() { return std::numeric_limits<T>::lowest(); }
};
template <class T> struct NumericTraits : Traits<T> {};
template <class T> struct PowerOfTwo { enum { VALUE = (T::VALUE & (T::VALUE - 1)) == 0 }; };
template <int N> struct Int2Type { enum { VALUE = N }; };
template <int N, int C = N, int Count = 0> struct Log2 { enum { VALUE = Log2<N, (C >> 1), Count + 1>::VALUE }; };
template <int N, int Count> struct Log2<N, 0, Count> { enum { VALUE = (1 << (Count - 1) < N) ? Count : Count - 1 }; };
template <class T> struct DoubleBuffer {
  T *d_buffers[2];
  int selector;
  DoubleBuffer() : d_buffers{nullptr, nullptr}, selector(0) {}
  DoubleBuffer(T *current, T *alternate) : d_buffers{current, alternate}, selector(0) {}
  T *Current() { return d_buffers[selector]; }
  T *Alternate() { return d_buffers[selector ^ 1]; }
};
template <class V> struct FutureValue {
  V *pointer;
  explicit FutureValue(V *p) : pointer(p) {}
  operator V() const { return *pointer; }
};

struct CachingDeviceAllocator {
  template <class... A> explicit CachingDeviceAllocator(A...) {}
  hipError_t DeviceAllocate(void **p, std::size_t bytes, hipStream_t = 0) { return hipMalloc(p, bytes); }
  hipError_t DeviceAllocate(int, void **p, std::size_t bytes, hipStream_t = 0) { return hipMalloc(p, bytes); }
  hipError_t DeviceFree(void *p) { return hipFree(p); }
  hipError_t DeviceFree(int, void *p) { return hipFree(p); }
  hipError_t FreeAllCached() { return hipSuccess; }
};

namespace detail {
template <class It> using value_t = typename std::iterator_traits<It>::value_type;
template <class It, class Otherwise>
using output_t = std::conditional_t<std::is_void<typename std::iterator_traits<It>::value_type>::value, Otherwise, typename std::iterator_traits<It>::value_type>;
}  // namespace detail

// ---- iterators -------------------------------------------------------------------------------------------------------

#define RPX_RANDOM_ACCESS(Self)                                                                      \
  RPX_INLINE Self &operator++() { return *this += 1; }                                               \
  RPX_INLINE Self operator++(int) { Self r = *this; *this += 1; return r; }                          \
  RPX_INLINE Self &operator--() { return *this += -1; }                                              \
  RPX_INLINE Self operator--(int) { Self r = *this; *this += -1; return r; }                         \
  template <class D> RPX_INLINE Self operator+(D n) const { Self r = *this; r += n; return r; }      \
  template <class D> RPX_INLINE Self operator-(D n) const { Self r = *this; r += -(std::ptrdiff_t)n; return r; } \
  template <class D> RPX_INLINE Self &operator-=(D n) { return *this += -(std::ptrdiff_t)n; }        \
  template <class D> RPX_INLINE auto operator[](D n) const -> decltype(auto) { return *(*this + n); }

template <class V, class Offset = std::ptrdiff_t> class CountingInputIterator {
 public:
  using value_type = V;
  using difference_type = Offset;
  using pointer = V *;
  using reference = V;
  using iterator_category = std::random_access_iterator_tag;
  RPX_INLINE CountingInputIterator(const V &v) : value_(v) {}
  RPX_INLINE V operator*() const { return value_; }
  template <class D> RPX_INLINE CountingInputIterator &operator+=(D n) { value_ = static_cast<V>(value_ + static_cast<V>(n)); return *this; }
  RPX_INLINE Offset operator-(const CountingInputIterator &o) const { return static_cast<Offset>(value_ - o.value_); }
  RPX_INLINE bool operator==(const CountingInputIterator &o) const { return value_ == o.value_; }
  RPX_INLINE bool operator!=(const CountingInputIterator &o) const { return !(value_ == o.value_); }
  RPX_RANDOM_ACCESS(CountingInputIterator)

 private:
  V value_;
};

template <class V, class Offset = std::ptrdiff_t> class ConstantInputIterator {
 public:
  using value_type = V;
  using difference_type = Offset;
  using pointer = V *;
  using reference = V;
  using iterator_category = std::random_access_iterator_tag;
  RPX_INLINE ConstantInputIterator(const V &v, Offset at = 0) : value_(v), at_(at) {}
  RPX_INLINE V operator*() const { return value_; }
  template <class D> RPX_INLINE ConstantInputIterator &operator+=(D n) { at_ += static_cast<Offset>(n); return *this; }
  RPX_INLINE Offset operator-(const ConstantInputIterator &o) const { return at_ - o.at_; }
  RPX_INLINE bool operator==(const ConstantInputIterator &o) const { return at_ == o.at_; }
  RPX_INLINE bool operator!=(const ConstantInputIterator &o) const { return at_ != o.at_; }
  RPX_RANDOM_ACCESS(ConstantInputIterator)

 private:
  V value_;
  Offset at_;
};

template <class V, class F, class It, class Offset = std::ptrdiff_t> class TransformInputIterator {
 public:
  using value_type = V;
  using difference_type = Offset;
  using pointer = V *;
  using reference = V;
  using iterator_category = std::random_access_iterator_tag;
  RPX_INLINE TransformInputIterator(It it, F f) : f_(f), it_(it) {}
  RPX_INLINE V operator*() const { return static_cast<V>(f_(*it_)); }
  template <class D> RPX_INLINE TransformInputIterator &operator+=(D n) { it_ = it_ + static_cast<std::ptrdiff_t>(n); return *this; }
  RPX_INLINE Offset operator-(const TransformInputIterator &o) const { return it_ - o.it_; }
  RPX_INLINE bool operator==(const TransformInputIterator &o) const { return it_ == o.it_; }
  RPX_INLINE bool operator!=(const TransformInputIterator &o) const { return !(it_ == o.it_); }
  RPX_RANDOM_ACCESS(TransformInputIterator)

 private:
  mutable F f_;
  It it_;
};

template <class It, class Offset = std::ptrdiff_t, class V = KeyValuePair<Offset, detail::value_t<It>>> class ArgIndexInputIterator {
 public:
  using value_type = V;
  using difference_type = Offset;
  using pointer = V *;
  using reference = V;
  using iterator_category = std::random_access_iterator_tag;
  RPX_INLINE ArgIndexInputIterator(It it, Offset at = 0) : it_(it), at_(at) {}
  RPX_INLINE V operator*() const { return V(at_, it_[at_]); }
  template <class D> RPX_INLINE ArgIndexInputIterator &operator+=(D n) { at_ += static_cast<Offset>(n); return *this; }
  RPX_INLINE Offset operator-(const ArgIndexInputIterator &o) const { return at_ - o.at_; }
  RPX_INLINE bool operator==(const ArgIndexInputIterator &o) const { return at_ == o.at_; }
  RPX_INLINE bool operator!=(const ArgIndexInputIterator &o) const { return at_ != o.at_; }
  RPX_RANDOM_ACCESS(ArgIndexInputIterator)

 private:
  It it_;
  Offset at_;
};

class DiscardOutputIterator {
 public:
  struct Sink {
    template <class T> RPX_INLINE const Sink &operator=(const T &) const { return *this; }
  };
  using value_type = void;
  using difference_type = std::ptrdiff_t;
  using pointer = void;
  using reference = Sink;
  using iterator_category = std::random_access_iterator_tag;
  RPX_INLINE DiscardOutputIterator(std::ptrdiff_t at = 0) : at_(at) {}
  RPX_INLINE Sink operator*() const { return {}; }
  template <class D> RPX_INLINE DiscardOutputIterator &operator+=(D n) { at_ += n; return *this; }
  RPX_INLINE std::ptrdiff_t operator-(const DiscardOutputIterator &o) const { return at_ - o.at_; }
  RPX_INLINE bool operator==(const DiscardOutputIterator &o) const { return at_ == o.at_; }
  RPX_INLINE bool operator!=(const DiscardOutputIterator &o) const { return at_ != o.at_; }
  RPX_RANDOM_ACCESS(DiscardOutputIterator)

 private:
  std::ptrdiff_t at_;
};

enum CacheLoadModifier { LOAD_DEFAULT, LOAD_CA, LOAD_CG, LOAD_CS, LOAD_CV, LOAD_LDG, LOAD_VOLATILE };
enum CacheStoreModifier { STORE_DEFAULT, STORE_WB, STORE_CG, STORE_CS, STORE_WT, STORE_VOLATILE };
template <CacheLoadModifier M, class T, class Offset = std::ptrdiff_t> using CacheModifiedInputIterator = const T *;
template <CacheStoreModifier M, class T, class Offset = std::ptrdiff_t> using CacheModifiedOutputIterator = T *;
template <CacheLoadModifier M, class It> RPX_INLINE detail::value_t<It> ThreadLoad(It it) { return *it; }
template <CacheStoreModifier M, class It, class T> RPX_INLINE void ThreadStore(It it, T v) { *it = v; }

RPX_INLINE int RowMajorTid(int x, int y, int) { return static_cast<int>(threadIdx.z * (unsigned)(x * y) + threadIdx.y * (unsigned)x + threadIdx.x); }
RPX_INLINE unsigned LaneId() { return rpx::lane; }
RPX_INLINE unsigned WarpId() { return rpx::wave->index; }
template <class T> RPX_INLINE T ShuffleDown(T v, int d, int, unsigned) { return __shfl_down(v, (unsigned)d); }
template <class T> RPX_INLINE T ShuffleUp(T v, int d, int, unsigned) { return __shfl_up(v, (unsigned)d); }
template <class T> RPX_INLINE T ShuffleIndex(T v, int s, int, unsigned) { return __shfl(v, s); }

template <class T, int N, class F> RPX_INLINE T ThreadReduce(const T (&v)[N], F f) {
  T r = v[0];
  for (int i = 1; i < N; ++i) r = f(r, v[i]);
  return r;
}

}  // namespace hipcub
