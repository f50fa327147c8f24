// Calls that the libraries must refuse, record, or serve at an edge: in a captured stream, with descriptors that do not fit,
// with operands that end too early; and what two host threads copy, for the trace.
#include <hipblas/hipblas.h>
#include <hipblaslt/hipblaslt.h>
#include <hipfft/hipfft.h>
#include <hiprand/hiprand.h>
#include <hipsparse/hipsparse.h>
#include <miopen/miopen.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <thread>
#include <vector>

static bool ok = true;
#define CHECK(what) do { if (!(what)) std::printf("FAIL line %d: %s\n", __LINE__, #what), ok = false; } while (0)

static float *device(std::vector<float> values) {
  float *p = nullptr;
  (void)hipMalloc(&p, values.size() * sizeof(float));
  std::memcpy(p, values.data(), values.size() * sizeof(float));  // device memory is host memory here
  return p;
}

static void captured() {
  hipStream_t stream;
  hipblasHandle_t blas;
  hiprandGenerator_t random;
  hipfftHandle plan;
  hipsparseHandle_t sparse;
  miopenHandle_t miopen;
  miopenTensorDescriptor_t tensor;
  CHECK(!hipStreamCreate(&stream) && !hipblasCreate(&blas) && !hipblasSetStream(blas, stream));
  CHECK(!hiprandCreateGenerator(&random, HIPRAND_RNG_PSEUDO_DEFAULT) && !hiprandSetStream(random, stream));
  CHECK(!hipfftPlan1d(&plan, 2, HIPFFT_C2C, 1) && !hipfftSetStream(plan, stream));
  CHECK(!hipsparseCreate(&sparse) && !hipsparseSetStream(sparse, stream));
  CHECK(!miopenCreateWithStream(&miopen, stream) && !miopenCreateTensorDescriptor(&tensor) && !miopenSet4dTensorDescriptor(tensor, miopenFloat, 1, 1, 2, 2));
  hipblasLtMatrixLayout_t layout;
  hipblasLtMatrixTransformDesc_t transform;
  hipblasLtMatrixLayoutCreate(&layout, HIP_R_32F, 2, 2, 2), hipblasLtMatrixTransformDescCreate(&transform, HIP_R_32F);
  float *x = device({1, 1, 1, 1}), two = 2, zero = 0;
  int *numbers = reinterpret_cast<int *>(device({1, 1}));
  float *y = device({0, 0, 0, 0}), *drawn = device({-1, -1, -1, -1}), *wave = device({1, 0, 1, 0}), alpha = 2, *scalar = device({3});
  hipGraph_t graph;
  hipGraphExec_t ready;
  CHECK(!hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
  // What refuses: its descriptors may be gone when the graph runs.
  CHECK(hipsparseCreateIdentityPermutation(sparse, 2, numbers) == HIPSPARSE_STATUS_NOT_SUPPORTED && numbers[0]);
  CHECK(miopenScaleTensor(miopen, tensor, x, &two) == miopenStatusNotImplemented);
  CHECK(hipblasLtMatrixTransform(nullptr, transform, &two, x, layout, &zero, nullptr, nullptr, x, layout, stream) == HIPBLAS_STATUS_NOT_SUPPORTED);
  // What is recorded, with the scalars of now where they are the host's.
  CHECK(hipblasSscal(blas, 4, &alpha, x, 1) == HIPBLAS_STATUS_SUCCESS);
  alpha = 100;
  CHECK(hipblasSgemm(blas, HIPBLAS_OP_N, HIPBLAS_OP_N, 2, 2, 2, &two, x, 2, x, 2, &zero, y, 2) == HIPBLAS_STATUS_SUCCESS);
  CHECK(hipblasSaxpy(blas, 1, scalar, x, 1, y, 1) == HIPBLAS_STATUS_SUCCESS);
  CHECK(hipblasSetVectorAsync(1, 4, &two, 1, x + 3, 1, stream) == HIPBLAS_STATUS_SUCCESS);
  CHECK(hiprandGenerateUniform(random, drawn, 4) == HIPRAND_STATUS_SUCCESS);
  CHECK(hipfftExecC2C(plan, reinterpret_cast<hipfftComplex *>(wave), reinterpret_cast<hipfftComplex *>(wave), HIPFFT_FORWARD) == HIPFFT_SUCCESS);
  CHECK(!hipStreamEndCapture(stream, &graph));
  for (int i = 0; i < 4; ++i) CHECK(x[i] == 1 && y[i] == 0 && drawn[i] == -1);
  CHECK(wave[0] == 1 && !hipGraphInstantiate(&ready, graph, nullptr, nullptr, 0));
  scalar[0] = 5;
  CHECK(!hipGraphLaunch(ready, stream) && x[0] == 2 && x[3] == 2 && y[0] == 16 + 5 * 2 && y[3] == 16 && drawn[0] >= 0 && wave[0] == 2);
  CHECK(!hipGraphLaunch(ready, stream) && x[0] == 4 && wave[0] == 2 && wave[2] == 2);
  CHECK(hipblasSscal(blas, 4, &two, x, 1) == HIPBLAS_STATUS_SUCCESS && x[0] == 8);
}

static miopenTensorDescriptor_t tensor(int n, int c, int h, int w) {
  miopenTensorDescriptor_t t;
  miopenCreateTensorDescriptor(&t), miopenSet4dTensorDescriptor(t, miopenFloat, n, c, h, w);
  return t;
}
static void descriptors() {
  miopenHandle_t handle;
  miopenCreate(&handle);
  miopenTensorDescriptor_t large = tensor(4, 4, 64, 64), small = tensor(1, 1, 64, 64), channel = tensor(1, 4, 1, 1), filter = tensor(1, 1, 3, 3);
  miopenPoolingDescriptor_t window;
  miopenActivationDescriptor_t relu;
  miopenReduceTensorDescriptor_t sum;
  miopenConvolutionDescriptor_t convolution;
  CHECK(!miopenCreatePoolingDescriptor(&window) && !miopenSet2dPoolingDescriptor(window, miopenPoolingMax, 3, 3, 1, 1, 1, 1));
  CHECK(miopenSet2dPoolingDescriptor(window, miopenPoolingMax, 3, 3, 1, 1, 0, 1) == miopenStatusBadParm);
  CHECK(!miopenCreateActivationDescriptor(&relu) && !miopenSetActivationDescriptor(relu, miopenActivationRELU, 0, 0, 0));
  CHECK(!miopenCreateReduceTensorDescriptor(&sum) &&
        !miopenSetReduceTensorDescriptor(sum, MIOPEN_REDUCE_TENSOR_ADD, miopenFloat, MIOPEN_NOT_PROPAGATE_NAN, MIOPEN_REDUCE_TENSOR_NO_INDICES, MIOPEN_32BIT_INDICES));
  CHECK(!miopenCreateConvolutionDescriptor(&convolution) && !miopenInitConvolutionDescriptor(convolution, miopenConvolution, 1, 1, 1, 1, 1, 1));
  std::vector<float> x(4 * 4 * 64 * 64, 1), y(64 * 64, 7);
  float one = 1, zero = 0;
  const auto bad = miopenStatusBadParm;
  CHECK(miopenPoolingForward(handle, window, &one, large, x.data(), &zero, small, y.data(), false, nullptr, 0) == bad);
  CHECK(miopenPoolingBackward(handle, window, &one, large, x.data(), large, x.data(), small, y.data(), &zero, small, y.data(), nullptr) == bad);
  CHECK(miopenActivationForward(handle, relu, &one, large, x.data(), &zero, small, y.data()) == bad);
  CHECK(miopenActivationBackward(handle, relu, &one, small, y.data(), large, x.data(), small, y.data(), &zero, large, x.data()) == bad);
  CHECK(miopenSoftmaxForward(handle, &one, large, x.data(), &zero, small, y.data()) == bad);
  CHECK(miopenSoftmaxBackward(handle, &one, large, x.data(), small, y.data(), &zero, large, x.data()) == bad);
  CHECK(miopenBatchNormalizationForwardTraining(handle, miopenBNSpatial, &one, &zero, large, x.data(), small, y.data(), channel, y.data(), y.data(), 1, nullptr, nullptr, 1e-5, nullptr, nullptr) == bad);
  CHECK(miopenBatchNormalizationForwardInference(handle, miopenBNSpatial, &one, &zero, large, x.data(), large, x.data(), small, y.data(), y.data(), y.data(), y.data(), 1e-5) == bad);
  CHECK(miopenReduceTensor(handle, sum, nullptr, 0, nullptr, 0, &one, small, y.data(), &zero, large, x.data()) == bad);
  CHECK(miopenConvolutionForward(handle, &one, small, y.data(), filter, x.data(), convolution, miopenConvolutionFwdAlgoDirect, &zero, tensor(1, 1, 65, 64), x.data(), nullptr, 0) == bad);
  CHECK(miopenConvolutionForward(handle, &one, small, y.data(), filter, x.data(), convolution, miopenConvolutionFwdAlgoDirect, &zero, tensor(2, 1, 64, 64), x.data(), nullptr, 0) == bad);
  for (float v : y) CHECK(v == 7);
  CHECK(!miopenPoolingForward(handle, window, &one, small, x.data(), &zero, small, y.data(), false, nullptr, 0) && y[0] == 1);
  CHECK(!miopenConvolutionForward(handle, &one, small, y.data(), filter, x.data(), convolution, miopenConvolutionFwdAlgoDirect, &zero, small, x.data() + 9, nullptr, 0) && x[9] == 4);
}

static hipblasLtMatrixLayout_t layout(hipDataType type, int rows, int columns, int ld, int batches = 1) {
  hipblasLtMatrixLayout_t l;
  hipblasLtMatrixLayoutCreate(&l, type, rows, columns, ld);
  hipblasLtMatrixLayoutSetAttribute(l, HIPBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &batches, sizeof batches);
  return l;
}
static void products() {
  hipblasLtMatmulDesc_t how;
  hipblasLtMatmulDescCreate(&how, HIPBLAS_COMPUTE_32F, HIP_R_32F);
  float *a = device({1, 2, 3, 4}), *c = device({1, 1, 1, 1}), *d = device({0, 0, 0, 0}), *three = device({5, 5, 5}), one = 1, zero = 0;
  auto multiply = [&](hipblasLtMatrixLayout_t la, hipblasLtMatrixLayout_t lb, float *from, float *beta, hipblasLtMatrixLayout_t lc, float *to) {
    return hipblasLtMatmul(nullptr, how, &one, a, la, a, lb, beta, from, lc, to, lc, nullptr, nullptr, 0, nullptr);
  };
  auto square = layout(HIP_R_32F, 2, 2, 2);
  CHECK(multiply(square, square, nullptr, &one, square, d) == HIPBLAS_STATUS_INVALID_VALUE);
  CHECK(multiply(square, square, nullptr, &zero, square, d) == HIPBLAS_STATUS_SUCCESS && d[0] == 7 && d[3] == 22);
  CHECK(multiply(square, square, three, &one, square, d) == HIPBLAS_STATUS_INVALID_VALUE);
  CHECK(multiply(square, square, nullptr, &zero, square, three) == HIPBLAS_STATUS_INVALID_VALUE && three[2] == 5);
  CHECK(multiply(layout(HIP_R_32F, 2, 2, 1), square, c, &one, square, d) == HIPBLAS_STATUS_INVALID_VALUE);
  CHECK(multiply(layout(HIP_R_32F, 2, 2, 2, 2), square, c, &one, square, d) == HIPBLAS_STATUS_INVALID_VALUE);
  CHECK(multiply(layout(HIP_R_32F, 2, 0, 2), layout(HIP_R_32F, 0, 2, 1), c, &one, square, d) == HIPBLAS_STATUS_SUCCESS && d[0] == 1 && d[3] == 1);
  hipblasLtEpilogue_t epilogue = HIPBLASLT_EPILOGUE_BIAS;
  float *bias = three + 2;
  hipblasLtMatmulDescSetAttribute(how, HIPBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof epilogue);
  hipblasLtMatmulDescSetAttribute(how, HIPBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, sizeof bias);
  CHECK(multiply(square, square, c, &one, square, d) == HIPBLAS_STATUS_INVALID_VALUE);

  hipblasLtMatrixTransformDesc_t transform;
  hipblasLtMatrixTransformDescCreate(&transform, HIP_R_32F);
  float *numbers = device({2.5f, 3.5f, -1.75f, -1000, 1e10f, NAN});
  signed char *small = reinterpret_cast<signed char *>(d), rounded[] = {2, 4, -2, -128, 127, 0};
  auto six = layout(HIP_R_8I, 6, 1, 6);
  CHECK(!hipblasLtMatrixTransform(nullptr, transform, &one, numbers, layout(HIP_R_32F, 6, 1, 6), &zero, nullptr, nullptr, small, six, nullptr));
  CHECK(!std::memcmp(small, rounded, sizeof rounded));
  CHECK(hipblasLtMatrixTransform(nullptr, transform, &one, numbers, layout(HIP_R_32F, 5, 1, 5), &zero, nullptr, nullptr, small, six, nullptr) == HIPBLAS_STATUS_INVALID_VALUE);
}

static void copies() {
  void *pinned = nullptr, *memory = device(std::vector<float>(64, 1));
  CHECK(!hipHostMalloc(&pinned, 256) && !hipMemcpy(pinned, memory, 16, hipMemcpyDefault) && !hipMemcpy(memory, pinned, 16, hipMemcpyDefault));
  auto copy = [&] {
    float own[64];
    for (int i = 0; i < 400; ++i) (void)hipMemcpy(own, memory, sizeof own, hipMemcpyDeviceToHost);
  };
  std::thread other(copy);
  copy();
  other.join();
}

int main() {
  captured(), descriptors(), products(), copies();
  if (ok) std::puts("PASSED");
}
