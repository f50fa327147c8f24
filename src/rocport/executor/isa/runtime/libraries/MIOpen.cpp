// SPDX-License-Identifier: Apache-2.0
// libMIOpen: tensors, convolution forward and backward (any number of dimensions, groups, transposed), pooling,
// activation, softmax, batch normalization, reduction and element-wise operations, as plain loops in double over one device.
#include "typed.h"

#include <miopen/miopen.h>

#include <algorithm>
#include <cmath>

#include "state.h"

namespace {

using typed::Elements;
using Index = std::vector<long>;

struct Tensor : miopenTensorDescriptor {
  miopenDataType_t type = miopenFloat;
  Index dims, strides;
  std::size_t count() const {
    std::size_t n = 1;
    for (long d : dims) n *= static_cast<std::size_t>(d);
    return n;
  }
  // Elements from the first to the last.
  std::size_t extent() const {
    std::size_t last = 0;
    for (std::size_t d = 0; d < dims.size(); ++d) last += static_cast<std::size_t>((dims[d] - 1) * strides[d]);
    return last + 1;
  }
  hipDataType element() const {
    switch (type) {
      case miopenHalf: return HIP_R_16F;
      case miopenBFloat16: return HIP_R_16BF;
      case miopenDouble: return HIP_R_64F;
      case miopenInt32: return HIP_R_32I;
      case miopenInt8: return HIP_R_8I;
      default: return HIP_R_32F;
    }
  }
  std::size_t at(std::size_t i) const {  // of the element that is i-th in order of the dimensions
    std::size_t place = 0;
    for (std::size_t d = dims.size(); d-- > 0; i /= static_cast<std::size_t>(dims[d]))
      place += i % static_cast<std::size_t>(dims[d]) * static_cast<std::size_t>(strides[d]);
    return place;
  }
};
struct Convolution : miopenConvolutionDescriptor {
  bool transposed = false;
  Index pad, stride, dilation, extra;
  long groups = 1;
};
struct Pooling : miopenPoolingDescriptor {
  miopenPoolingMode_t mode = miopenPoolingMax;
  miopenIndexType_t index = miopenIndexUint8;
  Index window, pad, stride;
};
struct Activation : miopenActivationDescriptor {
  miopenActivationMode_t mode = miopenActivationPASTHRU;
  double alpha = 0, beta = 0, gamma = 0;
};
struct Reduction : miopenReduceTensorDescriptor {
  miopenReduceTensorOp_t op = MIOPEN_REDUCE_TENSOR_ADD;
  miopenReduceTensorIndices_t indices = MIOPEN_REDUCE_TENSOR_NO_INDICES;
};
struct Library : miopenHandle {
  hipStream_t stream = nullptr;
};

const Tensor &of(miopenTensorDescriptor_t t) { return *static_cast<const Tensor *>(t); }
Tensor &mine(miopenTensorDescriptor_t t) { return *static_cast<Tensor *>(t); }
const Convolution &of(miopenConvolutionDescriptor_t c) { return *static_cast<const Convolution *>(c); }
const Pooling &of(miopenPoolingDescriptor_t p) { return *static_cast<const Pooling *>(p); }
const Activation &of(miopenActivationDescriptor_t a) { return *static_cast<const Activation *>(a); }
const Reduction &of(miopenReduceTensorDescriptor_t r) { return *static_cast<const Reduction *>(r); }

Index packed(const Index &dims) {
  Index strides(dims.size());
  long step = 1;
  for (std::size_t d = dims.size(); d-- > 0; step *= dims[d]) strides[d] = step;
  return strides;
}
miopenStatus_t describe(miopenTensorDescriptor_t t, miopenDataType_t type, Index dims, Index strides) {
  if (!t) return miopenStatusBadParm;
  if (type != miopenFloat && type != miopenHalf && type != miopenBFloat16 && type != miopenDouble && type != miopenInt32 && type != miopenInt8)
    return miopenStatusNotImplemented;
  mine(t).type = type;
  mine(t).strides = strides.empty() ? packed(dims) : std::move(strides);
  mine(t).dims = std::move(dims);
  return miopenStatusSuccess;
}

using Values = std::vector<double>;
Values read(const Tensor &t, const void *data) {
  const Elements from(data, t.element());
  Values all(t.count());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = from[t.at(i)];
  return all;
}
// A scaling factor: double for tensors of doubles, else float; null stands for `otherwise`.
double scalar(const void *p, const Tensor &t, double otherwise) {
  return p ? Elements(p, t.type == miopenDouble ? HIP_R_64F : HIP_R_32F)[0] : otherwise;
}
void write(const Tensor &t, void *data, const Values &values, const void *alpha = nullptr, const void *beta = nullptr) {
  const Elements to(data, t.element());
  const double a = scalar(alpha, t, 1), b = scalar(beta, t, 0);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t place = t.at(i);
    to.set(place, b == 0 ? a * values[i] : a * values[i] + b * to[place]);
  }
}

// Calls visit(element of x, of w, of y) for every product of a convolution of x [n, c, ...] by w [k, c / groups, ...] to
// y [n, k, ...]. All are packed.
template <class F> void convolve(const Convolution &how, const Index &x, const Index &w, const Index &y, F visit) {
  const std::size_t spatial = x.size() - 2;
  const long groups = how.groups, outputs = y[1] / groups, inputs = x[1] / groups;
  auto volume = [&](const Index &dims) {
    long v = 1;
    for (std::size_t d = 2; d < dims.size(); ++d) v *= dims[d];
    return v;
  };
  const long vx = volume(x), vw = volume(w), vy = volume(y);
  for (long out = 0; out < vy; ++out)
    for (long tap = 0; tap < vw; ++tap) {
      long in = 0, scale = 1, o = out, f = tap;
      bool inside = true;
      for (std::size_t d = spatial; d-- > 0 && inside;) {
        const long place = o % y[d + 2] * how.stride[d] - how.pad[d] + f % w[d + 2] * how.dilation[d];
        inside = place >= 0 && place < x[d + 2];
        in += place * scale;
        scale *= x[d + 2], o /= y[d + 2], f /= w[d + 2];
      }
      if (!inside) continue;
      for (long n = 0; n < y[0]; ++n)
        for (long k = 0; k < y[1]; ++k)
          for (long c = 0; c < inputs; ++c)
            visit(static_cast<std::size_t>((n * x[1] + k / outputs * inputs + c) * vx + in), static_cast<std::size_t>((k * inputs + c) * vw + tap),
                  static_cast<std::size_t>((n * y[1] + k) * vy + out));
    }
}
// The dimensions of what a convolution that is not transposed gives.
Index convolved(const Convolution &how, const Index &in, const Index &w) {
  Index out{in[0], w[0]};
  for (std::size_t d = 0; d < how.pad.size(); ++d)
    out.push_back(std::max(1L, (in[d + 2] - how.dilation[d] * (w[d + 2] - 1) - 1 + 2 * how.pad[d]) / how.stride[d] + 1));
  return out;
}
bool fits(const Convolution &how, const Tensor &x, const Tensor &w, const Tensor &y) {
  // A transposed convolution is the gradient of one from y to x.
  const Tensor &in = how.transposed ? y : x, &out = how.transposed ? x : y;
  return in.dims.size() == how.pad.size() + 2 && w.dims.size() == in.dims.size() && out.dims.size() == in.dims.size() && w.dims[0] == out.dims[1] &&
         w.dims[1] * how.groups == in.dims[1] && out.dims[1] % how.groups == 0 && out.dims == convolved(how, in.dims, w.dims);
}
enum class Wanted { output, input, weights };
miopenStatus_t convolution(Wanted wanted, const Convolution &how, const Tensor &x, const void *px, const Tensor &w, const void *pw, const Tensor &y,
                           const void *py, const void *alpha, const void *beta) {
  if (!fits(how, x, w, y)) return miopenStatusBadParm;
  const Tensor &result = wanted == Wanted::output ? y : wanted == Wanted::input ? x : w;
  Values sums(result.count());
  const Values a = wanted == Wanted::input ? Values() : read(x, px), b = wanted == Wanted::weights ? Values() : read(w, pw),
               c = wanted == Wanted::output ? Values() : read(y, py);
  auto run = [&](auto add) {
    if (how.transposed) convolve(how, y.dims, w.dims, x.dims, [&](std::size_t i, std::size_t f, std::size_t o) { add(o, f, i); });
    else convolve(how, x.dims, w.dims, y.dims, add);
  };
  switch (wanted) {
    case Wanted::output: run([&](std::size_t i, std::size_t f, std::size_t o) { sums[o] += a[i] * b[f]; }); break;
    case Wanted::input: run([&](std::size_t i, std::size_t f, std::size_t o) { sums[i] += c[o] * b[f]; }); break;
    case Wanted::weights: run([&](std::size_t i, std::size_t f, std::size_t o) { sums[f] += a[i] * c[o]; }); break;
  }
  write(result, const_cast<void *>(wanted == Wanted::output ? py : wanted == Wanted::input ? px : pw), sums, alpha, beta);
  return miopenStatusSuccess;
}

Index pooled(const Pooling &how, const Index &x) {
  Index y = x;
  for (std::size_t d = 0; d < how.window.size(); ++d)
    y[d + 2] = std::max(1L, (x[d + 2] + 2 * how.pad[d] - how.window[d]) / how.stride[d] + 1);
  return y;
}
bool fits(const Pooling &how, const Index &x, const Index &y) {
  return x.size() == how.window.size() + 2 && y == pooled(how, x);
}
// Tensors of samples and channels, all of the same dimensions.
bool alike(const Tensor &a, const Tensor &b) { return a.dims.size() >= 2 && a.dims == b.dims; }
bool alike(const Tensor &a, const Tensor &b, const Tensor &c) { return alike(a, b) && alike(a, c); }
// Calls visit(output, the inputs under its window) for every output of a pooling.
template <class F> void pool(const Pooling &how, const Index &x, const Index &y, F visit) {
  const std::size_t spatial = how.window.size();
  long vx = 1, vy = 1, vw = 1;
  for (std::size_t d = 0; d < spatial; ++d) vx *= x[d + 2], vy *= y[d + 2], vw *= how.window[d];
  std::vector<std::size_t> inputs;
  for (long plane = 0; plane < x[0] * x[1]; ++plane)
    for (long out = 0; out < vy; ++out) {
      inputs.clear();
      for (long tap = 0; tap < vw; ++tap) {
        long in = 0, scale = 1, o = out, f = tap;
        bool inside = true;
        for (std::size_t d = spatial; d-- > 0 && inside;) {
          const long place = o % y[d + 2] * how.stride[d] - how.pad[d] + f % how.window[d];
          inside = place >= 0 && place < x[d + 2];
          in += place * scale;
          scale *= x[d + 2], o /= y[d + 2], f /= how.window[d];
        }
        if (inside) inputs.push_back(static_cast<std::size_t>(plane * vx + in));
      }
      visit(static_cast<std::size_t>(plane * vy + out), inputs);
    }
}
double window_size(const Pooling &how, std::size_t inside) {
  if (how.mode == miopenPoolingAverage) return static_cast<double>(inside);
  double size = 1;
  for (long w : how.window) size *= static_cast<double>(w);
  return size;
}

double activate(const Activation &f, double x) {
  switch (f.mode) {
    case miopenActivationLOGISTIC: return 1 / (1 + std::exp(-x));
    case miopenActivationTANH: return f.beta * std::tanh(f.alpha * x);
    case miopenActivationRELU: return x > 0 ? x : 0;
    case miopenActivationSOFTRELU: return x > 30 ? x : std::log1p(std::exp(x));
    case miopenActivationABS: return std::fabs(x);
    case miopenActivationPOWER: return std::pow(f.alpha + f.beta * x, f.gamma);
    case miopenActivationCLIPPEDRELU: return std::min(f.alpha, std::max(0.0, x));
    case miopenActivationLEAKYRELU: return x > 0 ? x : f.alpha * x;
    case miopenActivationELU: return x > 0 ? x : f.alpha * std::expm1(x);
    default: return x;
  }
}
double slope(const Activation &f, double x, double y) {
  switch (f.mode) {
    case miopenActivationLOGISTIC: return y * (1 - y);
    case miopenActivationTANH: return f.alpha * (f.beta - y * y / f.beta);
    case miopenActivationRELU: return x > 0;
    case miopenActivationSOFTRELU: return 1 / (1 + std::exp(-x));
    case miopenActivationABS: return x > 0 ? 1 : x < 0 ? -1 : 0;
    case miopenActivationPOWER: return f.gamma * f.beta * std::pow(f.alpha + f.beta * x, f.gamma - 1);
    case miopenActivationCLIPPEDRELU: return x > 0 && x <= f.alpha;
    case miopenActivationLEAKYRELU: return x > 0 ? 1 : f.alpha;
    case miopenActivationELU: return x > 0 ? 1 : y + f.alpha;
    default: return 1;
  }
}

// Calls visit(elements) for every set of elements that a softmax normalizes: those of a sample, or of its channels at one place.
template <class F> void each_softmax(const Index &dims, miopenSoftmaxMode_t mode, F visit) {
  std::size_t places = 1;
  for (std::size_t d = 2; d < dims.size(); ++d) places *= static_cast<std::size_t>(dims[d]);
  const std::size_t channels = static_cast<std::size_t>(dims[1]);
  std::vector<std::size_t> elements;
  for (std::size_t n = 0; n < static_cast<std::size_t>(dims[0]); ++n)
    for (std::size_t p = 0; p < (mode == MIOPEN_SOFTMAX_MODE_CHANNEL ? places : 1); ++p) {
      elements.clear();
      for (std::size_t c = 0; c < channels; ++c)
        for (std::size_t q = 0; q < (mode == MIOPEN_SOFTMAX_MODE_CHANNEL ? 1 : places); ++q) elements.push_back((n * channels + c) * places + p + q);
      visit(elements);
    }
}

// Calls visit(parameter, elements) for every scale of a batch normalization: one a channel, or one an activation.
template <class F> void each_norm(const Index &dims, miopenBatchNormMode_t mode, F visit) {
  std::size_t places = 1;
  for (std::size_t d = 2; d < dims.size(); ++d) places *= static_cast<std::size_t>(dims[d]);
  const std::size_t channels = static_cast<std::size_t>(dims[1]), per = channels * places;
  std::vector<std::size_t> elements;
  for (std::size_t p = 0; p < (mode == miopenBNSpatial ? channels : per); ++p) {
    elements.clear();
    for (std::size_t n = 0; n < static_cast<std::size_t>(dims[0]); ++n) {
      if (mode != miopenBNSpatial) elements.push_back(n * per + p);
      else
        for (std::size_t q = 0; q < places; ++q) elements.push_back(n * per + p * places + q);
    }
    visit(p, elements);
  }
}
// The parameters are as many as each_norm asks for.
bool scales(const Tensor &parameters, const Tensor &x, miopenBatchNormMode_t mode) {
  const auto per = x.count() / static_cast<std::size_t>(std::max(1L, x.dims[0]));
  return parameters.count() == (mode == miopenBNSpatial ? static_cast<std::size_t>(x.dims[1]) : per);
}
void moments(const Values &x, const std::vector<std::size_t> &elements, double *mean, double *variance) {
  double sum = 0, squares = 0;
  for (std::size_t i : elements) sum += x[i];
  *mean = sum / static_cast<double>(elements.size());
  for (std::size_t i : elements) squares += (x[i] - *mean) * (x[i] - *mean);
  *variance = squares / static_cast<double>(elements.size());
}

// The element of b that stands for the i-th of c: where b has one in a dimension, that one.
std::size_t spread(const Tensor &c, const Tensor &b, std::size_t i) {
  std::size_t place = 0;
  for (std::size_t d = c.dims.size(); d-- > 0; i /= static_cast<std::size_t>(c.dims[d]))
    if (b.dims[d] != 1) place += i % static_cast<std::size_t>(c.dims[d]) * static_cast<std::size_t>(b.strides[d]);
  return place;
}
miopenStatus_t perf(int asked, int *found, miopenConvAlgoPerf_t *results) {
  if (asked < 1 || !found || !results) return miopenStatusBadParm;
  *found = 1;
  results[0] = {};
  return miopenStatusSuccess;
}
template <class T> miopenStatus_t one_more(T **out) {
  if (!out) return miopenStatusBadParm;
  *out = new T;
  return miopenStatusSuccess;
}

// What runs at once has no place in a stream that is being captured.
bool captured(miopenHandle_t handle, const char *what) { return handle && rt::in_capture(static_cast<Library *>(handle)->stream, what); }
#define NOT_CAPTURED(handle) if (captured(handle, __func__)) return miopenStatusNotImplemented;

}  // namespace

extern "C" {

const char *miopenGetErrorString(miopenStatus_t status) {
  switch (status) {
    case miopenStatusSuccess: return "miopenStatusSuccess";
    case miopenStatusBadParm: return "miopenStatusBadParm";
    case miopenStatusNotImplemented: return "miopenStatusNotImplemented";
    default: return "Unknown error occured";
  }
}
miopenStatus_t miopenGetVersion(size_t *major, size_t *minor, size_t *patch) {
  if (major) *major = 3;
  if (minor) *minor = 4;
  if (patch) *patch = 0;
  return miopenStatusSuccess;
}
miopenStatus_t miopenCreate(miopenHandle_t *handle) { return one_more(reinterpret_cast<Library **>(handle)); }
miopenStatus_t miopenCreateWithStream(miopenHandle_t *handle, miopenAcceleratorQueue_t stream) {
  miopenStatus_t bad = miopenCreate(handle);
  return bad ? bad : miopenSetStream(*handle, stream);
}
miopenStatus_t miopenSetStream(miopenHandle_t handle, miopenAcceleratorQueue_t stream) {
  static_cast<Library *>(handle)->stream = stream;
  return miopenStatusSuccess;
}
miopenStatus_t miopenGetStream(miopenHandle_t handle, miopenAcceleratorQueue_t *stream) {
  *stream = static_cast<Library *>(handle)->stream;
  return miopenStatusSuccess;
}
miopenStatus_t miopenDestroy(miopenHandle_t handle) {
  delete static_cast<Library *>(handle);
  return miopenStatusSuccess;
}
miopenStatus_t miopenEnableProfiling(miopenHandle_t, bool) { return miopenStatusSuccess; }

// ---- tensors -------------------------------------------------------------------------------------------------------

miopenStatus_t miopenCreateTensorDescriptor(miopenTensorDescriptor_t *t) { return one_more(reinterpret_cast<Tensor **>(t)); }
miopenStatus_t miopenDestroyTensorDescriptor(miopenTensorDescriptor_t t) {
  delete static_cast<Tensor *>(t);
  return miopenStatusSuccess;
}
miopenStatus_t miopenSet4dTensorDescriptor(miopenTensorDescriptor_t t, miopenDataType_t type, int n, int c, int h, int w) { return describe(t, type, {n, c, h, w}, {}); }
miopenStatus_t miopenSet4dTensorDescriptorEx(miopenTensorDescriptor_t t, miopenDataType_t type, int n, int c, int h, int w, int sn, int sc, int sh, int sw) {
  return describe(t, type, {n, c, h, w}, {sn, sc, sh, sw});
}
miopenStatus_t miopenSetTensorDescriptor(miopenTensorDescriptor_t t, miopenDataType_t type, int count, const int *dims, const int *strides) {
  if (count < 1 || !dims) return miopenStatusBadParm;
  return describe(t, type, Index(dims, dims + count), strides ? Index(strides, strides + count) : Index());
}
miopenStatus_t miopenSetNdTensorDescriptorWithLayout(miopenTensorDescriptor_t t, miopenDataType_t type, miopenTensorLayout_t layout, const int *dims, int count) {
  if (count < 2 || !dims) return miopenStatusBadParm;
  Index sizes(dims, dims + count), strides;
  if (layout == miopenTensorNHWC || layout == miopenTensorNDHWC) {
    // The channel, second in the list, lies innermost.
    strides.assign(sizes.size(), 1);
    long step = sizes[1];
    for (std::size_t d = sizes.size(); d-- > 0;)
      if (d != 1) strides[d] = step, step *= sizes[d];
  } else if (layout != miopenTensorNCHW && layout != miopenTensorNCDHW) {
    return miopenStatusNotImplemented;
  }
  return describe(t, type, sizes, strides);
}
miopenStatus_t miopenGet4dTensorDescriptor(miopenTensorDescriptor_t t, miopenDataType_t *type, int *n, int *c, int *h, int *w, int *sn, int *sc, int *sh, int *sw) {
  if (!t || of(t).dims.size() != 4) return miopenStatusBadParm;
  *type = of(t).type;
  int *const sizes[] = {n, c, h, w}, *const steps[] = {sn, sc, sh, sw};
  for (std::size_t d = 0; d < 4; ++d) *sizes[d] = static_cast<int>(of(t).dims[d]), *steps[d] = static_cast<int>(of(t).strides[d]);
  return miopenStatusSuccess;
}
miopenStatus_t miopenGetTensorDescriptorSize(miopenTensorDescriptor_t t, int *size) {
  *size = static_cast<int>(of(t).dims.size());
  return miopenStatusSuccess;
}
miopenStatus_t miopenGetTensorDescriptor(miopenTensorDescriptor_t t, miopenDataType_t *type, int *dims, int *strides) {
  if (type) *type = of(t).type;
  for (std::size_t d = 0; d < of(t).dims.size(); ++d) {
    if (dims) dims[d] = static_cast<int>(of(t).dims[d]);
    if (strides) strides[d] = static_cast<int>(of(t).strides[d]);
  }
  return miopenStatusSuccess;
}
miopenStatus_t miopenGetTensorNumBytes(miopenTensorDescriptor_t t, size_t *bytes) {
  *bytes = of(t).extent() * Elements::bytes(of(t).element());
  return miopenStatusSuccess;
}
miopenStatus_t miopenSetTensor(miopenHandle_t handle, const miopenTensorDescriptor_t t, void *y, const void *alpha) {
  NOT_CAPTURED(handle)
  const double value = Elements(alpha, of(t).element())[0];
  write(of(t), y, Values(of(t).count(), value));
  return miopenStatusSuccess;
}
miopenStatus_t miopenScaleTensor(miopenHandle_t handle, const miopenTensorDescriptor_t t, void *y, const void *alpha) {
  NOT_CAPTURED(handle)
  Values values = read(of(t), y);
  const double factor = Elements(alpha, of(t).element())[0];
  for (double &v : values) v *= factor;
  write(of(t), y, values);
  return miopenStatusSuccess;
}
miopenStatus_t miopenTransformTensor(miopenHandle_t handle, const void *alpha, const miopenTensorDescriptor_t from, const void *x, const void *beta, const miopenTensorDescriptor_t to,
                                     void *y) {
  NOT_CAPTURED(handle)
  if (of(from).dims != of(to).dims) return miopenStatusBadParm;
  write(of(to), y, read(of(from), x), alpha, beta);
  return miopenStatusSuccess;
}
miopenStatus_t miopenOpTensor(miopenHandle_t handle, miopenTensorOp_t op, const void *alpha1, const miopenTensorDescriptor_t ta, const void *a, const void *alpha2,
                              const miopenTensorDescriptor_t tb, const void *b, const void *beta, const miopenTensorDescriptor_t tc, void *c) {
  NOT_CAPTURED(handle)
  const Tensor &result = of(tc), &left = of(ta), &right = of(tb);
  if (left.dims.size() != result.dims.size() || right.dims.size() != result.dims.size()) return miopenStatusBadParm;
  for (std::size_t d = 0; d < result.dims.size(); ++d)
    if ((left.dims[d] != 1 && left.dims[d] != result.dims[d]) || (right.dims[d] != 1 && right.dims[d] != result.dims[d])) return miopenStatusBadParm;
  const Elements x(a, left.element()), y(b, right.element());
  const double fx = scalar(alpha1, result, 1), fy = scalar(alpha2, result, 1);
  Values values(result.count());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double p = fx * x[spread(result, left, i)], q = fy * y[spread(result, right, i)];
    values[i] = op == miopenTensorOpAdd ? p + q : op == miopenTensorOpMul ? p * q : op == miopenTensorOpMin ? std::min(p, q) : std::max(p, q);
  }
  write(result, c, values, nullptr, beta);
  return miopenStatusSuccess;
}
miopenStatus_t miopenCreateReduceTensorDescriptor(miopenReduceTensorDescriptor_t *r) { return one_more(reinterpret_cast<Reduction **>(r)); }
miopenStatus_t miopenDestroyReduceTensorDescriptor(miopenReduceTensorDescriptor_t r) {
  delete static_cast<Reduction *>(r);
  return miopenStatusSuccess;
}
miopenStatus_t miopenSetReduceTensorDescriptor(miopenReduceTensorDescriptor_t r, miopenReduceTensorOp_t op, miopenDataType_t, miopenNanPropagation_t,
                                               miopenReduceTensorIndices_t indices, miopenIndicesType_t) {
  static_cast<Reduction *>(r)->op = op;
  static_cast<Reduction *>(r)->indices = indices;
  return miopenStatusSuccess;
}
miopenStatus_t miopenGetReductionWorkspaceSize(miopenHandle_t, const miopenReduceTensorDescriptor_t, const miopenTensorDescriptor_t, const miopenTensorDescriptor_t, size_t *bytes) {
  *bytes = 0;
  return miopenStatusSuccess;
}
miopenStatus_t miopenReduceTensor(miopenHandle_t handle, const miopenReduceTensorDescriptor_t how, void *, size_t, void *, size_t, const void *alpha, const miopenTensorDescriptor_t ta,
                                  const void *a, const void *beta, const miopenTensorDescriptor_t tc, void *c) {
  NOT_CAPTURED(handle)
  const Reduction &r = of(how);
  if (r.indices != MIOPEN_REDUCE_TENSOR_NO_INDICES) return miopenStatusNotImplemented;
  const Tensor &from = of(ta), &to = of(tc);
  if (to.dims.size() != from.dims.size()) return miopenStatusBadParm;
  for (std::size_t d = 0; d < to.dims.size(); ++d)
    if (to.dims[d] != 1 && to.dims[d] != from.dims[d]) return miopenStatusBadParm;
  const Index own = packed(to.dims);
  Tensor dense = to;
  dense.strides = own;
  const Values x = read(from, a);
  const bool least = r.op == MIOPEN_REDUCE_TENSOR_MIN, most = r.op == MIOPEN_REDUCE_TENSOR_MAX;
  Values values(to.count(), r.op == MIOPEN_REDUCE_TENSOR_MUL ? 1 : least ? INFINITY : most ? -INFINITY : 0);
  for (std::size_t i = 0; i < x.size(); ++i) {
    double &v = values[spread(from, dense, i)];
    switch (r.op) {
      case MIOPEN_REDUCE_TENSOR_MUL: v *= x[i]; break;
      case MIOPEN_REDUCE_TENSOR_MIN: v = std::min(v, x[i]); break;
      case MIOPEN_REDUCE_TENSOR_MAX: v = std::max(v, x[i]); break;
      case MIOPEN_REDUCE_TENSOR_AMAX: v = std::max(v, std::fabs(x[i])); break;
      case MIOPEN_REDUCE_TENSOR_NORM1: v += std::fabs(x[i]); break;
      case MIOPEN_REDUCE_TENSOR_NORM2: v += x[i] * x[i]; break;
      default: v += x[i];
    }
  }
  const double share = static_cast<double>(x.size()) / static_cast<double>(values.size());
  for (double &v : values) v = r.op == MIOPEN_REDUCE_TENSOR_AVG ? v / share : r.op == MIOPEN_REDUCE_TENSOR_NORM2 ? std::sqrt(v) : v;
  write(to, c, values, alpha, beta);
  return miopenStatusSuccess;
}

// ---- convolution ---------------------------------------------------------------------------------------------------

miopenStatus_t miopenCreateConvolutionDescriptor(miopenConvolutionDescriptor_t *c) { return one_more(reinterpret_cast<Convolution **>(c)); }
miopenStatus_t miopenDestroyConvolutionDescriptor(miopenConvolutionDescriptor_t c) {
  delete static_cast<Convolution *>(c);
  return miopenStatusSuccess;
}
miopenStatus_t miopenInitConvolutionNdDescriptor(miopenConvolutionDescriptor_t c, int count, const int *pad, const int *stride, const int *dilation, miopenConvolutionMode_t mode) {
  if (!c || count < 1 || std::any_of(stride, stride + count, [](int s) { return s < 1; })) return miopenStatusBadParm;
  Convolution &own = *static_cast<Convolution *>(c);
  own.transposed = mode == miopenTranspose;
  own.pad.assign(pad, pad + count), own.stride.assign(stride, stride + count), own.dilation.assign(dilation, dilation + count);
  own.extra.assign(static_cast<std::size_t>(count), 0);
  return miopenStatusSuccess;
}
miopenStatus_t miopenInitConvolutionDescriptor(miopenConvolutionDescriptor_t c, miopenConvolutionMode_t mode, int ph, int pw, int sh, int sw, int dh, int dw) {
  const int pad[] = {ph, pw}, stride[] = {sh, sw}, dilation[] = {dh, dw};
  return miopenInitConvolutionNdDescriptor(c, 2, pad, stride, dilation, mode);
}
miopenStatus_t miopenGetConvolutionDescriptor(miopenConvolutionDescriptor_t c, miopenConvolutionMode_t *mode, int *ph, int *pw, int *sh, int *sw, int *dh, int *dw) {
  const Convolution &own = of(c);
  if (own.pad.size() != 2) return miopenStatusBadParm;
  *mode = own.transposed ? miopenTranspose : miopenConvolution;
  *ph = static_cast<int>(own.pad[0]), *pw = static_cast<int>(own.pad[1]);
  *sh = static_cast<int>(own.stride[0]), *sw = static_cast<int>(own.stride[1]);
  *dh = static_cast<int>(own.dilation[0]), *dw = static_cast<int>(own.dilation[1]);
  return miopenStatusSuccess;
}
miopenStatus_t miopenSetConvolutionGroupCount(miopenConvolutionDescriptor_t c, int groups) {
  if (groups < 1) return miopenStatusBadParm;
  static_cast<Convolution *>(c)->groups = groups;
  return miopenStatusSuccess;
}
miopenStatus_t miopenGetConvolutionGroupCount(miopenConvolutionDescriptor_t c, int *groups) {
  *groups = static_cast<int>(of(c).groups);
  return miopenStatusSuccess;
}
miopenStatus_t miopenSetTransposeConvOutputPadding(miopenConvolutionDescriptor_t c, int h, int w) {
  static_cast<Convolution *>(c)->extra = {h, w};
  return miopenStatusSuccess;
}
miopenStatus_t miopenGetConvolutionNdForwardOutputDim(miopenConvolutionDescriptor_t c, const miopenTensorDescriptor_t x, const miopenTensorDescriptor_t w, int *count, int *dims) {
  const Convolution &how = of(c);
  const Index &in = of(x).dims, &filter = of(w).dims;
  if (in.size() != how.pad.size() + 2 || filter.size() != in.size()) return miopenStatusBadParm;
  if (count) *count = static_cast<int>(in.size());
  dims[0] = static_cast<int>(in[0]);
  dims[1] = static_cast<int>(how.transposed ? filter[1] * how.groups : filter[0]);
  for (std::size_t d = 0; d < how.pad.size(); ++d) {
    const long reach = how.dilation[d] * (filter[d + 2] - 1) + 1;
    dims[d + 2] = static_cast<int>(how.transposed ? how.stride[d] * (in[d + 2] - 1) + reach - 2 * how.pad[d] + how.extra[d]
                                                  : std::max(1L, (in[d + 2] - reach + 2 * how.pad[d]) / how.stride[d] + 1));
  }
  return miopenStatusSuccess;
}
miopenStatus_t miopenGetConvolutionForwardOutputDim(miopenConvolutionDescriptor_t c, const miopenTensorDescriptor_t x, const miopenTensorDescriptor_t w, int *n, int *k, int *h, int *width) {
  int count = 0, dims[8] = {};
  if (of(x).dims.size() != 4) return miopenStatusBadParm;
  miopenStatus_t bad = miopenGetConvolutionNdForwardOutputDim(c, x, w, &count, dims);
  *n = dims[0], *k = dims[1], *h = dims[2], *width = dims[3];
  return bad;
}
miopenStatus_t miopenConvolutionForwardGetWorkSpaceSize(miopenHandle_t, const miopenTensorDescriptor_t, const miopenTensorDescriptor_t, const miopenConvolutionDescriptor_t,
                                                        const miopenTensorDescriptor_t, size_t *bytes) {
  *bytes = 0;
  return miopenStatusSuccess;
}
miopenStatus_t miopenConvolutionBackwardDataGetWorkSpaceSize(miopenHandle_t, const miopenTensorDescriptor_t, const miopenTensorDescriptor_t, const miopenConvolutionDescriptor_t,
                                                             const miopenTensorDescriptor_t, size_t *bytes) {
  *bytes = 0;
  return miopenStatusSuccess;
}
miopenStatus_t miopenConvolutionBackwardWeightsGetWorkSpaceSize(miopenHandle_t, const miopenTensorDescriptor_t, const miopenTensorDescriptor_t,
                                                                const miopenConvolutionDescriptor_t, const miopenTensorDescriptor_t, size_t *bytes) {
  *bytes = 0;
  return miopenStatusSuccess;
}
// The library runs what it finds; where y already holds numbers they are lost there, too.
miopenStatus_t miopenFindConvolutionForwardAlgorithm(miopenHandle_t, const miopenTensorDescriptor_t, const void *, const miopenTensorDescriptor_t, const void *,
                                                     const miopenConvolutionDescriptor_t, const miopenTensorDescriptor_t, void *, const int asked, int *found,
                                                     miopenConvAlgoPerf_t *results, void *, size_t, bool) {
  miopenStatus_t bad = perf(asked, found, results);
  if (!bad) results[0].fwd_algo = miopenConvolutionFwdAlgoDirect;
  return bad;
}
miopenStatus_t miopenFindConvolutionBackwardDataAlgorithm(miopenHandle_t, const miopenTensorDescriptor_t, const void *, const miopenTensorDescriptor_t, const void *,
                                                          const miopenConvolutionDescriptor_t, const miopenTensorDescriptor_t, void *, const int asked, int *found,
                                                          miopenConvAlgoPerf_t *results, void *, size_t, bool) {
  miopenStatus_t bad = perf(asked, found, results);
  if (!bad) results[0].bwd_data_algo = miopenConvolutionBwdDataAlgoDirect;
  return bad;
}
miopenStatus_t miopenFindConvolutionBackwardWeightsAlgorithm(miopenHandle_t, const miopenTensorDescriptor_t, const void *, const miopenTensorDescriptor_t, const void *,
                                                             const miopenConvolutionDescriptor_t, const miopenTensorDescriptor_t, void *, const int asked, int *found,
                                                             miopenConvAlgoPerf_t *results, void *, size_t, bool) {
  miopenStatus_t bad = perf(asked, found, results);
  if (!bad) results[0].bwd_weights_algo = miopenConvolutionBwdWeightsAlgoDirect;
  return bad;
}
miopenStatus_t miopenConvolutionForward(miopenHandle_t handle, const void *alpha, const miopenTensorDescriptor_t tx, const void *x, const miopenTensorDescriptor_t tw, const void *w,
                                        const miopenConvolutionDescriptor_t how, miopenConvFwdAlgorithm_t, const void *beta, const miopenTensorDescriptor_t ty, void *y, void *,
                                        size_t) {
  NOT_CAPTURED(handle)
  return convolution(Wanted::output, of(how), of(tx), x, of(tw), w, of(ty), y, alpha, beta);
}
miopenStatus_t miopenConvolutionBackwardData(miopenHandle_t handle, const void *alpha, const miopenTensorDescriptor_t ty, const void *dy, const miopenTensorDescriptor_t tw, const void *w,
                                             const miopenConvolutionDescriptor_t how, miopenConvBwdDataAlgorithm_t, const void *beta, const miopenTensorDescriptor_t tx, void *dx,
                                             void *, size_t) {
  NOT_CAPTURED(handle)
  return convolution(Wanted::input, of(how), of(tx), dx, of(tw), w, of(ty), dy, alpha, beta);
}
miopenStatus_t miopenConvolutionBackwardWeights(miopenHandle_t handle, const void *alpha, const miopenTensorDescriptor_t ty, const void *dy, const miopenTensorDescriptor_t tx,
                                                const void *x, const miopenConvolutionDescriptor_t how, miopenConvBwdWeightsAlgorithm_t, const void *beta,
                                                const miopenTensorDescriptor_t tw, void *dw, void *, size_t) {
  NOT_CAPTURED(handle)
  return convolution(Wanted::weights, of(how), of(tx), x, of(tw), dw, of(ty), dy, alpha, beta);
}
miopenStatus_t miopenConvolutionForwardBias(miopenHandle_t handle, const void *alpha, const miopenTensorDescriptor_t tb, const void *b, const void *beta,
                                            const miopenTensorDescriptor_t ty, void *y) {
  NOT_CAPTURED(handle)
  return miopenOpTensor(handle, miopenTensorOpAdd, alpha, ty, y, alpha, tb, b, beta, ty, y);
}
miopenStatus_t miopenConvolutionBackwardBias(miopenHandle_t handle, const void *alpha, const miopenTensorDescriptor_t ty, const void *dy, const void *beta,
                                             const miopenTensorDescriptor_t tb, void *db) {
  NOT_CAPTURED(handle)
  if (of(ty).dims.size() < 2 || of(tb).count() != static_cast<std::size_t>(of(ty).dims[1])) return miopenStatusBadParm;
  const Values values = read(of(ty), dy);
  Values sums(of(tb).count());
  each_norm(of(ty).dims, miopenBNSpatial, [&](std::size_t channel, const std::vector<std::size_t> &elements) {
    for (std::size_t i : elements) sums[channel] += values[i];
  });
  write(of(tb), db, sums, alpha, beta);
  return miopenStatusSuccess;
}

// ---- pooling -------------------------------------------------------------------------------------------------------

miopenStatus_t miopenCreatePoolingDescriptor(miopenPoolingDescriptor_t *p) { return one_more(reinterpret_cast<Pooling **>(p)); }
miopenStatus_t miopenDestroyPoolingDescriptor(miopenPoolingDescriptor_t p) {
  delete static_cast<Pooling *>(p);
  return miopenStatusSuccess;
}
miopenStatus_t miopenSetPoolingIndexType(miopenPoolingDescriptor_t p, miopenIndexType_t type) {
  static_cast<Pooling *>(p)->index = type;
  return miopenStatusSuccess;
}
miopenStatus_t miopenSetNdPoolingDescriptor(miopenPoolingDescriptor_t p, const miopenPoolingMode_t mode, int count, const int *window, const int *pad, const int *stride) {
  if (!p || count < 1 || std::any_of(stride, stride + count, [](int s) { return s < 1; })) return miopenStatusBadParm;
  Pooling &own = *static_cast<Pooling *>(p);
  own.mode = mode;
  own.window.assign(window, window + count), own.pad.assign(pad, pad + count), own.stride.assign(stride, stride + count);
  return miopenStatusSuccess;
}
miopenStatus_t miopenSet2dPoolingDescriptor(miopenPoolingDescriptor_t p, miopenPoolingMode_t mode, int wh, int ww, int ph, int pw, int sh, int sw) {
  const int window[] = {wh, ww}, pad[] = {ph, pw}, stride[] = {sh, sw};
  return miopenSetNdPoolingDescriptor(p, mode, 2, window, pad, stride);
}
miopenStatus_t miopenGetPoolingNdForwardOutputDim(const miopenPoolingDescriptor_t p, const miopenTensorDescriptor_t x, int count, int *dims) {
  const Index y = pooled(of(p), of(x).dims);
  if (static_cast<std::size_t>(count) != y.size()) return miopenStatusBadParm;
  for (std::size_t d = 0; d < y.size(); ++d) dims[d] = static_cast<int>(y[d]);
  return miopenStatusSuccess;
}
miopenStatus_t miopenGetPoolingForwardOutputDim(const miopenPoolingDescriptor_t p, const miopenTensorDescriptor_t x, int *n, int *c, int *h, int *w) {
  int dims[4] = {};
  miopenStatus_t bad = miopenGetPoolingNdForwardOutputDim(p, x, 4, dims);
  *n = dims[0], *c = dims[1], *h = dims[2], *w = dims[3];
  return bad;
}
miopenStatus_t miopenPoolingGetWorkSpaceSizeV2(const miopenPoolingDescriptor_t, const miopenTensorDescriptor_t, size_t *bytes) {
  *bytes = 0;
  return miopenStatusSuccess;
}
miopenStatus_t miopenPoolingGetWorkSpaceSize(const miopenTensorDescriptor_t, size_t *bytes) { return miopenPoolingGetWorkSpaceSizeV2(nullptr, nullptr, bytes); }
miopenStatus_t miopenPoolingForward(miopenHandle_t handle, const miopenPoolingDescriptor_t p, const void *alpha, const miopenTensorDescriptor_t tx, const void *x, const void *beta,
                                    const miopenTensorDescriptor_t ty, void *y, bool, void *, size_t) {
  NOT_CAPTURED(handle)
  const Pooling &how = of(p);
  if (!fits(how, of(tx).dims, of(ty).dims)) return miopenStatusBadParm;
  const Values in = read(of(tx), x);
  Values out(of(ty).count());
  pool(how, of(tx).dims, of(ty).dims, [&](std::size_t o, const std::vector<std::size_t> &inputs) {
    double value = how.mode == miopenPoolingMax ? -INFINITY : 0;
    for (std::size_t i : inputs) value = how.mode == miopenPoolingMax ? std::max(value, in[i]) : value + in[i];
    out[o] = how.mode == miopenPoolingMax ? value : value / window_size(how, inputs.size());
  });
  write(of(ty), y, out, alpha, beta);
  return miopenStatusSuccess;
}
miopenStatus_t miopenPoolingBackward(miopenHandle_t handle, const miopenPoolingDescriptor_t p, const void *alpha, const miopenTensorDescriptor_t ty, const void *,
                                     const miopenTensorDescriptor_t tdy, const void *dy, const miopenTensorDescriptor_t tx, const void *x, const void *beta,
                                     const miopenTensorDescriptor_t tdx, void *dx, void *) {
  NOT_CAPTURED(handle)
  const Pooling &how = of(p);
  if (!fits(how, of(tdx).dims, of(ty).dims) || !alike(of(tdy), of(ty)) || (how.mode == miopenPoolingMax && !alike(of(tx), of(tdx)))) return miopenStatusBadParm;
  const Values gradient = read(of(tdy), dy), in = how.mode == miopenPoolingMax ? read(of(tx), x) : Values();
  Values out(of(tdx).count());
  pool(how, of(tdx).dims, of(ty).dims, [&](std::size_t o, const std::vector<std::size_t> &inputs) {
    if (inputs.empty()) return;
    if (how.mode == miopenPoolingMax) {
      // The first of equal ones, as the index that the forward pass keeps.
      out[*std::max_element(inputs.begin(), inputs.end(), [&](std::size_t a, std::size_t b) { return in[a] < in[b]; })] += gradient[o];
      return;
    }
    for (std::size_t i : inputs) out[i] += gradient[o] / window_size(how, inputs.size());
  });
  write(of(tdx), dx, out, alpha, beta);
  return miopenStatusSuccess;
}

// ---- activation, softmax, batch normalization ----------------------------------------------------------------------

miopenStatus_t miopenCreateActivationDescriptor(miopenActivationDescriptor_t *a) { return one_more(reinterpret_cast<Activation **>(a)); }
miopenStatus_t miopenDestroyActivationDescriptor(miopenActivationDescriptor_t a) {
  delete static_cast<Activation *>(a);
  return miopenStatusSuccess;
}
miopenStatus_t miopenSetActivationDescriptor(const miopenActivationDescriptor_t a, miopenActivationMode_t mode, double alpha, double beta, double gamma) {
  Activation &own = *static_cast<Activation *>(a);
  own.mode = mode, own.alpha = alpha, own.beta = beta, own.gamma = gamma;
  return miopenStatusSuccess;
}
miopenStatus_t miopenGetActivationDescriptor(const miopenActivationDescriptor_t a, miopenActivationMode_t *mode, double *alpha, double *beta, double *gamma) {
  *mode = of(a).mode, *alpha = of(a).alpha, *beta = of(a).beta, *gamma = of(a).gamma;
  return miopenStatusSuccess;
}
miopenStatus_t miopenActivationForward(miopenHandle_t handle, const miopenActivationDescriptor_t a, const void *alpha, const miopenTensorDescriptor_t tx, const void *x, const void *beta,
                                       const miopenTensorDescriptor_t ty, void *y) {
  NOT_CAPTURED(handle)
  if (of(a).mode > miopenActivationELU) return miopenStatusNotImplemented;
  if (of(tx).dims != of(ty).dims) return miopenStatusBadParm;
  Values values = read(of(tx), x);
  for (double &v : values) v = activate(of(a), v);
  write(of(ty), y, values, alpha, beta);
  return miopenStatusSuccess;
}
miopenStatus_t miopenActivationBackward(miopenHandle_t handle, const miopenActivationDescriptor_t a, const void *alpha, const miopenTensorDescriptor_t ty, const void *y,
                                        const miopenTensorDescriptor_t tdy, const void *dy, const miopenTensorDescriptor_t tx, const void *x, const void *beta,
                                        const miopenTensorDescriptor_t tdx, void *dx) {
  NOT_CAPTURED(handle)
  if (of(a).mode > miopenActivationELU) return miopenStatusNotImplemented;
  if (of(ty).dims != of(tx).dims || of(tdy).dims != of(tx).dims || of(tdx).dims != of(tx).dims) return miopenStatusBadParm;
  const Values out = read(of(ty), y), in = read(of(tx), x);
  Values values = read(of(tdy), dy);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] *= slope(of(a), in[i], out[i]);
  write(of(tdx), dx, values, alpha, beta);
  return miopenStatusSuccess;
}
miopenStatus_t miopenSoftmaxForward_V2(miopenHandle_t handle, const void *alpha, const miopenTensorDescriptor_t tx, const void *x, const void *beta, const miopenTensorDescriptor_t ty,
                                       void *y, miopenSoftmaxAlgorithm_t algorithm, miopenSoftmaxMode_t mode) {
  NOT_CAPTURED(handle)
  if (!alike(of(tx), of(ty))) return miopenStatusBadParm;
  Values values = read(of(tx), x);
  each_softmax(of(tx).dims, mode, [&](const std::vector<std::size_t> &elements) {
    double largest = -INFINITY, sum = 0;
    for (std::size_t i : elements) largest = std::max(largest, values[i]);
    if (algorithm == MIOPEN_SOFTMAX_FAST) largest = 0;
    for (std::size_t i : elements) sum += std::exp(values[i] - largest);
    for (std::size_t i : elements)
      values[i] = algorithm == MIOPEN_SOFTMAX_LOG ? values[i] - largest - std::log(sum) : std::exp(values[i] - largest) / sum;
  });
  write(of(ty), y, values, alpha, beta);
  return miopenStatusSuccess;
}
miopenStatus_t miopenSoftmaxForward(miopenHandle_t handle, const void *alpha, const miopenTensorDescriptor_t tx, const void *x, const void *beta, const miopenTensorDescriptor_t ty,
                                    void *y) {
  NOT_CAPTURED(handle)
  return miopenSoftmaxForward_V2(handle, alpha, tx, x, beta, ty, y, MIOPEN_SOFTMAX_ACCURATE, MIOPEN_SOFTMAX_MODE_CHANNEL);
}
miopenStatus_t miopenSoftmaxBackward_V2(miopenHandle_t handle, const void *alpha, const miopenTensorDescriptor_t ty, const void *y, const miopenTensorDescriptor_t tdy, const void *dy,
                                        const void *beta, const miopenTensorDescriptor_t tdx, void *dx, miopenSoftmaxAlgorithm_t algorithm, miopenSoftmaxMode_t mode) {
  NOT_CAPTURED(handle)
  if (!alike(of(ty), of(tdy), of(tdx))) return miopenStatusBadParm;
  const Values out = read(of(ty), y);
  Values values = read(of(tdy), dy);
  const bool log = algorithm == MIOPEN_SOFTMAX_LOG;
  each_softmax(of(ty).dims, mode, [&](const std::vector<std::size_t> &elements) {
    double sum = 0;
    for (std::size_t i : elements) sum += log ? values[i] : values[i] * out[i];
    for (std::size_t i : elements) values[i] = log ? values[i] - std::exp(out[i]) * sum : out[i] * (values[i] - sum);
  });
  write(of(tdx), dx, values, alpha, beta);
  return miopenStatusSuccess;
}
miopenStatus_t miopenSoftmaxBackward(miopenHandle_t handle, const void *alpha, const miopenTensorDescriptor_t ty, const void *y, const miopenTensorDescriptor_t tdy, const void *dy,
                                     const void *beta, const miopenTensorDescriptor_t tdx, void *dx) {
  NOT_CAPTURED(handle)
  return miopenSoftmaxBackward_V2(handle, alpha, ty, y, tdy, dy, beta, tdx, dx, MIOPEN_SOFTMAX_ACCURATE, MIOPEN_SOFTMAX_MODE_CHANNEL);
}
miopenStatus_t miopenDeriveBNTensorDescriptor(miopenTensorDescriptor_t derived, const miopenTensorDescriptor_t x, miopenBatchNormMode_t mode) {
  Index dims = of(x).dims;
  dims[0] = 1;
  for (std::size_t d = 2; d < dims.size() && mode == miopenBNSpatial; ++d) dims[d] = 1;
  const miopenDataType_t type = of(x).type;
  return describe(derived, type == miopenHalf || type == miopenBFloat16 ? miopenFloat : type, dims, {});
}
miopenStatus_t miopenBatchNormalizationForwardTraining(miopenHandle_t handle, miopenBatchNormMode_t mode, void *alpha, void *beta, const miopenTensorDescriptor_t tx, const void *x,
                                                       const miopenTensorDescriptor_t ty, void *y, const miopenTensorDescriptor_t tp, void *scale, void *bias, double factor,
                                                       void *running_mean, void *running_variance, double epsilon, void *save_mean, void *save_inverse) {
  NOT_CAPTURED(handle)
  if (!alike(of(tx), of(ty)) || !scales(of(tp), of(tx), mode)) return miopenStatusBadParm;
  const Values in = read(of(tx), x), s = read(of(tp), scale), b = read(of(tp), bias);
  Values out(in.size());
  const Elements means(running_mean, of(tp).element()), variances(running_variance, of(tp).element());
  const Elements saved(save_mean, of(tp).element()), inverses(save_inverse, of(tp).element());
  each_norm(of(tx).dims, mode, [&](std::size_t p, const std::vector<std::size_t> &elements) {
    double mean = 0, variance = 0;
    moments(in, elements, &mean, &variance);
    const double inverse = 1 / std::sqrt(variance + epsilon), count = static_cast<double>(elements.size());
    for (std::size_t i : elements) out[i] = s[p] * (in[i] - mean) * inverse + b[p];
    if (running_mean) means.set(p, (1 - factor) * means[p] + factor * mean);
    if (running_variance) variances.set(p, (1 - factor) * variances[p] + factor * variance * (count > 1 ? count / (count - 1) : 1));
    if (save_mean) saved.set(p, mean);
    if (save_inverse) inverses.set(p, inverse);
  });
  write(of(ty), y, out, alpha, beta);
  return miopenStatusSuccess;
}
miopenStatus_t miopenBatchNormalizationForwardInference(miopenHandle_t handle, miopenBatchNormMode_t mode, void *alpha, void *beta, const miopenTensorDescriptor_t tx, const void *x,
                                                        const miopenTensorDescriptor_t ty, void *y, const miopenTensorDescriptor_t tp, void *scale, void *bias, void *mean,
                                                        void *variance, double epsilon) {
  NOT_CAPTURED(handle)
  if (!alike(of(tx), of(ty)) || !scales(of(tp), of(tx), mode)) return miopenStatusBadParm;
  const Values s = read(of(tp), scale), b = read(of(tp), bias);
  Values values = read(of(tx), x), m, v;
  if (mean && variance) m = read(of(tp), mean), v = read(of(tp), variance);
  each_norm(of(tx).dims, mode, [&](std::size_t p, const std::vector<std::size_t> &elements) {
    double own = 0, spread_of = 0;
    if (m.empty()) moments(values, elements, &own, &spread_of);
    else own = m[p], spread_of = v[p];
    for (std::size_t i : elements) values[i] = s[p] * (values[i] - own) / std::sqrt(spread_of + epsilon) + b[p];
  });
  write(of(ty), y, values, alpha, beta);
  return miopenStatusSuccess;
}
miopenStatus_t miopenBatchNormalizationBackward(miopenHandle_t handle, miopenBatchNormMode_t mode, const void *alpha, const void *beta, const void *parameter_alpha,
                                                const void *parameter_beta, const miopenTensorDescriptor_t tx, const void *x, const miopenTensorDescriptor_t tdy, const void *dy,
                                                const miopenTensorDescriptor_t tdx, void *dx, const miopenTensorDescriptor_t tp, const void *scale, void *scale_gradient,
                                                void *bias_gradient, double epsilon, const void *saved_mean, const void *saved_inverse) {
  NOT_CAPTURED(handle)
  if (!alike(of(tx), of(tdy), of(tdx)) || !scales(of(tp), of(tx), mode)) return miopenStatusBadParm;
  const Values in = read(of(tx), x), gradient = read(of(tdy), dy), s = read(of(tp), scale);
  Values out(in.size()), ds(s.size()), db(s.size()), m, v;
  if (saved_mean && saved_inverse) m = read(of(tp), saved_mean), v = read(of(tp), saved_inverse);
  each_norm(of(tx).dims, mode, [&](std::size_t p, const std::vector<std::size_t> &elements) {
    double mean = 0, variance = 0, inverse = 0;
    if (m.empty()) {
      moments(in, elements, &mean, &variance);
      inverse = 1 / std::sqrt(variance + epsilon);
    } else {
      mean = m[p], inverse = v[p];
    }
    for (std::size_t i : elements) db[p] += gradient[i], ds[p] += gradient[i] * (in[i] - mean) * inverse;
    const double count = static_cast<double>(elements.size());
    for (std::size_t i : elements) out[i] = s[p] * inverse * (gradient[i] - db[p] / count - (in[i] - mean) * inverse * ds[p] / count);
  });
  write(of(tdx), dx, out, alpha, beta);
  if (scale_gradient) write(of(tp), scale_gradient, ds, parameter_alpha, parameter_beta);
  if (bias_gradient) write(of(tp), bias_gradient, db, parameter_alpha, parameter_beta);
  return miopenStatusSuccess;
}

}  // extern "C"
