// SPDX-License-Identifier: Apache-2.0
// hipFloatComplex and hipDoubleComplex.
#pragma once

#include <cmath>

#include "hip/hip_vector_types.h"

typedef float2 hipFloatComplex;
typedef double2 hipDoubleComplex;
typedef hipFloatComplex hipComplex;

RPX_INLINE hipFloatComplex make_hipFloatComplex(float re, float im) { return hipFloatComplex(re, im); }
RPX_INLINE float hipCrealf(hipFloatComplex z) { return z.x; }
RPX_INLINE float hipCimagf(hipFloatComplex z) { return z.y; }
RPX_INLINE hipFloatComplex hipConjf(hipFloatComplex z) { return hipFloatComplex(z.x, -z.y); }
RPX_INLINE float hipCsqabsf(hipFloatComplex z) { return z.x * z.x + z.y * z.y; }
RPX_INLINE float hipCabsf(hipFloatComplex z) { return std::sqrt(hipCsqabsf(z)); }
RPX_INLINE hipFloatComplex hipCaddf(hipFloatComplex a, hipFloatComplex b) { return hipFloatComplex(a.x + b.x, a.y + b.y); }
RPX_INLINE hipFloatComplex hipCsubf(hipFloatComplex a, hipFloatComplex b) { return hipFloatComplex(a.x - b.x, a.y - b.y); }
RPX_INLINE hipFloatComplex hipCmulf(hipFloatComplex a, hipFloatComplex b) { return hipFloatComplex(a.x * b.x - a.y * b.y, a.y * b.x + a.x * b.y); }
RPX_INLINE hipFloatComplex hipCdivf(hipFloatComplex a, hipFloatComplex b) {
  float n = hipCsqabsf(b);
  return hipFloatComplex((a.x * b.x + a.y * b.y) / n, (a.y * b.x - a.x * b.y) / n);
}
RPX_INLINE hipFloatComplex hipCfmaf(hipFloatComplex a, hipFloatComplex b, hipFloatComplex c) { return hipCaddf(hipCmulf(a, b), c); }
RPX_INLINE hipDoubleComplex make_hipDoubleComplex(double re, double im) { return hipDoubleComplex(re, im); }
RPX_INLINE double hipCreal(hipDoubleComplex z) { return z.x; }
RPX_INLINE double hipCimag(hipDoubleComplex z) { return z.y; }
RPX_INLINE hipDoubleComplex hipConj(hipDoubleComplex z) { return hipDoubleComplex(z.x, -z.y); }
RPX_INLINE double hipCsqabs(hipDoubleComplex z) { return z.x * z.x + z.y * z.y; }
RPX_INLINE double hipCabs(hipDoubleComplex z) { return std::sqrt(hipCsqabs(z)); }
RPX_INLINE hipDoubleComplex hipCadd(hipDoubleComplex a, hipDoubleComplex b) { return hipDoubleComplex(a.x + b.x, a.y + b.y); }
RPX_INLINE hipDoubleComplex hipCsub(hipDoubleComplex a, hipDoubleComplex b) { return hipDoubleComplex(a.x - b.x, a.y - b.y); }
RPX_INLINE hipDoubleComplex hipCmul(hipDoubleComplex a, hipDoubleComplex b) { return hipDoubleComplex(a.x * b.x - a.y * b.y, a.y * b.x + a.x * b.y); }
RPX_INLINE hipDoubleComplex hipCdiv(hipDoubleComplex a, hipDoubleComplex b) {
  double n = hipCsqabs(b);
  return hipDoubleComplex((a.x * b.x + a.y * b.y) / n, (a.y * b.x - a.x * b.y) / n);
}
RPX_INLINE hipDoubleComplex hipCfma(hipDoubleComplex a, hipDoubleComplex b, hipDoubleComplex c) { return hipCadd(hipCmul(a, b), c); }
RPX_INLINE hipComplex make_hipComplex(float re, float im) { return hipComplex(re, im); }
RPX_INLINE hipFloatComplex hipComplexDoubleToFloat(hipDoubleComplex z) { return hipFloatComplex(z.x, z.y); }
RPX_INLINE hipDoubleComplex hipComplexFloatToDouble(hipFloatComplex z) { return hipDoubleComplex(z.x, z.y); }
