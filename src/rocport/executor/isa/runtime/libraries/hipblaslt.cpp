// SPDX-License-Identifier: Apache-2.0
// libhipblaslt: matrix products with their epilogues, over one device. Layouts in columns or rows, strided batches; bias,
// ReLU, GELU, Swish, clamp, their auxiliary output, gradients of GELU and of the bias; scales of a tensor or of its rows.
// Sums are those of rpx/product.h.
#include "typed.h"

#include <hipblaslt/hipblaslt.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "rpx/product.h"
#include "state.h"

namespace {

using typed::Elements;

// What is set of a descriptor, by the number of the attribute; values of up to 8 bytes.
struct Attributes {
  std::map<int, std::uint64_t> set;
  template <class T> T get(int name, T otherwise) const {
    auto found = set.find(name);
    if (found == set.end()) return otherwise;
    T value;
    std::memcpy(&value, &found->second, sizeof value);
    return value;
  }
  template <class T> void put(int name, T value) { std::memcpy(&set[name], &value, sizeof value); }
  hipblasStatus_t write(int name, const void *from, std::size_t bytes) {
    if (!from || bytes > 8) return HIPBLAS_STATUS_INVALID_VALUE;
    set[name] = 0;
    std::memcpy(&set[name], from, bytes);
    return HIPBLAS_STATUS_SUCCESS;
  }
  hipblasStatus_t read(int name, void *to, std::size_t bytes, std::size_t *written) const {
    auto found = set.find(name);
    if (!to || bytes > 8 || found == set.end()) return HIPBLAS_STATUS_INVALID_VALUE;
    std::memcpy(to, &found->second, bytes);
    if (written) *written = bytes;
    return HIPBLAS_STATUS_SUCCESS;
  }
};
// The headers' descriptors are structures of a fixed size whose contents are the library's own: the first word points here.
template <class Handle> hipblasStatus_t make(Handle *out, Attributes **attributes) {
  if (!out) return HIPBLAS_STATUS_INVALID_VALUE;
  *out = new std::remove_pointer_t<Handle>{};
  *attributes = new Attributes;
  (*out)->data[0] = reinterpret_cast<std::uint64_t>(*attributes);
  return HIPBLAS_STATUS_SUCCESS;
}
template <class Handle> Attributes &of(Handle handle) { return *reinterpret_cast<Attributes *>(handle->data[0]); }
template <class Handle> hipblasStatus_t destroy(Handle handle) {
  if (!handle) return HIPBLAS_STATUS_INVALID_VALUE;
  delete &of(handle);
  delete handle;
  return HIPBLAS_STATUS_SUCCESS;
}

struct Matrix {
  hipDataType type;
  long rows, columns, ld, stride;
  int batch;
  bool by_rows;
  explicit Matrix(hipblasLtMatrixLayout_t layout) {
    const Attributes &a = of(layout);
    type = static_cast<hipDataType>(a.get<std::uint32_t>(HIPBLASLT_MATRIX_LAYOUT_TYPE, 0));
    rows = static_cast<long>(a.get<std::uint64_t>(HIPBLASLT_MATRIX_LAYOUT_ROWS, 0));
    columns = static_cast<long>(a.get<std::uint64_t>(HIPBLASLT_MATRIX_LAYOUT_COLS, 0));
    ld = a.get<std::int64_t>(HIPBLASLT_MATRIX_LAYOUT_LD, 0);
    batch = a.get<std::int32_t>(HIPBLASLT_MATRIX_LAYOUT_BATCH_COUNT, 1);
    stride = a.get<std::int64_t>(HIPBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, 0);
    by_rows = a.get<std::int32_t>(HIPBLASLT_MATRIX_LAYOUT_ORDER, HIPBLASLT_ORDER_COL) == HIPBLASLT_ORDER_ROW;
  }
  // Sizes that describe a matrix.
  bool sound() const { return rows >= 0 && columns >= 0 && batch >= 1 && stride >= 0 && ld >= std::max(1L, by_rows ? columns : rows); }
  // [data, what the matrices take of it) lies in one allocation.
  bool within(const void *data, const char *what) const {
    if (!rows || !columns) return true;
    return !rt::check_range(data, (at(batch - 1, rows - 1, columns - 1) + 1) * Elements::bytes(type), what);
  }
  bool served() const { return Elements::bytes(type) != 0; }
  std::size_t at(int b, long i, long j) const { return static_cast<std::size_t>(b * stride + (by_rows ? i * ld + j : i + j * ld)); }
};
bool tiled(hipblasLtMatrixLayout_t layout) {
  return of(layout).get<std::int32_t>(HIPBLASLT_MATRIX_LAYOUT_ORDER, HIPBLASLT_ORDER_COL) > HIPBLASLT_ORDER_ROW;
}

double gelu(double x) { return 0.5 * x * (1 + std::tanh(0.7978845608028654 * (x + 0.044715 * x * x * x))); }
double gelu_slope(double x) {
  const double t = std::tanh(0.7978845608028654 * (x + 0.044715 * x * x * x));
  return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * 0.7978845608028654 * (1 + 3 * 0.044715 * x * x);
}

// op(matrix) in columns without gaps, times its scale.
template <class W>
std::vector<W> packed(const void *data, const Matrix &m, int batch, bool transposed, const float *scale, bool scale_by_outer) {
  const Elements from(data, m.type);
  const long rows = transposed ? m.columns : m.rows, columns = transposed ? m.rows : m.columns;
  std::vector<W> all(static_cast<std::size_t>(rows * columns));
  for (long j = 0; j < columns; ++j)
    for (long i = 0; i < rows; ++i) {
      const double v = from[transposed ? m.at(batch, j, i) : m.at(batch, i, j)];
      all[static_cast<std::size_t>(i + j * rows)] = static_cast<W>(scale && !scale_by_outer ? v * *scale : v);
    }
  return all;
}

struct Product {
  const Attributes &how;
  const void *alpha, *beta, *a, *b, *c;
  void *d;
  Matrix ma, mb, mc, md;

  hipDataType scale_type() const { return static_cast<hipDataType>(how.get<std::int32_t>(-1, HIP_R_32F)); }
  const float *scale(int name) const { return how.get<const float *>(name, nullptr); }

  template <class W> hipblasStatus_t run() const {
    const auto epilogue = how.get<std::uint32_t>(HIPBLASLT_MATMUL_DESC_EPILOGUE, HIPBLASLT_EPILOGUE_DEFAULT);
    const bool ta = how.get<std::int32_t>(HIPBLASLT_MATMUL_DESC_TRANSA, HIPBLAS_OP_N) != HIPBLAS_OP_N;
    const bool tb = how.get<std::int32_t>(HIPBLASLT_MATMUL_DESC_TRANSB, HIPBLAS_OP_N) != HIPBLAS_OP_N;
    const long m = md.rows, n = md.columns, k = ta ? ma.rows : ma.columns;
    if ((ta ? ma.columns : ma.rows) != m || (tb ? mb.rows : mb.columns) != n || (tb ? mb.columns : mb.rows) != k)
      return HIPBLAS_STATUS_INVALID_VALUE;
    auto outer = [&](int name) { return how.get<std::int32_t>(name, 0) == HIPBLASLT_MATMUL_MATRIX_SCALE_OUTER_VEC_32F; };
    const bool outer_a = outer(HIPBLASLT_MATMUL_DESC_A_SCALE_MODE), outer_b = outer(HIPBLASLT_MATMUL_DESC_B_SCALE_MODE);
    const float *sa = scale(HIPBLASLT_MATMUL_DESC_A_SCALE_POINTER), *sb = scale(HIPBLASLT_MATMUL_DESC_B_SCALE_POINTER);
    const float *sc = scale(HIPBLASLT_MATMUL_DESC_C_SCALE_POINTER), *sd = scale(HIPBLASLT_MATMUL_DESC_D_SCALE_POINTER);
    const bool rows_of_alpha = how.get<std::int32_t>(HIPBLASLT_MATMUL_DESC_POINTER_MODE, 0) == HIPBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_HOST;
    const Elements alphas(alpha, scale_type()), betas(beta, scale_type());
    const double y = betas[0];
    const auto *bias = how.get<const void *>(HIPBLASLT_MATMUL_DESC_BIAS_POINTER, nullptr);
    const Elements biases(bias, static_cast<hipDataType>(how.get<std::int32_t>(HIPBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, md.type)));
    auto *aux = how.get<void *>(HIPBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, nullptr);
    auto aux_type = static_cast<hipDataType>(how.get<std::int32_t>(HIPBLASLT_MATMUL_DESC_EPILOGUE_AUX_DATA_TYPE, md.type));
    if (!Elements::bytes(aux_type)) aux_type = md.type;
    const long aux_ld = how.get<std::int64_t>(HIPBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, m);
    const long aux_stride = how.get<std::int64_t>(HIPBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE, aux_ld * n);
    const double low = how.get<float>(HIPBLASLT_MATMUL_DESC_EPILOGUE_ACT_ARG0_EXT, -INFINITY);
    const double high = how.get<float>(HIPBLASLT_MATMUL_DESC_EPILOGUE_ACT_ARG1_EXT, INFINITY);
    float *amax = how.get<float *>(HIPBLASLT_MATMUL_DESC_AMAX_D_POINTER, nullptr);
    // The parts of an epilogue are bits: 2 ReLU, 4 bias, 32 GELU, 64 its gradient, 128 the auxiliary matrix, 16 the
    // gradient of the bias, 65536 Swish, 131072 clamp.
    const bool plain = epilogue == HIPBLASLT_EPILOGUE_DEFAULT || epilogue == HIPBLASLT_EPILOGUE_BGRADA || epilogue == HIPBLASLT_EPILOGUE_BGRADB;
    const bool gradient = epilogue == HIPBLASLT_EPILOGUE_DGELU || epilogue == HIPBLASLT_EPILOGUE_DGELU_BGRAD;
    const bool adds = !plain && (epilogue & 4), writes_aux = !plain && !gradient && (epilogue & 128);
    if ((adds && !bias) || ((writes_aux || gradient) && !aux)) return HIPBLAS_STATUS_INVALID_VALUE;
    const bool writes_bias = epilogue == HIPBLASLT_EPILOGUE_DGELU_BGRAD || epilogue == HIPBLASLT_EPILOGUE_BGRADA || epilogue == HIPBLASLT_EPILOGUE_BGRADB;
    const bool batches = ma.batch == md.batch && mb.batch == md.batch;
    if (!ma.sound() || !mb.sound() || !md.sound() || !batches || aux_ld < m || aux_stride < 0) return HIPBLAS_STATUS_INVALID_VALUE;
    if (y != 0 && (!c || !mc.sound() || mc.rows != m || mc.columns != n || mc.batch != md.batch)) return HIPBLAS_STATUS_INVALID_VALUE;
    if (!m || !n) return HIPBLAS_STATUS_SUCCESS;
    if (!ma.within(a, "hipblasLtMatmul's A") || !mb.within(b, "hipblasLtMatmul's B") || !md.within(d, "hipblasLtMatmul's D")) return HIPBLAS_STATUS_INVALID_VALUE;
    if (y != 0 && !mc.within(c, "hipblasLtMatmul's C")) return HIPBLAS_STATUS_INVALID_VALUE;
    const std::size_t bias_bytes = static_cast<std::size_t>(epilogue == HIPBLASLT_EPILOGUE_BGRADB ? n : m) * Elements::bytes(biases.type());
    if ((adds || (writes_bias && bias)) && (!bias_bytes || rt::check_range(bias, bias_bytes, "hipblasLtMatmul's bias"))) return HIPBLAS_STATUS_INVALID_VALUE;
    const auto aux_elements = static_cast<std::size_t>((md.batch - 1) * aux_stride + (n - 1) * aux_ld + m);
    if ((writes_aux || gradient) && rt::check_range(aux, aux_elements * Elements::bytes(aux_type), "hipblasLtMatmul's auxiliary matrix")) return HIPBLAS_STATUS_INVALID_VALUE;
    double largest = 0;
    std::vector<double> gradients(static_cast<std::size_t>(std::max(m, n)));
    for (int batch = 0; batch < md.batch; ++batch) {
      const auto x = packed<W>(a, ma, batch, ta, sa, outer_a), z = packed<W>(b, mb, batch, tb, sb, outer_b);
      std::vector<W> sums(static_cast<std::size_t>(m * n));
      if (k) rpx::blas::product('N', 'N', m, n, k, x.data(), m, z.data(), k, sums.data());
      const Elements before(c, mc.type), out(d, md.type), auxiliary(aux, aux_type);
      for (long j = 0; j < n; ++j)
        for (long i = 0; i < m; ++i) {
          double v = alphas[rows_of_alpha ? static_cast<std::size_t>(i) : 0] * static_cast<double>(sums[static_cast<std::size_t>(i + j * m)]);
          if (outer_a && sa) v *= sa[i];
          if (outer_b && sb) v *= sb[j];
          if (y != 0) v += y * before[mc.at(batch, i, j)] * (sc ? *sc : 1.0);
          if (adds) v += biases[static_cast<std::size_t>(i)];
          const std::size_t beside = static_cast<std::size_t>(batch * aux_stride + i + j * aux_ld);
          if (writes_aux) auxiliary.set(beside, v);
          if (gradient) v *= gelu_slope(auxiliary[beside]);
          else if (plain) {}
          else if (epilogue & 2) v = v > 0 ? v : 0;
          else if (epilogue & 32) v = gelu(v);
          else if (epilogue & HIPBLASLT_EPILOGUE_SWISH_EXT) v = v / (1 + std::exp(-v));
          else if (epilogue & HIPBLASLT_EPILOGUE_CLAMP_EXT) v = std::max(low, std::min(v, high));
          largest = std::max(largest, std::fabs(v));
          if (epilogue == HIPBLASLT_EPILOGUE_DGELU_BGRAD) gradients[static_cast<std::size_t>(i)] += v;
          out.set(md.at(batch, i, j), sd ? v * *sd : v);
        }
      for (long p = 0; epilogue == HIPBLASLT_EPILOGUE_BGRADA && p < k; ++p)
        for (long i = 0; i < m; ++i) gradients[static_cast<std::size_t>(i)] += static_cast<double>(x[static_cast<std::size_t>(i + p * m)]);
      for (long p = 0; epilogue == HIPBLASLT_EPILOGUE_BGRADB && p < k; ++p)
        for (long j = 0; j < n; ++j) gradients[static_cast<std::size_t>(j)] += static_cast<double>(z[static_cast<std::size_t>(p + j * k)]);
    }
    for (long i = 0; writes_bias && bias && i < (epilogue == HIPBLASLT_EPILOGUE_BGRADB ? n : m); ++i)
      biases.set(static_cast<std::size_t>(i), gradients[static_cast<std::size_t>(i)]);
    if (amax) *amax = static_cast<float>(largest);
    return HIPBLAS_STATUS_SUCCESS;
  }
};

}  // namespace

extern "C" {

hipblasStatus_t hipblasLtGetVersion(hipblasLtHandle_t, int *version) {
  *version = HIPBLASLT_VERSION_MAJOR * 100000 + HIPBLASLT_VERSION_MINOR * 100 + HIPBLASLT_VERSION_PATCH;
  return HIPBLAS_STATUS_SUCCESS;
}
hipblasStatus_t hipblasLtCreate(hipblasLtHandle_t *handle) {
  if (!handle) return HIPBLAS_STATUS_INVALID_VALUE;
  *handle = new char;
  return HIPBLAS_STATUS_SUCCESS;
}
hipblasStatus_t hipblasLtDestroy(const hipblasLtHandle_t handle) {
  delete static_cast<char *>(handle);
  return HIPBLAS_STATUS_SUCCESS;
}
hipblasStatus_t hipblasLtMatrixLayoutCreate(hipblasLtMatrixLayout_t *layout, hipDataType type, uint64_t rows, uint64_t columns, int64_t ld) {
  Attributes *attributes = nullptr;
  if (hipblasStatus_t bad = make(layout, &attributes)) return bad;
  attributes->put<std::uint32_t>(HIPBLASLT_MATRIX_LAYOUT_TYPE, type);
  attributes->put(HIPBLASLT_MATRIX_LAYOUT_ROWS, rows);
  attributes->put(HIPBLASLT_MATRIX_LAYOUT_COLS, columns);
  attributes->put(HIPBLASLT_MATRIX_LAYOUT_LD, ld);
  return HIPBLAS_STATUS_SUCCESS;
}
hipblasStatus_t hipblasLtMatrixLayoutDestroy(const hipblasLtMatrixLayout_t layout) { return destroy(layout); }
hipblasStatus_t hipblasLtMatrixLayoutSetAttribute(hipblasLtMatrixLayout_t layout, hipblasLtMatrixLayoutAttribute_t name, const void *from, size_t bytes) {
  return of(layout).write(name, from, bytes);
}
hipblasStatus_t hipblasLtMatrixLayoutGetAttribute(hipblasLtMatrixLayout_t layout, hipblasLtMatrixLayoutAttribute_t name, void *to, size_t bytes, size_t *written) {
  return of(layout).read(name, to, bytes, written);
}
hipblasStatus_t hipblasLtMatmulDescCreate(hipblasLtMatmulDesc_t *desc, hipblasComputeType_t compute, hipDataType scale) {
  Attributes *attributes = nullptr;
  if (hipblasStatus_t bad = make(desc, &attributes)) return bad;
  attributes->put<std::int32_t>(-1, scale);
  attributes->put<std::int32_t>(-2, compute);
  return HIPBLAS_STATUS_SUCCESS;
}
hipblasStatus_t hipblasLtMatmulDescDestroy(const hipblasLtMatmulDesc_t desc) { return destroy(desc); }
hipblasStatus_t hipblasLtMatmulDescSetAttribute(hipblasLtMatmulDesc_t desc, hipblasLtMatmulDescAttributes_t name, const void *from, size_t bytes) {
  return of(desc).write(name, from, bytes);
}
hipblasStatus_t hipblasLtMatmulDescGetAttribute(hipblasLtMatmulDesc_t desc, hipblasLtMatmulDescAttributes_t name, void *to, size_t bytes, size_t *written) {
  return of(desc).read(name, to, bytes, written);
}
hipblasStatus_t hipblasLtMatmulPreferenceCreate(hipblasLtMatmulPreference_t *preference) {
  Attributes *attributes = nullptr;
  return make(preference, &attributes);
}
hipblasStatus_t hipblasLtMatmulPreferenceDestroy(const hipblasLtMatmulPreference_t preference) { return destroy(preference); }
hipblasStatus_t hipblasLtMatmulPreferenceSetAttribute(hipblasLtMatmulPreference_t preference, hipblasLtMatmulPreferenceAttributes_t name, const void *from, size_t bytes) {
  return of(preference).write(name, from, bytes);
}
hipblasStatus_t hipblasLtMatmulPreferenceGetAttribute(hipblasLtMatmulPreference_t preference, hipblasLtMatmulPreferenceAttributes_t name, void *to, size_t bytes, size_t *written) {
  return of(preference).read(name, to, bytes, written);
}
hipblasStatus_t hipblasLtMatmulAlgoGetHeuristic(hipblasLtHandle_t, hipblasLtMatmulDesc_t desc, hipblasLtMatrixLayout_t a, hipblasLtMatrixLayout_t b,
                                                hipblasLtMatrixLayout_t c, hipblasLtMatrixLayout_t d, hipblasLtMatmulPreference_t, int asked,
                                                hipblasLtMatmulHeuristicResult_t results[], int *found) {
  if (!desc || !a || !b || !c || !d || asked < 1 || !found) return HIPBLAS_STATUS_INVALID_VALUE;
  *found = 0;
  for (hipblasLtMatrixLayout_t layout : {a, b, c, d})
    if (tiled(layout) || !Matrix(layout).served()) return HIPBLAS_STATUS_NOT_SUPPORTED;
  results[0] = {};
  *found = 1;
  return HIPBLAS_STATUS_SUCCESS;
}
hipblasStatus_t hipblasLtMatmul(hipblasLtHandle_t, hipblasLtMatmulDesc_t desc, const void *alpha, const void *a, hipblasLtMatrixLayout_t la, const void *b,
                                hipblasLtMatrixLayout_t lb, const void *beta, const void *c, hipblasLtMatrixLayout_t lc, void *d, hipblasLtMatrixLayout_t ld,
                                const hipblasLtMatmulAlgo_t *, void *, size_t, hipStream_t stream) {
  if (!desc || !la || !lb || !lc || !ld || !alpha || !beta || !a || !b || !d) return HIPBLAS_STATUS_INVALID_VALUE;
  for (hipblasLtMatrixLayout_t layout : {la, lb, lc, ld})
    if (tiled(layout) || !Matrix(layout).served()) {
      (void)rt::unserved("hipblasLtMatmul of a tiled layout, or of elements that are complex or of 4 or 6 bits");
      return HIPBLAS_STATUS_NOT_SUPPORTED;
    }
  for (int name : {HIPBLASLT_MATMUL_DESC_A_SCALE_MODE, HIPBLASLT_MATMUL_DESC_B_SCALE_MODE}) {
    const auto mode = of(desc).get<std::int32_t>(name, 0);
    if (mode != HIPBLASLT_MATMUL_MATRIX_SCALE_SCALAR_32F && mode != HIPBLASLT_MATMUL_MATRIX_SCALE_OUTER_VEC_32F) {
      (void)rt::unserved("hipblasLtMatmul with scales of blocks");
      return HIPBLAS_STATUS_NOT_SUPPORTED;
    }
  }
  if (rt::in_capture(stream, "hipblasLtMatmul")) return HIPBLAS_STATUS_NOT_SUPPORTED;
  const Product product{of(desc), alpha, beta, a, b, c, d, Matrix(la), Matrix(lb), Matrix(lc), Matrix(ld)};
  // Integers and doubles are summed in double: integers are exact there.
  return product.ma.type == HIP_R_64F || product.ma.type == HIP_R_8I ? product.run<double>() : product.run<float>();
}
hipblasStatus_t hipblasLtMatrixTransformDescCreate(hipblasLtMatrixTransformDesc_t *desc, hipDataType scale) {
  Attributes *attributes = nullptr;
  if (hipblasStatus_t bad = make(desc, &attributes)) return bad;
  attributes->put<std::int32_t>(HIPBLASLT_MATRIX_TRANSFORM_DESC_SCALE_TYPE, scale);
  return HIPBLAS_STATUS_SUCCESS;
}
hipblasStatus_t hipblasLtMatrixTransformDescDestroy(hipblasLtMatrixTransformDesc_t desc) { return destroy(desc); }
hipblasStatus_t hipblasLtMatrixTransformDescSetAttribute(hipblasLtMatrixTransformDesc_t desc, hipblasLtMatrixTransformDescAttributes_t name, const void *from, size_t bytes) {
  return of(desc).write(name, from, bytes);
}
hipblasStatus_t hipblasLtMatrixTransformDescGetAttribute(hipblasLtMatrixTransformDesc_t desc, hipblasLtMatrixTransformDescAttributes_t name, void *to, size_t bytes, size_t *written) {
  return of(desc).read(name, to, bytes, written);
}
hipblasStatus_t hipblasLtMatrixTransform(hipblasLtHandle_t, hipblasLtMatrixTransformDesc_t desc, const void *alpha, const void *a, hipblasLtMatrixLayout_t la, const void *beta,
                                         const void *b, hipblasLtMatrixLayout_t lb, void *c, hipblasLtMatrixLayout_t lc, hipStream_t stream) {
  if (!desc || !alpha || !a || !la || !c || !lc) return HIPBLAS_STATUS_INVALID_VALUE;
  const Attributes &how = of(desc);
  const auto type = static_cast<hipDataType>(how.get<std::int32_t>(HIPBLASLT_MATRIX_TRANSFORM_DESC_SCALE_TYPE, HIP_R_32F));
  const bool ta = how.get<std::int32_t>(HIPBLASLT_MATRIX_TRANSFORM_DESC_TRANSA, HIPBLAS_OP_N) != HIPBLAS_OP_N;
  const bool tb = how.get<std::int32_t>(HIPBLASLT_MATRIX_TRANSFORM_DESC_TRANSB, HIPBLAS_OP_N) != HIPBLAS_OP_N;
  const Matrix ma(la), mc(lc), mb(lb ? lb : la);
  if (tiled(la) || tiled(lc) || (lb && tiled(lb)) || !ma.served() || !mb.served() || !mc.served()) return HIPBLAS_STATUS_NOT_SUPPORTED;
  if (rt::in_capture(stream, "hipblasLtMatrixTransform")) return HIPBLAS_STATUS_NOT_SUPPORTED;
  const double x = Elements(alpha, type)[0], y = b && lb && beta ? Elements(beta, type)[0] : 0;
  auto fits = [&](const Matrix &m, bool transposed) {
    return m.sound() && (transposed ? m.columns : m.rows) == mc.rows && (transposed ? m.rows : m.columns) == mc.columns && m.batch == mc.batch;
  };
  if (!mc.sound() || !fits(ma, ta) || (y != 0 && !fits(mb, tb))) return HIPBLAS_STATUS_INVALID_VALUE;
  if (!ma.within(a, "hipblasLtMatrixTransform's A") || !mc.within(c, "hipblasLtMatrixTransform's C")) return HIPBLAS_STATUS_INVALID_VALUE;
  if (y != 0 && !mb.within(b, "hipblasLtMatrixTransform's B")) return HIPBLAS_STATUS_INVALID_VALUE;
  std::vector<double> values(static_cast<std::size_t>(mc.rows * mc.columns));
  for (int batch = 0; batch < mc.batch; ++batch) {
    for (long j = 0; j < mc.columns; ++j)
      for (long i = 0; i < mc.rows; ++i) {
        double &v = values[static_cast<std::size_t>(i + j * mc.rows)];
        v = x * Elements(a, ma.type)[ta ? ma.at(batch, j, i) : ma.at(batch, i, j)];
        if (y != 0) v += y * Elements(b, mb.type)[tb ? mb.at(batch, j, i) : mb.at(batch, i, j)];
      }
    for (long j = 0; j < mc.columns; ++j)
      for (long i = 0; i < mc.rows; ++i) Elements(c, mc.type).set(mc.at(batch, i, j), values[static_cast<std::size_t>(i + j * mc.rows)]);
  }
  return HIPBLAS_STATUS_SUCCESS;
}

}  // extern "C"
