// SPDX-License-Identifier: Apache-2.0
// Factorizations behind hipSOLVER, column-major and computed in double: QR, singular values, symmetric eigenvalues.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "rpx/product.h"

namespace rpx {
namespace dense {

// A matrix of doubles, taken from and given back to the caller's type.
struct Matrix {
  int rows, columns;
  std::vector<double> values;
  Matrix(int m, int n) : rows(m), columns(n), values(static_cast<std::size_t>(m) * n) {}
  double &operator()(int i, int j) { return values[static_cast<std::size_t>(j) * rows + i]; }
  template <class T> Matrix(int m, int n, const T *a, int lda) : Matrix(m, n) {
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < m; ++i) (*this)(i, j) = static_cast<double>(a[i + static_cast<std::size_t>(j) * lda]);
  }
  template <class T> void store(T *a, int lda) {
    for (int j = 0; j < columns; ++j)
      for (int i = 0; i < rows; ++i) a[i + static_cast<std::size_t>(j) * lda] = static_cast<T>((*this)(i, j));
  }
};

// LAPACK's geqrf: R above, the reflectors' vectors below the diagonal (their first element is 1), their scale in tau.
template <class T> void geqrf(int m, int n, T *a, int lda, T *tau) {
  Matrix q(m, n, a, lda);
  for (int k = 0; k < std::min(m, n); ++k) {
    double norm = 0;
    for (int i = k + 1; i < m; ++i) norm += q(i, k) * q(i, k);
    const double alpha = q(k, k);
    if (norm == 0) {
      tau[k] = T(0);
      continue;
    }
    const double beta = -std::copysign(std::sqrt(alpha * alpha + norm), alpha), t = (beta - alpha) / beta;
    for (int i = k + 1; i < m; ++i) q(i, k) /= alpha - beta;
    q(k, k) = beta;
    tau[k] = static_cast<T>(t);
    for (int j = k + 1; j < n; ++j) {
      double s = q(k, j);
      for (int i = k + 1; i < m; ++i) s += q(i, k) * q(i, j);
      q(k, j) -= t * s;
      for (int i = k + 1; i < m; ++i) q(i, j) -= t * s * q(i, k);
    }
  }
  q.store(a, lda);
}

// The product of the first k reflectors times C (left) or C times it (right), transposed or not.
template <class T> void ormqr(bool left, bool transposed, int m, int n, int k, const T *a, int lda, const T *tau, T *c, int ldc) {
  Matrix v(left ? m : n, k, a, lda), x(m, n, c, ldc);
  const int order = left ? m : n, others = left ? n : m;
  const bool forward = left == transposed;
  for (int s = 0; s < k; ++s) {
    const int r = forward ? s : k - 1 - s;
    for (int j = 0; j < others; ++j) {
      auto at = [&](int i) -> double & { return left ? x(i, j) : x(j, i); };
      double sum = at(r);
      for (int i = r + 1; i < order; ++i) sum += v(i, r) * at(i);
      sum *= static_cast<double>(tau[r]);
      at(r) -= sum;
      for (int i = r + 1; i < order; ++i) at(i) -= sum * v(i, r);
    }
  }
  x.store(c, ldc);
}

template <class T> void orgqr(int m, int n, int k, T *a, int lda, const T *tau) {
  std::vector<T> q(static_cast<std::size_t>(m) * n);
  for (int j = 0; j < std::min(m, n); ++j) q[j + static_cast<std::size_t>(j) * m] = T(1);
  ormqr(true, false, m, n, k, a, lda, tau, q.data(), m);
  Matrix(m, n, q.data(), m).store(a, lda);
}

// Columns of q from `have` on become orthonormal ones, orthogonal to those before.
inline void complete(Matrix &q, int have) {
  for (int j = have, axis = 0; j < q.columns && axis < q.rows; ++axis) {
    for (int i = 0; i < q.rows; ++i) q(i, j) = i == axis;
    for (int pass = 0; pass < 2; ++pass)
      for (int p = 0; p < j; ++p) {
        double dot = 0;
        for (int i = 0; i < q.rows; ++i) dot += q(i, p) * q(i, j);
        for (int i = 0; i < q.rows; ++i) q(i, j) -= dot * q(i, p);
      }
    double norm = 0;
    for (int i = 0; i < q.rows; ++i) norm += q(i, j) * q(i, j);
    if (norm < 1e-8) continue;
    for (int i = 0; i < q.rows; ++i) q(i, j) /= std::sqrt(norm);
    ++j;
  }
}

// A = U diag(S) V^T by one-sided Jacobi rotations, S descending; U and V square.
inline void svd(Matrix a, Matrix &u, std::vector<double> &s, Matrix &v) {
  const int m = a.rows, n = a.columns;
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i) v(i, j) = i == j;
  for (int sweep = 0; sweep < 60; ++sweep) {
    bool turned = false;
    for (int p = 0; p < n; ++p)
      for (int q = p + 1; q < n; ++q) {
        double x = 0, y = 0, z = 0;
        for (int i = 0; i < m; ++i) x += a(i, p) * a(i, p), y += a(i, q) * a(i, q), z += a(i, p) * a(i, q);
        if (std::fabs(z) <= 1e-15 * std::sqrt(x * y) || z == 0) continue;
        turned = true;
        const double zeta = (y - x) / (2 * z), t = (zeta >= 0 ? 1 : -1) / (std::fabs(zeta) + std::sqrt(1 + zeta * zeta));
        const double c = 1 / std::sqrt(1 + t * t), sn = c * t;
        auto rotate = [&](Matrix &w, int rows) {
          for (int i = 0; i < rows; ++i) {
            const double f = w(i, p), g = w(i, q);
            w(i, p) = c * f - sn * g;
            w(i, q) = sn * f + c * g;
          }
        };
        rotate(a, m);
        rotate(v, n);
      }
    if (!turned) break;
  }
  std::vector<double> length(n);
  std::vector<int> order(n);
  for (int j = 0; j < n; ++j) {
    order[j] = j;
    for (int i = 0; i < m; ++i) length[j] += a(i, j) * a(i, j);
    length[j] = std::sqrt(length[j]);
  }
  std::stable_sort(order.begin(), order.end(), [&](int x, int y) { return length[x] > length[y]; });
  Matrix old = v;
  int have = 0;
  s.assign(std::min(m, n), 0);
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < n; ++i) v(i, j) = old(i, order[j]);
    if (j >= std::min(m, n)) continue;
    s[j] = length[order[j]];
    if (s[j] <= 1e-14 * s[0] || s[j] == 0) continue;
    for (int i = 0; i < m; ++i) u(i, j) = a(i, order[j]) / s[j];
    have = j + 1;
  }
  complete(u, have);
}

// The order up to which rotations are fast enough.
constexpr int kSmallOrder = 64;

// A = U diag(S) V^T by LAPACK, where there is one.
inline bool svd_of_lapack(Matrix a, Matrix &u, std::vector<double> &s, Matrix &v) {
  const char all = 'A';
  long m = a.rows, n = a.columns, most = -1, failed = 0;
  double size = 0;
  std::vector<long> integers(static_cast<std::size_t>(8 * std::min(m, n)));
  Matrix vt(a.columns, a.columns);
  s.resize(static_cast<std::size_t>(std::min(m, n)));
  auto run = [&](double *work) {
    return blas::fortran('d', "gesdd", &all, &m, &n, a.values.data(), &m, s.data(), u.values.data(), &m, vt.values.data(), &n, work, &most, integers.data(), &failed);
  };
  if (!run(&size)) return false;
  most = static_cast<long>(size);
  std::vector<double> work(static_cast<std::size_t>(most));
  run(work.data());
  for (int j = 0; j < v.columns; ++j)
    for (int i = 0; i < v.rows; ++i) v(i, j) = vt(j, i);
  return !failed;
}

// LAPACK's gesvd: jobu and jobv are 'A' (all), 'S' (the first min(m, n)) or 'N'.
template <class T> void gesvd(char jobu, char jobv, int m, int n, const T *a, int lda, T *s, T *u, int ldu, T *vt, int ldv) {
  const int k = std::min(m, n);
  Matrix left(m, m), right(n, n);
  std::vector<double> values;
  if (k > kSmallOrder && svd_of_lapack(Matrix(m, n, a, lda), left, values, right)) {
    // Done.
  } else if (m >= n) {
    svd(Matrix(m, n, a, lda), left, values, right);
  } else {
    Matrix whole(m, n, a, lda), transposed(n, m);
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < m; ++i) transposed(j, i) = whole(i, j);
    svd(transposed, right, values, left);
  }
  for (int i = 0; i < k; ++i) s[i] = static_cast<T>(values[i]);
  for (int j = 0; jobu != 'N' && j < (jobu == 'A' ? m : k); ++j)
    for (int i = 0; i < m; ++i) u[i + static_cast<std::size_t>(j) * ldu] = static_cast<T>(left(i, j));
  for (int j = 0; jobv != 'N' && j < n; ++j)
    for (int i = 0; i < (jobv == 'A' ? n : k); ++i) vt[i + static_cast<std::size_t>(j) * ldv] = static_cast<T>(right(j, i));
}

// Eigenvalues of a real symmetric matrix in ascending order by cyclic Jacobi rotations; vectors replace the matrix.
// Returns the sweeps it took.
template <class T> int symmetric(bool vectors, bool upper, int n, T *a, int lda, T *w) {
  Matrix m(n, n), v(n, n);
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i) m(i, j) = static_cast<double>((upper ? i <= j : i >= j) ? a[i + static_cast<std::size_t>(j) * lda] : a[j + static_cast<std::size_t>(i) * lda]);
  if (n > kSmallOrder) {
    const char job = vectors ? 'V' : 'N', triangle = 'U';
    std::vector<double> values(static_cast<std::size_t>(n)), work(1);
    std::vector<long> integers(1);
    long order = n, most = -1, most_integers = -1, failed = 0;
    auto run = [&] {
      return blas::fortran('d', "syevd", &job, &triangle, &order, m.values.data(), &order, values.data(), work.data(), &most, integers.data(), &most_integers, &failed);
    };
    if (run()) {
      most = static_cast<long>(work[0]), most_integers = 5 * order + 3;
      work.resize(static_cast<std::size_t>(most)), integers.resize(static_cast<std::size_t>(most_integers));
      run();
      if (!failed) {
        if (vectors) m.store(a, lda);
        std::copy(values.begin(), values.end(), w);
        return 1;
      }
    }
  }
  for (int i = 0; i < n; ++i) v(i, i) = 1;
  int sweep = 0;
  for (; sweep < 100; ++sweep) {
    double off = 0, all = 0;
    for (int j = 0; j < n; ++j)
      for (int i = 0; i <= j; ++i) (i < j ? off : all) += m(i, j) * m(i, j);
    if (off <= 1e-32 * all || off < 1e-300) break;
    for (int p = 0; p < n; ++p)
      for (int q = p + 1; q < n; ++q) {
        if (m(p, q) == 0) continue;
        const double theta = (m(q, q) - m(p, p)) / (2 * m(p, q)), t = (theta >= 0 ? 1 : -1) / (std::fabs(theta) + std::sqrt(theta * theta + 1));
        const double c = 1 / std::sqrt(t * t + 1), s = t * c;
        for (int k = 0; k < n; ++k) {
          const double x = m(k, p), y = m(k, q);
          m(k, p) = c * x - s * y;
          m(k, q) = s * x + c * y;
        }
        for (int k = 0; k < n; ++k) {
          const double x = m(p, k), y = m(q, k), f = v(k, p), g = v(k, q);
          m(p, k) = c * x - s * y;
          m(q, k) = s * x + c * y;
          v(k, p) = c * f - s * g;
          v(k, q) = s * f + c * g;
        }
      }
  }
  std::vector<int> order(n);
  for (int i = 0; i < n; ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](int x, int y) { return m(x, x) < m(y, y); });
  for (int j = 0; j < n; ++j) {
    w[j] = static_cast<T>(m(order[j], order[j]));
    for (int i = 0; vectors && i < n; ++i) a[i + static_cast<std::size_t>(j) * lda] = static_cast<T>(v(i, order[j]));
  }
  return sweep;
}

// A x = w B x (type 1), A B x = w x (2) or B A x = w x (3) by B's Cholesky factor, which replaces B.
// Returns 0, or n + the order of the minor of B that is not positive definite.
template <class T> int generalized(int type, bool vectors, bool upper, int n, T *a, int lda, T *b, int ldb, T *w) {
  Matrix l(n, n), x(n, n);
  auto full = [&](const T *p, int ld, int i, int j) { return static_cast<double>((upper ? i <= j : i >= j) ? p[i + static_cast<std::size_t>(j) * ld] : p[j + static_cast<std::size_t>(i) * ld]); };
  for (int j = 0; j < n; ++j)
    for (int i = j; i < n; ++i) {
      double sum = full(b, ldb, i, j);
      for (int k = 0; k < j; ++k) sum -= l(i, k) * l(j, k);
      if (i == j && sum <= 0) return n + j + 1;
      l(i, j) = i == j ? std::sqrt(sum) : sum / l(j, j);
    }
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i) x(i, j) = full(a, lda, i, j);
  auto solve = [&](bool transposed) {  // l x = x, or l^T x = x, column by column
    for (int j = 0; j < n; ++j)
      for (int s = 0; s < n; ++s) {
        const int i = transposed ? n - 1 - s : s;
        for (int r = 0; r < s; ++r) {
          const int k = transposed ? n - 1 - r : r;
          x(i, j) -= (transposed ? l(k, i) : l(i, k)) * x(k, j);
        }
        x(i, j) /= l(i, i);
      }
  };
  auto multiply = [&](bool transposed) {  // x = l x, or l^T x
    for (int j = 0; j < n; ++j)
      for (int s = 0; s < n; ++s) {
        const int i = transposed ? s : n - 1 - s;
        double sum = 0;
        for (int k = 0; k < n; ++k) sum += (transposed ? (k >= i ? l(k, i) : 0) : (k <= i ? l(i, k) : 0)) * x(k, j);
        x(i, j) = sum;
      }
  };
  auto flip = [&] {
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < j; ++i) std::swap(x(i, j), x(j, i));
  };
  for (int side = 0; side < 2; ++side) {
    if (type == 1) solve(false);
    else multiply(true);
    flip();
  }
  std::vector<double> values(n);
  symmetric(true, true, n, x.values.data(), n, values.data());
  if (vectors) {
    if (type == 3) multiply(false);
    else solve(true);
    x.store(a, lda);
  }
  for (int j = 0; j < n; ++j) w[j] = static_cast<T>(values[j]);
  for (int j = 0; j < n; ++j)
    for (int i = j; i < n; ++i) b[upper ? j + static_cast<std::size_t>(i) * ldb : i + static_cast<std::size_t>(j) * ldb] = static_cast<T>(l(i, j));
  return 0;
}

// Least squares by QR: min |A x - b|; A is m by n, m >= n. Returns 0, or the column that depends on those before.
template <class T> int gels(int m, int n, int count, T *a, int lda, T *b, int ldb, T *x, int ldx) {
  std::vector<T> tau(n);
  geqrf(m, n, a, lda, tau.data());
  ormqr(true, true, m, count, n, a, lda, tau.data(), b, ldb);
  for (int c = 0; c < count; ++c)
    for (int i = n - 1; i >= 0; --i) {
      double sum = static_cast<double>(b[i + static_cast<std::size_t>(c) * ldb]);
      for (int j = i + 1; j < n; ++j) sum -= static_cast<double>(a[i + static_cast<std::size_t>(j) * lda]) * static_cast<double>(x[j + static_cast<std::size_t>(c) * ldx]);
      if (a[i + static_cast<std::size_t>(i) * lda] == T(0)) return i + 1;
      x[i + static_cast<std::size_t>(c) * ldx] = static_cast<T>(sum / static_cast<double>(a[i + static_cast<std::size_t>(i) * lda]));
    }
  return 0;
}

}  // namespace dense
}  // namespace rpx
