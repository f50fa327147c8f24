// Products and factorizations of an order from which on they are a BLAS's or a LAPACK's, checked against sums in double.
#include <hip/hip_runtime.h>
#include <hipblas/hipblas.h>
#include <hipsolver/hipsolver.h>
#include <algorithm>
#include <complex>
#include <cstdio>
#include <vector>

using Complex = std::complex<double>;
constexpr int kM = 70, kN = 130, kK = 90, kOrder = 100;
static bool ok = true;

static void expect(const char *what, double worst, double bound) {
  if (worst <= bound) return;
  std::printf("FAIL %s: off by %g\n", what, worst);
  ok = false;
}
static double next() {  // in [-1, 1), the same on every machine
  static unsigned state = 7;
  state = state * 1664525u + 1013904223u;
  return static_cast<int>(state >> 8) / 8388608.0 - 1;
}
static Complex number(float v) { return v; }
static Complex number(double v) { return v; }
static void fill(float &v) { v = static_cast<float>(next()); }
static void fill(double &v) { v = next(); }
template <class T> static std::vector<T> random(int count) {
  std::vector<T> all(count);
  for (T &one : all) fill(one);
  return all;
}
template <class T> static T *device(const std::vector<T> &v) {
  void *p;
  (void)hipMalloc(&p, v.size() * sizeof(T));
  (void)hipMemcpy(p, v.data(), v.size() * sizeof(T), hipMemcpyHostToDevice);
  return static_cast<T *>(p);
}
template <class T> static std::vector<T> host(const T *p, int count) {
  std::vector<T> v(count);
  (void)hipMemcpy(v.data(), p, v.size() * sizeof(T), hipMemcpyDeviceToHost);
  return v;
}
static Complex element(const std::vector<Complex> &a, hipblasOperation_t op, int ld, int i, int j) {
  Complex v = op == HIPBLAS_OP_N ? a[i + j * ld] : a[j + i * ld];
  return op == HIPBLAS_OP_C ? std::conj(v) : v;
}
template <class T> static std::vector<Complex> numbers(const std::vector<T> &v) {
  std::vector<Complex> all;
  for (T one : v) all.push_back(number(one));
  return all;
}

template <class T, class S, class F> static void product(const char *what, F gemm, S two, S one, double bound) {
  hipblasHandle_t h;
  hipblasCreate(&h);
  for (hipblasOperation_t ta : {HIPBLAS_OP_N, HIPBLAS_OP_T, HIPBLAS_OP_C})
    for (hipblasOperation_t tb : {HIPBLAS_OP_N, HIPBLAS_OP_T, HIPBLAS_OP_C}) {
      const int lda = (ta == HIPBLAS_OP_N ? kM : kK) + 3, ldb = (tb == HIPBLAS_OP_N ? kK : kN) + 2, ldc = kM + 1;
      auto a = random<T>(lda * (ta == HIPBLAS_OP_N ? kK : kM)), b = random<T>(ldb * (tb == HIPBLAS_OP_N ? kN : kK));
      auto c = random<T>(ldc * kN);
      T *da = device(a), *db = device(b), *dc = device(c);
      gemm(h, ta, tb, kM, kN, kK, &two, da, lda, db, ldb, &one, dc, ldc);
      auto x = numbers(a), y = numbers(b), before = numbers(c), got = numbers(host(dc, ldc * kN));
      double worst = 0;
      for (int j = 0; j < kN; j += 3)
        for (int i = 0; i <= kM; i += 5) {  // the last row belongs to no column of C
          Complex sum = 0;
          for (int p = 0; i < kM && p < kK; ++p) sum += element(x, ta, lda, i, p) * element(y, tb, ldb, p, j);
          worst = std::max(worst, std::abs(2.0 * sum + before[i + j * ldc] - got[i + j * ldc]));
        }
      expect(what, worst, bound);
      (void)hipFree(da), (void)hipFree(db), (void)hipFree(dc);
    }
  hipblasDestroy(h);
}

static void integers() {
  hipblasHandle_t h;
  hipblasCreate(&h);
  std::vector<signed char> a(kM * kK), b(kK * kN);
  for (auto &v : a) v = static_cast<signed char>(127 * next());
  for (auto &v : b) v = static_cast<signed char>(127 * next());
  signed char *da = device(a), *db = device(b);
  int *dc = device(std::vector<int>(kM * kN)), one = 1, zero = 0;
  hipblasGemmEx(h, HIPBLAS_OP_N, HIPBLAS_OP_N, kM, kN, kK, &one, da, HIPBLAS_R_8I, kM, db, HIPBLAS_R_8I, kK, &zero, dc,
                HIPBLAS_R_32I, kM, HIPBLAS_R_32I, HIPBLAS_GEMM_DEFAULT);
  auto c = host(dc, kM * kN);
  for (int j = 0; j < kN; ++j)
    for (int i = 0; i < kM; ++i) {
      int sum = 0;
      for (int p = 0; p < kK; ++p) sum += a[i + p * kM] * b[p + j * kK];
      expect("int8", sum != c[i + j * kM], 0);
    }
  hipblasDestroy(h);
}

static void factorizations() {
  hipsolverHandle_t h;
  hipsolverCreate(&h);
  const int n = kOrder;
  std::vector<double> a = random<double>(n * n);
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < j; ++i) a[j + i * n] = a[i + j * n];
  double *da = device(a), *w = device(std::vector<double>(n)), *work;
  int *info = device(std::vector<int>(1)), *pivot = device(std::vector<int>(n)), size = 0;

  hipsolverDsyevd_bufferSize(h, HIPSOLVER_EIG_MODE_VECTOR, HIPSOLVER_FILL_MODE_LOWER, n, da, n, w, &size);
  (void)hipMalloc((void **)&work, sizeof(double) * size);
  hipsolverDsyevd(h, HIPSOLVER_EIG_MODE_VECTOR, HIPSOLVER_FILL_MODE_LOWER, n, da, n, w, work, size, info);
  auto v = host(da, n * n), values = host(w, n);
  double worst = 0;
  for (int j = 0; j < n; j += 7)
    for (int i = 0; i < n; ++i) {
      double sum = 0;
      for (int k = 0; k < n; ++k) sum += a[i + k * n] * v[k + j * n];
      worst = std::max({worst, std::abs(sum - values[j] * v[i + j * n]), j ? values[j - 1] - values[j] : 0});
    }
  expect("syevd", worst, 1e-10);

  (void)hipMemcpy(da, a.data(), sizeof(double) * n * n, hipMemcpyHostToDevice);
  double *u = device(std::vector<double>(n * n)), *vt = device(std::vector<double>(n * n));
  hipsolverDgesvd_bufferSize(h, 'A', 'A', n, n, &size);
  hipsolverDgesvd(h, 'A', 'A', n, n, da, n, w, u, n, vt, n, work, size, work, info);
  auto left = host(u, n * n), right = host(vt, n * n), s = host(w, n);
  worst = 0;
  for (int j = 0; j < n; j += 9)
    for (int i = 0; i < n; ++i) {
      double sum = 0;
      for (int k = 0; k < n; ++k) sum += left[i + k * n] * s[k] * right[k + j * n];
      worst = std::max(worst, std::abs(sum - a[i + j * n]));
    }
  expect("gesvd", worst, 1e-10);

  (void)hipMemcpy(da, a.data(), sizeof(double) * n * n, hipMemcpyHostToDevice);
  std::vector<double> b = random<double>(n);
  double *db = device(b);
  hipsolverDgetrf(h, n, n, da, n, work, size, pivot, info);
  hipsolverDgetrs(h, HIPSOLVER_OP_N, n, 1, da, n, pivot, db, n, work, size, info);
  auto x = host(db, n);
  worst = 0;
  for (int i = 0; i < n; ++i) {
    double sum = 0;
    for (int k = 0; k < n; ++k) sum += a[i + k * n] * x[k];
    worst = std::max(worst, std::abs(sum - b[i]));
  }
  expect("getrf, getrs", worst, 1e-9);

  for (int i = 0; i < n; ++i) a[i + i * n] += 2 * n;
  (void)hipMemcpy(da, a.data(), sizeof(double) * n * n, hipMemcpyHostToDevice);
  hipsolverDpotrf(h, HIPSOLVER_FILL_MODE_LOWER, n, da, n, work, size, info);
  auto l = host(da, n * n);
  worst = 0;
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i) {
      double sum = 0;
      for (int k = 0; k <= std::min(i, j); ++k) sum += l[i + k * n] * l[j + k * n];
      worst = std::max(worst, std::abs(sum - a[i + j * n]));
      if (i < j) worst = std::max(worst, std::abs(l[i + j * n] - a[i + j * n]));  // the other triangle stays
    }
  expect("potrf", worst, 1e-9);
  hipsolverDestroy(h);
}

int main() {
  product<float, float>("sgemm", hipblasSgemm, 2.0f, 1.0f, 1e-4);
  product<double, double>("dgemm", hipblasDgemm, 2.0, 1.0, 1e-11);
  integers();
  factorizations();
  std::puts(ok ? "PASSED" : "FAILED");
  return !ok;
}
