// nvcuda::wmma in its shapes, two warps a block, against plain loops.
#include "check.h"
#include <mma.h>
using namespace nvcuda;

template <int M, int N, int K, class A, class Stored, class D, class LayoutA, class LayoutB>
__global__ void multiply(const Stored *a, const Stored *b, D *d) {
  const int warp = threadIdx.x / 32;
  a += warp * M * K, b += warp * K * N, d += warp * M * N;
  wmma::fragment<wmma::matrix_a, M, N, K, A, LayoutA> fa;
  wmma::fragment<wmma::matrix_b, M, N, K, A, LayoutB> fb;
  wmma::fragment<wmma::accumulator, M, N, K, D> sums, start;
  wmma::fill_fragment(sums, static_cast<D>(0));
  wmma::load_matrix_sync(fa, a, K);
  wmma::load_matrix_sync(fb, b, K);
  wmma::load_matrix_sync(start, d, N, wmma::mem_row_major);
  for (int i = 0; i < sums.num_elements; ++i) sums.x[i] += start.x[i] + start.x[i];
  wmma::mma_sync(sums, fa, fb, sums);
  wmma::store_matrix_sync(d, sums, N, wmma::mem_row_major);
}
template <int M, int N, int K, class A, class Stored, class D> void check(const char *what, Stored (*make)(float)) {
  Numbers numbers{41};
  std::vector<Stored> a(2 * M * K), b(2 * K * N);
  std::vector<float> va(a.size()), vb(b.size());
  std::vector<D> d(2 * M * N), want(2 * M * N);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = make(va[i] = static_cast<float>(numbers.next(-12, 12)));
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = make(vb[i] = static_cast<float>(numbers.next(-12, 12)));
  for (D &v : d) v = static_cast<D>(numbers.next(-9, 9));
  for (int w = 0; w < 2; ++w)
    for (int m = 0; m < M; ++m)
      for (int n = 0; n < N; ++n) {
        double sum = 2 * double(d[w * M * N + m * N + n]);
        for (int k = 0; k < K; ++k) sum += double(va[w * M * K + m * K + k]) * vb[w * K * N + n * K + k];
        want[w * M * N + m * N + n] = static_cast<D>(sum);
      }
  D *out = on_device(d);
  multiply<M, N, K, A, Stored, D, wmma::row_major, wmma::col_major><<<1, 64>>>(on_device(a), on_device(b), out);
  cudaDeviceSynchronize();
  same(what, from_device(out, want.size()), want);
}
half of_half(float v) { return __float2half(v); }
float of_float(float v) { return v; }
signed char of_byte(float v) { return static_cast<signed char>(v); }
double of_double(float v) { return v; }
__nv_bfloat16 of_bf16(float v) { return __float2bfloat16(v); }
int main() {
  check<16, 16, 16, half, half, float>("16x16x16 half", of_half);
  check<32, 8, 16, half, half, float>("32x8x16 half", of_half);
  check<8, 32, 16, half, half, float>("8x32x16 half", of_half);
  check<16, 16, 16, __nv_bfloat16, __nv_bfloat16, float>("16x16x16 bf16", of_bf16);
  check<16, 16, 8, wmma::precision::tf32, float, float>("16x16x8 tf32", of_float);
  check<16, 16, 16, signed char, signed char, int>("16x16x16 s8", of_byte);
  check<8, 8, 4, double, double, double>("8x8x4 double", of_double);
  if (!failures) std::printf("PASS\n");
  return failures;
}
