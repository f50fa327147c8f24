#include "rowstats.h"
#include "warp.cuh"

// One warp a row, four rows a block.
template <int kRows>
__global__ void __launch_bounds__(kRows * 32, 8)
row_sum_kernel(const float* __restrict__ in, float* __restrict__ out, int rows, int columns) {
  const int warp = threadIdx.x >> 5;
  const int lane = threadIdx.x & 31;
  const int row = blockIdx.x * kRows + warp;
  if (row >= rows) return;
  float sum = 0.0f;
  for (int column = lane; column < columns; column += WARP) {
#if __CUDA_ARCH__ >= 350
    sum += __ldg(in + static_cast<size_t>(row) * columns + column);
#else
    sum += in[static_cast<size_t>(row) * columns + column];
#endif
  }
  sum = warp_sum(sum);
  if (lane == 0) out[row] = sum;
}

cudaError_t row_sum(const float* in, float* out, int rows, int columns, cudaStream_t stream) {
  constexpr int kRows = 4;
  const dim3 block(kRows * 32);
  const dim3 grid((rows + kRows - 1) / kRows);
  row_sum_kernel<kRows><<<grid, block, 0, stream>>>(in, out, rows, columns);
  return cudaGetLastError();
}
