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
}
