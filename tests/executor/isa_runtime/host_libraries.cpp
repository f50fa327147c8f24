// hipBLASLt, MIOpen and the libraries under ROCm's own names as a program calls them: results that are known by hand, or that one call's must be of another's.
#include <hip/hip_runtime.h>
#include <hipblaslt/hipblaslt.h>
#include <miopen/miopen.h>
#include <rocfft/rocfft.h>
#include <rocrand/rocrand.h>
#include <rocsolver/rocsolver.h>
#include <rocsparse/rocsparse.h>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <vector>

static bool ok = true;
static void expect(const char *what, const std::vector<float> &got, const std::vector<float> &right, float bound = 1e-5f) {
  for (size_t i = 0; i < right.size(); ++i)
    if (!(std::fabs(got[i] - right[i]) <= bound)) {
      std::printf("FAIL %s: [%zu] %g, not %g\n", what, i, got[i], right[i]);
      ok = false;
      return;
    }
}
template <class T> static T *device(const std::vector<T> &v) {
  void *p;
  (void)hipMalloc(&p, v.size() * sizeof(T));
  (void)hipMemcpy(p, v.data(), v.size() * sizeof(T), hipMemcpyHostToDevice);
  return static_cast<T *>(p);
}
static std::vector<float> host(const float *p, size_t n) {
  std::vector<float> v(n);
  (void)hipMemcpy(v.data(), p, n * sizeof(float), hipMemcpyDeviceToHost);
  return v;
}
static float gelu(float x) { return 0.5f * x * (1 + std::tanh(0.7978845608f * (x + 0.044715f * x * x * x))); }

static void blaslt() {
  hipblasLtHandle_t handle;
  hipblasLtCreate(&handle);
  // D = gelu(2 op(A) B + C + bias): A is given transposed, 2 x 3; B is 2 x 2 by rows; two batches of B and D.
  float *a = device<float>({1, 2, 3, 4, 5, 6}), *b = device<float>({1, 0, 0, 1, 0, 1, 1, 0}), *bias = device<float>({.5f, 0, -.5f});
  float *c = device<float>({1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0}), *d = device(std::vector<float>(12)), *aux = device(std::vector<float>(12));
  hipblasLtMatrixLayout_t la, lb, lc;
  hipblasLtMatrixLayoutCreate(&la, HIP_R_32F, 2, 3, 2);
  hipblasLtMatrixLayoutCreate(&lb, HIP_R_32F, 2, 2, 2);
  hipblasLtMatrixLayoutCreate(&lc, HIP_R_32F, 3, 2, 3);
  int32_t two = 2, by_rows = HIPBLASLT_ORDER_ROW, transposed = HIPBLAS_OP_T;
  int64_t four = 4, six = 6, zero = 0, three = 3;
  for (auto [layout, stride] : {std::pair{la, &zero}, {lb, &four}, {lc, &six}}) {
    hipblasLtMatrixLayoutSetAttribute(layout, HIPBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &two, sizeof two);
    hipblasLtMatrixLayoutSetAttribute(layout, HIPBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, stride, sizeof *stride);
  }
  hipblasLtMatrixLayoutSetAttribute(lb, HIPBLASLT_MATRIX_LAYOUT_ORDER, &by_rows, sizeof by_rows);
  hipblasLtMatmulDesc_t desc;
  hipblasLtMatmulDescCreate(&desc, HIPBLAS_COMPUTE_32F, HIP_R_32F);
  hipblasLtEpilogue_t epilogue = HIPBLASLT_EPILOGUE_GELU_AUX_BIAS;
  hipblasLtMatmulDescSetAttribute(desc, HIPBLASLT_MATMUL_DESC_TRANSA, &transposed, sizeof transposed);
  hipblasLtMatmulDescSetAttribute(desc, HIPBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof epilogue);
  hipblasLtMatmulDescSetAttribute(desc, HIPBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, sizeof bias);
  hipblasLtMatmulDescSetAttribute(desc, HIPBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, &aux, sizeof aux);
  hipblasLtMatmulDescSetAttribute(desc, HIPBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, &three, sizeof three);
  hipblasLtMatmulPreference_t preference;
  hipblasLtMatmulPreferenceCreate(&preference);
  hipblasLtMatmulHeuristicResult_t found[4];
  int count = 0;
  hipblasLtMatmulAlgoGetHeuristic(handle, desc, la, lb, lc, lc, preference, 4, found, &count);
  const float alpha = 2, beta = 1;
  hipblasStatus_t status = hipblasLtMatmul(handle, desc, &alpha, a, la, b, lb, &beta, c, lc, d, lc, &found[0].algo, nullptr, 0, nullptr);
  if (count != 1 || status != HIPBLAS_STATUS_SUCCESS) std::printf("FAIL hipblasLtMatmul: %d, %d found\n", status, count), ok = false;
  std::vector<float> before = {3.5f, 7, 10.5f, 5.5f, 9, 12.5f, 4.5f, 8, 11.5f, 2.5f, 6, 9.5f}, after;
  for (float v : before) after.push_back(gelu(v));
  expect("aux", host(aux, 12), before);
  expect("gelu, bias, order, batches", host(d, 12), after);

  // E4M3 by bf16 has no kernel on AMD, but E4M3 by E4M3 to bf16 has: 1.5 * 2 + 0.25 * 4 = 4, scaled by 0.5.
  unsigned char *x = device<unsigned char>({0x3c, 0x28}), *y = device<unsigned char>({0x40, 0x48});
  float *half = device<float>({0.5f});
  unsigned short *z = device<unsigned short>({0}), bits = 0;
  hipblasLtMatrixLayout_t row, column, one;
  hipblasLtMatrixLayoutCreate(&row, HIP_R_8F_E4M3, 1, 2, 1);
  hipblasLtMatrixLayoutCreate(&column, HIP_R_8F_E4M3, 2, 1, 2);
  hipblasLtMatrixLayoutCreate(&one, HIP_R_16BF, 1, 1, 1);
  hipblasLtMatmulDesc_t plain;
  hipblasLtMatmulDescCreate(&plain, HIPBLAS_COMPUTE_32F, HIP_R_32F);
  hipblasLtMatmulDescSetAttribute(plain, HIPBLASLT_MATMUL_DESC_A_SCALE_POINTER, &half, sizeof half);
  const float unit = 1, none = 0;
  hipblasLtMatmul(handle, plain, &unit, x, row, y, column, &none, z, one, z, one, nullptr, nullptr, 0, nullptr);
  (void)hipMemcpy(&bits, z, sizeof bits, hipMemcpyDeviceToHost);
  if (bits != 0x4000) std::printf("FAIL fp8: %#x\n", bits), ok = false;
  hipblasLtDestroy(handle);
}

static miopenTensorDescriptor_t tensor(int n, int c, int h, int w) {
  miopenTensorDescriptor_t t;
  miopenCreateTensorDescriptor(&t);
  miopenSet4dTensorDescriptor(t, miopenFloat, n, c, h, w);
  return t;
}
static float dot(const std::vector<float> &a, const std::vector<float> &b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += double(a[i]) * b[i];
  return static_cast<float>(sum);
}
static std::vector<float> numbers(size_t n, float start) {
  std::vector<float> v(n);
  for (size_t i = 0; i < n; ++i) v[i] = std::sin(start + 1.7f * static_cast<float>(i));
  return v;
}

static void miopen() {
  miopenHandle_t handle;
  miopenCreate(&handle);
  const float one = 1, zero = 0;
  // A convolution with groups, stride, padding and dilation: its gradients are those of the inner product with dy.
  auto tx = tensor(2, 4, 6, 5), tw = tensor(6, 2, 3, 2);
  miopenConvolutionDescriptor_t how;
  miopenCreateConvolutionDescriptor(&how);
  miopenInitConvolutionDescriptor(how, miopenConvolution, 1, 2, 2, 1, 1, 2);
  miopenSetConvolutionGroupCount(how, 2);
  int n, c, h, w;
  miopenGetConvolutionForwardOutputDim(how, tx, tw, &n, &c, &h, &w);
  if (n != 2 || c != 6 || h != 3 || w != 7) std::printf("FAIL output %d %d %d %d\n", n, c, h, w), ok = false;
  auto ty = tensor(n, c, h, w);
  const auto vx = numbers(240, 0), vw = numbers(72, 1), vdy = numbers(252, 2);
  float *x = device(vx), *f = device(vw), *y = device(std::vector<float>(252)), *dy = device(vdy), *dx = device(std::vector<float>(240)), *dw = device(std::vector<float>(72));
  miopenConvolutionForward(handle, &one, tx, x, tw, f, how, miopenConvolutionFwdAlgoDirect, &zero, ty, y, nullptr, 0);
  miopenConvolutionBackwardData(handle, &one, ty, dy, tw, f, how, miopenConvolutionBwdDataAlgoDirect, &zero, tx, dx, nullptr, 0);
  miopenConvolutionBackwardWeights(handle, &one, ty, dy, tx, x, how, miopenConvolutionBwdWeightsAlgoDirect, &zero, tw, dw, nullptr, 0);
  const auto vy = host(y, 252);
  // The first output's window: rows -1, 0, 1 and columns -2, 0 of channels 0 and 1.
  float first = 0;
  for (int channel = 0; channel < 2; ++channel)
    for (int r = 1; r < 3; ++r) first += vx[channel * 30 + (r - 1) * 5] * vw[channel * 6 + r * 2 + 1];
  expect("convolution", {vy[0]}, {first});
  const float inner = dot(vy, vdy);
  expect("gradients", {dot(host(dx, 240), vx), dot(host(dw, 72), vw)}, {inner, inner}, 1e-4f);
  // The transposed one is the gradient.
  miopenConvolutionDescriptor_t back;
  miopenCreateConvolutionDescriptor(&back);
  miopenInitConvolutionDescriptor(back, miopenTranspose, 1, 2, 2, 1, 1, 2);
  miopenSetConvolutionGroupCount(back, 2);
  miopenSetTransposeConvOutputPadding(back, 1, 0);
  miopenGetConvolutionForwardOutputDim(back, ty, tw, &n, &c, &h, &w);
  if (n != 2 || c != 4 || h != 6 || w != 5) std::printf("FAIL transposed output %d %d %d %d\n", n, c, h, w), ok = false;
  float *t = device(std::vector<float>(240));
  miopenConvolutionForward(handle, &one, ty, dy, tw, f, back, miopenConvolutionFwdAlgoDirect, &zero, tx, t, nullptr, 0);
  expect("transposed", host(t, 240), host(dx, 240));

  auto square = tensor(1, 1, 3, 3), small = tensor(1, 1, 2, 2);
  float *p = device<float>({1, 2, 3, 4, 9, 6, 7, 8, 5}), *q = device(std::vector<float>(4)), *g = device(std::vector<float>(9));
  miopenPoolingDescriptor_t pool;
  miopenCreatePoolingDescriptor(&pool);
  miopenSet2dPoolingDescriptor(pool, miopenPoolingMax, 2, 2, 0, 0, 1, 1);
  miopenPoolingForward(handle, pool, &one, square, p, &zero, small, q, true, nullptr, 0);
  expect("max", host(q, 4), {9, 9, 9, 9});
  miopenPoolingBackward(handle, pool, &one, small, q, small, device<float>({1, 2, 3, 4}), square, p, &zero, square, g, nullptr);
  expect("max, gradient", host(g, 9), {0, 0, 0, 0, 10, 0, 0, 0, 0});
  miopenSet2dPoolingDescriptor(pool, miopenPoolingAverage, 2, 2, 1, 1, 2, 2);
  miopenPoolingForward(handle, pool, &one, square, p, &zero, small, q, false, nullptr, 0);
  expect("average", host(q, 4), {1, 2.5f, 5.5f, 7});

  miopenActivationDescriptor_t relu;
  miopenCreateActivationDescriptor(&relu);
  miopenSetActivationDescriptor(relu, miopenActivationLEAKYRELU, 0.5, 0, 0);
  float *s = device<float>({-2, 0, 1, 3});
  auto four = tensor(1, 4, 1, 1);
  miopenActivationForward(handle, relu, &one, four, s, &zero, four, q);
  expect("leaky", host(q, 4), {-1, 0, 1, 3});
  miopenSoftmaxForward(handle, &one, four, s, &zero, four, q);
  const float total = std::exp(-5.f) + std::exp(-3.f) + std::exp(-2.f) + 1;
  expect("softmax", host(q, 4), {std::exp(-5.f) / total, std::exp(-3.f) / total, std::exp(-2.f) / total, 1 / total});

  auto batch = tensor(2, 1, 1, 2), parameter = tensor(1, 1, 1, 1);
  float *running = device<float>({10}), *variance = device<float>({10}), *scale = device<float>({2}), *shift = device<float>({1});
  float *mean = device<float>({0}), *inverse = device<float>({0});
  miopenBatchNormalizationForwardTraining(handle, miopenBNSpatial, const_cast<float *>(&one), const_cast<float *>(&zero), batch, device<float>({1, 3, 5, 7}), batch, q, parameter, scale,
                                          shift, 0.5, running, variance, 0, mean, inverse);
  const float root = std::sqrt(5.f);
  expect("batch norm", host(q, 4), {1 - 6 / root, 1 - 2 / root, 1 + 2 / root, 1 + 6 / root});
  expect("its statistics", {host(running, 1)[0], host(variance, 1)[0], host(mean, 1)[0], host(inverse, 1)[0]}, {7, 5 + 0.5f * 20 / 3, 4, 1 / root});
  miopenOpTensor(handle, miopenTensorOpMul, &one, four, s, &one, tensor(1, 1, 1, 1), scale, &one, four, s);
  expect("element-wise", host(s, 4), {-6, 0, 3, 9});
  miopenDestroy(handle);
}

static void rocrand() {
  rocrand_generator one, two;
  float *a = device(std::vector<float>(1000)), *b = device(std::vector<float>(1000));
  rocrand_create_generator(&one, ROCRAND_RNG_PSEUDO_PHILOX4_32_10);
  rocrand_create_generator(&two, ROCRAND_RNG_PSEUDO_PHILOX4_32_10);
  rocrand_set_seed(one, 7);
  rocrand_set_seed(two, 7);
  rocrand_generate_normal(one, a, 1000, 5, 2);
  rocrand_generate_normal(two, b, 1000, 5, 2);
  expect("the same seed", host(a, 1000), host(b, 1000), 0);
  double sum = 0;
  for (float v : host(a, 1000)) sum += v;
  expect("the mean", {static_cast<float>(sum / 1000)}, {5}, 0.2f);
  expect("refused", {float(rocrand_create_generator(&one, ROCRAND_RNG_PSEUDO_LFSR113))}, {float(ROCRAND_STATUS_TYPE_ERROR)});
  expect("not served", {float(rocrand_set_seed_uint4(two, uint4{}))}, {float(ROCRAND_STATUS_INTERNAL_ERROR)});
}

static void rocfft() {
  // Two rows of 2 x 4 complex numbers, forward in place and back, and a real transform out of place.
  std::vector<float> v(2 * 16);
  for (size_t i = 0; i < v.size(); ++i) v[i] = static_cast<float>(i % 7) - 3;
  float *x = device(v), *r = device<float>({1, 2, 3, 4}), *c = device(std::vector<float>(6));
  size_t lengths[2] = {4, 2}, bytes = 1;
  rocfft_plan plan;
  void *in[] = {x}, *out[] = {c}, *real[] = {r};
  rocfft_setup();
  for (auto type : {rocfft_transform_type_complex_forward, rocfft_transform_type_complex_inverse}) {
    rocfft_plan_create(&plan, rocfft_placement_inplace, type, rocfft_precision_single, 2, lengths, 2, nullptr);
    rocfft_plan_get_work_buffer_size(plan, &bytes);
    rocfft_execute(plan, in, nullptr, nullptr);
    rocfft_plan_destroy(plan);
  }
  for (float &value : v) value *= 8;
  expect("there and back", host(x, v.size()), v, 1e-4f);
  rocfft_plan_create(&plan, rocfft_placement_notinplace, rocfft_transform_type_real_forward, rocfft_precision_single, 1, lengths, 1, nullptr);
  rocfft_execute(plan, real, out, nullptr);
  expect("of real numbers", host(c, 6), {10, 0, -2, 2, -2, 0});
  // Every second number of the row: strides of 2.
  rocfft_plan_description layout;
  rocfft_plan_description_create(&layout);
  size_t two = 2, one = 1;
  float *wide = device<float>({1, 0, 9, 9, 2, 0, 9, 9, 3, 0, 9, 9, 4, 0, 9, 9}), *narrow = device(std::vector<float>(8));
  void *from[] = {wide}, *to[] = {narrow};
  rocfft_plan_description_set_data_layout(layout, rocfft_array_type_complex_interleaved, rocfft_array_type_complex_interleaved, nullptr,
                                          nullptr, 1, &two, 8, 1, &one, 4);
  rocfft_plan_create(&plan, rocfft_placement_notinplace, rocfft_transform_type_complex_forward, rocfft_precision_single, 1, lengths, 1, layout);
  rocfft_execute(plan, from, to, nullptr);
  expect("with strides", host(narrow, 8), {10, 0, -2, 2, -2, 0, -2, -2});
}

static void rocsolver() {
  rocblas_handle handle;
  rocblas_create_handle(&handle);
  float *a = device<float>({4, 2, 2, 3}), *b = device<float>({8, 7}), *w = device(std::vector<float>(4)), *s = device<float>({2, 1, 1, 2});
  int *pivot = device(std::vector<int>(2)), *info = device(std::vector<int>(1));
  rocsolver_sgetrf(handle, 2, 2, a, 2, pivot, info);
  rocsolver_sgetrs(handle, rocblas_operation_none, 2, 1, a, 2, pivot, b, 2);
  expect("solved", host(b, 2), {1.25f, 1.5f});
  rocsolver_ssyevd(handle, rocblas_evect_original, rocblas_fill_upper, 2, s, 2, w, w + 2, info);
  expect("eigenvalues", host(w, 2), {1, 3});
  expect("an eigenvector", {std::fabs(host(s, 4)[2]), host(s, 4)[2] - host(s, 4)[3]}, {std::sqrt(0.5f), 0});
  float *g = device<float>({3, 0, 0, 4}), *u = device(std::vector<float>(4)), *vt = device(std::vector<float>(4));
  rocsolver_sgesvd(handle, rocblas_svect_all, rocblas_svect_all, 2, 2, g, 2, w, u, 2, vt, 2, w + 2, rocblas_outofplace, info);
  expect("singular values", host(w, 2), {4, 3});
  rocblas_destroy_handle(handle);
}

static void rocsparse() {
  // ((1, 0, 2), (0, 3, 0)) in CSR, counted from 1, times (1, 2, 3), and transposed times (1, 1).
  rocsparse_handle handle;
  rocsparse_mat_descr descr;
  rocsparse_create_handle(&handle);
  rocsparse_create_mat_descr(&descr);
  rocsparse_set_mat_index_base(descr, rocsparse_index_base_one);
  int *rows = device<int>({1, 3, 4}), *columns = device<int>({1, 3, 2});
  float *values = device<float>({1, 2, 3}), *x = device<float>({1, 2, 3}), *y = device<float>({10, 10, 10}), one = 1, zero = 0;
  rocsparse_scsrmv(handle, rocsparse_operation_none, 2, 3, 3, &one, descr, values, rows, columns, nullptr, x, &one, y);
  expect("csrmv", host(y, 2), {17, 16});
  rocsparse_spmat_descr a;
  rocsparse_dnvec_descr in, out;
  rocsparse_create_csr_descr(&a, 2, 3, 3, rows, columns, values, rocsparse_indextype_i32, rocsparse_indextype_i32, rocsparse_index_base_one,
                             rocsparse_datatype_f32_r);
  float *ones = device<float>({1, 1});
  rocsparse_create_dnvec_descr(&in, 2, ones, rocsparse_datatype_f32_r);
  rocsparse_create_dnvec_descr(&out, 3, y, rocsparse_datatype_f32_r);
  size_t bytes = 0;
  for (auto stage : {rocsparse_spmv_stage_buffer_size, rocsparse_spmv_stage_preprocess, rocsparse_spmv_stage_compute})
    rocsparse_spmv(handle, rocsparse_operation_transpose, &one, a, in, &zero, out, rocsparse_datatype_f32_r, rocsparse_spmv_alg_default, stage,
                   &bytes, nullptr);
  expect("spmv", host(y, 3), {1, 3, 2});
}

int main() {
  blaslt();
  miopen();
  rocrand();
  rocfft();
  rocsolver();
  rocsparse();
  std::puts(ok ? "PASSED" : "FAILED");
  return !ok;
}
