// SPDX-License-Identifier: Apache-2.0
// hipRAND's host interface. Pseudo-random generators run Philox4x32-10, quasi-random ones a van der Corput sequence.
#pragma once

#include "hip/hip_runtime.h"
#include "hiprand/hiprand_kernel.h"

typedef enum hiprandStatus {
  HIPRAND_STATUS_SUCCESS = 0, HIPRAND_STATUS_VERSION_MISMATCH = 100, HIPRAND_STATUS_NOT_INITIALIZED = 101, HIPRAND_STATUS_ALLOCATION_FAILED = 102,
  HIPRAND_STATUS_TYPE_ERROR = 103, HIPRAND_STATUS_OUT_OF_RANGE = 104, HIPRAND_STATUS_LENGTH_NOT_MULTIPLE = 105,
  HIPRAND_STATUS_DOUBLE_PRECISION_REQUIRED = 106, HIPRAND_STATUS_LAUNCH_FAILURE = 201, HIPRAND_STATUS_PREEXISTING_FAILURE = 202,
  HIPRAND_STATUS_INITIALIZATION_FAILED = 203, HIPRAND_STATUS_ARCH_MISMATCH = 204, HIPRAND_STATUS_INTERNAL_ERROR = 999, HIPRAND_STATUS_NOT_IMPLEMENTED = 1000
} hiprandStatus;
typedef hiprandStatus hiprandStatus_t;
typedef enum hiprandRngType {
  HIPRAND_RNG_TEST = 0, HIPRAND_RNG_PSEUDO_DEFAULT = 400, HIPRAND_RNG_PSEUDO_XORWOW = 401, HIPRAND_RNG_PSEUDO_MRG32K3A = 402, HIPRAND_RNG_PSEUDO_MTGP32 = 403,
  HIPRAND_RNG_PSEUDO_MT19937 = 404, HIPRAND_RNG_PSEUDO_PHILOX4_32_10 = 405, HIPRAND_RNG_QUASI_DEFAULT = 500, HIPRAND_RNG_QUASI_SOBOL32 = 501,
  HIPRAND_RNG_QUASI_SCRAMBLED_SOBOL32 = 502, HIPRAND_RNG_QUASI_SOBOL64 = 503, HIPRAND_RNG_QUASI_SCRAMBLED_SOBOL64 = 504
} hiprandRngType;
typedef hiprandRngType hiprandRngType_t;
typedef enum hiprandOrdering { HIPRAND_ORDERING_PSEUDO_BEST = 100, HIPRAND_ORDERING_PSEUDO_DEFAULT = 101, HIPRAND_ORDERING_PSEUDO_SEEDED = 102, HIPRAND_ORDERING_PSEUDO_LEGACY = 103, HIPRAND_ORDERING_PSEUDO_DYNAMIC = 104, HIPRAND_ORDERING_QUASI_DEFAULT = 201 } hiprandOrdering;
typedef hiprandOrdering hiprandOrdering_t;

struct hiprandGenerator_st {
  hipStream_t stream = nullptr;
  hiprandRngType type;
  rpx::rand::Philox state;
  unsigned long long seed = 0, offset = 0, quasi = 0;
  std::uint32_t next() {
    if (type < HIPRAND_RNG_QUASI_DEFAULT) return state.next();
    return __brev(static_cast<unsigned>(++quasi));
  }
  bool has_spare = false, has_spare_double = false;
  float spare = 0;
  double spare_double = 0;
};
typedef hiprandGenerator_st *hiprandGenerator_t;

RPX_API hiprandStatus hiprandCreateGenerator(hiprandGenerator_t *g, hiprandRngType type) {
  *g = new hiprandGenerator_st{};
  (*g)->type = type;
  (*g)->state.seed(0, 0, 0);
  return HIPRAND_STATUS_SUCCESS;
}
RPX_API hiprandStatus hiprandCreateGeneratorHost(hiprandGenerator_t *g, hiprandRngType type) { return hiprandCreateGenerator(g, type); }
RPX_API hiprandStatus hiprandDestroyGenerator(hiprandGenerator_t g) { delete g; return HIPRAND_STATUS_SUCCESS; }
RPX_API hiprandStatus hiprandSetPseudoRandomGeneratorSeed(hiprandGenerator_t g, unsigned long long seed) {
  g->seed = seed;
  g->state.seed(seed, 0, g->offset);
  return HIPRAND_STATUS_SUCCESS;
}
RPX_API hiprandStatus hiprandSetGeneratorOffset(hiprandGenerator_t g, unsigned long long offset) {
  g->offset = offset;
  g->state.seed(g->seed, 0, offset);
  g->quasi = offset;
  return HIPRAND_STATUS_SUCCESS;
}
RPX_API hiprandStatus hiprandSetGeneratorOrdering(hiprandGenerator_t, hiprandOrdering) { return HIPRAND_STATUS_SUCCESS; }
RPX_API hiprandStatus hiprandSetQuasiRandomGeneratorDimensions(hiprandGenerator_t, unsigned) { return HIPRAND_STATUS_SUCCESS; }
RPX_API hiprandStatus hiprandSetStream(hiprandGenerator_t g, hipStream_t s) { g->stream = s; return HIPRAND_STATUS_SUCCESS; }
RPX_API hiprandStatus hiprandGenerateSeeds(hiprandGenerator_t) { return HIPRAND_STATUS_SUCCESS; }
RPX_API hiprandStatus hiprandGetVersion(int *version) { *version = 201100; return HIPRAND_STATUS_SUCCESS; }
template <class T, class F> inline hiprandStatus rpx_generate(T *out, size_t n, F f) {
  for (size_t i = 0; i < n; ++i) out[i] = f();
  return HIPRAND_STATUS_SUCCESS;
}
RPX_API hiprandStatus hiprandGenerate(hiprandGenerator_t g, unsigned *out, size_t n) { RPX_SERVED(g, HIPRAND_STATUS_NOT_IMPLEMENTED) return rpx_generate(out, n, [&] { return g->next(); }); }
RPX_API hiprandStatus hiprandGenerateChar(hiprandGenerator_t g, unsigned char *out, size_t n) { RPX_SERVED(g, HIPRAND_STATUS_NOT_IMPLEMENTED) return rpx_generate(out, n, [&] { return (unsigned char)g->next(); }); }
RPX_API hiprandStatus hiprandGenerateShort(hiprandGenerator_t g, unsigned short *out, size_t n) { RPX_SERVED(g, HIPRAND_STATUS_NOT_IMPLEMENTED) return rpx_generate(out, n, [&] { return (unsigned short)g->next(); }); }
RPX_API hiprandStatus hiprandGenerateLongLong(hiprandGenerator_t g, unsigned long long *out, size_t n) { RPX_SERVED(g, HIPRAND_STATUS_NOT_IMPLEMENTED)
  return rpx_generate(out, n, [&] { unsigned long long hi = g->next(); return hi << 32 | g->next(); });
}
RPX_API hiprandStatus hiprandGenerateUniform(hiprandGenerator_t g, float *out, size_t n) { RPX_SERVED(g, HIPRAND_STATUS_NOT_IMPLEMENTED) return rpx_generate(out, n, [&] { return rpx::rand::uniform(g); }); }
RPX_API hiprandStatus hiprandGenerateUniformDouble(hiprandGenerator_t g, double *out, size_t n) { RPX_SERVED(g, HIPRAND_STATUS_NOT_IMPLEMENTED) return rpx_generate(out, n, [&] { return rpx::rand::uniform_double(g); }); }
RPX_API hiprandStatus hiprandGenerateNormal(hiprandGenerator_t g, float *out, size_t n, float mean, float deviation) { RPX_SERVED(g, HIPRAND_STATUS_NOT_IMPLEMENTED) return rpx_generate(out, n, [&] { return mean + deviation * rpx::rand::normal(g); }); }
RPX_API hiprandStatus hiprandGenerateNormalDouble(hiprandGenerator_t g, double *out, size_t n, double mean, double deviation) { RPX_SERVED(g, HIPRAND_STATUS_NOT_IMPLEMENTED) return rpx_generate(out, n, [&] { return mean + deviation * rpx::rand::normal_double(g); }); }
RPX_API hiprandStatus hiprandGenerateLogNormal(hiprandGenerator_t g, float *out, size_t n, float mean, float deviation) { RPX_SERVED(g, HIPRAND_STATUS_NOT_IMPLEMENTED) return rpx_generate(out, n, [&] { return std::exp(mean + deviation * rpx::rand::normal(g)); }); }
RPX_API hiprandStatus hiprandGenerateLogNormalDouble(hiprandGenerator_t g, double *out, size_t n, double mean, double deviation) { RPX_SERVED(g, HIPRAND_STATUS_NOT_IMPLEMENTED) return rpx_generate(out, n, [&] { return std::exp(mean + deviation * rpx::rand::normal_double(g)); }); }
RPX_API hiprandStatus hiprandGeneratePoisson(hiprandGenerator_t g, unsigned *out, size_t n, double lambda) { RPX_SERVED(g, HIPRAND_STATUS_NOT_IMPLEMENTED) return rpx_generate(out, n, [&] { return rpx::rand::poisson(g, lambda); }); }
