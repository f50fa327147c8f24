// hipBLAS's vector operations over types that are named at run time, rotations, banded and packed matrices, and batches.
#define HIPBLAS_V2
#include <hipblas/hipblas.h>

#include <cmath>
#include <cstdio>

static bool ok = true;
#define CHECK(what) do { if (!(what)) std::printf("FAIL line %d: %s\n", __LINE__, #what), ok = false; } while (0)

template <class T> static T *device(std::initializer_list<T> values) {
  T *p = nullptr;
  (void)hipMalloc(&p, values.size() * sizeof(T));
  T *at = p;
  for (T value : values) *at++ = value;  // device memory is host memory here
  return p;
}

using Z = hipDoubleComplex;
static bool near(const double *a, std::initializer_list<double> b) {
  for (double value : b)
    if (std::abs(*a++ - value) > 1e-12) return false;
  return true;
}

// Of [2 3 0; 5 7 11; 0 13 17] by bands and packed, of a Hermitian matrix, and solutions of what was multiplied.
static void matrices(hipblasHandle_t h) {
  const double one = 1, none = 0;
  double *x = device<double>({1, 2, 3}), *y = device<double>({9, 9, 9});
  double *band = device<double>({0, 2, 5, 3, 7, 13, 11, 17, 0});
  CHECK(!hipblasDgbmv(h, HIPBLAS_OP_N, 3, 3, 1, 1, &one, band, 3, x, 1, &none, y, 1) && near(y, {8, 52, 77}));
  CHECK(!hipblasDgbmv_64(h, HIPBLAS_OP_T, 3, 3, 1, 1, &one, band, 3, x, -1, &one, y, 1) && near(y, {24, 88, 116}));
  double *packed = device<double>({2, 3, 7, 0, 11, 17}), *upper = device<double>({0, 2, 3, 7, 11, 17});  // by the upper triangle
  CHECK(!hipblasDspmv(h, HIPBLAS_FILL_MODE_UPPER, 3, &one, packed, x, 1, &none, y, 1) && near(y, {8, 50, 73}));
  CHECK(!hipblasDsbmv(h, HIPBLAS_FILL_MODE_UPPER, 3, 1, &one, upper, 2, x, 1, &none, y, 1) && near(y, {8, 50, 73}));
  double *lower = device<double>({2, 5, 0, 7, 13, 17});
  for (auto fill : {HIPBLAS_FILL_MODE_UPPER, HIPBLAS_FILL_MODE_LOWER})
    for (auto op : {HIPBLAS_OP_N, HIPBLAS_OP_T})
      for (auto diagonal : {HIPBLAS_DIAG_NON_UNIT, HIPBLAS_DIAG_UNIT}) {
        double *a = fill == HIPBLAS_FILL_MODE_UPPER ? packed : lower, *b = fill == HIPBLAS_FILL_MODE_UPPER ? upper : band + 1;
        const int ld = fill == HIPBLAS_FILL_MODE_UPPER ? 2 : 3;
        CHECK(!hipblasDtpmv(h, fill, op, diagonal, 3, a, x, 1) && !near(x, {1, 2, 3}) && !hipblasDtpsv(h, fill, op, diagonal, 3, a, x, 1) && near(x, {1, 2, 3}));
        CHECK(!hipblasDtbmv(h, fill, op, diagonal, 3, 1, b, ld, x, 1) && !near(x, {1, 2, 3}) && !hipblasDtbsv(h, fill, op, diagonal, 3, 1, b, ld, x, 1) && near(x, {1, 2, 3}));
      }
  CHECK(!hipblasDtpmv(h, HIPBLAS_FILL_MODE_UPPER, HIPBLAS_OP_N, HIPBLAS_DIAG_NON_UNIT, 3, packed, x, 1) && near(x, {8, 47, 51}));
  double *sums = device<double>({0, 0, 0}), *e = device<double>({1, 2}), *f = device<double>({3, 5});
  CHECK(!hipblasDspr(h, HIPBLAS_FILL_MODE_LOWER, 2, &one, e, 1, sums) && near(sums, {1, 2, 4}));
  CHECK(!hipblasDspr2(h, HIPBLAS_FILL_MODE_LOWER, 2, &one, e, 1, f, 1, sums) && near(sums, {7, 13, 24}));
  // [2 i; -i 3] times [1, i]
  const Z unit(1, 0), zero(0, 0);
  Z *hermitian = device<Z>({Z(2, 7), Z(0, -1), Z(3, 0)}), *v = device<Z>({Z(1, 0), Z(0, 1)}), *w = device<Z>({zero, zero});
  CHECK(!hipblasZhpmv(h, HIPBLAS_FILL_MODE_LOWER, 2, &unit, hermitian, v, 1, &zero, w, 1));
  CHECK(near(&w[0].x, {1, 0, 0, 2}));
  CHECK(!hipblasZhpr(h, HIPBLAS_FILL_MODE_LOWER, 2, &one, v, 1, hermitian) && near(&hermitian[0].x, {3, 0, 0, 0, 4, 0}));
}

static void rotations(hipblasHandle_t h) {
  double a = 3, b = 4, c = 0, s = 0;
  CHECK(!hipblasDrotg(h, &a, &b, &c, &s) && near(&a, {5}) && near(&c, {0.6}) && near(&s, {0.8}) && near(&b, {1 / 0.6}));
  double *x = device<double>({1, 2}), *y = device<double>({3, 5}), param[5] = {-1, 1, 2, 3, 4};
  CHECK(!hipblasDrotm(h, 2, x, 1, y, 1, param) && near(x, {10, 17}) && near(y, {14, 24}));
  Z *v = device<Z>({Z(1, 1)});
  const double two = 2;
  CHECK(!hipblasZdscal(h, 1, &two, v, 1) && near(&v[0].x, {2, 2}));
}

// rotmg's rotation, done by rotm, leaves nothing of y and as much of x as both had.
static void modified(hipblasHandle_t h) {
  const double cases[][4] = {{1, 1, 3, 4}, {1, 1, 4, 3}, {1e-9, 1, 3, 1}, {1e9, 2, 3, 4}, {2, 1e-12, 5, -7}};
  for (const double (&given)[4] : cases) {
    double d1 = given[0], d2 = given[1], x1 = given[2], param[5] = {9, 1, 0, 0, 1}, x[1] = {given[2]}, y[1] = {given[3]};
    CHECK(!hipblasDrotmg(h, &d1, &d2, &x1, &given[3], param) && !hipblasDrotm(h, 1, x, 1, y, 1, param));
    const double had = given[0] * given[2] * given[2] + given[1] * given[3] * given[3];
    CHECK(std::abs(y[0]) < 1e-12 && std::abs(x[0] - x1) < 1e-9 * std::abs(x1) && std::abs(d1 * x1 * x1 - had) < 1e-9 * had);
    CHECK(d1 > 0x1p-24 && d1 < 0x1p24);
  }
  double d1 = 1, d2 = 1, x1 = 1, y1 = 0, param[5] = {9, 9, 9, 9, 9};
  CHECK(!hipblasDrotmg(h, &d1, &d2, &x1, &y1, param) && param[0] == -2 && param[1] == 9 && d1 == 1);
  d1 = -1;
  CHECK(!hipblasDrotmg_64(h, &d1, &d2, &x1, &y1, param) && near(param, {-1, 0, 0, 0, 0}) && d1 == 0 && x1 == 0);
}

static void ranks(hipblasHandle_t h) {
  const double one = 1, none = 0;
  double *a = device<double>({1, 2}), *b = device<double>({3, 5}), *c = device<double>({9, 9, 9, 9});
  CHECK(!hipblasDsyrkx(h, HIPBLAS_FILL_MODE_LOWER, HIPBLAS_OP_N, 2, 1, &one, a, 2, b, 2, &none, c, 2) && near(c, {3, 6, 9, 10}));
  // (1, i) (1, i)^H, in the lower triangle; what the diagonal had of the imaginary goes.
  Z *v = device<Z>({Z(1, 0), Z(0, 1)}), *z = device<Z>({Z(1, 7), Z(0, 0), Z(8, 8), Z(0, 7)});
  CHECK(!hipblasZherk(h, HIPBLAS_FILL_MODE_LOWER, HIPBLAS_OP_N, 2, 1, &one, v, 2, &one, z, 2));
  CHECK(near(&z[0].x, {2, 0, 0, 1, 8, 8, 1, 0}));
  const Z unit(0, 1);
  CHECK(!hipblasZherkx(h, HIPBLAS_FILL_MODE_UPPER, HIPBLAS_OP_N, 2, 1, &unit, v, 2, v, 2, &none, z, 2));
  CHECK(near(&z[0].x, {0, 0, 0, 1, 1, 0, 0, 0}));
  double *m = device<double>({0, 2, 1, 3}), *r = device<double>({1, 5});
  int *pivot = device<int>({0, 0}), *info = device<int>({9});
  CHECK(!hipblasDgetrf(h, 2, m, 2, pivot, info) && !*info && !hipblasDgetrs(h, HIPBLAS_OP_N, 2, 1, m, 2, pivot, r, 2, info) && near(r, {1, 1}));
}

// Over batches, and with 64-bit sizes, what the plain functions do to each.
static void batches(hipblasHandle_t h) {
  const double two = 2, none = 0;
  double *m = device<double>({1, 2, 3, 4, 5, 6, 7, 8}), *x = device<double>({1, 1, 1, 2}), *y = device<double>({9, 9, 9, 9});
  CHECK(!hipblasDgemvStridedBatched(h, HIPBLAS_OP_N, 2, 2, &two, m, 2, 4, x, 1, 2, &none, y, 1, 2, 2) && near(y, {8, 12, 38, 44}));
  double **matrices = device<double *>({m + 4, m}), **in = device<double *>({x, x + 2}), **out = device<double *>({y, y + 2});
  CHECK(!hipblasDgemvBatched_64(h, HIPBLAS_OP_N, 2, 2, &two, matrices, 2, in, 1, &none, out, 1, 2) && near(y, {24, 28, 14, 20}));
  double sums[2];
  int *places = device<int>({0, 0});
  CHECK(!hipblasDdotStridedBatched(h, 2, m, 1, 4, x, 1, 2, 2, sums) && near(sums, {3, 17}));
  CHECK(!hipblasIdamaxBatched(h, 4, matrices, 1, 2, places) && places[0] == 4 && places[1] == 4);
  CHECK(!hipblasDscalStridedBatched_64(h, 2, &two, x, 1, 2, 2) && near(x, {2, 2, 2, 4}));
  double *a = device<double>({3, 3}), *b = device<double>({4, 4}), c[2], s[2];
  CHECK(!hipblasDrotgStridedBatched(h, a, 1, b, 1, c, 1, s, 1, 2) && near(a, {5, 5}) && near(c, {0.6, 0.6}));
  CHECK(hipblasDrot_64(h, 1ll << 40, a, 1, b, 1, c, s) == HIPBLAS_STATUS_NOT_SUPPORTED);
}

int main() {
  hipblasHandle_t h;
  hipblasCreate(&h);
  matrices(h);
  rotations(h);
  modified(h);
  ranks(h);
  batches(h);
  const hipDataType f = HIP_R_32F, z = HIP_C_64F;
  const float two = 2, c = 0.6f, s = 0.8f;
  float *x = device<float>({1, 2, 3, 4}), *y = device<float>({1, 1, 1, 1}), norm = 0;
  CHECK(!hipblasScalEx(h, 2, &two, f, x, f, 2, f) && x[0] == 2 && x[1] == 2 && x[2] == 6);
  CHECK(!hipblasAxpyEx(h, 4, &two, f, x, f, -1, y, f, 1, f) && y[0] == 9 && y[3] == 5);
  float *v = device<float>({3, 4}), *w = device<float>({4, -3});
  CHECK(!hipblasNrm2Ex_64(h, 2, v, f, 1, &norm, f, f) && norm == 5);
  CHECK(!hipblasRotEx(h, 2, v, f, 1, w, f, 1, &c, &s, f, f) && v[0] > 4.99f && v[0] < 5.01f && v[1] < 1e-6f && w[1] < -4.99f);
  _Float16 *narrow = device<_Float16>({1, 2});
  CHECK(!hipblasScalEx(h, 2, &two, f, narrow, HIP_R_16F, 1, f) && narrow[1] == static_cast<_Float16>(4));
  double *i = device<double>({0, 1, 0, 1}), dot[2] = {9, 9};  // two of the imaginary unit
  CHECK(!hipblasDotcEx(h, 2, i, z, 1, i, z, 1, dot, z, z) && dot[0] == 2 && dot[1] == 0);
  const double turn[2] = {0, 1};
  CHECK(!hipblasScalEx(h, 1, turn, z, i, z, 1, z) && i[0] == -1 && i[1] == 0);
  CHECK(hipblasScalEx(h, 1, turn, z, x, f, 1, f) == HIPBLAS_STATUS_NOT_SUPPORTED);
  int *whole = device<int>({1});
  CHECK(hipblasScalEx(h, 1, &two, f, whole, HIP_R_32I, 1, f) == HIPBLAS_STATUS_NOT_SUPPORTED && *whole == 1);
  if (ok) std::puts("PASSED");
}
