// SPDX-License-Identifier: Apache-2.0
// librocsparse: products of a sparse matrix (CSR, COO) with a vector or a matrix, by rocSPARSE's names of what libhipsparse
// does.
#include <hipsparse/hipsparse.h>
#include <rocsparse/rocsparse.h>

namespace rt { int unserved(const char *what); }

namespace {

rocsparse_status said(hipsparseStatus_t status) {
  switch (status) {
    case HIPSPARSE_STATUS_SUCCESS: return rocsparse_status_success;
    case HIPSPARSE_STATUS_NOT_SUPPORTED: return rocsparse_status_not_implemented;
    case HIPSPARSE_STATUS_INVALID_VALUE: return rocsparse_status_invalid_value;
    default: return rocsparse_status_internal_error;
  }
}
template <class To, class From> To as(From pointer) { return reinterpret_cast<To>(const_cast<void *>(static_cast<const void *>(pointer))); }
hipsparseHandle_t hip(rocsparse_handle h) { return as<hipsparseHandle_t>(h); }
hipsparseOperation_t op(rocsparse_operation t) {
  if (t == rocsparse_operation_none) return HIPSPARSE_OPERATION_NON_TRANSPOSE;
  return t == rocsparse_operation_transpose ? HIPSPARSE_OPERATION_TRANSPOSE : HIPSPARSE_OPERATION_CONJUGATE_TRANSPOSE;
}
hipsparseIndexType_t index(rocsparse_indextype t) {
  if (t == rocsparse_indextype_u16) return HIPSPARSE_INDEX_16U;
  return t == rocsparse_indextype_i32 ? HIPSPARSE_INDEX_32I : HIPSPARSE_INDEX_64I;
}
hipsparseIndexBase_t base(rocsparse_index_base b) { return b == rocsparse_index_base_zero ? HIPSPARSE_INDEX_BASE_ZERO : HIPSPARSE_INDEX_BASE_ONE; }
bool data(rocsparse_datatype t, hipDataType *type) {
  switch (t) {
    case rocsparse_datatype_f32_r: return *type = HIP_R_32F, true;
    case rocsparse_datatype_f64_r: return *type = HIP_R_64F, true;
    case rocsparse_datatype_f32_c: return *type = HIP_C_32F, true;
    case rocsparse_datatype_f64_c: return *type = HIP_C_64F, true;
    case rocsparse_datatype_i8_r: return *type = HIP_R_8I, true;
    case rocsparse_datatype_i32_r: return *type = HIP_R_32I, true;
    default: return rt::unserved("rocsparse with this type of elements"), false;
  }
}
rocsparse_status small(std::size_t *bytes) { return *bytes = 4, rocsparse_status_success; }

// y = alpha op(A) x + beta y, A in CSR.
template <class T>
rocsparse_status csrmv(rocsparse_handle h, rocsparse_operation t, int m, int n, int nonzero, const T *alpha, const rocsparse_mat_descr descr,
                       const T *values, const int *rows, const int *columns, const T *x, const T *beta, T *y, hipDataType type) {
  const hipsparseIndexBase_t first = base(rocsparse_get_mat_index_base(descr));
  hipsparseSpMatDescr_t a;
  hipsparseDnVecDescr_t in, out;
  const bool plain = t == rocsparse_operation_none;
  hipsparseCreateCsr(&a, m, n, nonzero, const_cast<int *>(rows), const_cast<int *>(columns), const_cast<T *>(values), HIPSPARSE_INDEX_32I,
                     HIPSPARSE_INDEX_32I, first, type);
  hipsparseCreateDnVec(&in, plain ? n : m, const_cast<T *>(x), type);
  hipsparseCreateDnVec(&out, plain ? m : n, y, type);
  const hipsparseStatus_t done = hipsparseSpMV(hip(h), op(t), alpha, a, in, beta, out, type, HIPSPARSE_SPMV_ALG_DEFAULT, nullptr);
  hipsparseDestroyDnVec(in);
  hipsparseDestroyDnVec(out);
  hipsparseDestroySpMat(a);
  return said(done);
}

struct Descriptor {
  rocsparse_index_base base = rocsparse_index_base_zero;
  rocsparse_matrix_type type = rocsparse_matrix_type_general;
};
Descriptor *own(const rocsparse_mat_descr d) { return as<Descriptor *>(d); }

}  // namespace

extern "C" {
rocsparse_status rocsparse_create_handle(rocsparse_handle *h) { return said(hipsparseCreate(as<hipsparseHandle_t *>(h))); }
rocsparse_status rocsparse_destroy_handle(rocsparse_handle h) { return said(hipsparseDestroy(hip(h))); }
rocsparse_status rocsparse_set_stream(rocsparse_handle h, hipStream_t s) { return said(hipsparseSetStream(hip(h), s)); }
rocsparse_status rocsparse_set_pointer_mode(rocsparse_handle h, rocsparse_pointer_mode m) {
  return said(hipsparseSetPointerMode(hip(h), m == rocsparse_pointer_mode_host ? HIPSPARSE_POINTER_MODE_HOST : HIPSPARSE_POINTER_MODE_DEVICE));
}
rocsparse_status rocsparse_create_mat_descr(rocsparse_mat_descr *d) { return *d = as<rocsparse_mat_descr>(new Descriptor), rocsparse_status_success; }
rocsparse_status rocsparse_destroy_mat_descr(rocsparse_mat_descr d) { return delete own(d), rocsparse_status_success; }
rocsparse_status rocsparse_set_mat_index_base(rocsparse_mat_descr d, rocsparse_index_base b) { return own(d)->base = b, rocsparse_status_success; }
rocsparse_index_base rocsparse_get_mat_index_base(const rocsparse_mat_descr d) { return own(d)->base; }
rocsparse_status rocsparse_set_mat_type(rocsparse_mat_descr d, rocsparse_matrix_type t) { return own(d)->type = t, rocsparse_status_success; }
rocsparse_matrix_type rocsparse_get_mat_type(const rocsparse_mat_descr d) { return own(d)->type; }
rocsparse_status rocsparse_create_csr_descr(rocsparse_spmat_descr *d, int64_t m, int64_t n, int64_t nonzero, void *rows, void *columns, void *values,
                                            rocsparse_indextype row, rocsparse_indextype column, rocsparse_index_base first, rocsparse_datatype t) {
  hipDataType type;
  if (!data(t, &type)) return rocsparse_status_not_implemented;
  return said(hipsparseCreateCsr(as<hipsparseSpMatDescr_t *>(d), m, n, nonzero, rows, columns, values, index(row), index(column), base(first), type));
}
rocsparse_status rocsparse_create_coo_descr(rocsparse_spmat_descr *d, int64_t m, int64_t n, int64_t nonzero, void *rows, void *columns, void *values,
                                            rocsparse_indextype kind, rocsparse_index_base first, rocsparse_datatype t) {
  hipDataType type;
  if (!data(t, &type)) return rocsparse_status_not_implemented;
  return said(hipsparseCreateCoo(as<hipsparseSpMatDescr_t *>(d), m, n, nonzero, rows, columns, values, index(kind), base(first), type));
}
rocsparse_status rocsparse_destroy_spmat_descr(rocsparse_const_spmat_descr d) { return said(hipsparseDestroySpMat(as<hipsparseSpMatDescr_t>(d))); }
rocsparse_status rocsparse_create_dnvec_descr(rocsparse_dnvec_descr *d, int64_t n, void *values, rocsparse_datatype t) {
  hipDataType type;
  if (!data(t, &type)) return rocsparse_status_not_implemented;
  return said(hipsparseCreateDnVec(as<hipsparseDnVecDescr_t *>(d), n, values, type));
}
rocsparse_status rocsparse_destroy_dnvec_descr(rocsparse_const_dnvec_descr d) { return said(hipsparseDestroyDnVec(as<hipsparseDnVecDescr_t>(d))); }
rocsparse_status rocsparse_create_dnmat_descr(rocsparse_dnmat_descr *d, int64_t m, int64_t n, int64_t ld, void *values, rocsparse_datatype t,
                                              rocsparse_order order) {
  hipDataType type;
  if (!data(t, &type)) return rocsparse_status_not_implemented;
  const hipsparseOrder_t by = order == rocsparse_order_row ? HIPSPARSE_ORDER_ROW : HIPSPARSE_ORDER_COL;
  return said(hipsparseCreateDnMat(as<hipsparseDnMatDescr_t *>(d), m, n, ld, values, type, by));
}
rocsparse_status rocsparse_destroy_dnmat_descr(rocsparse_const_dnmat_descr d) { return said(hipsparseDestroyDnMat(as<hipsparseDnMatDescr_t>(d))); }
rocsparse_status rocsparse_spmv(rocsparse_handle h, rocsparse_operation t, const void *alpha, rocsparse_const_spmat_descr a,
                                rocsparse_const_dnvec_descr x, const void *beta, const rocsparse_dnvec_descr y, rocsparse_datatype compute,
                                rocsparse_spmv_alg, rocsparse_spmv_stage stage, std::size_t *bytes, void *) {
  if (stage == rocsparse_spmv_stage_buffer_size) return small(bytes);
  if (stage == rocsparse_spmv_stage_preprocess) return rocsparse_status_success;
  hipDataType type;
  if (!data(compute, &type)) return rocsparse_status_not_implemented;
  return said(hipsparseSpMV(hip(h), op(t), alpha, as<hipsparseSpMatDescr_t>(a), as<hipsparseDnVecDescr_t>(x), beta, as<hipsparseDnVecDescr_t>(y), type,
                            HIPSPARSE_SPMV_ALG_DEFAULT, nullptr));
}
rocsparse_status rocsparse_spmm(rocsparse_handle h, rocsparse_operation ta, rocsparse_operation tb, const void *alpha, rocsparse_const_spmat_descr a,
                                rocsparse_const_dnmat_descr b, const void *beta, const rocsparse_dnmat_descr c, rocsparse_datatype compute,
                                rocsparse_spmm_alg, rocsparse_spmm_stage stage, std::size_t *bytes, void *) {
  if (stage == rocsparse_spmm_stage_buffer_size) return small(bytes);
  if (stage == rocsparse_spmm_stage_preprocess) return rocsparse_status_success;
  hipDataType type;
  if (!data(compute, &type)) return rocsparse_status_not_implemented;
  return said(hipsparseSpMM(hip(h), op(ta), op(tb), alpha, as<hipsparseSpMatDescr_t>(a), as<hipsparseDnMatDescr_t>(b), beta,
                            as<hipsparseDnMatDescr_t>(c), type, HIPSPARSE_SPMM_ALG_DEFAULT, nullptr));
}
#define CSRMV(p, T, type)                                                                                                                       \
  rocsparse_status rocsparse_##p##csrmv(rocsparse_handle h, rocsparse_operation t, rocsparse_int m, rocsparse_int n, rocsparse_int nonzero,     \
                                        const T *alpha, const rocsparse_mat_descr d, const T *values, const rocsparse_int *rows,                \
                                        const rocsparse_int *columns, rocsparse_mat_info, const T *x, const T *beta, T *y) {                    \
    return csrmv(h, t, m, n, nonzero, alpha, d, values, rows, columns, x, beta, y, type);                                                       \
  }
CSRMV(s, float, HIP_R_32F)
CSRMV(d, double, HIP_R_64F)
CSRMV(c, rocsparse_float_complex, HIP_C_32F)
CSRMV(z, rocsparse_double_complex, HIP_C_64F)
}
