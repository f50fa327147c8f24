// SPDX-License-Identifier: Apache-2.0
// Kernels whose results a few lines of numpy give too; each stresses another part of the machine.
#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>

extern "C" {
__device__ int table[4] = {3, 1, 4, 1};

__global__ void scale_add(int n, float a, const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}

// Sum of a workgroup: shuffles inside a wave, LDS and a barrier between waves.
__global__ void block_sum(const int* x, int* out) {
  __shared__ int part[32];
  int v = x[blockIdx.x * blockDim.x + threadIdx.x];
  for (int o = warpSize / 2; o; o >>= 1) v += __shfl_down(v, o);
  if (threadIdx.x % warpSize == 0) part[threadIdx.x / warpSize] = v;
  __syncthreads();
  if (threadIdx.x == 0) {
    int total = 0;
    for (unsigned k = 0; k < blockDim.x / warpSize; k++) total += part[k];
    out[blockIdx.x] = total;
  }
}

__global__ void keep_positive(int n, const int* x, int* out, int* count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, v = i < n ? x[i] : 0, lane = threadIdx.x % warpSize, base = 0;
  unsigned long long b = __ballot(v > 0);
  if (lane == 0) base = atomicAdd(count, __popcll(b));
  base = __shfl(base, 0);
  if (v > 0) out[base + __popcll(b & ((1ull << lane) - 1))] = v;
}

__global__ void lds_histogram(int n, const unsigned char* x, unsigned* h) {
  __shared__ unsigned s[256];
  for (int i = threadIdx.x; i < 256; i += blockDim.x) s[i] = 0;
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) atomicAdd(&s[x[i]], 1u);
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += blockDim.x) atomicAdd(&h[i], s[i]);
}

__global__ void divergent_loops(const unsigned* x, int* steps) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, c = 0;
  for (unsigned long long v = x[i]; v != 1; c++) v = v & 1 ? 3 * v + 1 : v >> 1;
  steps[i] = c;
}

__global__ void float_math(int n, const float* x, const float* y, float* o) {
  int i = threadIdx.x;
  o[i] = x[i] / y[i];
  o[n + i] = sqrtf(x[i]);
  o[2 * n + i] = expf(y[i]);
  o[3 * n + i] = logf(x[i]);
}

__global__ void double_math(int n, const double* x, const double* y, double* o) {
  int i = threadIdx.x;
  o[i] = x[i] / y[i];
  o[n + i] = sqrt(x[i]);
  o[2 * n + i] = fma(x[i], y[i], 1.0);
}

__global__ void half_pairs(const __half2* x, const __half2* y, __half2* o) {
  int i = threadIdx.x;
  o[i] = __hfma2(x[i], y[i], __hadd2(x[i], y[i]));
}

__global__ void in_scratch(const int* order, int* o) {
  int a[32], s = 0;
  for (int k = 0; k < 32; k++) a[k] = k * 7 + threadIdx.x;
  for (int k = 0; k < 32; k++) a[order[k]] ^= k;
  for (int k = 0; k < 32; k++) s = s * 31 + a[order[(k + threadIdx.x) & 31]];
  o[threadIdx.x] = s;
}

// A register that a number names: S_SET_GPR_IDX_ON on CDNA, V_MOVREL* on RDNA.
typedef int Sixteen __attribute__((ext_vector_type(16)));
__global__ void named_register(const int* x, int to, int from, int* o) {
  Sixteen v;
#pragma unroll
  for (int k = 0; k < 16; k++) v[k] = x[threadIdx.x + 64 * k];
  v[to] = 7 * threadIdx.x;
  o[threadIdx.x] = v[from];
  o[64 + threadIdx.x] = v[0] ^ v[15];
}

// Lanes that ask get places in a row; the counter lies in LDS.
__global__ void append(const int* wanted, int* o) {
  __shared__ int counter;
  counter = 5;
  __syncthreads();
  int at = -1;
  if (wanted[threadIdx.x]) at = __builtin_amdgcn_ds_append((__attribute__((address_space(3))) int*)&counter);
  o[threadIdx.x] = at;
  __syncthreads();
  if (threadIdx.x == 0) o[64] = counter;
}

// LDS instructions that clang does not make by itself.
__global__ void lds_exchange(const int* x, int* o) {
  __shared__ int s[128];
  const int t = threadIdx.x, v = x[t];
  s[t] = v;
  s[64 + t] = 5 * v;
  __syncthreads();
  const unsigned a = (unsigned)(unsigned long)(__attribute__((address_space(3))) int*)(s + t);
  unsigned long old;
#ifdef __GFX9__
  asm volatile("ds_wrxchg2_rtn_b32 %0, %1, %2, %3 offset1:64" : "=v"(old) : "v"(a), "v"(t), "v"(-t) : "memory");
#else
  asm volatile("ds_storexchg_2addr_rtn_b32 %0, %1, %2, %3 offset1:64" : "=v"(old) : "v"(a), "v"(t), "v"(-t) : "memory");
#endif
  asm volatile("s_waitcnt lgkmcnt(0)\n ds_mskor_b32 %0, %1, %2\n s_waitcnt lgkmcnt(0)" ::"v"(a), "v"(0xf0), "v"(0x500) : "memory");
  int wrapped;
  asm volatile("ds_wrap_rtn_b32 %0, %1, %2, %3 offset:256\n s_waitcnt lgkmcnt(0)" : "=v"(wrapped) : "v"(a), "v"(10), "v"(3) : "memory");
  o[t] = (int)old;
  o[64 + t] = (int)(old >> 32);
  o[128 + t] = s[t];
  o[192 + t] = wrapped;
  o[256 + t] = s[64 + t];
}

__global__ void variables(int* o) { o[threadIdx.x] = table[threadIdx.x & 3] + gridDim.x * blockDim.x; }

__global__ void out_of_bounds(int* p, long i) { p[i * (threadIdx.x == 5)] = 1; }
__global__ void trap(int* p) { if (*p) __builtin_trap(); }
__global__ void never_ends(volatile int* p) { while (*p == 0) {} }

// Wave 1 waits for what wave 0 writes: needs waves that take turns.
__global__ void handshake(volatile int* flag, int* o) {
  if (threadIdx.x / warpSize == 1) while (flag[0] == 0) {}
  if (threadIdx.x == 0) { __threadfence(); flag[0] = 1; }
  o[threadIdx.x] = 1;
}

// Each workgroup waits for the one before it, and the first for the last: all must be resident.
__global__ void ring(volatile int* flag) {
  if (threadIdx.x) return;
  if (blockIdx.x != gridDim.x - 1) while (flag[blockIdx.x + 1] == 0) {}
  flag[blockIdx.x] = 1;
}
}
