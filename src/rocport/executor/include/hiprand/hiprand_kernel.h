// SPDX-License-Identifier: Apache-2.0
// hipRAND's device generators. Philox4x32-10 follows Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (2011),
// with the counter laid out as cuRAND and rocRAND do. XORWOW is Marsaglia's (2003), MRG32k3a L'Ecuyer's (1999); their
// streams are seeded by mixing seed and sequence, so the numbers are not rocRAND's own.
#pragma once

#include "hip/hip_runtime.h"

namespace rpx {
namespace rand {

inline std::uint64_t mix(std::uint64_t x) {  // splitmix64
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

struct Philox {
  std::uint32_t counter[4], key[2], out[4];
  unsigned used;  // of out
  float spare;
  double spare_double;
  bool has_spare, has_spare_double;

  void block() {
    std::uint32_t c[4] = {counter[0], counter[1], counter[2], counter[3]}, k[2] = {key[0], key[1]};
    for (int round = 0; round < 10; ++round) {
      std::uint64_t p0 = 0xD2511F53ull * c[0], p1 = 0xCD9E8D57ull * c[2];
      std::uint32_t n[4] = {static_cast<std::uint32_t>(p1 >> 32) ^ c[1] ^ k[0], static_cast<std::uint32_t>(p1),
                            static_cast<std::uint32_t>(p0 >> 32) ^ c[3] ^ k[1], static_cast<std::uint32_t>(p0)};
      for (int i = 0; i < 4; ++i) c[i] = n[i];
      k[0] += 0x9E3779B9u;
      k[1] += 0xBB67AE85u;
    }
    for (int i = 0; i < 4; ++i) out[i] = c[i];
  }
  void advance(std::uint64_t n) {
    std::uint64_t low = (static_cast<std::uint64_t>(counter[1]) << 32 | counter[0]) + n;
    if (low < n && ++counter[2] == 0) ++counter[3];
    counter[0] = static_cast<std::uint32_t>(low);
    counter[1] = static_cast<std::uint32_t>(low >> 32);
  }
  void seed(std::uint64_t s, std::uint64_t sequence, std::uint64_t offset) {
    key[0] = static_cast<std::uint32_t>(s);
    key[1] = static_cast<std::uint32_t>(s >> 32);
    counter[0] = counter[1] = 0;
    counter[2] = static_cast<std::uint32_t>(sequence);
    counter[3] = static_cast<std::uint32_t>(sequence >> 32);
    has_spare = has_spare_double = false;
    advance(offset / 4);
    used = static_cast<unsigned>(offset % 4);
    block();
  }
  std::uint32_t next() {
    if (used == 4) {
      advance(1);
      block();
      used = 0;
    }
    return out[used++];
  }
};

struct Xorwow {
  std::uint32_t x[5], d;
  float spare;
  double spare_double;
  bool has_spare, has_spare_double;
  std::uint32_t next() {
    std::uint32_t t = x[0] ^ (x[0] >> 2);
    x[0] = x[1];
    x[1] = x[2];
    x[2] = x[3];
    x[3] = x[4];
    x[4] = (x[4] ^ (x[4] << 4)) ^ (t ^ (t << 1));
    d += 362437u;
    return x[4] + d;
  }
  void seed(std::uint64_t s, std::uint64_t sequence, std::uint64_t offset) {
    std::uint64_t m = mix(s ^ mix(sequence));
    for (std::uint32_t &v : x) {
      m = mix(m);
      v = static_cast<std::uint32_t>(m >> 32) | 1u;
    }
    d = static_cast<std::uint32_t>(mix(m));
    has_spare = has_spare_double = false;
    for (; offset; --offset) next();
  }
};

struct Mrg32k3a {
  double a[3], b[3];
  float spare;
  double spare_double;
  bool has_spare, has_spare_double;
  std::uint32_t next() {
    constexpr double m1 = 4294967087.0, m2 = 4294944443.0;
    double p = std::fmod(1403580.0 * a[1] - 810728.0 * a[0], m1);
    if (p < 0) p += m1;
    a[0] = a[1], a[1] = a[2], a[2] = p;
    double q = std::fmod(527612.0 * b[2] - 1370589.0 * b[0], m2);
    if (q < 0) q += m2;
    b[0] = b[1], b[1] = b[2], b[2] = q;
    double r = p > q ? p - q : p - q + m1;
    return static_cast<std::uint32_t>(r / m1 * 4294967296.0);
  }
  void seed(std::uint64_t s, std::uint64_t sequence, std::uint64_t offset) {
    std::uint64_t m = mix(s ^ mix(sequence));
    for (int i = 0; i < 3; ++i) {
      a[i] = static_cast<double>((m = mix(m)) % 4294967086u + 1);
      b[i] = static_cast<double>((m = mix(m)) % 4294944442u + 1);
    }
    has_spare = has_spare_double = false;
    for (; offset; --offset) next();
  }
};

template <class S> RPX_INLINE float uniform(S *s) { return 2.3283064e-10f + static_cast<float>(s->next()) * 2.3283064e-10f; }
template <class S> RPX_INLINE double uniform_double(S *s) {
  std::uint64_t hi = s->next(), lo = s->next();
  return 1.1102230246251565e-16 + static_cast<double>((hi << 21) ^ (lo >> 11)) * 1.1102230246251565e-16;
}
template <class S> inline float normal(S *s) {
  if (s->has_spare) {
    s->has_spare = false;
    return s->spare;
  }
  float u = uniform(s), v = uniform(s), r = std::sqrt(-2.0f * std::log(u)), phi = 6.2831853071795864f * v;
  s->spare = r * std::cos(phi);
  s->has_spare = true;
  return r * std::sin(phi);
}
template <class S> inline double normal_double(S *s) {
  if (s->has_spare_double) {
    s->has_spare_double = false;
    return s->spare_double;
  }
  double u = uniform_double(s), v = uniform_double(s), r = std::sqrt(-2.0 * std::log(u)), phi = 6.283185307179586477 * v;
  s->spare_double = r * std::cos(phi);
  s->has_spare_double = true;
  return r * std::sin(phi);
}
template <class S> inline unsigned poisson(S *s, double lambda) {
  if (lambda > 64) {
    double v = lambda + std::sqrt(lambda) * normal_double(s) + 0.5;
    return v < 0 ? 0u : static_cast<unsigned>(v);
  }
  double limit = std::exp(-lambda), product = uniform_double(s);
  unsigned n = 0;
  for (; product > limit; ++n) product *= uniform_double(s);
  return n;
}

}  // namespace rand
}  // namespace rpx

typedef rpx::rand::Xorwow hiprandStateXORWOW_t, hiprandState_t, hiprandState, hiprandStateXORWOW, hiprandStateMtgp32_t;
typedef rpx::rand::Philox hiprandStatePhilox4_32_10_t, hiprandStatePhilox4_32_10;
typedef rpx::rand::Mrg32k3a hiprandStateMRG32k3a_t, hiprandStateMRG32k3a;

template <class S> RPX_INLINE void hiprand_init(unsigned long long seed, unsigned long long sequence, unsigned long long offset, S *s) { s->seed(seed, sequence, offset); }
template <class S> RPX_INLINE unsigned hiprand(S *s) { return s->next(); }
template <class S> RPX_INLINE uint4 hiprand4(S *s) { unsigned a = s->next(), b = s->next(), c = s->next(), d = s->next(); return uint4(a, b, c, d); }
template <class S> RPX_INLINE float hiprand_uniform(S *s) { return rpx::rand::uniform(s); }
template <class S> RPX_INLINE float2 hiprand_uniform2(S *s) { float a = hiprand_uniform(s), b = hiprand_uniform(s); return float2(a, b); }
template <class S> RPX_INLINE float4 hiprand_uniform4(S *s) { float a = hiprand_uniform(s), b = hiprand_uniform(s), c = hiprand_uniform(s), d = hiprand_uniform(s); return float4(a, b, c, d); }
template <class S> RPX_INLINE double hiprand_uniform_double(S *s) { return rpx::rand::uniform_double(s); }
template <class S> RPX_INLINE double2 hiprand_uniform2_double(S *s) { double a = hiprand_uniform_double(s), b = hiprand_uniform_double(s); return double2(a, b); }
template <class S> RPX_INLINE float hiprand_normal(S *s) { return rpx::rand::normal(s); }
template <class S> RPX_INLINE float2 hiprand_normal2(S *s) { float a = hiprand_normal(s), b = hiprand_normal(s); return float2(a, b); }
template <class S> RPX_INLINE float4 hiprand_normal4(S *s) { float a = hiprand_normal(s), b = hiprand_normal(s), c = hiprand_normal(s), d = hiprand_normal(s); return float4(a, b, c, d); }
template <class S> RPX_INLINE double hiprand_normal_double(S *s) { return rpx::rand::normal_double(s); }
template <class S> RPX_INLINE double2 hiprand_normal2_double(S *s) { double a = hiprand_normal_double(s), b = hiprand_normal_double(s); return double2(a, b); }
template <class S> RPX_INLINE float hiprand_log_normal(S *s, float mean, float deviation) { return std::exp(mean + deviation * hiprand_normal(s)); }
template <class S> RPX_INLINE double hiprand_log_normal_double(S *s, double mean, double deviation) { return std::exp(mean + deviation * hiprand_normal_double(s)); }
template <class S> RPX_INLINE unsigned hiprand_poisson(S *s, double lambda) { return rpx::rand::poisson(s, lambda); }
template <class S> RPX_INLINE void skipahead(unsigned long long n, S *s) { for (; n; --n) s->next(); }
RPX_INLINE void skipahead(unsigned long long n, rpx::rand::Philox *s) {
  n += s->used;
  s->advance(n / 4);
  s->used = static_cast<unsigned>(n % 4);
  s->block();
}
