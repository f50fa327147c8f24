// SPDX-License-Identifier: Apache-2.0
// hipBLAS, hipFFT and hipRAND against sums written out here.
#include <hip/hip_runtime.h>
#include <hipblas/hipblas.h>
#include <hipfft/hipfft.h>
#include <hiprand/hiprand.h>
#include <hiprand/hiprand_kernel.h>
#include <cmath>
#include <cstdio>
#include <vector>

__global__ void draw(float *out) {
  hiprandStatePhilox4_32_10_t state;
  hiprand_init(7, threadIdx.x, 0, &state);
  out[threadIdx.x] = hiprand_uniform(&state);
}

int main() {
  int wrong = 0;
  hipblasHandle_t blas;
  hipblasCreate(&blas);
  const float a[6] = {1, 2, 3, 4, 5, 6}, b[6] = {1, 0, 2, 1, 1, 3}, one = 1, zero = 0;  // a: 2 x 3, b: 3 x 2, column-major
  float c[4];
  hipblasSgemm(blas, HIPBLAS_OP_N, HIPBLAS_OP_N, 2, 2, 3, &one, a, 2, b, 3, &zero, c, 2);
  const float product[4] = {11, 14, 19, 24};
  for (int i = 0; i < 4; ++i) wrong += c[i] != product[i];
  float dot;
  hipblasSdot(blas, 6, a, 1, b, 1, &dot);
  wrong += dot != 1 + 0 + 6 + 4 + 5 + 18;
  hipblasDestroy(blas);

  for (int n : {8, 12, 7}) {
    std::vector<hipfftComplex> x(n), y(n);
    for (int i = 0; i < n; ++i) x[i] = hipfftComplex(std::sin(i * 1.3), std::cos(i * 0.7));
    hipfftHandle plan;
    hipfftPlan1d(&plan, n, HIPFFT_C2C, 1);
    hipfftExecC2C(plan, x.data(), y.data(), HIPFFT_FORWARD);
    for (int k = 0; k < n; ++k) {
      double re = 0, im = 0;
      for (int i = 0; i < n; ++i) {
        double phi = -2 * M_PI * i * k / n;
        re += x[i].x * std::cos(phi) - x[i].y * std::sin(phi);
        im += x[i].x * std::sin(phi) + x[i].y * std::cos(phi);
      }
      wrong += std::fabs(re - y[k].x) > 1e-5 || std::fabs(im - y[k].y) > 1e-5;
    }
    hipfftDestroy(plan);
  }

  float *random;
  hipMallocManaged(&random, 4096 * sizeof(float));
  draw<<<1, 256>>>(random);
  hiprandGenerator_t generator;
  hiprandCreateGenerator(&generator, HIPRAND_RNG_PSEUDO_DEFAULT);
  hiprandSetPseudoRandomGeneratorSeed(generator, 42);
  hiprandGenerateUniform(generator, random + 256, 3840);
  double mean = 0;
  for (int i = 0; i < 4096; ++i) {
    wrong += !(random[i] > 0 && random[i] <= 1);
    mean += random[i] / 4096;
  }
  wrong += std::fabs(mean - 0.5) > 0.03;
  hiprandDestroyGenerator(generator);
  std::printf("%s\n", wrong ? "FAIL" : "PASS");
}
