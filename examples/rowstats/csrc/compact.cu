#include "rowstats.h"
#include "warp.cuh"

// Writes the elements above the threshold, in order within a warp; `count` is how many there are.
__global__ void compact_kernel(const float* in, float* out, int* count, int n, float threshold) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float value = i < n ? in[i] : 0.0f;
  const bool keep = i < n && value > threshold;
  const unsigned votes = __ballot_sync(FULL_MASK, keep);
  const int rank = rank_in_warp(keep);
  int base = 0;
  if (lane_id() == 0) base = atomicAdd(count, __popc(votes));
  base = __shfl_sync(FULL_MASK, base, 0);
  if (keep) out[base + rank] = value;
}

cudaError_t compact(const float* in, float* out, int* count, int n, float threshold, cudaStream_t stream) {
  cudaError_t status = cudaMemsetAsync(count, 0, sizeof(int), stream);
  if (status != cudaSuccess) return status;
  compact_kernel<<<(n + 255) / 256, 256, 0, stream>>>(in, out, count, n, threshold);
  return cudaGetLastError();
}
