// hipSOLVER's dense factorizations and rocBLAS, checked by what they promise: products give the matrix back.
#include <hip/hip_runtime.h>
#include <hipsolver/hipsolver.h>
#include <rocblas/rocblas.h>
#include <cmath>
#include <cstdio>
#include <vector>

using Vector = std::vector<double>;
static bool ok = true;
static void near(const char *what, const Vector &a, const Vector &b, double bound = 1e-9) {
  for (size_t i = 0; i < a.size(); ++i)
    if (!(std::fabs(a[i] - b[i]) <= bound)) {
      std::printf("FAIL %s: [%zu] %.12g, not %.12g\n", what, i, a[i], b[i]);
      ok = false;
      return;
    }
}
static Vector product(int m, int n, int k, const Vector &a, bool ta, const Vector &b, bool tb) {
  Vector c(m * n);
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < m; ++i)
      for (int p = 0; p < k; ++p) c[i + j * m] += (ta ? a[p + i * k] : a[i + p * m]) * (tb ? b[j + p * n] : b[p + j * k]);
  return c;
}
static double *device(const Vector &v) {
  double *p;
  hipMalloc(&p, v.size() * sizeof(double));
  hipMemcpy(p, v.data(), v.size() * sizeof(double), hipMemcpyHostToDevice);
  return p;
}
static Vector host(const double *p, size_t n) {
  Vector v(n);
  hipMemcpy(v.data(), p, n * sizeof(double), hipMemcpyDeviceToHost);
  return v;
}

int main() {
  hipsolverHandle_t h;
  hipsolverCreate(&h);
  const int m = 7, n = 5;
  Vector a(m * n), eye(n * n), spd;
  for (int i = 0; i < m * n; ++i) a[i] = std::sin(i * 1.7) + (i % 6 == 0);
  for (int i = 0; i < n; ++i) eye[i * n + i] = 1;
  spd = product(n, n, m, a, true, a, false);
  int *info, size;
  hipMalloc(&info, sizeof(int));
  double *work = device(Vector(64)), *tau = device(Vector(n));

  double *q = device(a);
  hipsolverDgeqrf_bufferSize(h, m, n, q, m, &size);
  hipsolverDgeqrf(h, m, n, q, m, tau, work, size, info);
  Vector packed = host(q, m * n), r(n * n);
  for (int j = 0; j < n; ++j)
    for (int i = 0; i <= j; ++i) r[i + j * n] = packed[i + j * m];
  hipsolverDorgqr(h, m, n, n, q, m, tau, work, size, info);
  Vector orthogonal = host(q, m * n);
  near("QR", product(m, n, n, orthogonal, false, r, false), a);
  near("Q'Q", product(n, n, m, orthogonal, true, orthogonal, false), eye);

  for (bool wide : {false, true}) {
    const int rows = wide ? n : m, columns = wide ? m : n;
    double *x = device(a), *s = device(Vector(n)), *u = device(Vector(rows * rows)), *vt = device(Vector(columns * columns));
    hipsolverDgesvd(h, 'A', 'A', rows, columns, x, rows, s, u, rows, vt, columns, work, size, nullptr, info);
    Vector us = host(u, rows * rows), values = host(s, n), scaled(rows * columns), whole(rows * rows);
    near("U'U", product(rows, rows, rows, us, true, us, false), [&] { for (int i = 0; i < rows; ++i) whole[i * rows + i] = 1; return whole; }());
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < rows; ++i) scaled[i + j * rows] = us[i + j * rows] * values[j];
    near("USV'", product(rows, columns, columns, scaled, false, host(vt, columns * columns), false), a);
    ok &= values[0] >= values[1] && values[n - 1] > 0;
  }

  double *e = device(spd), *w = device(Vector(n));
  hipsolverDsyevd(h, HIPSOLVER_EIG_MODE_VECTOR, HIPSOLVER_FILL_MODE_UPPER, n, e, n, w, work, size, info);
  Vector vectors = host(e, n * n), values = host(w, n), scaled = vectors;
  for (int i = 0; i < n * n; ++i) scaled[i] *= values[i / n];
  near("VWV'", product(n, n, n, scaled, false, vectors, true), spd);

  for (int type = 1; type <= 3; ++type) {
    Vector left(n * n);
    for (int i = 0; i < n * n; ++i) left[i] = std::cos((i % n) * (i / n) * 0.7) + 3 * (i % (n + 1) == 0);
    double *x = device(left), *b = device(spd);
    hipsolverDsygvd(h, hipsolverEigType_t(HIPSOLVER_EIG_TYPE_1 + type - 1), HIPSOLVER_EIG_MODE_VECTOR, HIPSOLVER_FILL_MODE_LOWER, n, x, n, b, n, w, work, size, info);
    Vector v = host(x, n * n), lambda = host(w, n), first, second;
    const Vector &outer = type == 3 ? spd : left, &inner = type == 3 ? left : spd;
    first = type == 1 ? product(n, n, n, left, false, v, false) : product(n, n, n, outer, false, product(n, n, n, inner, false, v, false), false);
    second = type == 1 ? product(n, n, n, spd, false, v, false) : v;
    for (int i = 0; i < n * n; ++i) second[i] *= lambda[i / n];
    near("sygvd", first, second, 1e-8);
  }

  Vector b(m), solution(n);
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < m; ++i) b[i] += a[i + j * m] * (j + 1), solution[j] = j + 1;
  double *x = device(a), *right = device(b), *result = device(Vector(n));
  int steps;
  hipsolverDDgels(h, m, n, 1, x, m, right, m, result, n, work, size, &steps, info);
  near("gels", host(result, n), solution);
  hipsolverDestroy(h);

  rocblas_handle handle;
  rocblas_create_handle(&handle);
  const rocblas_double one = 1, none = 0;
  double *left = device(a), *gram = device(Vector(n * n));
  rocblas_dgemm(handle, rocblas_operation_transpose, rocblas_operation_none, n, n, m, &one, left, m, left, m, &none, gram, n);
  near("dgemm", host(gram, n * n), spd);
  rocblas_dgemm(handle, rocblas_operation_none, rocblas_operation_none, n, n, n, &one, gram, n, gram, n, &none, gram, n);
  near("dgemm in place", host(gram, n * n), product(n, n, n, spd, false, spd, false));
  rocblas_dswap(handle, n, gram, 1, result, 1);
  near("dswap", host(gram, n), solution);
  rocblas_destroy_handle(handle);
  std::puts(ok ? "PASS" : "FAIL");
}
