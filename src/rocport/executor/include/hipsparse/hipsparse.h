// SPDX-License-Identifier: Apache-2.0
// hipSPARSE's generic interface over CSR, CSC, COO and dense storage, by plain loops; of the legacy one, csrilu02, csrsort,
// csr2csc and nnz. Values are computed in double (complex) precision.
#pragma once

#include <algorithm>
#include <map>
#include <vector>

#include "hip/hip_runtime.h"
#include "hipblas/hipblas.h"

typedef enum hipsparseStatus_t {
  HIPSPARSE_STATUS_SUCCESS, HIPSPARSE_STATUS_NOT_INITIALIZED, HIPSPARSE_STATUS_ALLOC_FAILED, HIPSPARSE_STATUS_INVALID_VALUE, HIPSPARSE_STATUS_ARCH_MISMATCH,
  HIPSPARSE_STATUS_MAPPING_ERROR, HIPSPARSE_STATUS_EXECUTION_FAILED, HIPSPARSE_STATUS_INTERNAL_ERROR, HIPSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED,
  HIPSPARSE_STATUS_ZERO_PIVOT, HIPSPARSE_STATUS_NOT_SUPPORTED, HIPSPARSE_STATUS_INSUFFICIENT_RESOURCES
} hipsparseStatus_t;
typedef enum hipsparseOperation_t { HIPSPARSE_OPERATION_NON_TRANSPOSE, HIPSPARSE_OPERATION_TRANSPOSE, HIPSPARSE_OPERATION_CONJUGATE_TRANSPOSE } hipsparseOperation_t;
typedef enum hipsparseIndexBase_t { HIPSPARSE_INDEX_BASE_ZERO, HIPSPARSE_INDEX_BASE_ONE } hipsparseIndexBase_t;
typedef enum hipsparseIndexType_t { HIPSPARSE_INDEX_16U = 1, HIPSPARSE_INDEX_32I = 2, HIPSPARSE_INDEX_64I = 3 } hipsparseIndexType_t;
typedef enum hipsparseOrder_t { HIPSPARSE_ORDER_ROW = 1, HIPSPARSE_ORDER_COL = 2, HIPSPARSE_ORDER_COLUMN = 2 } hipsparseOrder_t;
typedef enum hipsparseFillMode_t { HIPSPARSE_FILL_MODE_LOWER, HIPSPARSE_FILL_MODE_UPPER } hipsparseFillMode_t;
typedef enum hipsparseDiagType_t { HIPSPARSE_DIAG_TYPE_NON_UNIT, HIPSPARSE_DIAG_TYPE_UNIT } hipsparseDiagType_t;
typedef enum hipsparseMatrixType_t { HIPSPARSE_MATRIX_TYPE_GENERAL, HIPSPARSE_MATRIX_TYPE_SYMMETRIC, HIPSPARSE_MATRIX_TYPE_HERMITIAN, HIPSPARSE_MATRIX_TYPE_TRIANGULAR } hipsparseMatrixType_t;
typedef enum hipsparseDirection_t { HIPSPARSE_DIRECTION_ROW, HIPSPARSE_DIRECTION_COLUMN } hipsparseDirection_t;
typedef enum hipsparseAction_t { HIPSPARSE_ACTION_SYMBOLIC, HIPSPARSE_ACTION_NUMERIC } hipsparseAction_t;
typedef enum hipsparsePointerMode_t { HIPSPARSE_POINTER_MODE_HOST, HIPSPARSE_POINTER_MODE_DEVICE } hipsparsePointerMode_t;
typedef enum hipsparseSolvePolicy_t { HIPSPARSE_SOLVE_POLICY_NO_LEVEL, HIPSPARSE_SOLVE_POLICY_USE_LEVEL } hipsparseSolvePolicy_t;
typedef enum hipsparseFormat_t { HIPSPARSE_FORMAT_CSR = 1, HIPSPARSE_FORMAT_CSC = 2, HIPSPARSE_FORMAT_COO = 3, HIPSPARSE_FORMAT_COO_AOS = 4, HIPSPARSE_FORMAT_BLOCKED_ELL = 5 } hipsparseFormat_t;
typedef enum hipsparseSpMatAttribute_t { HIPSPARSE_SPMAT_FILL_MODE, HIPSPARSE_SPMAT_DIAG_TYPE } hipsparseSpMatAttribute_t;
typedef enum hipsparseSpMVAlg_t { HIPSPARSE_MV_ALG_DEFAULT, HIPSPARSE_SPMV_ALG_DEFAULT = 0, HIPSPARSE_COOMV_ALG = 1, HIPSPARSE_SPMV_COO_ALG1 = 1, HIPSPARSE_CSRMV_ALG1 = 2, HIPSPARSE_SPMV_CSR_ALG1 = 2, HIPSPARSE_CSRMV_ALG2 = 3, HIPSPARSE_SPMV_CSR_ALG2 = 3, HIPSPARSE_SPMV_COO_ALG2 = 4 } hipsparseSpMVAlg_t;
typedef enum hipsparseSpMMAlg_t { HIPSPARSE_MM_ALG_DEFAULT, HIPSPARSE_SPMM_ALG_DEFAULT = 0, HIPSPARSE_SPMM_COO_ALG1 = 1, HIPSPARSE_SPMM_CSR_ALG1 = 4, HIPSPARSE_SPMM_CSR_ALG2 = 6, HIPSPARSE_SPMM_CSR_ALG3 = 12 } hipsparseSpMMAlg_t;
typedef enum hipsparseSpGEMMAlg_t { HIPSPARSE_SPGEMM_DEFAULT, HIPSPARSE_SPGEMM_ALG1, HIPSPARSE_SPGEMM_ALG2, HIPSPARSE_SPGEMM_ALG3 } hipsparseSpGEMMAlg_t;
typedef enum hipsparseSDDMMAlg_t { HIPSPARSE_SDDMM_ALG_DEFAULT } hipsparseSDDMMAlg_t;
typedef enum hipsparseSpSVAlg_t { HIPSPARSE_SPSV_ALG_DEFAULT } hipsparseSpSVAlg_t;
typedef enum hipsparseSpSMAlg_t { HIPSPARSE_SPSM_ALG_DEFAULT } hipsparseSpSMAlg_t;
typedef enum hipsparseSparseToDenseAlg_t { HIPSPARSE_SPARSETODENSE_ALG_DEFAULT } hipsparseSparseToDenseAlg_t;
typedef enum hipsparseDenseToSparseAlg_t { HIPSPARSE_DENSETOSPARSE_ALG_DEFAULT } hipsparseDenseToSparseAlg_t;
typedef enum hipsparseCsr2CscAlg_t { HIPSPARSE_CSR2CSC_ALG_DEFAULT, HIPSPARSE_CSR2CSC_ALG1 = 0, HIPSPARSE_CSR2CSC_ALG2 = 0 } hipsparseCsr2CscAlg_t;
typedef hipblasHandle_t hipsparseHandle_t;
typedef struct rpx_matrix_info { hipsparseMatrixType_t type; hipsparseIndexBase_t base; hipsparseFillMode_t fill; hipsparseDiagType_t diag; } *hipsparseMatDescr_t;

namespace rpx {
namespace sparse {

using blas::Complex;

inline long index(const void *p, hipsparseIndexType_t t, long i) {
  return t == HIPSPARSE_INDEX_64I ? static_cast<long>(static_cast<const std::int64_t *>(p)[i]) : t == HIPSPARSE_INDEX_32I ? static_cast<const std::int32_t *>(p)[i] : static_cast<const std::uint16_t *>(p)[i];
}
inline void put_index(void *p, hipsparseIndexType_t t, long i, long v) {
  if (t == HIPSPARSE_INDEX_64I) static_cast<std::int64_t *>(p)[i] = v;
  else if (t == HIPSPARSE_INDEX_32I) static_cast<std::int32_t *>(p)[i] = static_cast<std::int32_t>(v);
  else static_cast<std::uint16_t *>(p)[i] = static_cast<std::uint16_t>(v);
}
template <class E, class S> Complex widen(S v) {
  if constexpr (std::is_same<S, Complex>::value) return v;
  else return Complex(static_cast<double>(v));
}
template <class T> void narrow(T *out, Complex v) {
  if constexpr (blas::IsComplex<T>::value) *out = blas::Element<T>::store(v);
  else *out = blas::Element<T>::store(static_cast<typename blas::Element<T>::Sum>(v.re));
}
inline Complex load(const void *p, hipDataType t, long i) {
  Complex r;
  blas::with_type(t, [&](auto *q) {
    using T = std::remove_pointer_t<decltype(q)>;
    r = widen<T>(blas::Element<T>::load(static_cast<const T *>(p)[i]));
  });
  return r;
}
inline void store(void *p, hipDataType t, long i, Complex v) {
  blas::with_type(t, [&](auto *q) { narrow(static_cast<std::remove_pointer_t<decltype(q)> *>(p) + i, v); });
}

enum Format { kCsr, kCsc, kCoo };
struct Matrix {
  Format format = kCsr;
  std::int64_t rows = 0, columns = 0, nonzeros = 0;
  void *offsets = nullptr, *indices = nullptr, *values = nullptr;  // COO: rows, columns
  hipsparseIndexType_t offset_type = HIPSPARSE_INDEX_32I, index_type = HIPSPARSE_INDEX_32I;
  long base = 0;
  hipDataType type = HIP_R_32F;
  hipsparseFillMode_t fill = HIPSPARSE_FILL_MODE_LOWER;
  hipsparseDiagType_t diag = HIPSPARSE_DIAG_TYPE_NON_UNIT;
  int batches = 1;
  std::int64_t offset_stride = 0, value_stride = 0;

  // Calls f(row, column, position of the value).
  template <class F> void each(F f) const {
    if (format == kCoo) {
      for (long k = 0; k < nonzeros; ++k) f(index(offsets, offset_type, k) - base, index(indices, index_type, k) - base, k);
      return;
    }
    const long lines = static_cast<long>(format == kCsr ? rows : columns);
    for (long i = 0; i < lines; ++i)
      for (long k = index(offsets, offset_type, i) - base; k < index(offsets, offset_type, i + 1) - base; ++k) {
        long j = index(indices, index_type, k) - base;
        format == kCsr ? f(i, j, k) : f(j, i, k);
      }
  }
  Complex value(long k) const { return load(values, type, k); }
  Matrix batch(int b) const {
    Matrix m = *this;
    if (b && batches > 1) {
      m.offsets = static_cast<char *>(offsets) + b * offset_stride * (offset_type == HIPSPARSE_INDEX_64I ? 8 : 4);
      m.indices = static_cast<char *>(indices) + b * value_stride * (index_type == HIPSPARSE_INDEX_64I ? 8 : 4);
      m.values = static_cast<char *>(values) + b * value_stride * static_cast<long>(blas::type_bytes(type));
    }
    return m;
  }
};
struct Vector {
  std::int64_t size = 0, nonzeros = 0;
  void *indices = nullptr, *values = nullptr;
  hipsparseIndexType_t index_type = HIPSPARSE_INDEX_32I;
  long base = 0;
  hipDataType type = HIP_R_32F;
};
struct Dense {
  std::int64_t rows, columns, leading;
  void *values;
  hipDataType type;
  hipsparseOrder_t order;
  int batches = 1;
  std::int64_t stride = 0;
  long at(long i, long j, int b = 0) const { return (order == HIPSPARSE_ORDER_ROW ? i * leading + j : i + j * leading) + b * stride; }
  Complex get(long i, long j, int b = 0) const { return load(values, type, at(i, j, b)); }
};
// The product of a sparse-sparse multiplication, kept between its calls; nothing for the triangular solves.
struct Work {
  std::vector<std::map<long, Complex>> rows;
};

inline Complex turned(Complex v, hipsparseOperation_t op) { return op == HIPSPARSE_OPERATION_CONJUGATE_TRANSPOSE ? blas::conj(v) : v; }

// Solves op(A) x = b for one right-hand side; only the triangle that the matrix names is read.
inline void solve(const Matrix &a, hipsparseOperation_t op, std::vector<Complex> &x) {
  std::vector<std::vector<std::pair<long, Complex>>> rows(static_cast<std::size_t>(a.rows));
  std::vector<Complex> diagonal(static_cast<std::size_t>(a.rows), Complex(1));
  const bool flip = op != HIPSPARSE_OPERATION_NON_TRANSPOSE;
  const bool lower = (a.fill == HIPSPARSE_FILL_MODE_LOWER) != flip;
  a.each([&](long i, long j, long k) {
    if (flip) std::swap(i, j);
    Complex v = turned(a.value(k), op);
    if (i == j) {
      if (a.diag == HIPSPARSE_DIAG_TYPE_NON_UNIT) diagonal[i] = v;
    } else if ((j < i) == lower) {
      rows[i].emplace_back(j, v);
    }
  });
  for (long s = 0; s < a.rows; ++s) {
    long i = lower ? s : static_cast<long>(a.rows) - 1 - s;
    for (auto &[j, v] : rows[i]) x[i] -= v * x[j];
    x[i] = x[i] / diagonal[i];
  }
}

inline void scale(Complex &out, Complex beta, Complex old) { out = beta == Complex(0) ? Complex(0) : beta * old; }

}  // namespace sparse
}  // namespace rpx

typedef rpx::sparse::Matrix *hipsparseSpMatDescr_t;
typedef rpx::sparse::Vector *hipsparseSpVecDescr_t;
typedef rpx::sparse::Vector *hipsparseDnVecDescr_t;
typedef rpx::sparse::Dense *hipsparseDnMatDescr_t;
typedef const rpx::sparse::Matrix *hipsparseConstSpMatDescr_t;
typedef const rpx::sparse::Vector *hipsparseConstDnVecDescr_t, *hipsparseConstSpVecDescr_t;
typedef const rpx::sparse::Dense *hipsparseConstDnMatDescr_t;
typedef rpx::sparse::Work *hipsparseSpGEMMDescr_t, *hipsparseSpSVDescr_t, *hipsparseSpSMDescr_t, *csrilu02Info_t, *csric02Info_t;

#define RPX_OK return HIPSPARSE_STATUS_SUCCESS
RPX_API hipsparseStatus_t hipsparseCreate(hipsparseHandle_t *h) { hipblasCreate(h); RPX_OK; }
RPX_API hipsparseStatus_t hipsparseDestroy(hipsparseHandle_t h) { hipblasDestroy(h); RPX_OK; }
RPX_API hipsparseStatus_t hipsparseSetStream(hipsparseHandle_t h, hipStream_t s) { h->stream = s; RPX_OK; }
RPX_API hipsparseStatus_t hipsparseGetStream(hipsparseHandle_t h, hipStream_t *s) { *s = h->stream; RPX_OK; }
RPX_API hipsparseStatus_t hipsparseSetPointerMode(hipsparseHandle_t h, hipsparsePointerMode_t mode) { h->mode = static_cast<hipblasPointerMode_t>(mode); RPX_OK; }
RPX_API hipsparseStatus_t hipsparseGetPointerMode(hipsparseHandle_t h, hipsparsePointerMode_t *mode) { *mode = static_cast<hipsparsePointerMode_t>(h->mode); RPX_OK; }
RPX_API hipsparseStatus_t hipsparseGetVersion(hipsparseHandle_t, int *version) { *version = 300200; RPX_OK; }  // 3.2.0, of ROCm 6.4
RPX_API const char *hipsparseGetErrorName(hipsparseStatus_t s) { return s == HIPSPARSE_STATUS_SUCCESS ? "HIPSPARSE_STATUS_SUCCESS" : "HIPSPARSE_STATUS_ERROR"; }
RPX_API const char *hipsparseGetErrorString(hipsparseStatus_t s) { return s == HIPSPARSE_STATUS_SUCCESS ? "success" : "error"; }
RPX_API hipsparseStatus_t hipsparseCreateMatDescr(hipsparseMatDescr_t *d) { *d = new rpx_matrix_info{}; RPX_OK; }
RPX_API hipsparseStatus_t hipsparseDestroyMatDescr(hipsparseMatDescr_t d) { delete d; RPX_OK; }
RPX_API hipsparseStatus_t hipsparseSetMatType(hipsparseMatDescr_t d, hipsparseMatrixType_t t) { d->type = t; RPX_OK; }
RPX_API hipsparseStatus_t hipsparseSetMatIndexBase(hipsparseMatDescr_t d, hipsparseIndexBase_t b) { d->base = b; RPX_OK; }
RPX_API hipsparseStatus_t hipsparseSetMatFillMode(hipsparseMatDescr_t d, hipsparseFillMode_t f) { d->fill = f; RPX_OK; }
RPX_API hipsparseStatus_t hipsparseSetMatDiagType(hipsparseMatDescr_t d, hipsparseDiagType_t t) { d->diag = t; RPX_OK; }

// ---- descriptors -----------------------------------------------------------------------------------------------------

inline hipsparseStatus_t rpx_matrix(hipsparseSpMatDescr_t *m, rpx::sparse::Format f, int64_t rows, int64_t columns, int64_t nnz, void *offsets, void *indices,
                                    void *values, hipsparseIndexType_t ot, hipsparseIndexType_t it, hipsparseIndexBase_t base, hipDataType type) {
  *m = new rpx::sparse::Matrix;
  **m = {f, rows, columns, nnz, offsets, indices, values, ot, it, static_cast<long>(base), type};
  RPX_OK;
}
RPX_API hipsparseStatus_t hipsparseCreateCsr(hipsparseSpMatDescr_t *m, int64_t rows, int64_t columns, int64_t nnz, void *offsets, void *indices, void *values, hipsparseIndexType_t ot, hipsparseIndexType_t it, hipsparseIndexBase_t base, hipDataType type) { return rpx_matrix(m, rpx::sparse::kCsr, rows, columns, nnz, offsets, indices, values, ot, it, base, type); }
RPX_API hipsparseStatus_t hipsparseCreateCsc(hipsparseSpMatDescr_t *m, int64_t rows, int64_t columns, int64_t nnz, void *offsets, void *indices, void *values, hipsparseIndexType_t ot, hipsparseIndexType_t it, hipsparseIndexBase_t base, hipDataType type) { return rpx_matrix(m, rpx::sparse::kCsc, rows, columns, nnz, offsets, indices, values, ot, it, base, type); }
RPX_API hipsparseStatus_t hipsparseCreateCoo(hipsparseSpMatDescr_t *m, int64_t rows, int64_t columns, int64_t nnz, void *row, void *column, void *values, hipsparseIndexType_t it, hipsparseIndexBase_t base, hipDataType type) { return rpx_matrix(m, rpx::sparse::kCoo, rows, columns, nnz, row, column, values, it, it, base, type); }
RPX_API hipsparseStatus_t hipsparseDestroySpMat(hipsparseConstSpMatDescr_t m) { delete m; RPX_OK; }
RPX_API hipsparseStatus_t hipsparseSpMatGetSize(hipsparseConstSpMatDescr_t m, int64_t *rows, int64_t *columns, int64_t *nnz) { *rows = m->rows, *columns = m->columns, *nnz = m->nonzeros; RPX_OK; }
RPX_API hipsparseStatus_t hipsparseCsrSetPointers(hipsparseSpMatDescr_t m, void *offsets, void *indices, void *values) { m->offsets = offsets, m->indices = indices, m->values = values; RPX_OK; }
RPX_API hipsparseStatus_t hipsparseCsrSetStridedBatch(hipsparseSpMatDescr_t m, int n, int64_t offsets, int64_t values) { m->batches = n, m->offset_stride = offsets, m->value_stride = values; RPX_OK; }
RPX_API hipsparseStatus_t hipsparseSpMatSetStridedBatch(hipsparseSpMatDescr_t m, int n) { m->batches = n; RPX_OK; }
RPX_API hipsparseStatus_t hipsparseSpMatSetAttribute(hipsparseSpMatDescr_t m, hipsparseSpMatAttribute_t a, const void *v, size_t) {
  if (a == HIPSPARSE_SPMAT_FILL_MODE) m->fill = *static_cast<const hipsparseFillMode_t *>(v);
  else m->diag = *static_cast<const hipsparseDiagType_t *>(v);
  RPX_OK;
}
RPX_API hipsparseStatus_t hipsparseCreateSpVec(hipsparseSpVecDescr_t *x, int64_t size, int64_t nnz, void *indices, void *values, hipsparseIndexType_t it, hipsparseIndexBase_t base, hipDataType type) { *x = new rpx::sparse::Vector{size, nnz, indices, values, it, static_cast<long>(base), type}; RPX_OK; }
RPX_API hipsparseStatus_t hipsparseDestroySpVec(hipsparseSpVecDescr_t x) { delete x; RPX_OK; }
RPX_API hipsparseStatus_t hipsparseCreateDnVec(hipsparseDnVecDescr_t *x, int64_t size, void *values, hipDataType type) { *x = new rpx::sparse::Vector; (*x)->size = size, (*x)->values = values, (*x)->type = type; RPX_OK; }
RPX_API hipsparseStatus_t hipsparseDestroyDnVec(hipsparseConstDnVecDescr_t x) { delete x; RPX_OK; }
RPX_API hipsparseStatus_t hipsparseDnVecSetValues(hipsparseDnVecDescr_t x, void *values) { x->values = values; RPX_OK; }
RPX_API hipsparseStatus_t hipsparseCreateDnMat(hipsparseDnMatDescr_t *m, int64_t rows, int64_t columns, int64_t ld, void *values, hipDataType type, hipsparseOrder_t order) { *m = new rpx::sparse::Dense{rows, columns, ld, values, type, order}; RPX_OK; }
RPX_API hipsparseStatus_t hipsparseDestroyDnMat(hipsparseConstDnMatDescr_t m) { delete m; RPX_OK; }
RPX_API hipsparseStatus_t hipsparseDnMatSetStridedBatch(hipsparseDnMatDescr_t m, int n, int64_t stride) { m->batches = n, m->stride = stride; RPX_OK; }

// ---- what a descriptor holds, with pointers to what may be written and to what may not; descriptors of the latter --------

RPX_API hipsparseStatus_t hipsparseCscSetPointers(hipsparseSpMatDescr_t m, void *offsets, void *indices, void *values) { return hipsparseCsrSetPointers(m, offsets, indices, values); }
RPX_API hipsparseStatus_t hipsparseCooSetPointers(hipsparseSpMatDescr_t m, void *rows, void *columns, void *values) { return hipsparseCsrSetPointers(m, rows, columns, values); }
RPX_API hipsparseStatus_t hipsparseSpMatGetFormat(hipsparseConstSpMatDescr_t m, hipsparseFormat_t *format) { *format = m->format == rpx::sparse::kCsr ? HIPSPARSE_FORMAT_CSR : m->format == rpx::sparse::kCsc ? HIPSPARSE_FORMAT_CSC : HIPSPARSE_FORMAT_COO; RPX_OK; }
RPX_API hipsparseStatus_t hipsparseSpMatGetIndexBase(hipsparseConstSpMatDescr_t m, hipsparseIndexBase_t *base) { *base = static_cast<hipsparseIndexBase_t>(m->base); RPX_OK; }
RPX_API hipsparseStatus_t hipsparseSpMatGetStridedBatch(hipsparseConstSpMatDescr_t m, int *n) { *n = m->batches; RPX_OK; }
RPX_API hipsparseStatus_t hipsparseSpMatSetValues(hipsparseSpMatDescr_t m, void *values) { m->values = values; RPX_OK; }
RPX_API hipsparseStatus_t hipsparseSpMatGetAttribute(hipsparseConstSpMatDescr_t m, hipsparseSpMatAttribute_t a, void *v, size_t) {
  if (a == HIPSPARSE_SPMAT_FILL_MODE) *static_cast<hipsparseFillMode_t *>(v) = m->fill;
  else *static_cast<hipsparseDiagType_t *>(v) = m->diag;
  RPX_OK;
}
RPX_API hipsparseStatus_t hipsparseSpVecGetIndexBase(hipsparseConstSpVecDescr_t x, hipsparseIndexBase_t *base) { *base = static_cast<hipsparseIndexBase_t>(x->base); RPX_OK; }
RPX_API hipsparseStatus_t hipsparseSpVecSetValues(hipsparseSpVecDescr_t x, void *values) { x->values = values; RPX_OK; }
RPX_API hipsparseStatus_t hipsparseDnMatSetValues(hipsparseDnMatDescr_t m, void *values) { m->values = values; RPX_OK; }
RPX_API hipsparseStatus_t hipsparseDnMatGetStridedBatch(hipsparseConstDnMatDescr_t m, int *n, int64_t *stride) { *n = m->batches, *stride = m->stride; RPX_OK; }
#define RPX_GETTERS(Const, Pointer)                                                                                                                       \
  RPX_API hipsparseStatus_t hipsparse##Const##CsrGet(hipsparseConstSpMatDescr_t m, int64_t *rows, int64_t *columns, int64_t *nnz, Pointer *offsets, Pointer *indices, Pointer *values, hipsparseIndexType_t *ot, hipsparseIndexType_t *it, hipsparseIndexBase_t *base, hipDataType *type) { \
    *rows = m->rows, *columns = m->columns, *nnz = m->nonzeros, *offsets = m->offsets, *indices = m->indices, *values = m->values;                        \
    *ot = m->offset_type, *it = m->index_type, *base = static_cast<hipsparseIndexBase_t>(m->base), *type = m->type;                                       \
    RPX_OK;                                                                                                                                               \
  }                                                                                                                                                       \
  RPX_API hipsparseStatus_t hipsparse##Const##CscGet(hipsparseConstSpMatDescr_t m, int64_t *rows, int64_t *columns, int64_t *nnz, Pointer *offsets, Pointer *indices, Pointer *values, hipsparseIndexType_t *ot, hipsparseIndexType_t *it, hipsparseIndexBase_t *base, hipDataType *type) { \
    return hipsparse##Const##CsrGet(m, rows, columns, nnz, offsets, indices, values, ot, it, base, type);                                                 \
  }                                                                                                                                                       \
  RPX_API hipsparseStatus_t hipsparse##Const##CooGet(hipsparseConstSpMatDescr_t m, int64_t *rows, int64_t *columns, int64_t *nnz, Pointer *row, Pointer *column, Pointer *values, hipsparseIndexType_t *it, hipsparseIndexBase_t *base, hipDataType *type) { \
    return hipsparse##Const##CsrGet(m, rows, columns, nnz, row, column, values, it, it, base, type);                                                      \
  }                                                                                                                                                       \
  RPX_API hipsparseStatus_t hipsparse##Const##SpMatGetValues(hipsparseConstSpMatDescr_t m, Pointer *values) { *values = m->values; RPX_OK; }              \
  RPX_API hipsparseStatus_t hipsparse##Const##SpVecGet(hipsparseConstSpVecDescr_t x, int64_t *size, int64_t *nnz, Pointer *indices, Pointer *values, hipsparseIndexType_t *it, hipsparseIndexBase_t *base, hipDataType *type) { \
    *size = x->size, *nnz = x->nonzeros, *indices = x->indices, *values = x->values;                                                                      \
    *it = x->index_type, *base = static_cast<hipsparseIndexBase_t>(x->base), *type = x->type;                                                             \
    RPX_OK;                                                                                                                                               \
  }                                                                                                                                                       \
  RPX_API hipsparseStatus_t hipsparse##Const##SpVecGetValues(hipsparseConstSpVecDescr_t x, Pointer *values) { *values = x->values; RPX_OK; }              \
  RPX_API hipsparseStatus_t hipsparse##Const##DnVecGet(hipsparseConstDnVecDescr_t x, int64_t *size, Pointer *values, hipDataType *type) { *size = x->size, *values = x->values, *type = x->type; RPX_OK; } \
  RPX_API hipsparseStatus_t hipsparse##Const##DnVecGetValues(hipsparseConstDnVecDescr_t x, Pointer *values) { *values = x->values; RPX_OK; }              \
  RPX_API hipsparseStatus_t hipsparse##Const##DnMatGet(hipsparseConstDnMatDescr_t m, int64_t *rows, int64_t *columns, int64_t *ld, Pointer *values, hipDataType *type, hipsparseOrder_t *order) { \
    *rows = m->rows, *columns = m->columns, *ld = m->leading, *values = m->values, *type = m->type, *order = m->order;                                    \
    RPX_OK;                                                                                                                                               \
  }                                                                                                                                                       \
  RPX_API hipsparseStatus_t hipsparse##Const##DnMatGetValues(hipsparseConstDnMatDescr_t m, Pointer *values) { *values = m->values; RPX_OK; }
RPX_GETTERS(, void *)
RPX_GETTERS(Const, const void *)
#undef RPX_GETTERS
RPX_API hipsparseStatus_t hipsparseCreateConstCsr(hipsparseConstSpMatDescr_t *m, int64_t rows, int64_t columns, int64_t nnz, const void *offsets, const void *indices, const void *values, hipsparseIndexType_t ot, hipsparseIndexType_t it, hipsparseIndexBase_t base, hipDataType type) { return rpx_matrix(const_cast<hipsparseSpMatDescr_t *>(m), rpx::sparse::kCsr, rows, columns, nnz, const_cast<void *>(offsets), const_cast<void *>(indices), const_cast<void *>(values), ot, it, base, type); }
RPX_API hipsparseStatus_t hipsparseCreateConstCsc(hipsparseConstSpMatDescr_t *m, int64_t rows, int64_t columns, int64_t nnz, const void *offsets, const void *indices, const void *values, hipsparseIndexType_t ot, hipsparseIndexType_t it, hipsparseIndexBase_t base, hipDataType type) { return rpx_matrix(const_cast<hipsparseSpMatDescr_t *>(m), rpx::sparse::kCsc, rows, columns, nnz, const_cast<void *>(offsets), const_cast<void *>(indices), const_cast<void *>(values), ot, it, base, type); }
RPX_API hipsparseStatus_t hipsparseCreateConstCoo(hipsparseConstSpMatDescr_t *m, int64_t rows, int64_t columns, int64_t nnz, const void *row, const void *column, const void *values, hipsparseIndexType_t it, hipsparseIndexBase_t base, hipDataType type) { return rpx_matrix(const_cast<hipsparseSpMatDescr_t *>(m), rpx::sparse::kCoo, rows, columns, nnz, const_cast<void *>(row), const_cast<void *>(column), const_cast<void *>(values), it, it, base, type); }
RPX_API hipsparseStatus_t hipsparseCreateConstSpVec(hipsparseConstSpVecDescr_t *x, int64_t size, int64_t nnz, const void *indices, const void *values, hipsparseIndexType_t it, hipsparseIndexBase_t base, hipDataType type) { return hipsparseCreateSpVec(const_cast<hipsparseSpVecDescr_t *>(x), size, nnz, const_cast<void *>(indices), const_cast<void *>(values), it, base, type); }
RPX_API hipsparseStatus_t hipsparseCreateConstDnVec(hipsparseConstDnVecDescr_t *x, int64_t size, const void *values, hipDataType type) { return hipsparseCreateDnVec(const_cast<hipsparseDnVecDescr_t *>(x), size, const_cast<void *>(values), type); }
RPX_API hipsparseStatus_t hipsparseCreateConstDnMat(hipsparseConstDnMatDescr_t *m, int64_t rows, int64_t columns, int64_t ld, const void *values, hipDataType type, hipsparseOrder_t order) { return hipsparseCreateDnMat(const_cast<hipsparseDnMatDescr_t *>(m), rows, columns, ld, const_cast<void *>(values), type, order); }

// ---- operations ------------------------------------------------------------------------------------------------------

RPX_API hipsparseStatus_t hipsparseAxpby(hipsparseHandle_t rpx_h, const void *alpha, hipsparseSpVecDescr_t x, const void *beta, hipsparseDnVecDescr_t y) { RPX_SERVED(rpx_h, HIPSPARSE_STATUS_NOT_SUPPORTED)
  using namespace rpx::sparse;
  Complex a = load(alpha, y->type, 0), b = load(beta, y->type, 0);
  for (long i = 0; i < y->size; ++i) store(y->values, y->type, i, b * load(y->values, y->type, i));
  for (long k = 0; k < x->nonzeros; ++k) {
    long i = index(x->indices, x->index_type, k) - x->base;
    store(y->values, y->type, i, load(y->values, y->type, i) + a * load(x->values, x->type, k));
  }
  RPX_OK;
}
RPX_API hipsparseStatus_t hipsparseGather(hipsparseHandle_t rpx_h, hipsparseDnVecDescr_t y, hipsparseSpVecDescr_t x) { RPX_SERVED(rpx_h, HIPSPARSE_STATUS_NOT_SUPPORTED)
  using namespace rpx::sparse;
  for (long k = 0; k < x->nonzeros; ++k) store(x->values, x->type, k, load(y->values, y->type, index(x->indices, x->index_type, k) - x->base));
  RPX_OK;
}
RPX_API hipsparseStatus_t hipsparseScatter(hipsparseHandle_t rpx_h, hipsparseSpVecDescr_t x, hipsparseDnVecDescr_t y) { RPX_SERVED(rpx_h, HIPSPARSE_STATUS_NOT_SUPPORTED)
  using namespace rpx::sparse;
  for (long k = 0; k < x->nonzeros; ++k) store(y->values, y->type, index(x->indices, x->index_type, k) - x->base, load(x->values, x->type, k));
  RPX_OK;
}
// The product of a sparse and a dense vector; the sparse one is conjugated where that is asked for.
RPX_API hipsparseStatus_t hipsparseSpVV_bufferSize(hipsparseHandle_t, hipsparseOperation_t, hipsparseConstSpVecDescr_t, hipsparseConstDnVecDescr_t, void *, hipDataType, size_t *bytes) { *bytes = 256; RPX_OK; }
RPX_API hipsparseStatus_t hipsparseSpVV(hipsparseHandle_t rpx_h, hipsparseOperation_t op, hipsparseConstSpVecDescr_t x, hipsparseConstDnVecDescr_t y, void *result, hipDataType compute, void *) { RPX_SERVED(rpx_h, HIPSPARSE_STATUS_NOT_SUPPORTED)
  using namespace rpx::sparse;
  Complex sum;
  for (long k = 0; k < x->nonzeros; ++k) sum += turned(load(x->values, x->type, k), op) * load(y->values, y->type, index(x->indices, x->index_type, k) - x->base);
  store(result, compute, 0, sum);
  RPX_OK;
}
RPX_API hipsparseStatus_t hipsparseSpMV_bufferSize(hipsparseHandle_t, hipsparseOperation_t, const void *, hipsparseConstSpMatDescr_t, hipsparseConstDnVecDescr_t, const void *, hipsparseConstDnVecDescr_t, hipDataType, hipsparseSpMVAlg_t, size_t *bytes) { *bytes = 256; RPX_OK; }
RPX_API hipsparseStatus_t hipsparseSpMV_preprocess(hipsparseHandle_t, hipsparseOperation_t, const void *, hipsparseConstSpMatDescr_t, hipsparseConstDnVecDescr_t, const void *, hipsparseConstDnVecDescr_t, hipDataType, hipsparseSpMVAlg_t, void *) { RPX_OK; }
RPX_API hipsparseStatus_t hipsparseSpMV(hipsparseHandle_t rpx_h, hipsparseOperation_t op, const void *alpha, hipsparseConstSpMatDescr_t a, hipsparseConstDnVecDescr_t x, const void *beta, hipsparseConstDnVecDescr_t y, hipDataType compute, hipsparseSpMVAlg_t, void *) { RPX_SERVED(rpx_h, HIPSPARSE_STATUS_NOT_SUPPORTED)
  using namespace rpx::sparse;
  const bool flip = op != HIPSPARSE_OPERATION_NON_TRANSPOSE;
  std::vector<Complex> sum(static_cast<std::size_t>(y->size));
  a->each([&](long i, long j, long k) { sum[flip ? j : i] += turned(a->value(k), op) * load(x->values, x->type, flip ? i : j); });
  Complex al = load(alpha, compute, 0), be = load(beta, compute, 0), old;
  for (long i = 0; i < y->size; ++i) {
    scale(old, be, be == Complex(0) ? Complex(0) : load(y->values, y->type, i));
    store(y->values, y->type, i, al * sum[i] + old);
  }
  RPX_OK;
}
RPX_API hipsparseStatus_t hipsparseSpMM_bufferSize(hipsparseHandle_t, hipsparseOperation_t, hipsparseOperation_t, const void *, hipsparseConstSpMatDescr_t, hipsparseConstDnMatDescr_t, const void *, hipsparseConstDnMatDescr_t, hipDataType, hipsparseSpMMAlg_t, size_t *bytes) { *bytes = 256; RPX_OK; }
RPX_API hipsparseStatus_t hipsparseSpMM_preprocess(hipsparseHandle_t, hipsparseOperation_t, hipsparseOperation_t, const void *, hipsparseConstSpMatDescr_t, hipsparseConstDnMatDescr_t, const void *, hipsparseConstDnMatDescr_t, hipDataType, hipsparseSpMMAlg_t, void *) { RPX_OK; }
RPX_API hipsparseStatus_t hipsparseSpMM(hipsparseHandle_t rpx_h, hipsparseOperation_t opa, hipsparseOperation_t opb, const void *alpha, hipsparseConstSpMatDescr_t a, hipsparseConstDnMatDescr_t b, const void *beta, hipsparseConstDnMatDescr_t c, hipDataType compute, hipsparseSpMMAlg_t, void *) { RPX_SERVED(rpx_h, HIPSPARSE_STATUS_NOT_SUPPORTED)
  using namespace rpx::sparse;
  const bool fa = opa != HIPSPARSE_OPERATION_NON_TRANSPOSE, fb = opb != HIPSPARSE_OPERATION_NON_TRANSPOSE;
  Complex al = load(alpha, compute, 0), be = load(beta, compute, 0);
  for (int batch = 0; batch < c->batches; ++batch) {
    Matrix m = a->batch(batch);
    std::vector<Complex> sum(static_cast<std::size_t>(c->rows * c->columns));
    const int bb = b->batches > 1 ? batch : 0;
    m.each([&](long i, long j, long k) {
      if (fa) std::swap(i, j);
      Complex v = turned(m.value(k), opa);
      for (long n = 0; n < c->columns; ++n) sum[i * c->columns + n] += v * turned(fb ? b->get(n, j, bb) : b->get(j, n, bb), opb);
    });
    for (long i = 0; i < c->rows; ++i)
      for (long n = 0; n < c->columns; ++n) {
        Complex old;
        scale(old, be, be == Complex(0) ? Complex(0) : c->get(i, n, batch));
        store(c->values, c->type, c->at(i, n, batch), al * sum[i * c->columns + n] + old);
      }
  }
  RPX_OK;
}
RPX_API hipsparseStatus_t hipsparseSDDMM_bufferSize(hipsparseHandle_t, hipsparseOperation_t, hipsparseOperation_t, const void *, hipsparseConstDnMatDescr_t, hipsparseConstDnMatDescr_t, const void *, hipsparseConstSpMatDescr_t, hipDataType, hipsparseSDDMMAlg_t, size_t *bytes) { *bytes = 256; RPX_OK; }
RPX_API hipsparseStatus_t hipsparseSDDMM_preprocess(hipsparseHandle_t, hipsparseOperation_t, hipsparseOperation_t, const void *, hipsparseConstDnMatDescr_t, hipsparseConstDnMatDescr_t, const void *, hipsparseConstSpMatDescr_t, hipDataType, hipsparseSDDMMAlg_t, void *) { RPX_OK; }
RPX_API hipsparseStatus_t hipsparseSDDMM(hipsparseHandle_t rpx_h, hipsparseOperation_t opa, hipsparseOperation_t opb, const void *alpha, hipsparseConstDnMatDescr_t a, hipsparseConstDnMatDescr_t b, const void *beta, hipsparseConstSpMatDescr_t c, hipDataType compute, hipsparseSDDMMAlg_t, void *) { RPX_SERVED(rpx_h, HIPSPARSE_STATUS_NOT_SUPPORTED)
  using namespace rpx::sparse;
  const bool fa = opa != HIPSPARSE_OPERATION_NON_TRANSPOSE, fb = opb != HIPSPARSE_OPERATION_NON_TRANSPOSE;
  const long inner = static_cast<long>(fa ? a->rows : a->columns);
  Complex al = load(alpha, compute, 0), be = load(beta, compute, 0);
  for (int batch = 0; batch < c->batches; ++batch) {
    Matrix m = c->batch(batch);
    const int ba = a->batches > 1 ? batch : 0, bb = b->batches > 1 ? batch : 0;
    m.each([&](long i, long j, long k) {
      Complex sum;
      for (long n = 0; n < inner; ++n) sum += turned(fa ? a->get(n, i, ba) : a->get(i, n, ba), opa) * turned(fb ? b->get(j, n, bb) : b->get(n, j, bb), opb);
      Complex old;
      scale(old, be, be == Complex(0) ? Complex(0) : m.value(k));
      store(m.values, m.type, k, al * sum + old);
    });
  }
  RPX_OK;
}
#define RPX_WORK(name)                                                                                                        \
  RPX_API hipsparseStatus_t hipsparse##name##_createDescr(hipsparse##name##Descr_t *w) { *w = new rpx::sparse::Work; RPX_OK; } \
  RPX_API hipsparseStatus_t hipsparse##name##_destroyDescr(hipsparse##name##Descr_t w) { delete w; RPX_OK; }
RPX_WORK(SpGEMM)
RPX_WORK(SpSV)
RPX_WORK(SpSM)
#undef RPX_WORK
RPX_API hipsparseStatus_t hipsparseSpSV_bufferSize(hipsparseHandle_t, hipsparseOperation_t, const void *, hipsparseConstSpMatDescr_t, hipsparseConstDnVecDescr_t, hipsparseConstDnVecDescr_t, hipDataType, hipsparseSpSVAlg_t, hipsparseSpSVDescr_t, size_t *bytes) { *bytes = 256; RPX_OK; }
RPX_API hipsparseStatus_t hipsparseSpSV_analysis(hipsparseHandle_t rpx_h, hipsparseOperation_t, const void *, hipsparseConstSpMatDescr_t, hipsparseConstDnVecDescr_t, hipsparseConstDnVecDescr_t, hipDataType, hipsparseSpSVAlg_t, hipsparseSpSVDescr_t, void *) { RPX_SERVED(rpx_h, HIPSPARSE_STATUS_NOT_SUPPORTED) RPX_OK; }
RPX_API hipsparseStatus_t hipsparseSpSV_solve(hipsparseHandle_t rpx_h, hipsparseOperation_t op, const void *alpha, hipsparseConstSpMatDescr_t a, hipsparseConstDnVecDescr_t x, hipsparseConstDnVecDescr_t y, hipDataType compute, hipsparseSpSVAlg_t, hipsparseSpSVDescr_t) { RPX_SERVED(rpx_h, HIPSPARSE_STATUS_NOT_SUPPORTED)
  using namespace rpx::sparse;
  std::vector<Complex> v(static_cast<std::size_t>(x->size));
  for (long i = 0; i < x->size; ++i) v[i] = load(alpha, compute, 0) * load(x->values, x->type, i);
  solve(*a, op, v);
  for (long i = 0; i < y->size; ++i) store(y->values, y->type, i, v[i]);
  RPX_OK;
}
RPX_API hipsparseStatus_t hipsparseSpSM_bufferSize(hipsparseHandle_t, hipsparseOperation_t, hipsparseOperation_t, const void *, hipsparseConstSpMatDescr_t, hipsparseConstDnMatDescr_t, hipsparseConstDnMatDescr_t, hipDataType, hipsparseSpSMAlg_t, hipsparseSpSMDescr_t, size_t *bytes) { *bytes = 256; RPX_OK; }
RPX_API hipsparseStatus_t hipsparseSpSM_analysis(hipsparseHandle_t rpx_h, hipsparseOperation_t, hipsparseOperation_t, const void *, hipsparseConstSpMatDescr_t, hipsparseConstDnMatDescr_t, hipsparseConstDnMatDescr_t, hipDataType, hipsparseSpSMAlg_t, hipsparseSpSMDescr_t, void *) { RPX_SERVED(rpx_h, HIPSPARSE_STATUS_NOT_SUPPORTED) RPX_OK; }
RPX_API hipsparseStatus_t hipsparseSpSM_solve(hipsparseHandle_t rpx_h, hipsparseOperation_t opa, hipsparseOperation_t opb, const void *alpha, hipsparseConstSpMatDescr_t a, hipsparseConstDnMatDescr_t b, hipsparseConstDnMatDescr_t c, hipDataType compute, hipsparseSpSMAlg_t, hipsparseSpSMDescr_t, void * = nullptr) { RPX_SERVED(rpx_h, HIPSPARSE_STATUS_NOT_SUPPORTED)
  using namespace rpx::sparse;
  const bool fb = opb != HIPSPARSE_OPERATION_NON_TRANSPOSE;
  for (long n = 0; n < c->columns; ++n) {
    std::vector<Complex> v(static_cast<std::size_t>(a->rows));
    for (long i = 0; i < a->rows; ++i) v[i] = load(alpha, compute, 0) * turned(fb ? b->get(n, i) : b->get(i, n), opb);
    solve(*a, opa, v);
    for (long i = 0; i < a->rows; ++i) store(c->values, c->type, c->at(i, n), v[i]);
  }
  RPX_OK;
}
RPX_API hipsparseStatus_t hipsparseSpGEMM_workEstimation(hipsparseHandle_t, hipsparseOperation_t, hipsparseOperation_t, const void *, hipsparseConstSpMatDescr_t, hipsparseConstSpMatDescr_t, const void *, hipsparseSpMatDescr_t, hipDataType, hipsparseSpGEMMAlg_t, hipsparseSpGEMMDescr_t, size_t *bytes, void *) { *bytes = 256; RPX_OK; }
RPX_API hipsparseStatus_t hipsparseSpGEMM_compute(hipsparseHandle_t rpx_h, hipsparseOperation_t opa, hipsparseOperation_t opb, const void *alpha, hipsparseConstSpMatDescr_t a, hipsparseConstSpMatDescr_t b, const void *, hipsparseSpMatDescr_t c, hipDataType compute, hipsparseSpGEMMAlg_t, hipsparseSpGEMMDescr_t work, size_t *bytes, void *buffer) { RPX_SERVED(rpx_h, HIPSPARSE_STATUS_NOT_SUPPORTED)
  using namespace rpx::sparse;
  *bytes = 256;
  if (!buffer) RPX_OK;
  const bool fa = opa != HIPSPARSE_OPERATION_NON_TRANSPOSE, fb = opb != HIPSPARSE_OPERATION_NON_TRANSPOSE;
  std::vector<std::vector<std::pair<long, Complex>>> rows(static_cast<std::size_t>(fb ? b->columns : b->rows));
  b->each([&](long i, long j, long k) { rows[fb ? j : i].emplace_back(fb ? i : j, turned(b->value(k), opb)); });
  work->rows.assign(static_cast<std::size_t>(c->rows), {});
  Complex al = load(alpha, compute, 0);
  a->each([&](long i, long j, long k) {
    if (fa) std::swap(i, j);
    Complex v = al * turned(a->value(k), opa);
    for (auto &[n, w] : rows[j]) work->rows[i][n] += v * w;
  });
  c->nonzeros = 0;
  for (auto &row : work->rows) c->nonzeros += static_cast<int64_t>(row.size());
  RPX_OK;
}
RPX_API hipsparseStatus_t hipsparseSpGEMM_copy(hipsparseHandle_t rpx_h, hipsparseOperation_t, hipsparseOperation_t, const void *, hipsparseConstSpMatDescr_t, hipsparseConstSpMatDescr_t, const void *, hipsparseSpMatDescr_t c, hipDataType, hipsparseSpGEMMAlg_t, hipsparseSpGEMMDescr_t work) { RPX_SERVED(rpx_h, HIPSPARSE_STATUS_NOT_SUPPORTED)
  using namespace rpx::sparse;
  long k = 0;
  put_index(c->offsets, c->offset_type, 0, c->base);
  for (std::size_t i = 0; i < work->rows.size(); ++i) {
    for (auto &[j, v] : work->rows[i]) {
      put_index(c->indices, c->index_type, k, j + c->base);
      store(c->values, c->type, k++, v);
    }
    put_index(c->offsets, c->offset_type, static_cast<long>(i) + 1, k + c->base);
  }
  RPX_OK;
}
RPX_API hipsparseStatus_t hipsparseSparseToDense_bufferSize(hipsparseHandle_t, hipsparseConstSpMatDescr_t, hipsparseConstDnMatDescr_t, hipsparseSparseToDenseAlg_t, size_t *bytes) { *bytes = 256; RPX_OK; }
RPX_API hipsparseStatus_t hipsparseSparseToDense(hipsparseHandle_t rpx_h, hipsparseConstSpMatDescr_t a, hipsparseConstDnMatDescr_t b, hipsparseSparseToDenseAlg_t, void *) { RPX_SERVED(rpx_h, HIPSPARSE_STATUS_NOT_SUPPORTED)
  using namespace rpx::sparse;
  for (long i = 0; i < b->rows; ++i)
    for (long j = 0; j < b->columns; ++j) store(b->values, b->type, b->at(i, j), Complex(0));
  a->each([&](long i, long j, long k) { store(b->values, b->type, b->at(i, j), a->value(k)); });
  RPX_OK;
}
RPX_API hipsparseStatus_t hipsparseDenseToSparse_bufferSize(hipsparseHandle_t, hipsparseConstDnMatDescr_t, hipsparseConstSpMatDescr_t, hipsparseDenseToSparseAlg_t, size_t *bytes) { *bytes = 256; RPX_OK; }
// Calls f(row, column, value) for the nonzeros of a dense matrix, in the order of the sparse format.
template <class F> inline void rpx_nonzeros(hipsparseConstDnMatDescr_t a, rpx::sparse::Format format, F f) {
  const bool by_column = format == rpx::sparse::kCsc;
  for (long p = 0; p < (by_column ? a->columns : a->rows); ++p)
    for (long q = 0; q < (by_column ? a->rows : a->columns); ++q) {
      rpx::sparse::Complex v = by_column ? a->get(q, p) : a->get(p, q);
      if (!(v == rpx::sparse::Complex(0))) f(p, q, v);
    }
}
RPX_API hipsparseStatus_t hipsparseDenseToSparse_analysis(hipsparseHandle_t rpx_h, hipsparseConstDnMatDescr_t a, hipsparseSpMatDescr_t b, hipsparseDenseToSparseAlg_t, void *) { RPX_SERVED(rpx_h, HIPSPARSE_STATUS_NOT_SUPPORTED)
  b->nonzeros = 0;
  rpx_nonzeros(a, b->format, [&](long, long, rpx::sparse::Complex) { ++b->nonzeros; });
  RPX_OK;
}
RPX_API hipsparseStatus_t hipsparseDenseToSparse_convert(hipsparseHandle_t rpx_h, hipsparseConstDnMatDescr_t a, hipsparseSpMatDescr_t b, hipsparseDenseToSparseAlg_t, void *) { RPX_SERVED(rpx_h, HIPSPARSE_STATUS_NOT_SUPPORTED)
  using namespace rpx::sparse;
  long k = 0, line = 0;
  if (b->format != kCoo) put_index(b->offsets, b->offset_type, 0, b->base);
  rpx_nonzeros(a, b->format, [&](long p, long q, Complex v) {
    if (b->format == kCoo) put_index(b->offsets, b->offset_type, k, p + b->base);
    else for (; line < p; ++line) put_index(b->offsets, b->offset_type, line + 1, k + b->base);
    put_index(b->indices, b->index_type, k, q + b->base);
    store(b->values, b->type, k++, v);
  });
  if (b->format != kCoo)
    for (; line < (b->format == kCsc ? b->columns : b->rows); ++line) put_index(b->offsets, b->offset_type, line + 1, k + b->base);
  RPX_OK;
}

// ---- the legacy interface --------------------------------------------------------------------------------------------

RPX_API hipsparseStatus_t hipsparseCsr2cscEx2_bufferSize(hipsparseHandle_t, int, int, int, const void *, const int *, const int *, void *, int *, int *, hipDataType, hipsparseAction_t, hipsparseIndexBase_t, hipsparseCsr2CscAlg_t, size_t *bytes) { *bytes = 256; RPX_OK; }
RPX_API hipsparseStatus_t hipsparseCsr2cscEx2(hipsparseHandle_t rpx_h, int m, int n, int nnz, const void *values, const int *rows, const int *columns, void *out_values, int *out_columns, int *out_rows, hipDataType type, hipsparseAction_t action, hipsparseIndexBase_t base, hipsparseCsr2CscAlg_t, void *) { RPX_SERVED(rpx_h, HIPSPARSE_STATUS_NOT_SUPPORTED)
  const size_t bytes = rpx::blas::type_bytes(type);
  std::vector<int> at(static_cast<size_t>(n) + 1, 0);
  for (int k = 0; k < nnz; ++k) ++at[columns[k] - base + 1];
  for (int j = 0; j < n; ++j) at[j + 1] += at[j];
  for (int j = 0; j <= n; ++j) out_columns[j] = at[j] + base;
  for (int i = 0; i < m; ++i)
    for (int k = rows[i] - base; k < rows[i + 1] - base; ++k) {
      int to = at[columns[k] - base]++;
      out_rows[to] = i + base;
      if (action == HIPSPARSE_ACTION_NUMERIC) std::memcpy(static_cast<char *>(out_values) + to * bytes, static_cast<const char *>(values) + k * bytes, bytes);
    }
  RPX_OK;
}
RPX_API hipsparseStatus_t hipsparseCreateIdentityPermutation(hipsparseHandle_t rpx_h, int n, int *p) { RPX_SERVED(rpx_h, HIPSPARSE_STATUS_NOT_SUPPORTED)
  for (int i = 0; i < n; ++i) p[i] = i;
  RPX_OK;
}
RPX_API hipsparseStatus_t hipsparseXcsrsort_bufferSizeExt(hipsparseHandle_t, int, int, int, const int *, const int *, size_t *bytes) { *bytes = 256; RPX_OK; }
RPX_API hipsparseStatus_t hipsparseXcsrsort(hipsparseHandle_t rpx_h, int m, int, int, const hipsparseMatDescr_t d, const int *rows, int *columns, int *p, void *) { RPX_SERVED(rpx_h, HIPSPARSE_STATUS_NOT_SUPPORTED)
  for (int i = 0; i < m; ++i) {
    std::vector<std::pair<int, int>> row;
    const int first = rows[i] - d->base, last = rows[i + 1] - d->base;
    for (int k = first; k < last; ++k) row.emplace_back(columns[k], p ? p[k] : 0);
    std::stable_sort(row.begin(), row.end(), [](auto &a, auto &b) { return a.first < b.first; });
    for (int k = first; k < last; ++k) {
      columns[k] = row[static_cast<size_t>(k - first)].first;
      if (p) p[k] = row[static_cast<size_t>(k - first)].second;
    }
  }
  RPX_OK;
}
RPX_API hipsparseStatus_t hipsparseCreateCsrilu02Info(csrilu02Info_t *w) { *w = new rpx::sparse::Work; RPX_OK; }
RPX_API hipsparseStatus_t hipsparseDestroyCsrilu02Info(csrilu02Info_t w) { delete w; RPX_OK; }
RPX_API hipsparseStatus_t hipsparseXcsrilu02_zeroPivot(hipsparseHandle_t, csrilu02Info_t, int *position) { *position = -1; RPX_OK; }
template <class T> inline void rpx_ilu0(int m, T *values, const int *rows, const int *columns, int base) {
  for (int i = 0; i < m; ++i)
    for (int k = rows[i] - base; k < rows[i + 1] - base; ++k) {
      const int p = columns[k] - base;
      if (p >= i) continue;
      T pivot = 0;
      for (int q = rows[p] - base; q < rows[p + 1] - base; ++q)
        if (columns[q] - base == p) pivot = values[q];
      values[k] = values[k] / pivot;
      for (int q = rows[p] - base; q < rows[p + 1] - base; ++q) {
        if (columns[q] - base <= p) continue;
        for (int r = k + 1; r < rows[i + 1] - base; ++r)
          if (columns[r] == columns[q]) values[r] -= values[k] * values[q];
      }
    }
}
#define RPX_LEGACY(P, T)                                                                                                                       \
  RPX_API hipsparseStatus_t hipsparse##P##csrilu02_bufferSize(hipsparseHandle_t, int, int, const hipsparseMatDescr_t, T *, const int *, const int *, csrilu02Info_t, int *bytes) { *bytes = 256; RPX_OK; } \
  RPX_API hipsparseStatus_t hipsparse##P##csrilu02_analysis(hipsparseHandle_t rpx_h, int, int, const hipsparseMatDescr_t, const T *, const int *, const int *, csrilu02Info_t, hipsparseSolvePolicy_t, void *) { RPX_SERVED(rpx_h, HIPSPARSE_STATUS_NOT_SUPPORTED) RPX_OK; } \
  RPX_API hipsparseStatus_t hipsparse##P##csrilu02(hipsparseHandle_t rpx_h, int m, int, const hipsparseMatDescr_t d, T *values, const int *rows, const int *columns, csrilu02Info_t, hipsparseSolvePolicy_t, void *) { RPX_SERVED(rpx_h, HIPSPARSE_STATUS_NOT_SUPPORTED) \
    rpx_ilu0(m, values, rows, columns, d->base);                                                                                               \
    RPX_OK;                                                                                                                                    \
  }                                                                                                                                            \
  RPX_API hipsparseStatus_t hipsparse##P##nnz(hipsparseHandle_t rpx_h, hipsparseDirection_t direction, int m, int n, const hipsparseMatDescr_t, const T *a, int lda, int *lines, int *total) { RPX_SERVED(rpx_h, HIPSPARSE_STATUS_NOT_SUPPORTED) \
    const bool rows = direction == HIPSPARSE_DIRECTION_ROW;                                                                                    \
    *total = 0;                                                                                                                                \
    for (int p = 0; p < (rows ? m : n); ++p) lines[p] = 0;                                                                                     \
    for (int j = 0; j < n; ++j)                                                                                                                \
      for (int i = 0; i < m; ++i)                                                                                                              \
        if (a[i + static_cast<long>(j) * lda] != 0) ++lines[rows ? i : j], ++*total;                                                           \
    RPX_OK;                                                                                                                                    \
  }
RPX_LEGACY(S, float)
RPX_LEGACY(D, double)
#undef RPX_LEGACY

// The products of the legacy interface are the generic ones; a matrix of another type than general has none.
inline hipsparseStatus_t rpx_general(const hipsparseMatDescr_t d) { return d->type == HIPSPARSE_MATRIX_TYPE_GENERAL ? HIPSPARSE_STATUS_SUCCESS : HIPSPARSE_STATUS_NOT_SUPPORTED; }
inline rpx::sparse::Matrix rpx_lines(rpx::sparse::Format format, int m, int n, int nnz, const hipsparseMatDescr_t d, const void *values, const int *offsets, const int *indices, hipDataType type) {
  rpx::sparse::Matrix a;
  a.format = format, a.rows = m, a.columns = n, a.nonzeros = nnz, a.base = d->base, a.type = type;
  a.offsets = const_cast<int *>(offsets), a.indices = const_cast<int *>(indices), a.values = const_cast<void *>(values);
  return a;
}
inline rpx::sparse::Dense rpx_columns(int m, int n, const void *values, int ld, hipDataType type) { return {m, n, ld, const_cast<void *>(values), type, HIPSPARSE_ORDER_COL}; }
inline rpx::sparse::Vector rpx_filled(int n, const void *values, hipDataType type) {
  rpx::sparse::Vector x;
  x.size = n, x.values = const_cast<void *>(values), x.type = type;
  return x;
}
RPX_API hipsparseStatus_t hipsparseXcoo2csr(hipsparseHandle_t rpx_h, const int *lines, int nnz, int m, int *rows, hipsparseIndexBase_t base) { RPX_SERVED(rpx_h, HIPSPARSE_STATUS_NOT_SUPPORTED)
  for (int i = 0, k = 0; i <= m; ++i) {
    while (k < nnz && lines[k] - base < i) ++k;
    rows[i] = k + base;
  }
  RPX_OK;
}
RPX_API hipsparseStatus_t hipsparseXcsr2coo(hipsparseHandle_t rpx_h, const int *rows, int, int m, int *lines, hipsparseIndexBase_t base) { RPX_SERVED(rpx_h, HIPSPARSE_STATUS_NOT_SUPPORTED)
  for (int i = 0; i < m; ++i)
    for (int k = rows[i] - base; k < rows[i + 1] - base; ++k) lines[k] = i + base;
  RPX_OK;
}
#define RPX_PRODUCTS(P, T, TYPE)                                                                                                                           \
  RPX_API hipsparseStatus_t hipsparse##P##csrmv(hipsparseHandle_t h, hipsparseOperation_t op, int m, int n, int nnz, const T *alpha, const hipsparseMatDescr_t d, const T *values, const int *rows, const int *columns, const T *x, const T *beta, T *y) { RPX_SERVED(h, HIPSPARSE_STATUS_NOT_SUPPORTED) \
    if (hipsparseStatus_t bad = rpx_general(d)) return bad;                                                                                                \
    const bool flip = op != HIPSPARSE_OPERATION_NON_TRANSPOSE;                                                                                             \
    const auto a = rpx_lines(rpx::sparse::kCsr, m, n, nnz, d, values, rows, columns, TYPE);                                                                \
    const auto in = rpx_filled(flip ? m : n, x, TYPE), out = rpx_filled(flip ? n : m, y, TYPE);                                                            \
    return hipsparseSpMV(h, op, alpha, &a, &in, beta, &out, TYPE, HIPSPARSE_SPMV_ALG_DEFAULT, nullptr);                                                    \
  }                                                                                                                                                        \
  RPX_API hipsparseStatus_t hipsparse##P##csrmm2(hipsparseHandle_t h, hipsparseOperation_t opa, hipsparseOperation_t opb, int m, int n, int k, int nnz, const T *alpha, const hipsparseMatDescr_t d, const T *values, const int *rows, const int *columns, const T *b, int ldb, const T *beta, T *c, int ldc) { RPX_SERVED(h, HIPSPARSE_STATUS_NOT_SUPPORTED) \
    if (hipsparseStatus_t bad = rpx_general(d)) return bad;                                                                                                \
    const bool flip = opa != HIPSPARSE_OPERATION_NON_TRANSPOSE;                                                                                            \
    const bool across = opb == HIPSPARSE_OPERATION_NON_TRANSPOSE;                                                                                          \
    const int inner = flip ? m : k;                                                                                                                        \
    const auto a = rpx_lines(rpx::sparse::kCsr, m, k, nnz, d, values, rows, columns, TYPE);                                                                \
    const auto in = rpx_columns(across ? inner : n, across ? n : inner, b, ldb, TYPE), out = rpx_columns(flip ? k : m, n, c, ldc, TYPE);                    \
    return hipsparseSpMM(h, opa, opb, alpha, &a, &in, beta, &out, TYPE, HIPSPARSE_SPMM_ALG_DEFAULT, nullptr);                                              \
  }                                                                                                                                                        \
  RPX_API hipsparseStatus_t hipsparse##P##csrmm(hipsparseHandle_t h, hipsparseOperation_t op, int m, int n, int k, int nnz, const T *alpha, const hipsparseMatDescr_t d, const T *values, const int *rows, const int *columns, const T *b, int ldb, const T *beta, T *c, int ldc) { \
    return hipsparse##P##csrmm2(h, op, HIPSPARSE_OPERATION_NON_TRANSPOSE, m, n, k, nnz, alpha, d, values, rows, columns, b, ldb, beta, c, ldc);            \
  }                                                                                                                                                        \
  RPX_API hipsparseStatus_t hipsparse##P##dense2csr(hipsparseHandle_t h, int m, int n, const hipsparseMatDescr_t d, const T *dense, int ld, const int *, T *values, int *rows, int *columns) { RPX_SERVED(h, HIPSPARSE_STATUS_NOT_SUPPORTED) \
    const auto from = rpx_columns(m, n, dense, ld, TYPE);                                                                                                  \
    auto to = rpx_lines(rpx::sparse::kCsr, m, n, 0, d, values, rows, columns, TYPE);                                                                       \
    return hipsparseDenseToSparse_convert(h, &from, &to, HIPSPARSE_DENSETOSPARSE_ALG_DEFAULT, nullptr);                                                    \
  }                                                                                                                                                        \
  RPX_API hipsparseStatus_t hipsparse##P##dense2csc(hipsparseHandle_t h, int m, int n, const hipsparseMatDescr_t d, const T *dense, int ld, const int *, T *values, int *rows, int *columns) { RPX_SERVED(h, HIPSPARSE_STATUS_NOT_SUPPORTED) \
    const auto from = rpx_columns(m, n, dense, ld, TYPE);                                                                                                  \
    auto to = rpx_lines(rpx::sparse::kCsc, m, n, 0, d, values, columns, rows, TYPE);                                                                       \
    return hipsparseDenseToSparse_convert(h, &from, &to, HIPSPARSE_DENSETOSPARSE_ALG_DEFAULT, nullptr);                                                    \
  }                                                                                                                                                        \
  RPX_API hipsparseStatus_t hipsparse##P##csr2dense(hipsparseHandle_t h, int m, int n, const hipsparseMatDescr_t d, const T *values, const int *rows, const int *columns, T *dense, int ld) { RPX_SERVED(h, HIPSPARSE_STATUS_NOT_SUPPORTED) \
    const auto from = rpx_lines(rpx::sparse::kCsr, m, n, 0, d, values, rows, columns, TYPE);                                                               \
    const auto to = rpx_columns(m, n, dense, ld, TYPE);                                                                                                    \
    return hipsparseSparseToDense(h, &from, &to, HIPSPARSE_SPARSETODENSE_ALG_DEFAULT, nullptr);                                                            \
  }                                                                                                                                                        \
  RPX_API hipsparseStatus_t hipsparse##P##csc2dense(hipsparseHandle_t h, int m, int n, const hipsparseMatDescr_t d, const T *values, const int *rows, const int *columns, T *dense, int ld) { RPX_SERVED(h, HIPSPARSE_STATUS_NOT_SUPPORTED) \
    const auto from = rpx_lines(rpx::sparse::kCsc, m, n, 0, d, values, columns, rows, TYPE);                                                               \
    const auto to = rpx_columns(m, n, dense, ld, TYPE);                                                                                                    \
    return hipsparseSparseToDense(h, &from, &to, HIPSPARSE_SPARSETODENSE_ALG_DEFAULT, nullptr);                                                            \
  }                                                                                                                                                        \
  RPX_API hipsparseStatus_t hipsparse##P##csr2csc(hipsparseHandle_t h, int m, int n, int nnz, const T *values, const int *rows, const int *columns, T *out_values, int *out_rows, int *out_columns, hipsparseAction_t action, hipsparseIndexBase_t base) { RPX_SERVED(h, HIPSPARSE_STATUS_NOT_SUPPORTED) \
    return hipsparseCsr2cscEx2(h, m, n, nnz, values, rows, columns, out_values, out_columns, out_rows, TYPE, action, base, HIPSPARSE_CSR2CSC_ALG_DEFAULT, nullptr); \
  }
RPX_PRODUCTS(S, float, HIP_R_32F)
RPX_PRODUCTS(D, double, HIP_R_64F)
RPX_PRODUCTS(C, hipFloatComplex, HIP_C_32F)
RPX_PRODUCTS(Z, hipDoubleComplex, HIP_C_64F)
#undef RPX_PRODUCTS
#undef RPX_OK
