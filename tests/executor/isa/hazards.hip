// SPDX-License-Identifier: Apache-2.0
// Kernels with one defect each that a GPU may let pass.
#include <hip/hip_runtime.h>

extern "C" {
// Reads what nobody wrote: the upper half of the array.
__global__ void uninitialized_lds(int* o) {
  __shared__ volatile int s[128];
  if (threadIdx.x < 32) s[threadIdx.x] = threadIdx.x;
  __syncthreads();
  o[threadIdx.x] = s[threadIdx.x];
}
// Uses a loaded value without waiting for it.
__global__ void missing_wait(const int* p, int* o) {
  int v;
  asm volatile("global_load_dword %0, %1, off" : "=v"(v) : "v"(p + threadIdx.x));
  asm volatile("v_add_u32 %0, %1, %1" : "=v"(v) : "v"(v));
  asm volatile("s_waitcnt vmcnt(0)");
  o[threadIdx.x] = v;
}
__global__ void with_wait(const int* p, int* o) {
  int v;
  asm volatile("global_load_dword %0, %1, off" : "=v"(v) : "v"(p + threadIdx.x));
  asm volatile("s_waitcnt vmcnt(0)");
  asm volatile("v_add_u32 %0, %1, %1" : "=v"(v) : "v"(v));
  o[threadIdx.x] = v;
}
// The two waves of the workgroup meet at different barriers.
__global__ void two_barriers(int* o) {
  if (threadIdx.x < 64) {
    o[threadIdx.x] = 1;
    asm volatile("s_barrier");
  } else {
    o[threadIdx.x] = 2;
    asm volatile("s_nop 1\n s_barrier");
  }
}
__global__ void past_the_lds(int* o, int k) {
  extern __shared__ int s[];
  s[k * threadIdx.x] = 1;
  o[threadIdx.x] = s[0];
}
// The neighbour's value, with no barrier between.
__global__ void shared_race(const int* x, int* o) {
  __shared__ int s[256];
  s[threadIdx.x] = x[threadIdx.x];
  o[threadIdx.x] = s[threadIdx.x ^ 128];
}
__global__ void with_barrier(const int* x, int* o) {
  __shared__ int s[256];
  s[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  o[threadIdx.x] = s[threadIdx.x ^ 128];
}
// Each workgroup adds to the same places.
__global__ void global_race(const int* x, int* o) { o[threadIdx.x] += x[threadIdx.x] + blockIdx.x; }
__global__ void with_atomic(const int* x, int* o) { atomicAdd(o + threadIdx.x, x[threadIdx.x] + blockIdx.x); }
// A register that nobody wrote reaches memory.
__global__ void unwritten_register(const int* x, int* o) {
  int v;
  asm volatile("v_add_u32 %0, v200, %1" : "=v"(v) : "v"(x[threadIdx.x]) : "v200");
  o[threadIdx.x] = v;
}
// One wave waits for what the other never writes.
__global__ void waits_for_nobody(volatile int* x) {
  if (threadIdx.x < 64) {
    while (x[0] == 0) {}
  } else {
    __builtin_amdgcn_s_barrier();
    x[0] = 1;
  }
}
}
