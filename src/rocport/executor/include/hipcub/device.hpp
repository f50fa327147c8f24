// SPDX-License-Identifier: Apache-2.0
// hipCUB's device-wide algorithms, each one serial pass on the host. A call with null temporary storage asks for its size.
#pragma once

#include <algorithm>
#include <vector>

#include "hipcub/util.hpp"
#include "hipcub/block.hpp"

namespace hipcub {
namespace detail {

// True when the call only asks how much temporary storage is wanted.
inline bool asks_size(void *temp, std::size_t &bytes) {
  if (temp) return false;
  bytes = 256;
  return true;
}
#define RPX_SIZE_QUERY(temp, bytes) \
  if (detail::asks_size(temp, bytes)) return hipSuccess

}  // namespace detail

struct DeviceReduce {
  template <class I, class O, class F, class T, class N>
  static hipError_t Reduce(void *temp, std::size_t &bytes, I in, O out, N n, F f, T initial, hipStream_t = 0, bool = false) {
    RPX_SIZE_QUERY(temp, bytes);
    T result = initial;
    for (N i = 0; i < n; ++i) result = f(result, in[i]);
    *out = result;
    return hipSuccess;
  }
  template <class I, class O, class N> static hipError_t Sum(void *temp, std::size_t &bytes, I in, O out, N n, hipStream_t s = 0, bool = false) {
    using T = detail::output_t<O, detail::value_t<I>>;
    return Reduce(temp, bytes, in, out, n, hipcub::Sum(), T{}, s);
  }
  template <class I, class O, class N> static hipError_t Min(void *temp, std::size_t &bytes, I in, O out, N n, hipStream_t s = 0, bool = false) {
    return extreme(temp, bytes, in, out, n, hipcub::Min(), s);
  }
  template <class I, class O, class N> static hipError_t Max(void *temp, std::size_t &bytes, I in, O out, N n, hipStream_t s = 0, bool = false) {
    return extreme(temp, bytes, in, out, n, hipcub::Max(), s);
  }
  template <class I, class O, class N> static hipError_t ArgMin(void *temp, std::size_t &bytes, I in, O out, N n, hipStream_t s = 0, bool = false) {
    return extreme(temp, bytes, ArgIndexInputIterator<I, int>(in), out, n, hipcub::ArgMin(), s);
  }
  template <class I, class O, class N> static hipError_t ArgMax(void *temp, std::size_t &bytes, I in, O out, N n, hipStream_t s = 0, bool = false) {
    return extreme(temp, bytes, ArgIndexInputIterator<I, int>(in), out, n, hipcub::ArgMax(), s);
  }
  template <class K, class UK, class V, class A, class R, class F, class N>
  static hipError_t ReduceByKey(void *temp, std::size_t &bytes, K keys, UK unique, V values, A aggregates, R runs, F f, N n, hipStream_t = 0, bool = false) {
    RPX_SIZE_QUERY(temp, bytes);
    N run = 0;
    for (N i = 0; i < n;) {
      auto key = keys[i];
      detail::value_t<V> sum = values[i];
      for (++i; i < n && keys[i] == key; ++i) sum = f(sum, values[i]);
      unique[run] = key;
      aggregates[run] = sum;
      ++run;
    }
    *runs = run;
    return hipSuccess;
  }

 private:
  template <class I, class O, class N, class F> static hipError_t extreme(void *temp, std::size_t &bytes, I in, O out, N n, F f, hipStream_t) {
    RPX_SIZE_QUERY(temp, bytes);
    if (n <= 0) return hipSuccess;
    detail::value_t<I> result = in[0];
    for (N i = 1; i < n; ++i) result = f(result, in[i]);
    *out = result;
    return hipSuccess;
  }
};

struct DeviceSegmentedReduce {
  template <class I, class O, class B, class E, class F, class T>
  static hipError_t Reduce(void *temp, std::size_t &bytes, I in, O out, long long segments, B begin, E end, F f, T initial, hipStream_t = 0, bool = false) {
    RPX_SIZE_QUERY(temp, bytes);
    for (long long s = 0; s < segments; ++s) {
      T result = initial;
      for (auto i = begin[s]; i < end[s]; ++i) result = f(result, in[i]);
      out[s] = result;
    }
    return hipSuccess;
  }
  template <class I, class O, class B, class E>
  static hipError_t Sum(void *temp, std::size_t &bytes, I in, O out, long long segments, B begin, E end, hipStream_t s = 0, bool = false) {
    return Reduce(temp, bytes, in, out, segments, begin, end, hipcub::Sum(), detail::output_t<O, detail::value_t<I>>{}, s);
  }
  template <class I, class O, class B, class E>
  static hipError_t Max(void *temp, std::size_t &bytes, I in, O out, long long segments, B begin, E end, hipStream_t s = 0, bool = false) {
    return Reduce(temp, bytes, in, out, segments, begin, end, hipcub::Max(), std::numeric_limits<detail::value_t<I>>::lowest(), s);
  }
  template <class I, class O, class B, class E>
  static hipError_t Min(void *temp, std::size_t &bytes, I in, O out, long long segments, B begin, E end, hipStream_t s = 0, bool = false) {
    return Reduce(temp, bytes, in, out, segments, begin, end, hipcub::Min(), std::numeric_limits<detail::value_t<I>>::max(), s);
  }
  template <class I, class O, class B, class E>
  static hipError_t ArgMax(void *temp, std::size_t &bytes, I in, O out, long long segments, B begin, E end, hipStream_t = 0, bool = false) {
    return arg(temp, bytes, in, out, segments, begin, end, hipcub::ArgMax());
  }
  template <class I, class O, class B, class E>
  static hipError_t ArgMin(void *temp, std::size_t &bytes, I in, O out, long long segments, B begin, E end, hipStream_t = 0, bool = false) {
    return arg(temp, bytes, in, out, segments, begin, end, hipcub::ArgMin());
  }

 private:
  template <class I, class O, class B, class E, class F>
  static hipError_t arg(void *temp, std::size_t &bytes, I in, O out, long long segments, B begin, E end, F f) {
    RPX_SIZE_QUERY(temp, bytes);
    using P = KeyValuePair<int, detail::value_t<I>>;
    for (long long s = 0; s < segments; ++s) {
      if (!(begin[s] < end[s])) continue;
      P best(0, in[begin[s]]);
      for (auto i = begin[s]; i < end[s]; ++i) best = f(best, P(static_cast<int>(i - begin[s]), in[i]));
      out[s] = best;
    }
    return hipSuccess;
  }
};

struct DeviceScan {
  template <class I, class O, class F, class T, class N>
  static hipError_t ExclusiveScan(void *temp, std::size_t &bytes, I in, O out, F f, T initial, N n, hipStream_t = 0, bool = false) {
    RPX_SIZE_QUERY(temp, bytes);
    using A = std::conditional_t<std::is_convertible<T, detail::value_t<I>>::value && !std::is_arithmetic<T>::value, detail::value_t<I>, T>;
    A running = initial;
    for (N i = 0; i < n; ++i) {
      A next = f(running, in[i]);
      out[i] = running;
      running = next;
    }
    return hipSuccess;
  }
  template <class I, class O, class F, class N>
  static hipError_t InclusiveScan(void *temp, std::size_t &bytes, I in, O out, F f, N n, hipStream_t = 0, bool = false) {
    RPX_SIZE_QUERY(temp, bytes);
    if (n <= 0) return hipSuccess;
    detail::value_t<I> running = in[0];
    out[0] = running;
    for (N i = 1; i < n; ++i) out[i] = running = f(running, in[i]);
    return hipSuccess;
  }
  template <class I, class O, class N> static hipError_t ExclusiveSum(void *temp, std::size_t &bytes, I in, O out, N n, hipStream_t s = 0, bool = false) {
    return ExclusiveScan(temp, bytes, in, out, hipcub::Sum(), detail::value_t<I>{}, n, s);
  }
  template <class I, class O, class N> static hipError_t InclusiveSum(void *temp, std::size_t &bytes, I in, O out, N n, hipStream_t s = 0, bool = false) {
    return InclusiveScan(temp, bytes, in, out, hipcub::Sum(), n, s);
  }
  template <class K, class V, class O, class N, class E = Equality>
  static hipError_t ExclusiveSumByKey(void *temp, std::size_t &bytes, K keys, V values, O out, N n, E equal = E(), hipStream_t = 0, bool = false) {
    RPX_SIZE_QUERY(temp, bytes);
    detail::value_t<V> running{};
    for (N i = 0; i < n; ++i) {
      if (i && !equal(keys[i - 1], keys[i])) running = detail::value_t<V>{};
      detail::value_t<V> v = values[i];
      out[i] = running;
      running = running + v;
    }
    return hipSuccess;
  }
  template <class K, class V, class O, class N, class E = Equality>
  static hipError_t InclusiveSumByKey(void *temp, std::size_t &bytes, K keys, V values, O out, N n, E equal = E(), hipStream_t s = 0, bool = false) {
    return InclusiveScanByKey(temp, bytes, keys, values, out, hipcub::Sum(), n, equal, s);
  }
  template <class K, class V, class O, class F, class N, class E = Equality>
  static hipError_t InclusiveScanByKey(void *temp, std::size_t &bytes, K keys, V values, O out, F f, N n, E equal = E(), hipStream_t = 0, bool = false) {
    RPX_SIZE_QUERY(temp, bytes);
    detail::value_t<V> running{};
    for (N i = 0; i < n; ++i) {
      running = i && equal(keys[i - 1], keys[i]) ? static_cast<detail::value_t<V>>(f(running, values[i])) : static_cast<detail::value_t<V>>(values[i]);
      out[i] = running;
    }
    return hipSuccess;
  }
};

struct DeviceRadixSort {
  template <class K, class V, class N>
  static hipError_t SortPairs(void *t, std::size_t &b, const K *ki, K *ko, const V *vi, V *vo, N n, int begin = 0, int end = 8 * sizeof(K), hipStream_t = 0, bool = false) {
    return sort(t, b, ki, ko, vi, vo, n, begin, end, false);
  }
  template <class K, class V, class N>
  static hipError_t SortPairsDescending(void *t, std::size_t &b, const K *ki, K *ko, const V *vi, V *vo, N n, int begin = 0, int end = 8 * sizeof(K), hipStream_t = 0, bool = false) {
    return sort(t, b, ki, ko, vi, vo, n, begin, end, true);
  }
  template <class K, class V, class N>
  static hipError_t SortPairs(void *t, std::size_t &b, DoubleBuffer<K> &k, DoubleBuffer<V> &v, N n, int begin = 0, int end = 8 * sizeof(K), hipStream_t = 0, bool = false) {
    return buffered(t, b, k, &v, n, begin, end, false);
  }
  template <class K, class V, class N>
  static hipError_t SortPairsDescending(void *t, std::size_t &b, DoubleBuffer<K> &k, DoubleBuffer<V> &v, N n, int begin = 0, int end = 8 * sizeof(K), hipStream_t = 0, bool = false) {
    return buffered(t, b, k, &v, n, begin, end, true);
  }
  template <class K, class N>
  static hipError_t SortKeys(void *t, std::size_t &b, const K *in, K *out, N n, int begin = 0, int end = 8 * sizeof(K), hipStream_t = 0, bool = false) {
    return sort<K, NullType>(t, b, in, out, nullptr, nullptr, n, begin, end, false);
  }
  template <class K, class N>
  static hipError_t SortKeysDescending(void *t, std::size_t &b, const K *in, K *out, N n, int begin = 0, int end = 8 * sizeof(K), hipStream_t = 0, bool = false) {
    return sort<K, NullType>(t, b, in, out, nullptr, nullptr, n, begin, end, true);
  }
  template <class K, class N>
  static hipError_t SortKeys(void *t, std::size_t &b, DoubleBuffer<K> &k, N n, int begin = 0, int end = 8 * sizeof(K), hipStream_t = 0, bool = false) {
    return buffered<K, NullType>(t, b, k, nullptr, n, begin, end, false);
  }
  template <class K, class N>
  static hipError_t SortKeysDescending(void *t, std::size_t &b, DoubleBuffer<K> &k, N n, int begin = 0, int end = 8 * sizeof(K), hipStream_t = 0, bool = false) {
    return buffered<K, NullType>(t, b, k, nullptr, n, begin, end, true);
  }

  // Stable, by the bits [begin, end) of the key.
  template <class K, class V> static void sort_range(const K *ki, K *ko, const V *vi, V *vo, std::size_t n, int begin, int end, bool descending) {
    std::vector<std::size_t> order(n);
    for (std::size_t i = 0; i < n; ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [=](std::size_t a, std::size_t b) {
      auto x = detail::radix_part(ki[a], begin, end), y = detail::radix_part(ki[b], begin, end);
      return descending ? y < x : x < y;
    });
    std::vector<K> keys(n);
    for (std::size_t i = 0; i < n; ++i) keys[i] = ki[order[i]];
    if constexpr (!std::is_same<V, NullType>::value) {
      std::vector<V> values(n);
      for (std::size_t i = 0; i < n; ++i) values[i] = vi[order[i]];
      std::copy(values.begin(), values.end(), vo);
    }
    std::copy(keys.begin(), keys.end(), ko);
  }

 private:
  template <class K, class V, class N>
  static hipError_t sort(void *t, std::size_t &b, const K *ki, K *ko, const V *vi, V *vo, N n, int begin, int end, bool descending) {
    RPX_SIZE_QUERY(t, b);
    sort_range(ki, ko, vi, vo, static_cast<std::size_t>(n), begin, end, descending);
    return hipSuccess;
  }
  template <class K, class V, class N>
  static hipError_t buffered(void *t, std::size_t &b, DoubleBuffer<K> &k, DoubleBuffer<V> *v, N n, int begin, int end, bool descending) {
    RPX_SIZE_QUERY(t, b);
    sort_range(k.Current(), k.Alternate(), v ? v->Current() : nullptr, v ? v->Alternate() : nullptr, static_cast<std::size_t>(n), begin, end, descending);
    k.selector ^= 1;
    if (v) v->selector ^= 1;
    return hipSuccess;
  }
};

struct DeviceSegmentedRadixSort {
  template <class K, class V, class B, class E>
  static hipError_t SortPairs(void *t, std::size_t &b, const K *ki, K *ko, const V *vi, V *vo, long long, long long segments, B begin, E end, int lo = 0, int hi = 8 * sizeof(K), hipStream_t = 0, bool = false) {
    return sort(t, b, ki, ko, vi, vo, segments, begin, end, lo, hi, false);
  }
  template <class K, class V, class B, class E>
  static hipError_t SortPairsDescending(void *t, std::size_t &b, const K *ki, K *ko, const V *vi, V *vo, long long, long long segments, B begin, E end, int lo = 0, int hi = 8 * sizeof(K), hipStream_t = 0, bool = false) {
    return sort(t, b, ki, ko, vi, vo, segments, begin, end, lo, hi, true);
  }
  template <class K, class B, class E>
  static hipError_t SortKeys(void *t, std::size_t &b, const K *ki, K *ko, long long, long long segments, B begin, E end, int lo = 0, int hi = 8 * sizeof(K), hipStream_t = 0, bool = false) {
    return sort<K, NullType>(t, b, ki, ko, nullptr, nullptr, segments, begin, end, lo, hi, false);
  }
  template <class K, class B, class E>
  static hipError_t SortKeysDescending(void *t, std::size_t &b, const K *ki, K *ko, long long, long long segments, B begin, E end, int lo = 0, int hi = 8 * sizeof(K), hipStream_t = 0, bool = false) {
    return sort<K, NullType>(t, b, ki, ko, nullptr, nullptr, segments, begin, end, lo, hi, true);
  }

 private:
  template <class K, class V, class B, class E>
  static hipError_t sort(void *t, std::size_t &b, const K *ki, K *ko, const V *vi, V *vo, long long segments, B begin, E end, int lo, int hi, bool descending) {
    RPX_SIZE_QUERY(t, b);
    for (long long s = 0; s < segments; ++s) {
      auto first = begin[s];
      if (first < end[s])
        DeviceRadixSort::sort_range(ki + first, ko + first, vi ? vi + first : nullptr, vo ? vo + first : nullptr, static_cast<std::size_t>(end[s] - first), lo, hi, descending);
    }
    return hipSuccess;
  }
};
using DeviceSegmentedSort = DeviceSegmentedRadixSort;

struct DeviceMergeSort {
  template <class K, class V, class N, class F> static hipError_t SortPairs(void *t, std::size_t &b, K keys, V values, N n, F less, hipStream_t = 0, bool = false) {
    RPX_SIZE_QUERY(t, b);
    std::vector<std::pair<detail::value_t<K>, detail::value_t<V>>> all;
    for (N i = 0; i < n; ++i) all.emplace_back(keys[i], values[i]);
    std::stable_sort(all.begin(), all.end(), [&](const auto &x, const auto &y) { return less(x.first, y.first); });
    for (N i = 0; i < n; ++i) keys[i] = all[i].first, values[i] = all[i].second;
    return hipSuccess;
  }
  template <class K, class N, class F> static hipError_t SortKeys(void *t, std::size_t &b, K keys, N n, F less, hipStream_t = 0, bool = false) {
    RPX_SIZE_QUERY(t, b);
    std::stable_sort(keys, keys + n, less);
    return hipSuccess;
  }
  template <class K, class N, class F> static hipError_t StableSortKeys(void *t, std::size_t &b, K keys, N n, F less, hipStream_t s = 0, bool = false) { return SortKeys(t, b, keys, n, less, s); }
  template <class K, class V, class N, class F> static hipError_t StableSortPairs(void *t, std::size_t &b, K k, V v, N n, F less, hipStream_t s = 0, bool = false) { return SortPairs(t, b, k, v, n, less, s); }
};

struct DeviceSelect {
  template <class I, class Flags, class O, class C, class N>
  static hipError_t Flagged(void *t, std::size_t &b, I in, Flags flags, O out, C count, N n, hipStream_t = 0, bool = false) {
    RPX_SIZE_QUERY(t, b);
    N kept = 0;
    for (N i = 0; i < n; ++i)
      if (flags[i]) out[kept++] = in[i];
    *count = kept;
    return hipSuccess;
  }
  template <class I, class O, class C, class N, class F>
  static hipError_t If(void *t, std::size_t &b, I in, O out, C count, N n, F keep, hipStream_t = 0, bool = false) {
    RPX_SIZE_QUERY(t, b);
    N kept = 0;
    for (N i = 0; i < n; ++i) {
      detail::value_t<I> v = in[i];
      if (keep(v)) out[kept++] = v;
    }
    *count = kept;
    return hipSuccess;
  }
  template <class I, class O, class C, class N> static hipError_t Unique(void *t, std::size_t &b, I in, O out, C count, N n, hipStream_t = 0, bool = false) {
    RPX_SIZE_QUERY(t, b);
    N kept = 0;
    detail::value_t<I> last{};
    for (N i = 0; i < n; ++i) {
      detail::value_t<I> v = in[i];
      if (!i || !(v == last)) out[kept++] = v;
      last = v;
    }
    *count = kept;
    return hipSuccess;
  }
  template <class K, class V, class UK, class UV, class C, class N>
  static hipError_t UniqueByKey(void *t, std::size_t &b, K keys, V values, UK ok, UV ov, C count, N n, hipStream_t = 0, bool = false) {
    RPX_SIZE_QUERY(t, b);
    N kept = 0;
    detail::value_t<K> last{};
    for (N i = 0; i < n; ++i) {
      detail::value_t<K> k = keys[i];
      if (!i || !(k == last)) {
        ok[kept] = k;
        ov[kept++] = values[i];
      }
      last = k;
    }
    *count = kept;
    return hipSuccess;
  }
};

struct DevicePartition {
  template <class I, class Flags, class O, class C, class N>
  static hipError_t Flagged(void *t, std::size_t &b, I in, Flags flags, O out, C count, N n, hipStream_t = 0, bool = false) {
    RPX_SIZE_QUERY(t, b);
    return split(in, out, count, n, [&](N i) { return static_cast<bool>(flags[i]); });
  }
  template <class I, class O, class C, class N, class F>
  static hipError_t If(void *t, std::size_t &b, I in, O out, C count, N n, F keep, hipStream_t = 0, bool = false) {
    RPX_SIZE_QUERY(t, b);
    return split(in, out, count, n, [&](N i) { return static_cast<bool>(keep(in[i])); });
  }

 private:
  // The rest follows in reverse order, as in hipCUB.
  template <class I, class O, class C, class N, class F> static hipError_t split(I in, O out, C count, N n, F keep) {
    std::vector<detail::value_t<I>> all(in, in + n);
    std::vector<char> wanted(static_cast<std::size_t>(n));
    for (N i = 0; i < n; ++i) wanted[i] = keep(i);
    N kept = 0, rest = n;
    for (N i = 0; i < n; ++i) {
      if (wanted[i]) out[kept++] = all[i];
      else out[--rest] = all[i];
    }
    *count = kept;
    return hipSuccess;
  }
};

struct DeviceRunLengthEncode {
  template <class I, class U, class L, class C, class N>
  static hipError_t Encode(void *t, std::size_t &b, I in, U unique, L lengths, C runs, N n, hipStream_t = 0, bool = false) {
    RPX_SIZE_QUERY(t, b);
    N run = 0;
    for (N i = 0; i < n; ++run) {
      detail::value_t<I> v = in[i];
      N start = i;
      while (i < n && in[i] == v) ++i;
      unique[run] = v;
      lengths[run] = i - start;
    }
    *runs = run;
    return hipSuccess;
  }
  template <class I, class O, class L, class C, class N>
  static hipError_t NonTrivialRuns(void *t, std::size_t &b, I in, O offsets, L lengths, C runs, N n, hipStream_t = 0, bool = false) {
    RPX_SIZE_QUERY(t, b);
    N run = 0;
    for (N i = 0; i < n;) {
      N start = i;
      detail::value_t<I> v = in[i];
      while (i < n && in[i] == v) ++i;
      if (i - start > 1) {
        offsets[run] = start;
        lengths[run++] = i - start;
      }
    }
    *runs = run;
    return hipSuccess;
  }
};

struct DeviceHistogram {
  template <class I, class C, class L, class N>
  static hipError_t HistogramEven(void *t, std::size_t &b, I samples, C *bins, int levels, L lower, L upper, N n, hipStream_t = 0, bool = false) {
    RPX_SIZE_QUERY(t, b);
    for (int i = 0; i < levels - 1; ++i) bins[i] = 0;
    for (N i = 0; i < n; ++i) {
      auto v = samples[i];
      if (!(v >= lower && v < upper)) continue;
      int bin;
      if constexpr (std::is_floating_point<L>::value) bin = static_cast<int>((v - lower) * (static_cast<L>(levels - 1) / (upper - lower)));
      else bin = static_cast<int>((static_cast<long long>(v) - lower) * (levels - 1) / (static_cast<long long>(upper) - lower));
      ++bins[bin];
    }
    return hipSuccess;
  }
  template <class I, class C, class L, class N>
  static hipError_t HistogramRange(void *t, std::size_t &b, I samples, C *bins, int levels, const L *edges, N n, hipStream_t = 0, bool = false) {
    RPX_SIZE_QUERY(t, b);
    for (int i = 0; i < levels - 1; ++i) bins[i] = 0;
    for (N i = 0; i < n; ++i) {
      const L *at = std::upper_bound(edges, edges + levels, static_cast<L>(samples[i]));
      if (at != edges && at != edges + levels) ++bins[at - edges - 1];
    }
    return hipSuccess;
  }
};

struct DeviceAdjacentDifference {
  template <class I, class O, class N, class F = hipcub::Difference>
  static hipError_t SubtractLeftCopy(void *t, std::size_t &b, I in, O out, N n, F f = F(), hipStream_t = 0, bool = false) {
    RPX_SIZE_QUERY(t, b);
    for (N i = n; i-- > 0;) out[i] = i ? static_cast<detail::value_t<I>>(f(in[i], in[i - 1])) : static_cast<detail::value_t<I>>(in[i]);
    return hipSuccess;
  }
  template <class I, class O, class N, class F = hipcub::Difference>
  static hipError_t SubtractRightCopy(void *t, std::size_t &b, I in, O out, N n, F f = F(), hipStream_t = 0, bool = false) {
    RPX_SIZE_QUERY(t, b);
    for (N i = 0; i < n; ++i) out[i] = i + 1 < n ? static_cast<detail::value_t<I>>(f(in[i], in[i + 1])) : static_cast<detail::value_t<I>>(in[i]);
    return hipSuccess;
  }
};

struct DeviceFor {
  template <class N, class F> static hipError_t Bulk(N n, F f, hipStream_t = 0) {
    for (N i = 0; i < n; ++i) f(i);
    return hipSuccess;
  }
  template <class I, class N, class F> static hipError_t ForEachN(I in, N n, F f, hipStream_t = 0) {
    for (N i = 0; i < n; ++i) f(in[i]);
    return hipSuccess;
  }
};


}  // namespace hipcub
