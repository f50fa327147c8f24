// SPDX-License-Identifier: Apache-2.0
// Right kernels whose machine code benchmarks/isa_plants.py spoils, one instruction at a time.
#include <hip/hip_runtime.h>

extern "C" {
// Both sides of a branch, and a loop that lanes leave at different times.
__global__ void divergent(const int* x, int* o) {
  const int i = threadIdx.x;
  int v = x[i];
  if (v & 1) v = o[i] + v * 3; else v = o[i + 256] - v;
  for (int k = 0; k < (i & 7); k++) v = v * 5 + o[(v & 63) + 512];
  o[i] = v;
}
// Places for those that are kept, by a vote of the wave.
__global__ void compact(const int* x, int* o, int* count) {
  const unsigned lane = threadIdx.x & 63;
  const int v = x[threadIdx.x];
  const unsigned long long kept = __ballot(v > 0);
  int base = 0;
  if (lane == 0) base = atomicAdd(count, __popcll(kept));
  base = __shfl(base, 0);
  if (v > 0) o[base + __popcll(kept & ((1ull << lane) - 1))] = v;
}
// Sum of a block: shuffles in the wave, LDS between waves.
__global__ void block_sum(const float* x, float* o) {
  __shared__ float part[4];
  float v = x[blockIdx.x * 256 + threadIdx.x];
  for (int d = 32; d; d >>= 1) v += __shfl_xor(v, d);
  if ((threadIdx.x & 63) == 0) part[threadIdx.x / 64] = v;
  __syncthreads();
  if (threadIdx.x == 0) o[blockIdx.x] = part[0] + part[1] + part[2] + part[3];
}
// Neighbours through LDS.
__global__ void stencil(const float* x, float* o, int n) {
  __shared__ float s[258];
  const int i = blockIdx.x * 256 + threadIdx.x, t = threadIdx.x + 1;
  s[t] = i < n ? x[i] : 0;
  if (threadIdx.x == 0) s[0] = i ? x[i - 1] : 0;
  if (threadIdx.x == 255) s[257] = i + 1 < n ? x[i + 1] : 0;
  __syncthreads();
  if (i < n) o[i] = s[t - 1] + 2 * s[t] + s[t + 1];
}
// A product of 32 x 32 through accumulation registers.
#ifdef __GFX9__
typedef float Sixteen __attribute__((ext_vector_type(16)));
__global__ void product(const float* a, const float* b, float* o) {
  Sixteen sum = {};
  asm("" : "+a"(sum));
  for (int k = 0; k < 32; k += 2) {
    const int row = k + threadIdx.x / 32, column = threadIdx.x & 31;
    sum = __builtin_amdgcn_mfma_f32_32x32x2f32(a[column * 32 + row], b[row * 32 + column], sum, 0, 0, 0);
    asm("" : "+a"(sum));
  }
  for (int k = 0; k < 16; k++) o[(8 * (k / 4) + 4 * (threadIdx.x / 32) + k % 4) * 32 + (threadIdx.x & 31)] = sum[k];
}
#endif
// Numbers below the normal ones, in three widths, and a conversion that rounds.
__global__ void small(const float* x, const double* y, const _Float16* z, float* o, double* p, _Float16* q) {
  const int i = threadIdx.x;
  o[i] = x[i] * 0.25f;
  p[i] = y[i] * 0.25;
  q[i] = z[i] * (_Float16)0.5f;
  o[64 + i] = (float)y[64 + i];
}
// 64-bit sums and addresses.
__global__ void wide(const unsigned long long* x, unsigned long long* o, long stride) {
  const unsigned long long i = threadIdx.x;
  unsigned long long v = x[i * stride];
  v += x[i] * 0x100000001b3ull;
  o[i] = v - (v >> 33) * 7;
}
// An array in scratch, by an index that differs between lanes.
__global__ void in_scratch(const int* order, int* o) {
  int a[32], s = 0;
  for (int k = 0; k < 32; k++) a[k] = k * 7 + threadIdx.x;
  for (int k = 0; k < 32; k++) s = s * 31 + a[order[(k + threadIdx.x) & 31]];
  o[threadIdx.x] = s;
}
// Counts of bytes: atomics in LDS, then in memory.
__global__ void histogram(const unsigned* x, unsigned* o) {
  __shared__ unsigned bins[64];
  if (threadIdx.x < 64) bins[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(bins + (x[blockIdx.x * 256 + threadIdx.x] & 63), 1u);
  __syncthreads();
  if (threadIdx.x < 64) atomicAdd(o + threadIdx.x, bins[threadIdx.x]);
}
// A scan of the wave's numbers by moves between lanes, and the last lane's sum for all.
__global__ void scan(const int* x, int* o) {
  int v = x[threadIdx.x];
  v += __builtin_amdgcn_update_dpp(0, v, 0x111, 0xf, 0xf, true);
  v += __builtin_amdgcn_update_dpp(0, v, 0x112, 0xf, 0xf, true);
  v += __builtin_amdgcn_update_dpp(0, v, 0x114, 0xf, 0xf, true);
  v += __builtin_amdgcn_update_dpp(0, v, 0x118, 0xf, 0xf, true);
  const int before = __builtin_amdgcn_ds_bpermute((int)(threadIdx.x / 16 * 16 - 1) * 4, v);
  o[threadIdx.x] = v;
  o[64 + threadIdx.x] = threadIdx.x >= 16 ? before : 0;
  o[128 + threadIdx.x] = __builtin_amdgcn_readlane(v, 63) + __builtin_amdgcn_readfirstlane(v);
}
// Pairs of halves: products with signs and halves exchanged, and a clamped sum.
typedef _Float16 Two __attribute__((ext_vector_type(2)));
__global__ void pairs(const Two* x, const Two* y, Two* o, float* p) {
  const int i = threadIdx.x;
  const Two a = x[i], b = y[i];
  o[i] = a * -b.yx + x[i + 64];
  p[i] = __builtin_amdgcn_fmed3f((float)a.x * (float)b.y + (float)a.y, 0.0f, 1.0f);
}
// Carries from word to word, and a quotient.
__global__ void carries(const unsigned long long* x, const unsigned* y, unsigned long long* o, unsigned* q) {
  const int i = threadIdx.x;
  unsigned long long s = x[i] + x[i + 64];
  o[i] = s - (x[i + 128] << (i & 63));
  q[i] = y[i] / (y[i + 64] | 1u);
}
}
