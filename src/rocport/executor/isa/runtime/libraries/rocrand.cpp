// SPDX-License-Identifier: Apache-2.0
// librocrand: rocRAND's host interface, as other names of what libhiprand does. Every generator draws as hipRAND's does
// here; those that hipRAND does not name are refused.
#include <hiprand/hiprand.h>
#include <rocrand/rocrand.h>

namespace rt { int unserved(const char *what); }

namespace {

rocrand_status said(hiprandStatus_t status) {
  if (status <= HIPRAND_STATUS_DOUBLE_PRECISION_REQUIRED) return static_cast<rocrand_status>(status);  // the same numbers
  return status == HIPRAND_STATUS_LAUNCH_FAILURE ? ROCRAND_STATUS_LAUNCH_FAILURE : ROCRAND_STATUS_INTERNAL_ERROR;
}
hiprandGenerator_t hip(rocrand_generator g) { return reinterpret_cast<hiprandGenerator_t>(g); }

struct Kind {
  rocrand_rng_type roc;
  hiprandRngType_t hip;
};
constexpr Kind kKinds[] = {
    {ROCRAND_RNG_PSEUDO_DEFAULT, HIPRAND_RNG_PSEUDO_DEFAULT},
    {ROCRAND_RNG_PSEUDO_XORWOW, HIPRAND_RNG_PSEUDO_XORWOW},
    {ROCRAND_RNG_PSEUDO_MRG32K3A, HIPRAND_RNG_PSEUDO_MRG32K3A},
    {ROCRAND_RNG_PSEUDO_MTGP32, HIPRAND_RNG_PSEUDO_MTGP32},
    {ROCRAND_RNG_PSEUDO_PHILOX4_32_10, HIPRAND_RNG_PSEUDO_PHILOX4_32_10},
    {ROCRAND_RNG_PSEUDO_MT19937, HIPRAND_RNG_PSEUDO_MT19937},
    {ROCRAND_RNG_QUASI_DEFAULT, HIPRAND_RNG_QUASI_DEFAULT},
    {ROCRAND_RNG_QUASI_SOBOL32, HIPRAND_RNG_QUASI_SOBOL32},
    {ROCRAND_RNG_QUASI_SCRAMBLED_SOBOL32, HIPRAND_RNG_QUASI_SCRAMBLED_SOBOL32},
    {ROCRAND_RNG_QUASI_SOBOL64, HIPRAND_RNG_QUASI_SOBOL64},
    {ROCRAND_RNG_QUASI_SCRAMBLED_SOBOL64, HIPRAND_RNG_QUASI_SCRAMBLED_SOBOL64},
};

}  // namespace

#define NAMED(roc, hip_name, typed, passed) rocrand_status roc typed { return said(hip_name passed); }

extern "C" {
rocrand_status rocrand_create_generator(rocrand_generator *g, rocrand_rng_type type) {
  for (const Kind &kind : kKinds)
    if (kind.roc == type) return said(hiprandCreateGenerator(reinterpret_cast<hiprandGenerator_t *>(g), kind.hip));
  rt::unserved("rocrand_create_generator of a generator that hipRAND does not name");
  return ROCRAND_STATUS_TYPE_ERROR;
}
rocrand_status rocrand_create_generator_host(rocrand_generator *g, rocrand_rng_type t) { return rocrand_create_generator(g, t); }
rocrand_status rocrand_create_generator_host_blocking(rocrand_generator *g, rocrand_rng_type t) { return rocrand_create_generator(g, t); }
NAMED(rocrand_destroy_generator, hiprandDestroyGenerator, (rocrand_generator g), (hip(g)))
NAMED(rocrand_initialize_generator, hiprandGenerateSeeds, (rocrand_generator g), (hip(g)))
NAMED(rocrand_set_stream, hiprandSetStream, (rocrand_generator g, hipStream_t s), (hip(g), s))
NAMED(rocrand_set_seed, hiprandSetPseudoRandomGeneratorSeed, (rocrand_generator g, unsigned long long v), (hip(g), v))
NAMED(rocrand_set_offset, hiprandSetGeneratorOffset, (rocrand_generator g, unsigned long long v), (hip(g), v))
NAMED(rocrand_set_quasi_random_generator_dimensions, hiprandSetQuasiRandomGeneratorDimensions, (rocrand_generator g, unsigned n), (hip(g), n))
NAMED(rocrand_get_version, hiprandGetVersion, (int *version), (version))
NAMED(rocrand_generate, hiprandGenerate, (rocrand_generator g, unsigned *out, size_t n), (hip(g), out, n))
NAMED(rocrand_generate_char, hiprandGenerateChar, (rocrand_generator g, unsigned char *out, size_t n), (hip(g), out, n))
NAMED(rocrand_generate_short, hiprandGenerateShort, (rocrand_generator g, unsigned short *out, size_t n), (hip(g), out, n))
NAMED(rocrand_generate_long_long, hiprandGenerateLongLong, (rocrand_generator g, unsigned long long *out, size_t n), (hip(g), out, n))
NAMED(rocrand_generate_uniform, hiprandGenerateUniform, (rocrand_generator g, float *out, size_t n), (hip(g), out, n))
NAMED(rocrand_generate_uniform_double, hiprandGenerateUniformDouble, (rocrand_generator g, double *out, size_t n), (hip(g), out, n))
NAMED(rocrand_generate_normal, hiprandGenerateNormal, (rocrand_generator g, float *out, size_t n, float m, float s), (hip(g), out, n, m, s))
NAMED(rocrand_generate_normal_double, hiprandGenerateNormalDouble, (rocrand_generator g, double *out, size_t n, double m, double s), (hip(g), out, n, m, s))
NAMED(rocrand_generate_log_normal, hiprandGenerateLogNormal, (rocrand_generator g, float *out, size_t n, float m, float s), (hip(g), out, n, m, s))
NAMED(rocrand_generate_log_normal_double, hiprandGenerateLogNormalDouble, (rocrand_generator g, double *out, size_t n, double m, double s), (hip(g), out, n, m, s))
NAMED(rocrand_generate_poisson, hiprandGeneratePoisson, (rocrand_generator g, unsigned *out, size_t n, double lambda), (hip(g), out, n, lambda))
}
