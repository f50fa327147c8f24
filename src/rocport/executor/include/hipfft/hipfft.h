// SPDX-License-Identifier: Apache-2.0
// hipFFT by plain transforms: powers of two by Cooley and Tukey, other lengths by Bluestein's algorithm; in double.
#pragma once

#include <algorithm>
#include <complex>
#include <vector>

#include "hip/hip_complex.h"
#include "hip/hip_runtime.h"

typedef enum hipfftResult_t {
  HIPFFT_SUCCESS, HIPFFT_INVALID_PLAN, HIPFFT_ALLOC_FAILED, HIPFFT_INVALID_TYPE, HIPFFT_INVALID_VALUE, HIPFFT_INTERNAL_ERROR, HIPFFT_EXEC_FAILED,
  HIPFFT_SETUP_FAILED, HIPFFT_INVALID_SIZE, HIPFFT_UNALIGNED_DATA, HIPFFT_INCOMPLETE_PARAMETER_LIST, HIPFFT_INVALID_DEVICE, HIPFFT_PARSE_ERROR,
  HIPFFT_NO_WORKSPACE, HIPFFT_NOT_IMPLEMENTED, HIPFFT_NOT_SUPPORTED = 16
} hipfftResult_t;
typedef hipfftResult_t hipfftResult;
typedef enum hipfftType_t { HIPFFT_R2C = 0x2a, HIPFFT_C2R = 0x2c, HIPFFT_C2C = 0x29, HIPFFT_D2Z = 0x6a, HIPFFT_Z2D = 0x6c, HIPFFT_Z2Z = 0x69 } hipfftType_t;
typedef hipfftType_t hipfftType;
typedef float hipfftReal;
typedef double hipfftDoubleReal;
typedef hipFloatComplex hipfftComplex;
typedef hipDoubleComplex hipfftDoubleComplex;
#define HIPFFT_FORWARD -1
#define HIPFFT_BACKWARD 1
#define HIPFFT_INVERSE 1

namespace rpx {
namespace fft {

using C = std::complex<double>;

inline void power_of_two(std::vector<C> &a, int sign) {
  const std::size_t n = a.size();
  for (std::size_t i = 1, j = 0; i < n; ++i) {
    std::size_t bit = n >> 1;
    for (; j & bit; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i < j) std::swap(a[i], a[j]);
  }
  for (std::size_t length = 2; length <= n; length *= 2) {
    std::vector<C> w(length / 2);
    for (std::size_t k = 0; k < length / 2; ++k) w[k] = std::polar(1.0, sign * 6.283185307179586477 * static_cast<double>(k) / static_cast<double>(length));
    for (std::size_t i = 0; i < n; i += length)
      for (std::size_t k = 0; k < length / 2; ++k) {
        C u = a[i + k], v = a[i + k + length / 2] * w[k];
        a[i + k] = u + v;
        a[i + k + length / 2] = u - v;
      }
  }
}

// Unnormalized transform of any length; sign -1 is forward.
inline void transform(std::vector<C> &a, int sign) {
  const std::size_t n = a.size();
  if (n < 2) return;
  if (!(n & (n - 1))) return power_of_two(a, sign);
  std::size_t m = 1;
  while (m < 2 * n + 1) m *= 2;
  std::vector<C> w(n), x(m), y(m);
  for (std::size_t k = 0; k < n; ++k) {
    double turn = static_cast<double>(static_cast<unsigned long long>(k) * k % (2 * n));
    w[k] = std::polar(1.0, sign * 3.14159265358979323846 * turn / static_cast<double>(n));
    x[k] = a[k] * w[k];
  }
  y[0] = std::conj(w[0]);
  for (std::size_t k = 1; k < n; ++k) y[k] = y[m - k] = std::conj(w[k]);
  power_of_two(x, -1);
  power_of_two(y, -1);
  for (std::size_t k = 0; k < m; ++k) x[k] *= y[k];
  power_of_two(x, 1);
  for (std::size_t k = 0; k < n; ++k) a[k] = x[k] / static_cast<double>(m) * w[k];
}

inline void transform(std::vector<C> &data, const std::vector<int> &n, int sign) {
  std::size_t total = data.size(), stride = 1;
  for (std::size_t d = n.size(); d-- > 0;) {
    const std::size_t length = static_cast<std::size_t>(n[d]);
    std::vector<C> line(length);
    for (std::size_t start = 0; start < total; ++start) {
      if (start / stride % length) continue;
      for (std::size_t k = 0; k < length; ++k) line[k] = data[start + k * stride];
      transform(line, sign);
      for (std::size_t k = 0; k < length; ++k) data[start + k * stride] = line[k];
    }
    stride *= length;
  }
}

struct Layout {
  std::vector<int> embed;
  long stride = 1, distance = 0;
};

struct Plan {
  std::vector<int> n;
  hipfftType type;
  int batch = 1;
  Layout in, out;
  hipStream_t stream = nullptr;

  // Offset of element `i` of the row-major box `box` under the layout; the box may be half as long in its last dimension.
  long offset(const Layout &l, std::size_t i, const std::vector<int> &box, int b) const {
    long at = 0, scale = 1;
    for (std::size_t d = box.size(); d-- > 0;) {
      at += static_cast<long>(i % static_cast<std::size_t>(box[d])) * scale;
      i /= static_cast<std::size_t>(box[d]);
      scale *= l.embed.empty() ? box[d] : l.embed[d];
    }
    return at * l.stride + b * l.distance;
  }
};

inline std::size_t volume(const std::vector<int> &n) {
  std::size_t v = 1;
  for (int x : n) v *= static_cast<std::size_t>(x);
  return v;
}

template <class R> void complex_to_complex(const Plan &p, const HIP_vector_type<R, 2> *in, HIP_vector_type<R, 2> *out, int sign) {
  for (int b = 0; b < p.batch; ++b) {
    std::vector<C> data(volume(p.n));
    for (std::size_t i = 0; i < data.size(); ++i) {
      auto v = in[p.offset(p.in, i, p.n, b)];
      data[i] = C(v.x, v.y);
    }
    transform(data, p.n, sign);
    for (std::size_t i = 0; i < data.size(); ++i) out[p.offset(p.out, i, p.n, b)] = HIP_vector_type<R, 2>(static_cast<R>(data[i].real()), static_cast<R>(data[i].imag()));
  }
}
inline std::vector<int> half_box(const std::vector<int> &n) {
  std::vector<int> h = n;
  h.back() = n.back() / 2 + 1;
  return h;
}
// In place, a real row is padded to the length of its complex row.
inline Layout real_layout(const Plan &p, const Layout &l, bool in_place) {
  Layout r = l;
  if (in_place && l.embed.empty()) {
    r.embed = p.n;
    r.embed.back() = 2 * (p.n.back() / 2 + 1);
    r.distance = static_cast<long>(volume(r.embed));
  }
  return r;
}
template <class R> void real_to_complex(const Plan &p, const R *in, HIP_vector_type<R, 2> *out) {
  Layout from = real_layout(p, p.in, static_cast<const void *>(in) == static_cast<const void *>(out));
  const std::vector<int> half = half_box(p.n);
  std::vector<std::vector<C>> all;
  for (int b = 0; b < p.batch; ++b) {
    std::vector<C> data(volume(p.n));
    for (std::size_t i = 0; i < data.size(); ++i) data[i] = C(in[p.offset(from, i, p.n, b)]);
    transform(data, p.n, -1);
    all.push_back(std::move(data));
  }
  for (int b = 0; b < p.batch; ++b)
    for (std::size_t i = 0; i < volume(half); ++i) {
      std::size_t row = i / static_cast<std::size_t>(half.back()), column = i % static_cast<std::size_t>(half.back());
      C v = all[static_cast<std::size_t>(b)][row * static_cast<std::size_t>(p.n.back()) + column];
      out[p.offset(p.out, i, half, b)] = HIP_vector_type<R, 2>(static_cast<R>(v.real()), static_cast<R>(v.imag()));
    }
}
template <class R> void complex_to_real(const Plan &p, const HIP_vector_type<R, 2> *in, R *out) {
  Layout to = real_layout(p, p.out, static_cast<const void *>(in) == static_cast<const void *>(out));
  const std::vector<int> half = half_box(p.n);
  std::vector<std::vector<C>> all;
  for (int b = 0; b < p.batch; ++b) {
    std::vector<C> data(volume(p.n));
    for (std::size_t i = 0; i < data.size(); ++i) {
      // The half that is not stored is the conjugate of the point mirrored in every dimension.
      std::size_t rest = i, column = rest % static_cast<std::size_t>(p.n.back());
      bool mirrored = column >= static_cast<std::size_t>(half.back());
      std::size_t at = 0, scale = 1;
      for (std::size_t d = p.n.size(); d-- > 0;) {
        std::size_t length = static_cast<std::size_t>(p.n[d]), c = rest % length;
        rest /= length;
        if (mirrored) c = (length - c) % length;
        at += c * scale;
        scale *= static_cast<std::size_t>(half[d]);
      }
      auto v = in[p.offset(p.in, at, half, b)];
      data[i] = mirrored ? C(v.x, -v.y) : C(v.x, v.y);
    }
    transform(data, p.n, 1);
    all.push_back(std::move(data));
  }
  for (int b = 0; b < p.batch; ++b)
    for (std::size_t i = 0; i < all[static_cast<std::size_t>(b)].size(); ++i) out[p.offset(to, i, p.n, b)] = static_cast<R>(all[static_cast<std::size_t>(b)][i].real());
}

}  // namespace fft
}  // namespace rpx

typedef rpx::fft::Plan *hipfftHandle;

RPX_API hipfftResult hipfftCreate(hipfftHandle *plan) { *plan = new rpx::fft::Plan{}; return HIPFFT_SUCCESS; }
RPX_API hipfftResult hipfftDestroy(hipfftHandle plan) { delete plan; return HIPFFT_SUCCESS; }
RPX_API hipfftResult hipfftSetStream(hipfftHandle plan, hipStream_t s) { plan->stream = s; return HIPFFT_SUCCESS; }
RPX_API hipfftResult hipfftMakePlanMany(hipfftHandle plan, int rank, int *n, int *inembed, int istride, int idist, int *onembed, int ostride, int odist,
                                       hipfftType type, int batch, size_t *work) {
  plan->n.assign(n, n + rank);
  plan->type = type;
  plan->batch = batch;
  const long full = static_cast<long>(rpx::fft::volume(plan->n)), half = static_cast<long>(rpx::fft::volume(rpx::fft::half_box(plan->n)));
  const bool from_real = type == HIPFFT_R2C || type == HIPFFT_D2Z, to_real = type == HIPFFT_C2R || type == HIPFFT_Z2D;
  plan->in = {{}, 1, to_real ? half : full};
  plan->out = {{}, 1, from_real ? half : full};
  if (inembed) plan->in = {std::vector<int>(inembed, inembed + rank), istride, idist};
  if (onembed) plan->out = {std::vector<int>(onembed, onembed + rank), ostride, odist};
  if (work) *work = 0;
  return HIPFFT_SUCCESS;
}
RPX_API hipfftResult hipfftPlanMany(hipfftHandle *plan, int rank, int *n, int *inembed, int istride, int idist, int *onembed, int ostride, int odist, hipfftType type, int batch) {
  hipfftCreate(plan);
  return hipfftMakePlanMany(*plan, rank, n, inembed, istride, idist, onembed, ostride, odist, type, batch, nullptr);
}
RPX_API hipfftResult hipfftMakePlan1d(hipfftHandle plan, int n, hipfftType type, int batch, size_t *work) { return hipfftMakePlanMany(plan, 1, &n, nullptr, 1, 0, nullptr, 1, 0, type, batch, work); }
RPX_API hipfftResult hipfftMakePlan2d(hipfftHandle plan, int x, int y, hipfftType type, size_t *work) { int n[2] = {x, y}; return hipfftMakePlanMany(plan, 2, n, nullptr, 1, 0, nullptr, 1, 0, type, 1, work); }
RPX_API hipfftResult hipfftMakePlan3d(hipfftHandle plan, int x, int y, int z, hipfftType type, size_t *work) { int n[3] = {x, y, z}; return hipfftMakePlanMany(plan, 3, n, nullptr, 1, 0, nullptr, 1, 0, type, 1, work); }
RPX_API hipfftResult hipfftPlan1d(hipfftHandle *plan, int n, hipfftType type, int batch) { hipfftCreate(plan); return hipfftMakePlan1d(*plan, n, type, batch, nullptr); }
RPX_API hipfftResult hipfftPlan2d(hipfftHandle *plan, int x, int y, hipfftType type) { hipfftCreate(plan); return hipfftMakePlan2d(*plan, x, y, type, nullptr); }
RPX_API hipfftResult hipfftPlan3d(hipfftHandle *plan, int x, int y, int z, hipfftType type) { hipfftCreate(plan); return hipfftMakePlan3d(*plan, x, y, z, type, nullptr); }
// Sizes are those of one transform, which fit in an int; larger ones are refused.
RPX_API hipfftResult hipfftMakePlanMany64(hipfftHandle plan, int rank, long long *n, long long *inembed, long long istride, long long idist, long long *onembed, long long ostride, long long odist,
                                         hipfftType type, long long batch, size_t *work) {
  const std::vector<long long> numbers = {istride, idist, ostride, odist, batch};
  bool fits = std::all_of(numbers.begin(), numbers.end(), [](long long v) { return v == static_cast<int>(v); });
  auto narrow = [&](const long long *from) {
    for (int i = 0; from && i < rank; ++i) fits &= from[i] == static_cast<int>(from[i]);
    return from ? std::vector<int>(from, from + rank) : std::vector<int>();
  };
  std::vector<int> size = narrow(n), in = narrow(inembed), out = narrow(onembed);
  if (!fits) return HIPFFT_INVALID_SIZE;
  return hipfftMakePlanMany(plan, rank, size.data(), inembed ? in.data() : nullptr, static_cast<int>(istride), static_cast<int>(idist), onembed ? out.data() : nullptr, static_cast<int>(ostride), static_cast<int>(odist), type, static_cast<int>(batch), work);
}
// No plan needs a work area.
RPX_API hipfftResult hipfftEstimate1d(int, hipfftType, int, size_t *work) { *work = 0; return HIPFFT_SUCCESS; }
RPX_API hipfftResult hipfftEstimate2d(int, int, hipfftType, size_t *work) { *work = 0; return HIPFFT_SUCCESS; }
RPX_API hipfftResult hipfftEstimate3d(int, int, int, hipfftType, size_t *work) { *work = 0; return HIPFFT_SUCCESS; }
RPX_API hipfftResult hipfftEstimateMany(int, int *, int *, int, int, int *, int, int, hipfftType, int, size_t *work) { *work = 0; return HIPFFT_SUCCESS; }
RPX_API hipfftResult hipfftGetSizeMany(hipfftHandle, int, int *, int *, int, int, int *, int, int, hipfftType, int, size_t *work) { *work = 0; return HIPFFT_SUCCESS; }
RPX_API hipfftResult hipfftGetSizeMany64(hipfftHandle, int, long long *, long long *, long long, long long, long long *, long long, long long, hipfftType, long long, size_t *work) { *work = 0; return HIPFFT_SUCCESS; }
RPX_API hipfftResult hipfftGetVersion(int *version) { *version = 10018; return HIPFFT_SUCCESS; }  // 1.0.18, of ROCm 6.4
RPX_API hipfftResult hipfftSetAutoAllocation(hipfftHandle, int) { return HIPFFT_SUCCESS; }
RPX_API hipfftResult hipfftSetWorkArea(hipfftHandle, void *) { return HIPFFT_SUCCESS; }
RPX_API hipfftResult hipfftGetSize(hipfftHandle, size_t *work) { *work = 0; return HIPFFT_SUCCESS; }
RPX_API hipfftResult hipfftGetSize1d(hipfftHandle, int, hipfftType, int, size_t *work) { *work = 0; return HIPFFT_SUCCESS; }
RPX_API hipfftResult hipfftGetSize2d(hipfftHandle, int, int, hipfftType, size_t *work) { *work = 0; return HIPFFT_SUCCESS; }
RPX_API hipfftResult hipfftGetSize3d(hipfftHandle, int, int, int, hipfftType, size_t *work) { *work = 0; return HIPFFT_SUCCESS; }
RPX_API hipfftResult hipfftExecC2C(hipfftHandle p, hipfftComplex *in, hipfftComplex *out, int sign) { RPX_SERVED(p, HIPFFT_NOT_SUPPORTED) rpx::fft::complex_to_complex(*p, in, out, sign); return HIPFFT_SUCCESS; }
RPX_API hipfftResult hipfftExecZ2Z(hipfftHandle p, hipfftDoubleComplex *in, hipfftDoubleComplex *out, int sign) { RPX_SERVED(p, HIPFFT_NOT_SUPPORTED) rpx::fft::complex_to_complex(*p, in, out, sign); return HIPFFT_SUCCESS; }
RPX_API hipfftResult hipfftExecR2C(hipfftHandle p, hipfftReal *in, hipfftComplex *out) { RPX_SERVED(p, HIPFFT_NOT_SUPPORTED) rpx::fft::real_to_complex(*p, in, out); return HIPFFT_SUCCESS; }
RPX_API hipfftResult hipfftExecD2Z(hipfftHandle p, hipfftDoubleReal *in, hipfftDoubleComplex *out) { RPX_SERVED(p, HIPFFT_NOT_SUPPORTED) rpx::fft::real_to_complex(*p, in, out); return HIPFFT_SUCCESS; }
RPX_API hipfftResult hipfftExecC2R(hipfftHandle p, hipfftComplex *in, hipfftReal *out) { RPX_SERVED(p, HIPFFT_NOT_SUPPORTED) rpx::fft::complex_to_real(*p, in, out); return HIPFFT_SUCCESS; }
RPX_API hipfftResult hipfftExecZ2D(hipfftHandle p, hipfftDoubleComplex *in, hipfftDoubleReal *out) { RPX_SERVED(p, HIPFFT_NOT_SUPPORTED) rpx::fft::complex_to_real(*p, in, out); return HIPFFT_SUCCESS; }
