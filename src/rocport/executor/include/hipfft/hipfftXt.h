// SPDX-License-Identifier: Apache-2.0
// What programs include for plain plans as well; plans over several devices are not served.
#pragma once
#include "hip/library_types.h"
#include "hipfft/hipfft.h"

// Plans by the types of their elements; those of halves are none of the six that a plan has.
inline hipfftResult rpx_plan_type(hipDataType in, hipDataType out, hipDataType compute, hipfftType *type) {
  const bool wide = compute == HIP_C_64F || compute == HIP_R_64F;
  const hipDataType real = wide ? HIP_R_64F : HIP_R_32F, complex = wide ? HIP_C_64F : HIP_C_32F;
  if (in == complex && out == complex) return *type = wide ? HIPFFT_Z2Z : HIPFFT_C2C, HIPFFT_SUCCESS;
  if (in == real && out == complex) return *type = wide ? HIPFFT_D2Z : HIPFFT_R2C, HIPFFT_SUCCESS;
  if (in == complex && out == real) return *type = wide ? HIPFFT_Z2D : HIPFFT_C2R, HIPFFT_SUCCESS;
  return HIPFFT_NOT_SUPPORTED;
}
RPX_API hipfftResult hipfftXtMakePlanMany(hipfftHandle plan, int rank, long long *n, long long *inembed, long long istride, long long idist, hipDataType in, long long *onembed, long long ostride,
                                         long long odist, hipDataType out, long long batch, size_t *work, hipDataType compute) {
  hipfftType type;
  if (hipfftResult bad = rpx_plan_type(in, out, compute, &type)) return bad;
  return hipfftMakePlanMany64(plan, rank, n, inembed, istride, idist, onembed, ostride, odist, type, batch, work);
}
RPX_API hipfftResult hipfftXtGetSizeMany(hipfftHandle, int, long long *, long long *, long long, long long, hipDataType in, long long *, long long, long long, hipDataType out, long long, size_t *work,
                                        hipDataType compute) {
  hipfftType type;
  *work = 0;
  return rpx_plan_type(in, out, compute, &type);
}
RPX_API hipfftResult hipfftXtExec(hipfftHandle p, void *in, void *out, int sign) {
  switch (p->type) {
    case HIPFFT_C2C: return hipfftExecC2C(p, static_cast<hipfftComplex *>(in), static_cast<hipfftComplex *>(out), sign);
    case HIPFFT_Z2Z: return hipfftExecZ2Z(p, static_cast<hipfftDoubleComplex *>(in), static_cast<hipfftDoubleComplex *>(out), sign);
    case HIPFFT_R2C: return hipfftExecR2C(p, static_cast<hipfftReal *>(in), static_cast<hipfftComplex *>(out));
    case HIPFFT_D2Z: return hipfftExecD2Z(p, static_cast<hipfftDoubleReal *>(in), static_cast<hipfftDoubleComplex *>(out));
    case HIPFFT_C2R: return hipfftExecC2R(p, static_cast<hipfftComplex *>(in), static_cast<hipfftReal *>(out));
    default: return hipfftExecZ2D(p, static_cast<hipfftDoubleComplex *>(in), static_cast<hipfftDoubleReal *>(out));
  }
}
