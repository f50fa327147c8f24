// SPDX-License-Identifier: Apache-2.0
// libhipblas: the executor's hipBLAS with the library's own symbols, and gemm over run-time types, whose first version
// names types by hipBLAS's own numbers.
#include "captured.h"

#define RPX_API extern "C"
#include "hipblas/hipblas.h"

namespace {

// hipblasDatatype_t of version 1 -> hipDataType. Values: hipblas.h of ROCm 6.4.
hipDataType modern(int type) {
  switch (type) {
    case 150: return HIP_R_16F;
    case 151: return HIP_R_32F;
    case 152: return HIP_R_64F;
    case 154: return HIP_C_32F;
    case 155: return HIP_C_64F;
    case 160: return HIP_R_8I;
    case 162: return HIP_R_32I;
    case 168: return HIP_R_16BF;
    default: return static_cast<hipDataType>(type);
  }
}
using Op = hipblasOperation_t;
using Type = hipDataType;
using Algo = hipblasGemmAlgo_t;
using rpx::blas::Complex;
constexpr hipblasStatus_t kRefused = HIPBLAS_STATUS_NOT_SUPPORTED;

// A vector of a type that is known at run time; its elements are read and written as complex numbers.
struct Vector {
  Vector(const void *p, Type t, int64_t n, int64_t increment)
      : data(static_cast<char *>(const_cast<void *>(p))), type(t), step(increment) {
    rpx::blas::with_type(type, [&](auto *q) {
      using T = std::remove_pointer_t<decltype(q)>;
      bytes = std::is_integral<T>::value ? 0 : sizeof(T);  // level 1 has no integers
      complex = rpx::blas::IsComplex<T>::value;
    });
    if (step < 0) data -= (n - 1) * step * bytes;
  }
  void *at(int64_t i) const { return data + i * step * bytes; }
  Complex get(int64_t i) const { return rpx::blas::scalar(at(i), type); }
  void set(int64_t i, Complex v) const {
    rpx::blas::with_type(type, [&](auto *q) {
      using T = std::remove_pointer_t<decltype(q)>;
      using E = rpx::blas::Element<T>;
      if constexpr (rpx::blas::IsComplex<T>::value) *static_cast<T *>(at(i)) = E::store(v);
      else *static_cast<T *>(at(i)) = E::store(static_cast<typename E::Sum>(v.re));
    });
  }
  bool takes(const Vector &other) const { return bytes && other.bytes && (complex || !other.complex); }
  char *data;
  Type type;
  int64_t step, bytes = 0;
  bool complex = false;
};

hipblasStatus_t dot(hipblasHandle_t h, int64_t n, const Vector &x, const Vector &y, void *result, Type rt, bool conjugated) {
  RPX_SERVED(h, kRefused)
  const Vector r(result, rt, 1, 1);
  if (!x.takes(y) || !y.takes(x) || !r.takes(x)) return kRefused;
  Complex sum;
  for (int64_t i = 0; i < n; ++i) sum += (conjugated ? rpx::blas::conj(x.get(i)) : x.get(i)) * y.get(i);
  r.set(0, sum);
  return HIPBLAS_STATUS_SUCCESS;
}

void rotate(int64_t n, const Vector &x, const Vector &y, Complex c, Complex s) {
  for (int64_t i = 0; i < n; ++i) {
    const Complex a = x.get(i), b = y.get(i);
    x.set(i, c * a + s * b);
    y.set(i, c * b - rpx::blas::conj(s) * a);
  }
}

// The rotation that makes b zero, as LAPACK's reference has it: a becomes r, and b, of real numbers, what tells c and s.
void givens(const Vector &a, const Vector &b, const Vector &c, const Vector &s) {
  const Complex f = a.get(0), g = b.get(0);
  const double size = std::hypot(f.re, f.im), other = std::hypot(g.re, g.im), norm = std::hypot(size, other);
  if (a.complex) {
    const Complex unit = size ? f / Complex(size) : Complex(1);
    c.set(0, size ? size / norm : 0);
    s.set(0, size ? unit * rpx::blas::conj(g) / Complex(norm) : Complex(1));
    a.set(0, size ? unit * Complex(norm) : g);
    return;
  }
  const double r = (size > other ? f.re : g.re) < 0 ? -norm : norm, cosine = norm ? f.re / r : 1, sine = norm ? g.re / r : 0;
  c.set(0, cosine), s.set(0, sine), a.set(0, r);
  b.set(0, !norm ? 0 : size > other ? sine : cosine ? 1 / cosine : 1);
}

// The modified rotation; the first of its five numbers says which of the others hold.
void modified(const Vector &x, const Vector &y, int64_t n, const Vector &param) {
  const double flag = param.get(0).re;
  if (flag == -2) return;
  const double h11 = flag == 1 || flag == -1 ? param.get(1).re : 1, h21 = flag == 1 ? -1 : param.get(2).re;
  const double h12 = flag == 1 ? 1 : param.get(3).re, h22 = flag == 1 || flag == -1 ? param.get(4).re : 1;
  for (int64_t i = 0; i < n; ++i) {
    const double a = x.get(i).re, b = y.get(i).re;
    x.set(i, h11 * a + h12 * b);
    y.set(i, h21 * a + h22 * b);
  }
}

// The modified rotation that makes y zero of (sqrt(d1) x, sqrt(d2) y); as BLAS's reference has it, which keeps d1 and d2
// between 2^-24 and 2^24.
void modified_givens(const Vector &d1, const Vector &d2, const Vector &x1, double y, const Vector &param) {
  constexpr double kBy = 4096, kMost = kBy * kBy, kLeast = 1 / kMost;
  double a = d1.get(0).re, b = d2.get(0).re, x = x1.get(0).re, flag = -1, h11 = 0, h12 = 0, h21 = 0, h22 = 0;
  const auto written_out = [&] {  // the ones that a flag of 0 or 1 leaves out
    if (flag == 0) h11 = h22 = 1;
    if (flag == 1) h21 = -1, h12 = 1;
    flag = -1;
  };
  const double p1 = a * x, p2 = b * y, q1 = p1 * x, q2 = p2 * y;
  if (a < 0 || (p2 != 0 && std::fabs(q1) <= std::fabs(q2) && q2 < 0)) {
    a = b = x = 0;
  } else if (p2 == 0) {
    param.set(0, -2);
    return;
  } else if (std::fabs(q1) > std::fabs(q2)) {
    h21 = -y / x, h12 = p2 / p1;
    const double u = 1 - h12 * h21;
    if (u > 0) flag = 0, a /= u, b /= u, x *= u;
    else h12 = h21 = a = b = x = 0;
  } else {
    flag = 1, h11 = p1 / p2, h22 = x / y;
    const double u = 1 + h11 * h22, other = b / u;
    b = a / u, a = other, x = y * u;
  }
  for (; a != 0 && (a <= kLeast || a >= kMost);) {
    written_out();
    const double by = a <= kLeast ? 1 / kBy : kBy;
    a /= by * by, x *= by, h11 *= by, h12 *= by;
  }
  for (; b != 0 && (std::fabs(b) <= kLeast || std::fabs(b) >= kMost);) {
    written_out();
    const double by = std::fabs(b) <= kLeast ? 1 / kBy : kBy;
    b /= by * by, h21 *= by, h22 *= by;
  }
  d1.set(0, a), d2.set(0, b), x1.set(0, x), param.set(0, flag);
  if (flag != 0) param.set(1, h11), param.set(4, h22);
  if (flag != 1) param.set(2, h21), param.set(3, h12);
}

// A matrix of which one triangle, or a band, is stored by columns.
struct Matrix {
  enum Kind { kFull, kBand, kPacked };
  enum Shape { kGeneral, kTriangular, kUnit, kSymmetric, kHermitian };
  Vector values;
  Kind kind;
  Shape shape;
  bool upper;
  int64_t n, below, above, ld;  // below and above the diagonal, in a band
  Matrix(const void *a, Type type, Kind storage, Shape what, hipblasFillMode_t fill, int64_t order, int64_t k, int64_t lda)
      : values(a, type, 1, 1), kind(storage), shape(what), upper(fill == HIPBLAS_FILL_MODE_UPPER), n(order),
        below(upper ? 0 : k), above(upper ? k : 0), ld(lda) {}
  // Where an element lies; -1: it is not stored.
  int64_t place(int64_t i, int64_t j) const {
    if (shape != kGeneral && (upper ? i > j : i < j)) return -1;
    if (kind == kFull) return i + j * ld;
    if (kind == kPacked) return upper ? i + j * (j + 1) / 2 : i - j + j * n - j * (j - 1) / 2;
    return i - j > below || j - i > above ? -1 : above + i - j + j * ld;
  }
  Complex get(int64_t i, int64_t j) const {
    if (shape == kUnit && i == j) return 1;
    const int64_t at = place(i, j);
    if (at >= 0) return shape == kHermitian && i == j ? Complex(values.get(at).re) : values.get(at);
    const int64_t mirrored = shape == kSymmetric || shape == kHermitian ? place(j, i) : -1;
    if (mirrored < 0) return 0;
    return shape == kHermitian ? rpx::blas::conj(values.get(mirrored)) : values.get(mirrored);
  }
  Complex get(int64_t i, int64_t j, Op op) const {
    if (op == HIPBLAS_OP_N) return get(i, j);
    return op == HIPBLAS_OP_C ? rpx::blas::conj(get(j, i)) : get(j, i);
  }
};

// y = alpha op(A) x + beta y, for op(A) of m rows and n columns.
void multiply(const Matrix &a, Op op, int64_t m, int64_t n, const void *alpha, const Vector &x, const void *beta, const Vector &y) {
  const Complex by = rpx::blas::scalar(alpha, x.type), keep = rpx::blas::scalar(beta, x.type);
  for (int64_t i = 0; i < m; ++i) {
    Complex sum;
    for (int64_t j = 0; j < n; ++j) sum += a.get(i, j, op) * x.get(j);
    y.set(i, keep == Complex() ? by * sum : by * sum + keep * y.get(i));
  }
}

// x = op(A) x, or the x of which op(A) x is what it was.
void triangular(const Matrix &a, Op op, const Vector &x, bool solve) {
  std::vector<Complex> done(static_cast<std::size_t>(a.n));
  const bool lower = a.upper == (op != HIPBLAS_OP_N);
  for (int64_t step = 0; step < a.n; ++step) {
    const int64_t i = lower ? step : a.n - 1 - step;
    Complex sum;
    for (int64_t j = lower ? 0 : i; j <= (lower ? i : a.n - 1); ++j)
      if (!solve || j != i) sum += a.get(i, j, op) * (solve ? done[j] : x.get(j));
    done[i] = solve ? (x.get(i) - sum) / a.get(i, i, op) : sum;
  }
  for (int64_t i = 0; i < a.n; ++i) x.set(i, done[i]);
}

// A += alpha x y^H + conj(alpha) y x^H, or with the transposes; of one vector alpha x x^H.
void update(const Matrix &a, Complex alpha, const Vector &x, const Vector *y) {
  const bool hermitian = a.shape == Matrix::kHermitian;
  const auto other = [&](Complex v) { return hermitian ? rpx::blas::conj(v) : v; };
  for (int64_t j = 0; j < a.n; ++j)
    for (int64_t i = 0; i < a.n; ++i) {
      const int64_t at = a.place(i, j);
      if (at < 0) continue;
      Complex sum = a.get(i, j) + alpha * x.get(i) * other(y ? y->get(j) : x.get(j));
      if (y) sum += other(alpha) * y->get(i) * other(x.get(j));
      a.values.set(at, hermitian && i == j ? Complex(sum.re) : sum);
    }
}

}  // namespace

extern "C" {

hipblasStatus_t hipblasGemmEx(hipblasHandle_t h, Op ta, Op tb, int m, int n, int k, const void *alpha, const void *a,
                              int at, int lda, const void *b, int bt, int ldb, const void *beta, void *c, int ct,
                              int ldc, int compute, Algo algo) {
  return hipblasGemmEx<Type>(h, ta, tb, m, n, k, alpha, a, modern(at), lda, b, modern(bt), ldb, beta, c, modern(ct), ldc,
                             modern(compute), algo);
}
hipblasStatus_t hipblasGemmEx_v2(hipblasHandle_t h, Op ta, Op tb, int m, int n, int k, const void *alpha, const void *a,
                                 Type at, int lda, const void *b, Type bt, int ldb, const void *beta, void *c, Type ct,
                                 int ldc, hipblasComputeType_t compute, Algo algo) {
  return hipblasGemmEx<hipblasComputeType_t>(h, ta, tb, m, n, k, alpha, a, at, lda, b, bt, ldb, beta, c, ct, ldc,
                                             compute, algo);
}
hipblasStatus_t hipblasGemmStridedBatchedEx(hipblasHandle_t h, Op ta, Op tb, int m, int n, int k, const void *alpha,
                                            const void *a, int at, int lda, hipblasStride sa, const void *b, int bt,
                                            int ldb, hipblasStride sb, const void *beta, void *c, int ct, int ldc,
                                            hipblasStride sc, int count, int compute, Algo algo) {
  return hipblasGemmStridedBatchedEx<Type>(h, ta, tb, m, n, k, alpha, a, modern(at), lda, sa, b, modern(bt), ldb, sb,
                                           beta, c, modern(ct), ldc, sc, count, modern(compute), algo);
}
hipblasStatus_t hipblasGemmStridedBatchedEx_v2(hipblasHandle_t h, Op ta, Op tb, int m, int n, int k, const void *alpha,
                                               const void *a, Type at, int lda, hipblasStride sa, const void *b, Type bt,
                                               int ldb, hipblasStride sb, const void *beta, void *c, Type ct, int ldc,
                                               hipblasStride sc, int count, hipblasComputeType_t compute, Algo algo) {
  return hipblasGemmStridedBatchedEx<hipblasComputeType_t>(h, ta, tb, m, n, k, alpha, a, at, lda, sa, b, bt, ldb, sb,
                                                           beta, c, ct, ldc, sc, count, compute, algo);
}
hipblasStatus_t hipblasGemmBatchedEx(hipblasHandle_t h, Op ta, Op tb, int m, int n, int k, const void *alpha,
                                     const void *a[], int at, int lda, const void *b[], int bt, int ldb,
                                     const void *beta, void *c[], int ct, int ldc, int count, int compute, Algo algo) {
  return hipblasGemmBatchedEx<Type>(h, ta, tb, m, n, k, alpha, a, modern(at), lda, b, modern(bt), ldb, beta, c,
                                    modern(ct), ldc, count, modern(compute), algo);
}
hipblasStatus_t hipblasGemmBatchedEx_v2(hipblasHandle_t h, Op ta, Op tb, int m, int n, int k, const void *alpha,
                                        const void *a[], Type at, int lda, const void *b[], Type bt, int ldb,
                                        const void *beta, void *c[], Type ct, int ldc, int count,
                                        hipblasComputeType_t compute, Algo algo) {
  return hipblasGemmBatchedEx<hipblasComputeType_t>(h, ta, tb, m, n, k, alpha, a, at, lda, b, bt, ldb, beta, c, ct, ldc,
                                                    count, compute, algo);
}

hipblasStatus_t hipblasScalEx_v2_64(hipblasHandle_t h, int64_t n, const void *alpha, Type at, void *x, Type xt, int64_t incx,
                                    Type) {
  RPX_SERVED(h, kRefused)
  const Vector v(x, xt, n, incx), a(alpha, at, 1, 1);
  if (!v.takes(a)) return kRefused;
  for (int64_t i = 0; i < (incx > 0 ? n : 0); ++i) v.set(i, a.get(0) * v.get(i));
  return HIPBLAS_STATUS_SUCCESS;
}
hipblasStatus_t hipblasScalEx_v2(hipblasHandle_t h, int n, const void *alpha, Type at, void *x, Type xt, int incx, Type execution) {
  return hipblasScalEx_v2_64(h, n, alpha, at, x, xt, incx, execution);
}
hipblasStatus_t hipblasAxpyEx_v2_64(hipblasHandle_t h, int64_t n, const void *alpha, Type at, const void *x, Type xt,
                                    int64_t incx, void *y, Type yt, int64_t incy, Type) {
  RPX_SERVED(h, kRefused)
  const Vector v(x, xt, n, incx), w(y, yt, n, incy), a(alpha, at, 1, 1);
  if (!w.takes(v) || !w.takes(a)) return kRefused;
  for (int64_t i = 0; i < n; ++i) w.set(i, a.get(0) * v.get(i) + w.get(i));
  return HIPBLAS_STATUS_SUCCESS;
}
hipblasStatus_t hipblasAxpyEx_v2(hipblasHandle_t h, int n, const void *alpha, Type at, const void *x, Type xt, int incx,
                                 void *y, Type yt, int incy, Type execution) {
  return hipblasAxpyEx_v2_64(h, n, alpha, at, x, xt, incx, y, yt, incy, execution);
}
hipblasStatus_t hipblasNrm2Ex_v2_64(hipblasHandle_t h, int64_t n, const void *x, Type xt, int64_t incx, void *result,
                                    Type rt, Type) {
  RPX_SERVED(h, kRefused)
  const Vector v(x, xt, n, incx), r(result, rt, 1, 1);
  if (!v.bytes || !r.bytes || r.complex) return kRefused;
  double norm = 0;
  for (int64_t i = 0; i < (incx > 0 ? n : 0); ++i) norm = std::hypot(norm, v.get(i).re, v.get(i).im);
  r.set(0, norm);
  return HIPBLAS_STATUS_SUCCESS;
}
hipblasStatus_t hipblasNrm2Ex_v2(hipblasHandle_t h, int n, const void *x, Type xt, int incx, void *result, Type rt,
                                 Type execution) {
  return hipblasNrm2Ex_v2_64(h, n, x, xt, incx, result, rt, execution);
}
hipblasStatus_t hipblasRotEx_v2_64(hipblasHandle_t h, int64_t n, void *x, Type xt, int64_t incx, void *y, Type yt,
                                   int64_t incy, const void *c, const void *s, Type cst, Type) {
  RPX_SERVED(h, kRefused)
  const Vector v(x, xt, n, incx), w(y, yt, n, incy), cosine(c, cst, 1, 1), sine(s, cst, 1, 1);
  if (!v.takes(w) || !w.takes(v) || !v.takes(sine)) return kRefused;
  rotate(n, v, w, cosine.get(0).re, sine.get(0));
  return HIPBLAS_STATUS_SUCCESS;
}
hipblasStatus_t hipblasRotEx_v2(hipblasHandle_t h, int n, void *x, Type xt, int incx, void *y, Type yt, int incy, const void *c,
                                const void *s, Type cst, Type execution) {
  return hipblasRotEx_v2_64(h, n, x, xt, incx, y, yt, incy, c, s, cst, execution);
}
hipblasStatus_t hipblasDotcEx_v2_64(hipblasHandle_t h, int64_t n, const void *x, Type xt, int64_t incx, const void *y, Type yt,
                                    int64_t incy, void *result, Type rt, Type) {
  return dot(h, n, {x, xt, n, incx}, {y, yt, n, incy}, result, rt, true);
}
hipblasStatus_t hipblasDotcEx_v2(hipblasHandle_t h, int n, const void *x, Type xt, int incx, const void *y, Type yt, int incy,
                                 void *result, Type rt, Type) {
  return dot(h, n, {x, xt, n, incx}, {y, yt, n, incy}, result, rt, true);
}

// Level 2 over banded and packed matrices. Pointers to elements have one ABI: T is a hipDataType.
#define RPX_FUNCTION(NAME, ...) hipblasStatus_t hipblas##NAME(hipblasHandle_t h, __VA_ARGS__) { RPX_SERVED(h, kRefused)
#define RPX_SYMMETRIC(NAME, T, N, KIND, SHAPE, K, LD, ...)                                                       \
  RPX_FUNCTION(NAME, hipblasFillMode_t fill, N n, __VA_ARGS__, const void *x, N incx, const void *beta, void *y, N incy) \
    multiply({a, T, Matrix::KIND, Matrix::SHAPE, fill, n, K, LD}, HIPBLAS_OP_N, n, n, alpha, {x, T, n, incx}, beta, {y, T, n, incy}); \
    return HIPBLAS_STATUS_SUCCESS; }
#define RPX_TRIANGULAR(NAME, T, N, KIND, K, LD, SOLVE, ...)                                                      \
  RPX_FUNCTION(NAME, hipblasFillMode_t fill, Op op, hipblasDiagType_t diag, N n, __VA_ARGS__, void *x, N incx)   \
    const auto shape = diag == HIPBLAS_DIAG_UNIT ? Matrix::kUnit : Matrix::kTriangular;                          \
    triangular({a, T, Matrix::KIND, shape, fill, n, K, LD}, op, {x, T, n, incx}, SOLVE);                         \
    return HIPBLAS_STATUS_SUCCESS; }
#define RPX_UPDATE(NAME, T, N, SHAPE, ALPHA)                                                                     \
  RPX_FUNCTION(NAME, hipblasFillMode_t fill, N n, const void *alpha, const void *x, N incx, void *a)             \
    update({a, T, Matrix::kPacked, Matrix::SHAPE, fill, n, 0, 0}, rpx::blas::scalar(alpha, ALPHA), {x, T, n, incx}, nullptr); \
    return HIPBLAS_STATUS_SUCCESS; }
#define RPX_UPDATE2(NAME, T, N, SHAPE)                                                                           \
  RPX_FUNCTION(NAME, hipblasFillMode_t fill, N n, const void *alpha, const void *x, N incx, const void *y, N incy, void *a) \
    const Vector other(y, T, n, incy);                                                                           \
    update({a, T, Matrix::kPacked, Matrix::SHAPE, fill, n, 0, 0}, rpx::blas::scalar(alpha, T), {x, T, n, incx}, &other); \
    return HIPBLAS_STATUS_SUCCESS; }
#define RPX_OF_TYPE(L, T, N, END)                                                                                \
  RPX_FUNCTION(L##gbmv##END, Op op, N m, N n, N kl, N ku, const void *alpha, const void *a, N lda, const void *x, N incx, \
               const void *beta, void *y, N incy)                                                                \
    Matrix band(a, T, Matrix::kBand, Matrix::kGeneral, HIPBLAS_FILL_MODE_UPPER, n, ku, lda);                     \
    band.below = kl;                                                                                             \
    const int64_t rows = op == HIPBLAS_OP_N ? m : n, columns = op == HIPBLAS_OP_N ? n : m;                       \
    multiply(band, op, rows, columns, alpha, {x, T, columns, incx}, beta, {y, T, rows, incy});                   \
    return HIPBLAS_STATUS_SUCCESS; }                                                                             \
  RPX_TRIANGULAR(L##tbmv##END, T, N, kBand, k, lda, false, N k, const void *a, N lda)                            \
  RPX_TRIANGULAR(L##tbsv##END, T, N, kBand, k, lda, true, N k, const void *a, N lda)                             \
  RPX_TRIANGULAR(L##tpmv##END, T, N, kPacked, 0, 0, false, const void *a)                                        \
  RPX_TRIANGULAR(L##tpsv##END, T, N, kPacked, 0, 0, true, const void *a)                                         \
  RPX_UPDATE(L##spr##END, T, N, kSymmetric, T)
#define RPX_OF_REAL(L, T, N, END)                                                                                \
  RPX_OF_TYPE(L, T, N, END)                                                                                      \
  RPX_SYMMETRIC(L##sbmv##END, T, N, kBand, kSymmetric, k, lda, N k, const void *alpha, const void *a, N lda)     \
  RPX_SYMMETRIC(L##spmv##END, T, N, kPacked, kSymmetric, 0, 0, const void *alpha, const void *a)                 \
  RPX_UPDATE2(L##spr2##END, T, N, kSymmetric)
#define RPX_OF_COMPLEX(L, T, N, END, REAL)                                                                       \
  RPX_OF_TYPE(L, T, N, END)                                                                                      \
  RPX_SYMMETRIC(L##hbmv##END, T, N, kBand, kHermitian, k, lda, N k, const void *alpha, const void *a, N lda)     \
  RPX_SYMMETRIC(L##hpmv##END, T, N, kPacked, kHermitian, 0, 0, const void *alpha, const void *a)                 \
  RPX_SYMMETRIC(L##symv##END, T, N, kFull, kSymmetric, 0, lda, const void *alpha, const void *a, N lda)          \
  RPX_UPDATE(L##hpr##END, T, N, kHermitian, REAL)                                                                \
  RPX_UPDATE2(L##hpr2##END, T, N, kHermitian)
RPX_OF_REAL(S, HIP_R_32F, int, )
RPX_OF_REAL(S, HIP_R_32F, int64_t, _64)
RPX_OF_REAL(D, HIP_R_64F, int, )
RPX_OF_REAL(D, HIP_R_64F, int64_t, _64)
RPX_OF_COMPLEX(C, HIP_C_32F, int, , HIP_R_32F)
RPX_OF_COMPLEX(C, HIP_C_32F, int64_t, _64, HIP_R_32F)
RPX_OF_COMPLEX(Z, HIP_C_64F, int, , HIP_R_64F)
RPX_OF_COMPLEX(Z, HIP_C_64F, int64_t, _64, HIP_R_64F)

// Rotations and scales. A cosine is real.
#define RPX_ROTATION(NAME, T, C, S)                                                                              \
  RPX_FUNCTION(NAME, int n, void *x, int incx, void *y, int incy, const void *c, const void *s)                  \
    rotate(n, {x, T, n, incx}, {y, T, n, incy}, rpx::blas::scalar(c, C), rpx::blas::scalar(s, S));               \
    return HIPBLAS_STATUS_SUCCESS; }
RPX_ROTATION(Crot, HIP_C_32F, HIP_R_32F, HIP_C_32F)
RPX_ROTATION(Zrot, HIP_C_64F, HIP_R_64F, HIP_C_64F)
RPX_ROTATION(Csrot, HIP_C_32F, HIP_R_32F, HIP_R_32F)
RPX_ROTATION(Zdrot, HIP_C_64F, HIP_R_64F, HIP_R_64F)
#define RPX_GIVENS(L, T, REAL)                                                                                   \
  RPX_FUNCTION(L##rotg, void *a, void *b, void *c, void *s)                                                      \
    givens({a, T, 1, 1}, {b, T, 1, 1}, {c, REAL, 1, 1}, {s, T, 1, 1});                                           \
    return HIPBLAS_STATUS_SUCCESS; }
RPX_GIVENS(S, HIP_R_32F, HIP_R_32F)
RPX_GIVENS(D, HIP_R_64F, HIP_R_64F)
RPX_GIVENS(C, HIP_C_32F, HIP_R_32F)
RPX_GIVENS(Z, HIP_C_64F, HIP_R_64F)
hipblasStatus_t hipblasCsscal(hipblasHandle_t h, int n, const void *alpha, void *x, int incx) {
  return hipblasScalEx_v2_64(h, n, alpha, HIP_R_32F, x, HIP_C_32F, incx, HIP_C_32F);
}
hipblasStatus_t hipblasZdscal(hipblasHandle_t h, int n, const void *alpha, void *x, int incx) {
  return hipblasScalEx_v2_64(h, n, alpha, HIP_R_64F, x, HIP_C_64F, incx, HIP_C_64F);
}
#define RPX_MODIFIED(L, T)                                                                                       \
  RPX_FUNCTION(L##rotmg, void *d1, void *d2, void *x1, const void *y1, void *param)                              \
    modified_givens({d1, T, 1, 1}, {d2, T, 1, 1}, {x1, T, 1, 1}, rpx::blas::scalar(y1, T).re, {param, T, 5, 1}); \
    return HIPBLAS_STATUS_SUCCESS; }                                                                             \
  RPX_FUNCTION(L##rotm, int n, void *x, int incx, void *y, int incy, const void *param)                          \
    modified({x, T, n, incx}, {y, T, n, incy}, n, {param, T, 5, 1});                                             \
    return HIPBLAS_STATUS_SUCCESS; }
RPX_MODIFIED(S, HIP_R_32F)
RPX_MODIFIED(D, HIP_R_64F)

}  // extern "C"
