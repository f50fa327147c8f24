// SPDX-License-Identifier: Apache-2.0
// Arrays, textures and surfaces. Sampling follows the CUDA programming guide's appendix "Texture Fetching": point and
// linear filtering, the four address modes, normalized coordinates and normalized reads.
#pragma once

#include <cmath>

typedef enum hipChannelFormatKind { hipChannelFormatKindSigned, hipChannelFormatKindUnsigned, hipChannelFormatKindFloat, hipChannelFormatKindNone } hipChannelFormatKind;
typedef struct hipChannelFormatDesc { int x, y, z, w; hipChannelFormatKind f; } hipChannelFormatDesc;
typedef struct hipExtent { size_t width, height, depth; } hipExtent;
typedef struct hipPos { size_t x, y, z; } hipPos;
typedef struct hipPitchedPtr { void *ptr; size_t pitch, xsize, ysize; } hipPitchedPtr;
typedef struct hipArray { void *data; hipChannelFormatDesc desc; size_t width, height, depth, pitch; unsigned flags; } hipArray;
typedef hipArray *hipArray_t;
typedef const hipArray *hipArray_const_t;
typedef enum hipTextureAddressMode { hipAddressModeWrap, hipAddressModeClamp, hipAddressModeMirror, hipAddressModeBorder } hipTextureAddressMode;
typedef enum hipTextureFilterMode { hipFilterModePoint, hipFilterModeLinear } hipTextureFilterMode;
typedef enum hipTextureReadMode { hipReadModeElementType, hipReadModeNormalizedFloat } hipTextureReadMode;
typedef enum hipResourceType { hipResourceTypeArray, hipResourceTypeMipmappedArray, hipResourceTypeLinear, hipResourceTypePitch2D } hipResourceType;
typedef struct hipMipmappedArray *hipMipmappedArray_t;
typedef struct hipResourceDesc {
  hipResourceType resType;
  union {
    struct { hipArray_t array; } array;
    struct { hipMipmappedArray_t mipmap; } mipmap;
    struct { void *devPtr; hipChannelFormatDesc desc; size_t sizeInBytes; } linear;
    struct { void *devPtr; hipChannelFormatDesc desc; size_t width, height, pitchInBytes; } pitch2D;
  } res;
} hipResourceDesc;
typedef struct hipTextureDesc {
  hipTextureAddressMode addressMode[3];
  hipTextureFilterMode filterMode;
  hipTextureReadMode readMode;
  int sRGB;
  float borderColor[4];
  int normalizedCoords;
  unsigned maxAnisotropy;
  hipTextureFilterMode mipmapFilterMode;
  float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp;
} hipTextureDesc;
struct hipResourceViewDesc;
typedef struct __hip_texture *hipTextureObject_t;
typedef struct __hip_surface *hipSurfaceObject_t;
typedef struct hipMemcpy3DParms {
  hipArray_t srcArray;
  hipPos srcPos;
  hipPitchedPtr srcPtr;
  hipArray_t dstArray;
  hipPos dstPos;
  hipPitchedPtr dstPtr;
  hipExtent extent;
  hipMemcpyKind kind;
} hipMemcpy3DParms;

#define hipArrayDefault 0x00
#define hipArrayLayered 0x01
#define hipArraySurfaceLoadStore 0x02
#define hipArrayCubemap 0x04
#define hipArrayTextureGather 0x08

inline hipExtent make_hipExtent(size_t w, size_t h, size_t d) { return {w, h, d}; }
inline hipPos make_hipPos(size_t x, size_t y, size_t z) { return {x, y, z}; }
inline hipPitchedPtr make_hipPitchedPtr(void *p, size_t pitch, size_t x, size_t y) { return {p, pitch, x, y}; }

hipError_t hipMallocArray(hipArray_t *array, const hipChannelFormatDesc *desc, size_t width, size_t height = 0, unsigned flags = 0);
hipError_t hipMalloc3DArray(hipArray_t *array, const hipChannelFormatDesc *desc, hipExtent extent, unsigned flags = 0);
hipError_t hipFreeArray(hipArray_t array);
hipError_t hipMalloc3D(hipPitchedPtr *pointer, hipExtent extent);
hipError_t hipMemset3D(hipPitchedPtr pointer, int value, hipExtent extent);
hipError_t hipMemcpyToArray(hipArray_t to, size_t x, size_t y, const void *from, size_t bytes, hipMemcpyKind kind);
hipError_t hipMemcpyFromArray(void *to, hipArray_const_t from, size_t x, size_t y, size_t bytes, hipMemcpyKind kind);
hipError_t hipMemcpy2DToArray(hipArray_t to, size_t x, size_t y, const void *from, size_t pitch, size_t width, size_t height, hipMemcpyKind kind);
hipError_t hipMemcpy2DFromArray(void *to, size_t pitch, hipArray_const_t from, size_t x, size_t y, size_t width, size_t height, hipMemcpyKind kind);
hipError_t hipMemcpy3D(const hipMemcpy3DParms *parameters);
hipError_t hipMemcpy3DAsync(const hipMemcpy3DParms *parameters, hipStream_t stream = nullptr);
hipError_t hipCreateTextureObject(hipTextureObject_t *texture, const hipResourceDesc *resource, const hipTextureDesc *description, const hipResourceViewDesc *view);
hipError_t hipDestroyTextureObject(hipTextureObject_t texture);
hipError_t hipGetTextureObjectResourceDesc(hipResourceDesc *resource, hipTextureObject_t texture);
hipError_t hipCreateSurfaceObject(hipSurfaceObject_t *surface, const hipResourceDesc *resource);
hipError_t hipDestroySurfaceObject(hipSurfaceObject_t surface);

inline hipChannelFormatDesc hipCreateChannelDesc(int x, int y, int z, int w, hipChannelFormatKind f) { return {x, y, z, w, f}; }

namespace rpx {

template <class T> struct Texel {
  using scalar = T;
  static constexpr int count = 1;
};
template <class T, unsigned N> struct Texel<HIP_vector_type<T, N>> {
  using scalar = T;
  static constexpr int count = N;
};

template <class S> constexpr hipChannelFormatKind format_of() {
  return std::is_integral<S>::value ? (std::is_signed<S>::value ? hipChannelFormatKindSigned : hipChannelFormatKindUnsigned)
                                    : hipChannelFormatKindFloat;
}

float half_to_float(std::uint16_t bits);

}  // namespace rpx

template <class T> hipChannelFormatDesc hipCreateChannelDesc() {
  using S = typename rpx::Texel<T>::scalar;
  constexpr int n = rpx::Texel<T>::count, b = 8 * sizeof(S);
  return {b, n > 1 ? b : 0, n > 2 ? b : 0, n > 3 ? b : 0, rpx::format_of<S>()};
}
inline hipChannelFormatDesc hipCreateChannelDescHalf() { return {16, 0, 0, 0, hipChannelFormatKindFloat}; }

struct __hip_texture {
  hipResourceDesc resource;
  hipTextureDesc description;
  const char *data;
  hipChannelFormatDesc format;
  long width, height, depth;
  size_t pitch, slice;
  int channels, bytes;  // of a channel
};
struct __hip_surface {
  hipArray_t array;
  char *data;
  size_t pitch, slice;
};

namespace rpx {

// One channel of the texel at integer coordinates, as float when read normalized.
template <class S> RPX_INLINE S channel(const __hip_texture *t, const char *texel, int c) {
  if (c >= t->channels) return S(0);
  const char *p = texel + c * t->bytes;
  bool normalized = t->description.readMode == hipReadModeNormalizedFloat;
  if (t->format.f == hipChannelFormatKindFloat) {
    if (t->bytes == 4) {
      float v;
      std::memcpy(&v, p, 4);
      return static_cast<S>(v);
    }
    std::uint16_t h;
    std::memcpy(&h, p, 2);
    return static_cast<S>(half_to_float(h));
  }
  long long v = 0;
  bool is_signed = t->format.f == hipChannelFormatKindSigned;
  if (t->bytes == 1) v = is_signed ? *reinterpret_cast<const std::int8_t *>(p) : *reinterpret_cast<const std::uint8_t *>(p);
  else if (t->bytes == 2) v = is_signed ? *reinterpret_cast<const std::int16_t *>(p) : *reinterpret_cast<const std::uint16_t *>(p);
  else v = is_signed ? *reinterpret_cast<const std::int32_t *>(p) : *reinterpret_cast<const std::uint32_t *>(p);
  if (!normalized) return static_cast<S>(v);
  double largest = t->bytes == 1 ? (is_signed ? 127.0 : 255.0) : (is_signed ? 32767.0 : 65535.0);
  double scaled = static_cast<double>(v) / largest;
  return static_cast<S>(scaled < -1 ? -1 : scaled);
}

// False when the address falls on the border colour.
inline bool address(hipTextureAddressMode mode, bool normalized, long *i, long n) {
  if (*i >= 0 && *i < n) return true;
  if (normalized && mode == hipAddressModeWrap) {
    *i = (*i % n + n) % n;
    return true;
  }
  if (normalized && mode == hipAddressModeMirror) {
    long m = (*i % (2 * n) + 2 * n) % (2 * n);
    *i = m < n ? m : 2 * n - 1 - m;
    return true;
  }
  if (mode == hipAddressModeBorder) return false;
  *i = *i < 0 ? 0 : n - 1;
  return true;
}

template <class T> struct Sampler {
  using S = typename Texel<T>::scalar;
  static constexpr int N = Texel<T>::count;
  const __hip_texture *t;

  void point(long x, long y, long z, double weight, double *sum, S *exact) const {
    const hipTextureDesc &d = t->description;
    bool inside = address(d.addressMode[0], d.normalizedCoords, &x, t->width) &&
                  address(d.addressMode[1], d.normalizedCoords, &y, t->height) &&
                  address(d.addressMode[2], d.normalizedCoords, &z, t->depth);
    const char *texel = t->data + z * t->slice + y * t->pitch + x * t->channels * t->bytes;
    for (int c = 0; c < N; ++c) {
      S v = inside ? channel<S>(t, texel, c) : static_cast<S>(d.borderColor[c]);
      if (exact) exact[c] = v;
      else sum[c] += weight * static_cast<double>(v);
    }
  }

  T make(const S *v) const {
    T result;
    std::memcpy(static_cast<void *>(&result), v, sizeof(T));
    return result;
  }

  T sample(int dimensions, float fx, float fy, float fz) const {
    const hipTextureDesc &d = t->description;
    double x = fx, y = fy, z = fz;
    if (d.normalizedCoords) {
      x *= t->width;
      y *= t->height;
      z *= dimensions > 2 ? t->depth : 1;
    }
    S v[4];
    if (d.filterMode == hipFilterModePoint) {
      point(static_cast<long>(std::floor(x)), dimensions > 1 ? static_cast<long>(std::floor(y)) : 0,
            dimensions > 2 ? static_cast<long>(std::floor(z)) : 0, 1, nullptr, v);
      return make(v);
    }
    double base[3] = {std::floor(x - 0.5), dimensions > 1 ? std::floor(y - 0.5) : 0, dimensions > 2 ? std::floor(z - 0.5) : 0};
    double part[3] = {x - 0.5 - base[0], dimensions > 1 ? y - 0.5 - base[1] : 0, dimensions > 2 ? z - 0.5 - base[2] : 0};
    double sum[4] = {};
    // The hardware keeps 8 fraction bits of the weights.
    for (double &p : part) p = std::round(p * 256) / 256;
    for (int corner = 0; corner < 1 << dimensions; ++corner) {
      double w = 1;
      long at[3];
      for (int k = 0; k < 3; ++k) {
        int up = corner >> k & 1;
        if (k < dimensions) w *= up ? part[k] : 1 - part[k];
        at[k] = static_cast<long>(base[k]) + up;
      }
      if (w != 0) point(at[0], at[1], at[2], w, sum, nullptr);
    }
    for (int c = 0; c < N; ++c) v[c] = static_cast<S>(sum[c]);
    return make(v);
  }
};

}  // namespace rpx

template <class T> RPX_INLINE T tex1Dfetch(hipTextureObject_t t, int x) {
  typename rpx::Texel<T>::scalar v[4];
  rpx::Sampler<T>{t}.point(x, 0, 0, 1, nullptr, v);
  return rpx::Sampler<T>{t}.make(v);
}
template <class T> RPX_INLINE T tex1D(hipTextureObject_t t, float x) { return rpx::Sampler<T>{t}.sample(1, x, 0, 0); }
template <class T> RPX_INLINE T tex2D(hipTextureObject_t t, float x, float y) { return rpx::Sampler<T>{t}.sample(2, x, y, 0); }
template <class T> RPX_INLINE T tex3D(hipTextureObject_t t, float x, float y, float z) { return rpx::Sampler<T>{t}.sample(3, x, y, z); }
template <class T> RPX_INLINE T tex1DLod(hipTextureObject_t t, float x, float) { return tex1D<T>(t, x); }
template <class T> RPX_INLINE T tex2DLod(hipTextureObject_t t, float x, float y, float) { return tex2D<T>(t, x, y); }
template <class T> RPX_INLINE T tex3DLod(hipTextureObject_t t, float x, float y, float z, float) { return tex3D<T>(t, x, y, z); }
template <class T> RPX_INLINE T tex2DLayered(hipTextureObject_t t, float x, float y, int layer) {
  __hip_texture one = *t;
  one.data += static_cast<size_t>(layer) * t->slice;
  one.depth = 1;
  return rpx::Sampler<T>{&one}.sample(2, x, y, 0);
}
template <class T> RPX_INLINE void tex1Dfetch(T *out, hipTextureObject_t t, int x) { *out = tex1Dfetch<T>(t, x); }
template <class T> RPX_INLINE void tex1D(T *out, hipTextureObject_t t, float x) { *out = tex1D<T>(t, x); }
template <class T> RPX_INLINE void tex2D(T *out, hipTextureObject_t t, float x, float y) { *out = tex2D<T>(t, x, y); }
template <class T> RPX_INLINE void tex3D(T *out, hipTextureObject_t t, float x, float y, float z) { *out = tex3D<T>(t, x, y, z); }

// Surface coordinates: x in bytes, y and z in elements.
template <class T> RPX_INLINE void surf1Dread(T *out, hipSurfaceObject_t s, int x, int = 0) { std::memcpy(out, s->data + x, sizeof(T)); }
template <class T> RPX_INLINE void surf1Dwrite(T v, hipSurfaceObject_t s, int x, int = 0) { std::memcpy(s->data + x, &v, sizeof(T)); }
typedef enum hipSurfaceBoundaryMode { hipBoundaryModeZero, hipBoundaryModeTrap, hipBoundaryModeClamp } hipSurfaceBoundaryMode;
template <class T> RPX_INLINE void surf2Dread(T *out, hipSurfaceObject_t s, int x, int y, int = 0) { std::memcpy(out, s->data + y * s->pitch + x, sizeof(T)); }
template <class T> RPX_INLINE T surf2Dread(hipSurfaceObject_t s, int x, int y, int = 0) {
  T v;
  std::memcpy(&v, s->data + y * s->pitch + x, sizeof(T));
  return v;
}
template <class T> RPX_INLINE void surf2Dwrite(T v, hipSurfaceObject_t s, int x, int y, int = 0) { std::memcpy(s->data + y * s->pitch + x, &v, sizeof(T)); }
template <class T> RPX_INLINE void surf3Dread(T *out, hipSurfaceObject_t s, int x, int y, int z, int = 0) { std::memcpy(out, s->data + z * s->slice + y * s->pitch + x, sizeof(T)); }
template <class T> RPX_INLINE void surf3Dwrite(T v, hipSurfaceObject_t s, int x, int y, int z, int = 0) { std::memcpy(s->data + z * s->slice + y * s->pitch + x, &v, sizeof(T)); }
