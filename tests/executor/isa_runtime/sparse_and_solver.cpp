// hipSOLVER, hipSPARSE and hipFFT as a program calls them: results that are known by hand, or that one call's must be of another's.
#include <hip/hip_runtime.h>
#include <hipfft/hipfft.h>
#include <hipfft/hipfftXt.h>
#include <hipsolver/hipsolver.h>
#include <hipsparse/hipsparse.h>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

static bool ok = true;
static void expect(const char *what, const double *got, const std::vector<double> &right) {
  for (size_t i = 0; i < right.size(); ++i)
    if (!(std::fabs(got[i] - right[i]) <= 1e-9)) {
      std::printf("FAIL %s: [%zu] %g, not %g\n", what, i, got[i], right[i]);
      ok = false;
      return;
    }
}
static void served(const char *what, int status) {
  if (status) std::printf("FAIL %s: status %d\n", what, status), ok = false;
}
template <class T> static T *device(const std::vector<T> &v) {
  void *p;
  (void)hipMallocManaged(&p, v.size() * sizeof(T));
  std::copy(v.begin(), v.end(), static_cast<T *>(p));
  return static_cast<T *>(p);
}

static void solver() {
  hipsolverDnHandle_t h;
  hipsolverDnCreate(&h);
  hipStream_t stream;
  (void)hipStreamCreate(&stream);
  served("stream", hipsolverDnSetStream(h, stream));
  hipStream_t same;
  served("stream", hipsolverDnGetStream(h, &same));
  if (same != stream) std::puts("FAIL the stream"), ok = false;
  int *info = device(std::vector<int>(1, 9)), steps = 9, words = 0;
  size_t on_device = 0, on_host = 0;
  hipsolverDnParams_t params;
  served("params", hipsolverDnCreateParams(&params));
  served("options", hipsolverDnSetAdvOptions(params, HIPSOLVERDN_GETRF, HIPSOLVER_ALG_0));
  // LU with a pivot, and without; by columns.
  const std::vector<double> matrix = {0, 2, 4, 1, 3, 9, 5, 7, 1};
  double *a = device(matrix), *b = device(std::vector<double>{6, 12, 14}), *x = device(std::vector<double>(3));
  int64_t *pivot = device(std::vector<int64_t>(3));
  served("getrf", hipsolverDnXgetrf_bufferSize(h, params, 3, 3, HIP_R_64F, a, 3, HIP_R_64F, &on_device, &on_host));
  served("getrf", hipsolverDnXgetrf(h, params, 3, 3, HIP_R_64F, a, 3, pivot, HIP_R_64F, nullptr, on_device, nullptr, on_host, info));
  served("getrs", hipsolverDnXgetrs(h, params, HIPSOLVER_OP_N, 3, 1, HIP_R_64F, a, 3, pivot, HIP_R_64F, b, 3, info));
  if (pivot[0] != 3 || *info) std::puts("FAIL the pivots"), ok = false;
  expect("getrs", b, {1, 1, 1});
  a = device(matrix), b = device(std::vector<double>{6, 12, 14});
  served("gesv", hipsolverDnDDgesv_bufferSize(h, 3, 1, a, 3, nullptr, b, 3, x, 3, nullptr, &on_device));
  served("gesv", hipsolverDnDDgesv(h, 3, 1, a, 3, device(std::vector<int>(3)), b, 3, x, 3, nullptr, on_device, &steps, info));
  expect("gesv", x, {1, 1, 1});
  expect("gesv", b, {6, 12, 14});
  // Cholesky: [[4, 2], [2, 5]] = L L', its inverse is [[5, -2], [-2, 4]] / 16.
  for (auto uplo : {HIPSOLVER_FILL_MODE_LOWER, HIPSOLVER_FILL_MODE_UPPER}) {
    double *c = device(std::vector<double>{4, 2, 2, 5}), *r = device(std::vector<double>{6, 7});
    served("potrf", hipsolverDnXpotrf_bufferSize(h, params, uplo, 2, HIP_R_64F, c, 2, HIP_R_64F, &on_device, &on_host));
    served("potrf", hipsolverDnXpotrf(h, params, uplo, 2, HIP_R_64F, c, 2, HIP_R_64F, nullptr, on_device, nullptr, on_host, info));
    served("potrs", hipsolverDnXpotrs(h, params, uplo, 2, 1, HIP_R_64F, c, 2, HIP_R_64F, r, 2, info));
    expect("potrs", r, {1, 1});
    served("potri", hipsolverDnDpotri_bufferSize(h, uplo, 2, c, 2, &words));
    served("potri", hipsolverDnDpotri(h, uplo, 2, c, 2, nullptr, words, info));
    expect("potri", c, uplo == HIPSOLVER_FILL_MODE_LOWER ? std::vector<double>{5. / 16, -2. / 16, 2, 4. / 16} : std::vector<double>{5. / 16, 2, -2. / 16, 4. / 16});
  }
  // Singular values of a 3 x 2 matrix, and the matrix of its parts: v is not transposed.
  const std::vector<double> wide = {3, 0, 4, 1, 2, 2};
  hipsolverGesvdjInfo_t jacobi;
  served("gesvdj", hipsolverDnCreateGesvdjInfo(&jacobi));
  served("gesvdj", hipsolverDnXgesvdjSetTolerance(jacobi, 1e-12));
  double *s = device(std::vector<double>(2)), *u = device(std::vector<double>(9)), *v = device(std::vector<double>(4));
  for (int econ : {0, 1}) {
    served("gesvdj", hipsolverDnDgesvdj_bufferSize(h, HIPSOLVER_EIG_MODE_VECTOR, econ, 3, 2, a, 3, s, u, 3, v, 2, &words, jacobi));
    served("gesvdj", hipsolverDnDgesvdj(h, HIPSOLVER_EIG_MODE_VECTOR, econ, 3, 2, device(wide), 3, s, u, 3, v, 2, nullptr, words, info, jacobi));
    std::vector<double> back(6);
    for (int j = 0; j < 2; ++j)
      for (int i = 0; i < 3; ++i)
        for (int k = 0; k < 2; ++k) back[i + 3 * j] += u[i + 3 * k] * s[k] * v[j + 2 * k];
    expect("gesvdj", back.data(), wide);
  }
  served("gesvdj", hipsolverDnDestroyGesvdjInfo(jacobi));
  hipsolverSyevjInfo_t eigen;
  served("syevj", hipsolverDnCreateSyevjInfo(&eigen));
  served("syevj", hipsolverDnDsyevj(h, HIPSOLVER_EIG_MODE_NOVECTOR, HIPSOLVER_FILL_MODE_LOWER, 2, device(std::vector<double>{2, 1, 1, 2}), 2, s, nullptr, 0, info, eigen));
  expect("syevj", s, {1, 3});
  // QR: R's diagonal, whose signs are free.
  double *tau = device(std::vector<double>(2));
  a = device(wide);
  served("geqrf", hipsolverDnDgeqrf_bufferSize(h, 3, 2, a, 3, &words));
  served("geqrf", hipsolverDnXgeqrf_bufferSize(h, params, 3, 2, HIP_R_64F, a, 3, HIP_R_64F, tau, HIP_R_64F, &on_device, &on_host));
  served("geqrf", hipsolverDnXgeqrf(h, params, 3, 2, HIP_R_64F, a, 3, HIP_R_64F, tau, HIP_R_64F, nullptr, on_device, nullptr, on_host, info));
  a[0] = std::fabs(a[0]);
  expect("geqrf", a, {5});
  served("gesvd", hipsolverDgesvd_bufferSize(h, 'A', 'A', 3, 2, &words));
  // Batches: Cholesky of two matrices, their solutions, and the largest singular value, whose rest is the residual.
  double *two[] = {device(std::vector<double>{4, 2, 2, 5}), device(std::vector<double>{9, 0, 0, 1})};
  double *right[] = {device(std::vector<double>{6, 7}), device(std::vector<double>{18, 3})};
  int each[2] = {9, 9};
  served("potrfBatched", hipsolverDnDpotrfBatched(h, HIPSOLVER_FILL_MODE_LOWER, 2, two, 2, each, 2));
  served("potrsBatched", hipsolverDnDpotrsBatched(h, HIPSOLVER_FILL_MODE_LOWER, 2, 1, two, 2, right, 2, info, 2));
  expect("potrsBatched", right[0], {1, 1});
  expect("potrsBatched", right[1], {2, 3});
  if (each[0] || each[1] || *info) std::puts("FAIL what the batches said"), ok = false;
  std::vector<double> twice(wide);
  twice.insert(twice.end(), wide.begin(), wide.end());
  double *first = device(std::vector<double>(2)), rest[2] = {0, 0};
  served("gesvda", hipsolverDnDgesvdaStridedBatched_bufferSize(h, HIPSOLVER_EIG_MODE_VECTOR, 1, 3, 2, a, 3, 6, first, 1, u, 3, 3, v, 2, 2, &words, 2));
  served("gesvda", hipsolverDnDgesvdaStridedBatched(h, HIPSOLVER_EIG_MODE_VECTOR, 1, 3, 2, device(twice), 3, 6, first, 1, u, 3, 3, v, 2, 2, nullptr, words, each, rest, 2));
  for (int i : {0, 1}) {
    const double whole = first[i] * first[i] + rest[i] * rest[i];
    expect("gesvda", &whole, {34});
    double image[3], length = 0;  // A v, which is the singular value times u
    for (int p = 0; p < 3; ++p) image[p] = wide[p] * v[2 * i] + wide[p + 3] * v[2 * i + 1], length += image[p] * image[p];
    length = std::sqrt(length);
    expect("gesvda", &length, {first[i]});
    expect("gesvda", image, {first[i] * u[3 * i], first[i] * u[3 * i + 1], first[i] * u[3 * i + 2]});
  }
  // The second of the two eigenvalues of diag(2, 6) x = w diag(2, 2) x.
  double *pencil = device(std::vector<double>{2, 0, 0, 6}), *weights = device(std::vector<double>{2, 0, 0, 2});
  int found = 0;
  served("sygvdx", hipsolverDnDsygvdx_bufferSize(h, HIPSOLVER_EIG_TYPE_1, HIPSOLVER_EIG_MODE_VECTOR, HIPSOLVER_EIG_RANGE_I, HIPSOLVER_FILL_MODE_LOWER, 2, pencil, 2, weights, 2, 0, 0, 2, 2, &found, s, &words));
  served("sygvdx", hipsolverDnDsygvdx(h, HIPSOLVER_EIG_TYPE_1, HIPSOLVER_EIG_MODE_VECTOR, HIPSOLVER_EIG_RANGE_I, HIPSOLVER_FILL_MODE_LOWER, 2, pencil, 2, weights, 2, 0, 0, 2, 2, &found, s, nullptr, words, info));
  expect("sygvdx", s, {3});
  pencil[1] = std::fabs(pencil[1]);
  expect("sygvdx", pencil, {0, std::sqrt(0.5)});
  if (found != 1) std::puts("FAIL how many eigenvalues"), ok = false;
  served("params", hipsolverDnDestroyParams(params));
  hipsolverDnDestroy(h);
}

static void sparse() {
  hipsparseHandle_t h;
  hipsparseCreate(&h);
  int version = 0;
  served("version", hipsparseGetVersion(h, &version));
  if (version < 300000) std::puts("FAIL the version"), ok = false;
  // [[1, 0, 2], [0, 3, 0]], not to be written to.
  const int *offsets = device(std::vector<int>{0, 2, 3}), *columns = device(std::vector<int>{0, 2, 1});
  const double *values = device(std::vector<double>{1, 2, 3}), *ones = device(std::vector<double>{1, 1, 1});
  hipsparseConstSpMatDescr_t m;
  served("csr", hipsparseCreateConstCsr(&m, 2, 3, 3, offsets, columns, values, HIPSPARSE_INDEX_32I, HIPSPARSE_INDEX_32I, HIPSPARSE_INDEX_BASE_ZERO, HIP_R_64F));
  hipsparseConstDnVecDescr_t x;
  hipsparseDnVecDescr_t y;
  served("vector", hipsparseCreateConstDnVec(&x, 3, ones, HIP_R_64F));
  double *out = device(std::vector<double>(2)), one = 1, zero = 0, result = 0;
  served("vector", hipsparseCreateDnVec(&y, 2, out, HIP_R_64F));
  served("product", hipsparseSpMV(h, HIPSPARSE_OPERATION_NON_TRANSPOSE, &one, m, x, &zero, y, HIP_R_64F, HIPSPARSE_SPMV_ALG_DEFAULT, nullptr));
  expect("product", out, {3, 3});
  int64_t rows, width, nonzeros;
  const void *o, *c, *v;
  hipsparseIndexType_t ot, it;
  hipsparseIndexBase_t base;
  hipDataType type;
  hipsparseFormat_t format;
  served("get", hipsparseConstCsrGet(m, &rows, &width, &nonzeros, &o, &c, &v, &ot, &it, &base, &type));
  served("format", hipsparseSpMatGetFormat(m, &format));
  if (rows != 2 || width != 3 || o != offsets || v != values || type != HIP_R_64F || format != HIPSPARSE_FORMAT_CSR) std::puts("FAIL what the matrix holds"), ok = false;
  hipsparseConstSpVecDescr_t some;
  served("sparse vector", hipsparseCreateConstSpVec(&some, 3, 2, columns, values, HIPSPARSE_INDEX_32I, HIPSPARSE_INDEX_BASE_ZERO, HIP_R_64F));
  size_t bytes;
  served("dot", hipsparseSpVV_bufferSize(h, HIPSPARSE_OPERATION_NON_TRANSPOSE, some, x, &result, HIP_R_64F, &bytes));
  served("dot", hipsparseSpVV(h, HIPSPARSE_OPERATION_NON_TRANSPOSE, some, x, &result, HIP_R_64F, nullptr));
  expect("dot", &result, {3});
  // The same through the legacy interface.
  hipsparseMatDescr_t general;
  served("descriptor", hipsparseCreateMatDescr(&general));
  double *sums = device(std::vector<double>(6)), *b = device(std::vector<double>{1, 1, 1, 1, 2, 3});
  double *across = device(std::vector<double>{1, 1, 1, 2, 1, 3});
  served("csrmv", hipsparseDcsrmv(h, HIPSPARSE_OPERATION_NON_TRANSPOSE, 2, 3, 3, &one, general, values, offsets, columns, ones, &zero, sums));
  expect("csrmv", sums, {3, 3});
  served("csrmv", hipsparseDcsrmv(h, HIPSPARSE_OPERATION_TRANSPOSE, 2, 3, 3, &one, general, values, offsets, columns, ones, &zero, sums));
  expect("csrmv", sums, {1, 3, 2});
  served("csrmm", hipsparseDcsrmm(h, HIPSPARSE_OPERATION_NON_TRANSPOSE, 2, 2, 3, 3, &one, general, values, offsets, columns, b, 3, &zero, sums, 2));
  expect("csrmm", sums, {3, 3, 7, 6});
  served("csrmm2", hipsparseDcsrmm2(h, HIPSPARSE_OPERATION_NON_TRANSPOSE, HIPSPARSE_OPERATION_TRANSPOSE, 2, 2, 3, 3, &one, general, values, offsets, columns, across, 2, &zero, sums, 2));
  expect("csrmm2", sums, {3, 3, 7, 6});
  double *dense = device(std::vector<double>(6)), *again = device(std::vector<double>(3));
  int *ends = device(std::vector<int>(4)), *places = device(std::vector<int>(3));
  served("csr2dense", hipsparseDcsr2dense(h, 2, 3, general, values, offsets, columns, dense, 2));
  expect("csr2dense", dense, {1, 0, 0, 3, 2, 0});
  served("dense2csr", hipsparseDdense2csr(h, 2, 3, general, dense, 2, nullptr, again, ends, places));
  expect("dense2csr", again, {1, 2, 3});
  if (!std::equal(ends, ends + 3, offsets) || !std::equal(places, places + 3, columns)) std::puts("FAIL where dense2csr put it"), ok = false;
  served("csr2coo", hipsparseXcsr2coo(h, offsets, 3, 2, places, HIPSPARSE_INDEX_BASE_ZERO));
  served("coo2csr", hipsparseXcoo2csr(h, places, 3, 2, ends, HIPSPARSE_INDEX_BASE_ZERO));
  if (places[0] || places[1] || places[2] != 1 || !std::equal(ends, ends + 3, offsets)) std::puts("FAIL lines and their ends"), ok = false;
  served("csr2csc", hipsparseDcsr2csc(h, 2, 3, 3, values, offsets, columns, again, places, ends, HIPSPARSE_ACTION_NUMERIC, HIPSPARSE_INDEX_BASE_ZERO));
  expect("csr2csc", again, {1, 3, 2});
  served("csc2dense", hipsparseDcsc2dense(h, 2, 3, general, again, places, ends, sums, 2));
  expect("csc2dense", sums, {1, 0, 0, 3, 2, 0});
  served("descriptor", hipsparseDestroyMatDescr(general));
  hipsparseDestroy(h);
}

static void fft() {
  hipfftHandle plan;
  hipfftCreate(&plan);
  long long n = 4, far = 1ll << 40;
  size_t work;
  served("plan", hipfftMakePlanMany64(plan, 1, &n, nullptr, 1, 4, nullptr, 1, 4, HIPFFT_Z2Z, 1, &work));
  auto *in = device(std::vector<hipfftDoubleComplex>{{1, 0}, {2, 0}, {3, 0}, {4, 0}});
  served("transform", hipfftExecZ2Z(plan, in, in, HIPFFT_FORWARD));
  expect("transform", &in[0].x, {10, 0, -2, 2, -2, 0, -2, -2});
  served("plan", hipfftXtMakePlanMany(plan, 1, &n, nullptr, 1, 4, HIP_C_64F, nullptr, 1, 4, HIP_C_64F, 1, &work, HIP_C_64F));
  served("transform", hipfftXtExec(plan, in, in, HIPFFT_BACKWARD));
  expect("transform", &in[0].x, {4, 0, 8, 0, 12, 0, 16, 0});
  if (hipfftXtMakePlanMany(plan, 1, &n, nullptr, 1, 4, HIP_C_16F, nullptr, 1, 4, HIP_C_16F, 1, &work, HIP_C_16F) != HIPFFT_NOT_SUPPORTED) std::puts("FAIL a plan of halves"), ok = false;
  if (hipfftMakePlanMany64(plan, 1, &far, nullptr, 1, 4, nullptr, 1, 4, HIPFFT_Z2Z, 1, &work) == HIPFFT_SUCCESS) std::puts("FAIL a size that no plan here has"), ok = false;
  int version = 0;
  served("version", hipfftGetVersion(&version));
  served("size", hipfftGetSizeMany64(plan, 1, &n, nullptr, 1, 4, nullptr, 1, 4, HIPFFT_Z2Z, 1, &work));
}

int main() {
  solver();
  sparse();
  fft();
  std::puts(ok ? "PASSED" : "FAILED");
  return !ok;
}
