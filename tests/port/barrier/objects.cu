// Barriers, copies and pipelines of libcu++: each function checks one kernel of this file.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cstdio>
#include <utility>
namespace cg = cooperative_groups;
using barrier = cuda::barrier<cuda::thread_scope_block>;
__global__ void split_kernel(int* out) {
  __shared__ int s[128];
#pragma nv_diagnostic push
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ barrier bar;
  auto block = cg::this_thread_block();
  if (block.thread_rank() == 0) init(&bar, block.size());
  block.sync();
  int acc = 0;
  for (int r = 0; r < 5; ++r) {
    s[threadIdx.x] = threadIdx.x * 10 + r;
    barrier::arrival_token token = bar.arrive();
    acc += r;
    bar.wait(std::move(token));
    acc += s[(threadIdx.x + 37) % 128];
    bar.arrive_and_wait();
  }
  out[threadIdx.x] = acc;
}
static bool split() { int *o, h[128]; cudaMalloc(&o, sizeof h); split_kernel<<<1, 128>>>(o); cudaMemcpy(h, o, sizeof h, cudaMemcpyDeviceToHost); bool ok = true; for (int i = 0; i < 128; i++) ok &= h[i] == 20 + 50 * ((i + 37) % 128); return ok; }
__global__ void copies_kernel(const int* in, int* out, int n) {
  extern __shared__ int buf[];
  __shared__ cuda::barrier<cuda::thread_scope_block> bar[2];
  auto block = cg::this_thread_block();
  if (!threadIdx.x) { init(&bar[0], blockDim.x); init(&bar[1], blockDim.x); }
  __syncthreads();
  int sum = 0;
  cuda::memcpy_async(block, buf, in, cuda::aligned_size_t<16>(sizeof(int) * 64), bar[0]);
  for (int i = 0; i < n; ++i) {
    if (i + 1 < n) cuda::memcpy_async(block, buf + (i + 1) % 2 * 64, in + (i + 1) * 64, cuda::aligned_size_t<16>(sizeof(int) * 64), bar[(i + 1) % 2]);
    bar[i % 2].arrive_and_wait();
    sum += buf[i % 2 * 64 + 63 - threadIdx.x];
    __syncthreads();
  }
  out[threadIdx.x] = sum;
}
static bool copies() { int h[512], *d, *o, r[64]; for (int i = 0; i < 512; i++) h[i] = i * i % 1001; cudaMalloc(&d, sizeof h); cudaMalloc(&o, sizeof r); cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice); copies_kernel<<<1, 64, 512>>>(d, o, 8); cudaMemcpy(r, o, sizeof r, cudaMemcpyDeviceToHost); bool ok = true; for (int t = 0; t < 64; t++) { int s = 0; for (int i = 0; i < 8; i++) s += h[i * 64 + 63 - t]; ok &= s == r[t]; } return ok; }
template <size_t STAGES> __global__ void stages_kernel(const float* in, float* out, int batches) {
  __shared__ float buf[STAGES][96];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, STAGES> state;
  auto block = cg::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state);
  float acc = 0; int fetch = 0;
  for (int b = 0; b < batches; ++b) {
    for (; fetch < batches && fetch < b + (int)STAGES; ++fetch) {
      pipe.producer_acquire();
      cuda::memcpy_async(block, buf[fetch % STAGES], in + fetch * 96, sizeof(float) * 96, pipe);
      pipe.producer_commit();
    }
    pipe.consumer_wait();
    acc += buf[b % STAGES][95 - threadIdx.x];
    pipe.consumer_release();
  }
  out[threadIdx.x] = acc;
}
static bool stages() { float h[960], *d, *o, r[96]; for (int i = 0; i < 960; i++) h[i] = i % 77; cudaMalloc(&d, sizeof h); cudaMalloc(&o, sizeof r); cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice); stages_kernel<3><<<1, 96>>>(d, o, 10); cudaMemcpy(r, o, sizeof r, cudaMemcpyDeviceToHost); bool ok = true; for (int t = 0; t < 96; t++) { float s = 0; for (int i = 0; i < 10; i++) s += h[i * 96 + 95 - t]; ok &= s == r[t]; } return ok; }
__global__ void thread_kernel(const int4* in, int4* out) {
  __shared__ int4 s[2][64];
  cuda::pipeline<cuda::thread_scope_thread> pipe = cuda::make_pipeline();
  const auto shape = cuda::aligned_size_t<alignof(int4)>(sizeof(int4));
  for (int i = 0; i < 2; ++i) { pipe.producer_acquire(); cuda::memcpy_async(&s[i][threadIdx.x], &in[i * 64 + threadIdx.x], shape, pipe); pipe.producer_commit(); }
  cuda::pipeline_consumer_wait_prior<1>(pipe);
  int4 a = s[0][threadIdx.x]; pipe.consumer_release();
  cuda::pipeline_consumer_wait_prior<0>(pipe);
  int4 b = s[1][threadIdx.x]; pipe.consumer_release();
  out[threadIdx.x] = make_int4(a.x + b.x, a.y, b.z, a.w - b.w);
}
static bool thread() { int4 h[128], *d, *o, r[64]; for (int i = 0; i < 128; i++) h[i] = make_int4(i, 2 * i, 3 * i, 4 * i); cudaMalloc(&d, sizeof h); cudaMalloc(&o, sizeof r); cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice); thread_kernel<<<1, 64>>>(d, o); cudaMemcpy(r, o, sizeof r, cudaMemcpyDeviceToHost); bool ok = true; for (int t = 0; t < 64; t++) ok &= r[t].x == 2 * t + 64 && r[t].y == 2 * t && r[t].z == 3 * (t + 64) && r[t].w == -256; return ok; }
__global__ void waits_kernel(cuda::atomic<int, cuda::thread_scope_device>* flag, int* out) {
  if (blockIdx.x == 0) { if (threadIdx.x == 0) { *out = 42; flag->store(1, cuda::memory_order_release); flag->notify_all(); } }
  else if (threadIdx.x == 0) { flag->wait(0, cuda::memory_order_acquire); out[1] = *out + 1; }
}
static bool waits() { int *f, *o, r[2]; cudaMalloc(&f, 4); cudaMemset(f, 0, 4); cudaMalloc(&o, 8); waits_kernel<<<2, 32>>>((cuda::atomic<int, cuda::thread_scope_device>*)f, o); cudaMemcpy(r, o, 8, cudaMemcpyDeviceToHost); bool ok = r[0] == 42 && r[1] == 43; return ok; }
int main() {
  const bool right[] = {split(), copies(), stages(), thread(), waits()};
  for (int i = 0; i < 5; ++i) {
    if (!right[i]) return printf("FAIL %d\n", i), 1;
  }
  puts("PASS");
}
