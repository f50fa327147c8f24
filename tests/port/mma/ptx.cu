// mma.sync, ldmatrix, stmatrix and movmatrix, two warps a block, against plain loops. Fragments are filled by the layouts
// that the PTX ISA draws, element by element.
#include "check.h"

__device__ void mma(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2], int kind) {
  if (kind == 0)
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};\n"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  if (kind == 1)
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};\n"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  if (kind == 2)
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};\n"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  if (kind == 3)
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};\n"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(b[0]));
  if (kind == 5)
    asm volatile("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};\n"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// a: 16 x k elements of `size` bytes, row-major; b: k x 8, column-major; d: 16 x 8.
template <int Kind, int K, int Size>
__global__ void floats(const unsigned char *a, const unsigned char *b, float *d) {
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, g = lane >> 2, t = lane & 3, each = 4 / Size;
  a += warp * 16 * K * Size, b += warp * 8 * K * Size, d += warp * 128;
  unsigned ra[4] = {}, rb[2] = {};
  for (int w = 0; w < K / (4 * each); ++w) {
    const int k = 4 * each * w + each * t;
    memcpy(&ra[2 * w], a + (g * K + k) * Size, 4);
    memcpy(&ra[2 * w + 1], a + ((g + 8) * K + k) * Size, 4);
    memcpy(&rb[w], b + (g * K + k) * Size, 4);
  }
  float rd[4] = {d[g * 8 + 2 * t], d[g * 8 + 2 * t + 1], d[(g + 8) * 8 + 2 * t], d[(g + 8) * 8 + 2 * t + 1]};
  mma(rd, ra, rb, Kind);
  d[g * 8 + 2 * t] = rd[0], d[g * 8 + 2 * t + 1] = rd[1];
  d[(g + 8) * 8 + 2 * t] = rd[2], d[(g + 8) * 8 + 2 * t + 1] = rd[3];
}
__global__ void bytes(const unsigned char *a, const unsigned char *b, int *d) {
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, g = lane >> 2, t = lane & 3;
  a += warp * 16 * 32, b += warp * 8 * 32, d += warp * 128;
  unsigned ra[4], rb[2];
  for (int w = 0; w < 2; ++w) {
    memcpy(&ra[2 * w], a + g * 32 + 16 * w + 4 * t, 4);
    memcpy(&ra[2 * w + 1], a + (g + 8) * 32 + 16 * w + 4 * t, 4);
    memcpy(&rb[w], b + g * 32 + 16 * w + 4 * t, 4);
  }
  int c = d[g * 8 + 2 * t], r0, r1, r2, r3;
  asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%11,%12,%13};"
      : "=r"(r0), "=r"(r1), "=r"(r2), "=r"(r3)
      : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]), "r"(rb[0]), "r"(rb[1]), "r"(c), "r"(d[g * 8 + 2 * t + 1]),
        "r"(d[(g + 8) * 8 + 2 * t]), "r"(d[(g + 8) * 8 + 2 * t + 1]));
  d[g * 8 + 2 * t] = r0, d[g * 8 + 2 * t + 1] = r1, d[(g + 8) * 8 + 2 * t] = r2, d[(g + 8) * 8 + 2 * t + 1] = r3;
}
// Four 8x8 matrices in shared memory: loaded, transposed twice in two ways, stored.
__global__ void matrices(const unsigned short *in, unsigned short *plain, unsigned short *turned, unsigned short *moved) {
  __shared__ __align__(16) unsigned short s[2][256], u[2][256];
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  for (int i = lane; i < 256; i += 32) s[warp][i] = in[warp * 256 + i];
  __syncthreads();
  unsigned where = static_cast<unsigned>(__cvta_generic_to_shared(&s[warp][lane * 8]));
  unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(&u[warp][lane * 8]));
  unsigned r[4], q[4];
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(where));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(q[0]), "=r"(q[1]), "=r"(q[2]), "=r"(q[3]) : "r"(where));
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1,%2,%3,%4};"
               :: "r"(to), "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]) : "memory");
  __syncthreads();
  for (int i = lane; i < 256; i += 32) plain[warp * 256 + i] = u[warp][i];
  __syncthreads();
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1,%2,%3,%4};"
               :: "r"(to), "r"(q[0]), "r"(q[1]), "r"(q[2]), "r"(q[3]) : "memory");
  __syncthreads();
  for (int i = lane; i < 256; i += 32) turned[warp * 256 + i] = u[warp][i];
  __syncthreads();
  for (int j = 0; j < 4; ++j) asm("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(q[j]) : "r"(r[j]));
  asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1,%2,%3,%4};"
               :: "r"(to), "r"(q[0]), "r"(q[1]), "r"(q[2]), "r"(q[3]) : "memory");
  __syncthreads();
  for (int i = lane; i < 256; i += 32) moved[warp * 256 + i] = u[warp][i];
}

template <int Kind, int K, int Size> void check(const char *what, float (*make)(Numbers &, unsigned char *)) {
  Numbers numbers{17u + Kind};
  std::vector<unsigned char> a(2 * 16 * K * Size), b(2 * 8 * K * Size);
  std::vector<float> va(2 * 16 * K), vb(2 * 8 * K), d(256), want(256);
  for (std::size_t i = 0; i < va.size(); ++i) va[i] = make(numbers, &a[i * Size]);
  for (std::size_t i = 0; i < vb.size(); ++i) vb[i] = make(numbers, &b[i * Size]);
  for (float &v : d) v = static_cast<float>(numbers.next(-9, 9));
  for (int w = 0; w < 2; ++w)
    for (int m = 0; m < 16; ++m)
      for (int n = 0; n < 8; ++n) {
        float sum = d[w * 128 + m * 8 + n];
        for (int k = 0; k < K; ++k) sum += va[(w * 16 + m) * K + k] * vb[(w * 8 + n) * K + k];
        want[w * 128 + m * 8 + n] = sum;
      }
  float *out = on_device(d);
  floats<Kind, K, Size><<<1, 64>>>(on_device(a), on_device(b), out);
  cudaDeviceSynchronize();
  same(what, from_device(out, 256), want);
}
float make_half(Numbers &n, unsigned char *p) { float v = n.next(-20, 20) / 4.0f; unsigned short s = half_bits(v); std::memcpy(p, &s, 2); return v; }
float make_bf16(Numbers &n, unsigned char *p) { float v = n.next(-20, 20) / 4.0f; unsigned short s = bf16_bits(v); std::memcpy(p, &s, 2); return v; }
float make_tf32(Numbers &n, unsigned char *p) { float v = n.next(-200, 200) / 8.0f; std::memcpy(p, &v, 4); return v; }
float make_e4m3(Numbers &n, unsigned char *p) {
  const int code = n.next(0x30, 0x47);  // 0.5 to 3.75: sums that Hopper keeps exactly as well
  *p = static_cast<unsigned char>(code | (n.next(0, 1) << 7));
  const int e = code >> 3, m = code & 7;
  float v = e ? (8 + m) / 8.0f * (e > 7 ? float(1 << (e - 7)) : 1.0f / (1 << (7 - e))) : m / 512.0f;
  return *p & 0x80 ? -v : v;
}
int main() {
  check<0, 16, 2>("m16n8k16 f16", make_half);
  check<1, 16, 2>("m16n8k16 bf16", make_bf16);
  check<2, 8, 4>("m16n8k8 tf32", make_tf32);
  check<3, 8, 2>("m16n8k8 f16", make_half);
  check<5, 32, 1>("m16n8k32 e4m3", make_e4m3);
  Numbers numbers{5};
  std::vector<unsigned char> a(2 * 16 * 32), b(2 * 8 * 32);
  std::vector<int> d(256), want(256);
  for (auto &v : a) v = static_cast<unsigned char>(numbers.next(0, 255));
  for (auto &v : b) v = static_cast<unsigned char>(numbers.next(0, 255));
  for (auto &v : d) v = numbers.next(-1000, 1000);
  for (int w = 0; w < 2; ++w)
    for (int m = 0; m < 16; ++m)
      for (int n = 0; n < 8; ++n) {
        int sum = d[w * 128 + m * 8 + n];
        for (int k = 0; k < 32; ++k)
          sum += static_cast<signed char>(a[(w * 16 + m) * 32 + k]) * static_cast<signed char>(b[(w * 8 + n) * 32 + k]);
        want[w * 128 + m * 8 + n] = sum;
      }
  int *out = on_device(d);
  bytes<<<1, 64>>>(on_device(a), on_device(b), out);
  cudaDeviceSynchronize();
  same("m16n8k32 s8", from_device(out, 256), want);
  std::vector<unsigned short> in(512), across(512);
  for (auto &v : in) v = static_cast<unsigned short>(numbers.next(0, 65535));
  for (int j = 0; j < 8; ++j)
    for (int r = 0; r < 8; ++r)
      for (int c = 0; c < 8; ++c) across[j * 64 + c * 8 + r] = in[j * 64 + r * 8 + c];
  unsigned short *plain = on_device(in), *turned = on_device(in), *moved = on_device(across);
  matrices<<<1, 64>>>(on_device(in), plain, turned, moved);
  cudaDeviceSynchronize();
  same("ldmatrix", from_device(plain, 512), in);
  same("ldmatrix.trans", from_device(turned, 512), across);
  same("movmatrix, stmatrix.trans", from_device(moved, 512), in);
  if (!failures) std::printf("PASS\n");
  return failures;
}
