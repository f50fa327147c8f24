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
}
