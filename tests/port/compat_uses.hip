// Uses of every family of the compatibility headers.
#include "rocport_compat.h"
#include "rocport_fp8.h"
#include "rocport_half.h"
#include "rocport_hipblas.h"
#include "rocport_math.h"
#include "rocport_platform.h"
#include "rocport_simd.h"
#include "rocport_warp.h"

__global__ void words(unsigned* u, int* n, unsigned long long* l) {
  u[0] = rocport::bfe(u[1], 2u, 3u) + rocport::bfi(u[1], u[2], 3u, 4u) + rocport::bfind(n[1]);
  u[1] = rocport::prmt(u[0], u[1], u[2]) + rocport::prmt_rc8(u[0], u[1], u[2]) + rocport::lop3<0x96>(u[0], u[1], u[2]);
  u[2] = rocport::vaddus4(u[0], u[1]) + rocport::vimax3_s16x2_relu(u[0], u[1], u[2]);
  n[0] = rocport::dp4a(n[1], n[2], n[3]) + rocport::convert_sat<signed char>(n[9]);
  l[0] = rocport::bfe(l[1], 2u, 3u) + rocport::shl_clamp(l[2], u[3]);
  u[3] = rocport::add_carry(u[1], u[2], 0u, &u[3]) + rocport::sub_borrow(u[4], u[5], 1u);
  bool high, low;
  u[4] = rocport::vibmax_s16x2(u[5], u[6], &high, &low) + high + low;
}

__global__ void numbers(float* x, double* d) {
  x[0] = rocport::fadd_rd(x[1], x[2]) + rocport::fmaf_rz(x[1], x[2], x[3]) + rocport::frcp_rz(x[2]);
  d[0] = rocport::fma_rz(d[1], d[2], d[3]) + rocport::ddiv_ru(d[0], d[3]) + rocport::dsqrt_rz(d[3]);
  x[1] = rocport::fmin_nan(x[1], x[2]);
}

__global__ void memory(float4* v, float* x, int* n, unsigned* u, unsigned long long* l) {
  v[0] = rocport::ldcs(&v[1]);
  rocport::stcs(&v[2], rocport::ldcg(&v[3]));
  rocport::stcg(&v[4], rocport::ldcv(&v[5]));
  rocport::stwt(x, 1);
  n[1] = rocport::atomicAdd_block(n, 1) + rocport::atomicSub_system(n, 2) + rocport::atomicCAS_block(n, 2, 3);
  u[4] = rocport::atomicInc_block(u, 4u) + rocport::atomicDec_system(u, 5u);
  x[5] = rocport::atomicAdd_system(x, 1.0);
  __shared__ __attribute__((aligned(16))) float tile[16];
  rocport::copy_async<16>(tile, x);
  rocport::copy_async<4>(tile + 4, x, n[2]);
  __syncthreads();
  tile[1] = *rocport::shared_pointer<float>(static_cast<unsigned>(rocport::cvta_generic_to_shared(tile)));
  n[7] = rocport::is_shared(tile) + rocport::is_global(x) + static_cast<int>(tile[1]);
  l[4] = rocport::globaltimer();
  rocport::nanosleep(100);
}

template <class T, class P>
__device__ void halves(T* t, P* p, unsigned* u, float f) {
  t[0] = rocport::hadd_rn(t[1], rocport::hmax(t[2], t[3]));
  t[1] = rocport::htanh(rocport::hfma_relu(t[0], t[1], t[2]));
  p[0] = rocport::hmul2_rn(p[1], rocport::hmin2_nan(p[2], p[3]));
  p[1] = rocport::h2tanh(rocport::hcmadd(p[0], p[1], p[2]));
  u[0] = rocport::heq2_mask(p[0], p[1]) + rocport::hgtu2_mask(p[0], p[1]);
  p[2] = rocport::hle2(p[0], p[1]);
  t[2] = atomicAdd(&t[3], t[4]);
  p[3] = atomicAdd(&p[4], p[5]);
}

__global__ void half_types(__half* h, __half2* h2, __hip_bfloat16* b, __hip_bfloat162* b2, unsigned* u, double d, int n) {
  halves(h, h2, u, static_cast<float>(d));
  halves(b, b2, u, static_cast<float>(d));
  h[7] = rocport::double2half(d);
  b[7] = rocport::float2bfloat16_rz(static_cast<float>(d));
  b[8] = rocport::int2bfloat16_rn(n);
  b[9] = rocport::ull2bfloat16_ru(12345ull);
  u[8] += rocport::hne(h[0], 0.f) + rocport::hne(1, b[0]) + rocport::hne(h[0], h[1]);
  u[9] = rocport::bfloat162uint_rz(b[7]) + static_cast<unsigned>(rocport::half2char_rz(h[7]));
  b2[9] = rocport::floats2bfloat162_rn(1.0f, 2.0f);
  b[10] = __ldg(&b[11]);
  b[12] = rocport::cast<__hip_bfloat16>(h[8]);
  h[9] = rocport::cast<__half>(b[12]) + rocport::cast<__half>(1.5f);
}

template <class Number, class Pair, class Four>
__device__ void fp8_types(Number* n, Pair* p, Four* q, float4 v, __half2 h, __hip_bfloat162 b, float* out) {
  n[0] = Number(v.x);
  n[1] = Number(3);
  p[0] = Pair(h);
  p[1] = Pair(float2{v.x, v.y});
  q[0] = Four(v);
  q[1] = Four(b, b);
  out[0] = static_cast<float>(n[0]) + static_cast<float2>(p[0]).x + static_cast<float4>(q[0]).w + static_cast<int>(n[1]);
}
__global__ void fp8_uses(rocport::fp8_e4m3* a, rocport::fp8x2_e4m3* b, rocport::fp8x4_e4m3* c, rocport::fp8_e5m2* d,
                         rocport::fp8x2_e5m2* e, rocport::fp8x4_e5m2* f, float4 v, __half2 h, __hip_bfloat162 g, float* o) {
  fp8_types(a, b, c, v, h, g, o);
  fp8_types(d, e, f, v, h, g, o);
  __half2_raw raw = rocport::cvt_fp8x2_to_halfraw2(b[0].__x, rocport::E4M3);
  b[1].__x = rocport::cvt_halfraw2_to_fp8x2(raw, rocport::NOSAT, rocport::E4M3);
}

// CUDA lets the host compute and convert, too.
float host_math(float x, double d) {
  return rsqrtf(x) + rsqrt(x) + sinpif(x) + static_cast<float>(normcdf(d)) + isfinite(x) + rocport::umin(3u, 4u);
}
__device__ float device_math(float x) { return rsqrtf(x) + rsqrt(x) + sinpif(x) + rhypotf(x, x) + norm3df(x, x, x); }
__hip_bfloat16 on_the_host(float x) { return rocport::float2bfloat16_rn(x); }

hipblasStatus_t norm_of_old_names(hipblasHandle_t handle, const hipblasDoubleComplex* z, double* result) {
  return hipblasDznrm2(handle, 1, z, 1, result);
}
