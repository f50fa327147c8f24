// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstring>

#include "internal_api.h"

using namespace rpx;

float rpx::half_to_float(std::uint16_t h) {
  int exponent = h >> 10 & 31, mantissa = h & 1023;
  float magnitude = exponent == 0    ? std::ldexp(static_cast<float>(mantissa), -24)
                    : exponent == 31 ? (mantissa ? NAN : INFINITY)
                                     : std::ldexp(static_cast<float>(mantissa + 1024), exponent - 25);
  return h & 0x8000 ? -magnitude : magnitude;
}

namespace {

size_t texel_bytes(const hipChannelFormatDesc &d) { return static_cast<size_t>(d.x + d.y + d.z + d.w) / 8; }
size_t at_least_one(size_t n) { return n ? n : 1; }

}  // namespace

hipError_t hipMallocArray(hipArray_t *array, const hipChannelFormatDesc *desc, size_t width, size_t height, unsigned flags) {
  return hipMalloc3DArray(array, desc, {width, height, 0}, flags);
}
hipError_t hipMalloc3DArray(hipArray_t *array, const hipChannelFormatDesc *desc, hipExtent extent, unsigned flags) {
  hipArray_t a = new hipArray{nullptr, *desc, extent.width, extent.height, extent.depth, extent.width * texel_bytes(*desc), flags};
  a->data = device_allocate(a->pitch * at_least_one(extent.height) * at_least_one(extent.depth));
  *array = a;
  return hipSuccess;
}
hipError_t hipFreeArray(hipArray_t array) {
  if (!array) return hipSuccess;
  device_free(array->data);
  delete array;
  return hipSuccess;
}
hipError_t hipMalloc3D(hipPitchedPtr *pointer, hipExtent extent) {
  pointer->xsize = extent.width;
  pointer->ysize = extent.height;
  pointer->pitch = (extent.width + 255) / 256 * 256;
  return hipMalloc(&pointer->ptr, pointer->pitch * at_least_one(extent.height) * at_least_one(extent.depth));
}
hipError_t hipMemset3D(hipPitchedPtr p, int value, hipExtent e) {
  for (size_t z = 0; z < e.depth; ++z)
    for (size_t y = 0; y < e.height; ++y) {
      char *row = static_cast<char *>(p.ptr) + (z * p.ysize + y) * p.pitch;
      std::memset(row, value, e.width);
      note_written(row, e.width);
    }
  return hipSuccess;
}
hipError_t hipMemcpyToArray(hipArray_t to, size_t x, size_t y, const void *from, size_t bytes, hipMemcpyKind kind) {
  return hipMemcpy(static_cast<char *>(to->data) + y * to->pitch + x, from, bytes, kind);
}
hipError_t hipMemcpyFromArray(void *to, hipArray_const_t from, size_t x, size_t y, size_t bytes, hipMemcpyKind kind) {
  return hipMemcpy(to, static_cast<const char *>(from->data) + y * from->pitch + x, bytes, kind);
}
hipError_t hipMemcpy2DToArray(hipArray_t to, size_t x, size_t y, const void *from, size_t pitch, size_t width, size_t height, hipMemcpyKind kind) {
  return hipMemcpy2D(static_cast<char *>(to->data) + y * to->pitch + x, to->pitch, from, pitch, width, height, kind);
}
hipError_t hipMemcpy2DFromArray(void *to, size_t pitch, hipArray_const_t from, size_t x, size_t y, size_t width, size_t height, hipMemcpyKind kind) {
  return hipMemcpy2D(to, pitch, static_cast<const char *>(from->data) + y * from->pitch + x, from->pitch, width, height, kind);
}
hipError_t hipMemcpy3D(const hipMemcpy3DParms *p) {
  // Of an array, x and the extent's width count elements; of linear memory, bytes.
  size_t unit = p->srcArray ? texel_bytes(p->srcArray->desc) : p->dstArray ? texel_bytes(p->dstArray->desc) : 1;
  struct Side {
    char *data;
    size_t pitch, slice, start;
  };
  auto side = [&](hipArray_t a, const hipPos &pos, const hipPitchedPtr &ptr) -> Side {
    if (a) return {static_cast<char *>(a->data), a->pitch, a->pitch * at_least_one(a->height), pos.x * unit + pos.y * a->pitch + pos.z * a->pitch * at_least_one(a->height)};
    size_t slice = ptr.pitch * at_least_one(ptr.ysize);
    return {static_cast<char *>(ptr.ptr), ptr.pitch, slice, pos.x + pos.y * ptr.pitch + pos.z * slice};
  };
  Side from = side(p->srcArray, p->srcPos, p->srcPtr), to = side(p->dstArray, p->dstPos, p->dstPtr);
  for (size_t z = 0; z < at_least_one(p->extent.depth); ++z)
    for (size_t y = 0; y < at_least_one(p->extent.height); ++y)
      if (hipError_t bad = hipMemcpy(to.data + to.start + z * to.slice + y * to.pitch, from.data + from.start + z * from.slice + y * from.pitch,
                                     p->extent.width * unit, p->kind))
        return bad;
  return hipSuccess;
}
hipError_t hipMemcpy3DAsync(const hipMemcpy3DParms *parameters, hipStream_t) { return hipMemcpy3D(parameters); }

hipError_t hipCreateTextureObject(hipTextureObject_t *texture, const hipResourceDesc *resource, const hipTextureDesc *description,
                                  const hipResourceViewDesc *) {
  __hip_texture t{};
  t.resource = *resource;
  t.description = *description;
  t.height = t.depth = 1;
  switch (resource->resType) {
    case hipResourceTypeArray: {
      const hipArray *a = resource->res.array.array;
      t.data = static_cast<const char *>(a->data);
      t.format = a->desc;
      t.width = static_cast<long>(a->width);
      t.height = static_cast<long>(at_least_one(a->height));
      t.depth = static_cast<long>(at_least_one(a->depth));
      t.pitch = a->pitch;
      break;
    }
    case hipResourceTypeLinear:
      t.data = static_cast<const char *>(resource->res.linear.devPtr);
      t.format = resource->res.linear.desc;
      t.width = static_cast<long>(resource->res.linear.sizeInBytes / texel_bytes(t.format));
      break;
    case hipResourceTypePitch2D:
      t.data = static_cast<const char *>(resource->res.pitch2D.devPtr);
      t.format = resource->res.pitch2D.desc;
      t.width = static_cast<long>(resource->res.pitch2D.width);
      t.height = static_cast<long>(resource->res.pitch2D.height);
      t.pitch = resource->res.pitch2D.pitchInBytes;
      break;
    default: unsupported("textures over mipmapped arrays");
  }
  t.slice = t.pitch * static_cast<size_t>(t.height);
  t.bytes = t.format.x / 8;
  t.channels = 1 + (t.format.y > 0) + (t.format.z > 0) + (t.format.w > 0);
  *texture = new __hip_texture(t);
  return hipSuccess;
}
hipError_t hipDestroyTextureObject(hipTextureObject_t texture) {
  delete texture;
  return hipSuccess;
}
hipError_t hipGetTextureObjectResourceDesc(hipResourceDesc *resource, hipTextureObject_t texture) {
  *resource = texture->resource;
  return hipSuccess;
}
hipError_t hipCreateSurfaceObject(hipSurfaceObject_t *surface, const hipResourceDesc *resource) {
  if (resource->resType != hipResourceTypeArray) return fail(hipErrorInvalidValue);
  hipArray_t a = resource->res.array.array;
  *surface = new __hip_surface{a, static_cast<char *>(a->data), a->pitch, a->pitch * at_least_one(a->height)};
  return hipSuccess;
}
hipError_t hipDestroySurfaceObject(hipSurfaceObject_t surface) {
  delete surface;
  return hipSuccess;
}
