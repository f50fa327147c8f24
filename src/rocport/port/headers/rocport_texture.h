// rocport_texture.h - CUDA's texture and surface objects and arrays, in software.
// SPDX-License-Identifier: Apache-2.0
//
// For targets without texture units (gfx942, gfx950), where HIP has neither fetches nor arrays. A texture object points to
// a description in device memory; an array is a pitched piece of device memory. HIP's own types stay: what is made here is
// passed to the functions here only, not to HIP's, and an array that HIP made is refused here with hipErrorInvalidValue.
//
// What this header guarantees
//   * Point and linear filtering, the four address modes, normalized coordinates, reads as normalized floats, border
//     colours; 1D, 2D and 3D, layered in 1D and 2D; memory that is linear, pitched or an array. Weights of the linear
//     filter have 8 bits of fraction, as on NVIDIA GPUs; they differ there by one step of 1/256 at most.
//   * Surfaces are read and written by byte offset, with the three boundary modes.
//   * A fetch costs what its loads and multiplications cost: one texel read by point, two to eight by linear filtering.
//
// What it does not have
//   * Mipmaps (the level of a Lod fetch is ignored), Grad fetches, cubemaps, sRGB, views of another format, texture
//     references, the driver API's textures. What cannot be made is refused with hipErrorNotSupported; maxAnisotropy is
//     ignored, as only gradients would ask for it.
#ifndef ROCPORT_TEXTURE_H
#define ROCPORT_TEXTURE_H

#if defined(__HIPCC__)
#include <hip/hip_runtime.h>
#else
#include <hip/hip_runtime_api.h>
#endif

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <new>
#include <unordered_map>

namespace rocport {
namespace detail {

// What a texture or surface object points to, in device memory. Sizes are in texels, pitch and slice in bytes.
struct texture_state {
  char* data;
  std::int64_t pitch, slice;
  int size[3];
  int channels, bytes, kind;
  int address[3];
  int smooth, normalized;
  float border[4];
};

// What an array of this header is. HIP's arrays do not begin with this word.
constexpr std::uint64_t array_word = 0x726f63706f727441u;
struct array_state {
  std::uint64_t word;
  char* data;
  hipChannelFormatDesc format;
  std::size_t width, height, depth, pitch;
  unsigned flags;
};

struct texture_made {
  hipResourceDesc resource;
  hipTextureDesc description;
};

struct texture_registry {
  std::mutex lock;
  std::unordered_map<const void*, texture_made> made;
};
inline texture_registry& textures() {
  static texture_registry registry;
  return registry;
}

inline int channels_of(const hipChannelFormatDesc& format) {
  return (format.x > 0) + (format.y > 0) + (format.z > 0) + (format.w > 0);
}
inline std::size_t texel_bytes(const hipChannelFormatDesc& format) {
  return static_cast<std::size_t>(channels_of(format)) * static_cast<std::size_t>(format.x) / 8u;
}
// Null for what this header has not made.
inline const array_state* state_of(hipArray_const_t array) {
  const array_state* made = reinterpret_cast<const array_state*>(array);
  return made != nullptr && made->word == array_word ? made : nullptr;
}
inline std::size_t row_bytes(const array_state& array) { return array.width * texel_bytes(array.format); }
inline std::size_t rows_of(const array_state& array) { return array.height > 0u ? array.height : 1u; }
// True where `count` of `size` can be had from `first` on.
inline bool within(std::size_t first, std::size_t count, std::size_t size) {
  return first <= size && count <= size - first;
}
// Where a rectangle of bytes begins; null where it is not in the array.
inline char* rectangle_at(const array_state* array, std::size_t x, std::size_t y, std::size_t width,
                          std::size_t height) {
  if (array == nullptr || !within(x, width, row_bytes(*array)) || !within(y, height, rows_of(*array))) return nullptr;
  return array->data + y * array->pitch + x;
}

inline hipError_t describe(const hipResourceDesc& resource, texture_state* state, hipChannelFormatDesc* format) {
  std::memset(state, 0, sizeof *state);
  state->size[0] = state->size[1] = state->size[2] = 1;
  if (resource.resType == hipResourceTypeLinear) {
    *format = resource.res.linear.desc;
    const std::size_t texel = texel_bytes(*format);
    if (texel == 0u) return hipErrorInvalidChannelDescriptor;
    state->data = static_cast<char*>(resource.res.linear.devPtr);
    state->size[0] = static_cast<int>(resource.res.linear.sizeInBytes / texel);
  } else if (resource.resType == hipResourceTypePitch2D) {
    *format = resource.res.pitch2D.desc;
    state->data = static_cast<char*>(resource.res.pitch2D.devPtr);
    state->size[0] = static_cast<int>(resource.res.pitch2D.width);
    state->size[1] = static_cast<int>(resource.res.pitch2D.height);
    state->pitch = static_cast<std::int64_t>(resource.res.pitch2D.pitchInBytes);
  } else if (resource.resType == hipResourceTypeArray) {
    const array_state* array = state_of(resource.res.array.array);
    if (array == nullptr) return hipErrorInvalidValue;
    *format = array->format;
    state->data = array->data;
    state->size[0] = static_cast<int>(array->width);
    state->size[1] = static_cast<int>(array->height > 0u ? array->height : 1u);
    state->size[2] = static_cast<int>(array->depth > 0u ? array->depth : 1u);
    state->pitch = static_cast<std::int64_t>(array->pitch);
    state->slice = state->pitch * state->size[1];
  } else {
    return hipErrorNotSupported;
  }
  state->channels = channels_of(*format);
  state->bytes = format->x / 8;
  state->kind = static_cast<int>(format->f);
  const bool known = state->bytes == 1 || state->bytes == 2 || state->bytes == 4;
  return state->data != nullptr && state->channels > 0 && known ? hipSuccess : hipErrorInvalidValue;
}

template <class Object>
hipError_t place(const texture_state& state, Object* object) {
  void* device = nullptr;
  hipError_t error = hipMalloc(&device, sizeof state);
  if (error == hipSuccess) error = hipMemcpy(device, &state, sizeof state, hipMemcpyHostToDevice);
  if (error != hipSuccess) {
    (void)hipFree(device);
    return error;
  }
  *object = reinterpret_cast<Object>(device);
  return hipSuccess;
}

}  // namespace detail

// ---- Texture and surface objects -------------------------------------------------------------------------------------

inline hipError_t create_texture_object(hipTextureObject_t* texture, const hipResourceDesc* resource,
                                        const hipTextureDesc* description, const void* view = nullptr) {
  if (texture == nullptr || resource == nullptr || description == nullptr) return hipErrorInvalidValue;
  detail::texture_state state;
  hipChannelFormatDesc format;
  const hipError_t error = detail::describe(*resource, &state, &format);
  if (error != hipSuccess) return error;
  if (view != nullptr || description->sRGB != 0) return hipErrorNotSupported;
  const bool floats = format.f == hipChannelFormatKindFloat;
  state.smooth = description->filterMode == hipFilterModeLinear;
  state.normalized = description->normalizedCoords != 0;
  const bool scaled = description->readMode == hipReadModeNormalizedFloat && !floats;
  if (scaled && state.bytes > 2) return hipErrorInvalidValue;
  if (state.smooth && !floats && !scaled) return hipErrorInvalidValue;
  for (int i = 0; i < 3; ++i) state.address[i] = static_cast<int>(description->addressMode[i]);
  const float steps = state.bytes == 1 ? (format.f == hipChannelFormatKindSigned ? 127.0f : 255.0f)
                                       : (format.f == hipChannelFormatKindSigned ? 32767.0f : 65535.0f);
  for (int i = 0; i < 4; ++i) {
    state.border[i] = description->borderColor[i];
    // The border has the precision of the texels; halves go down.
    if (scaled) state.border[i] = std::ceil(state.border[i] * steps - 0.5f) / steps;
  }
  const hipError_t placed = detail::place(state, texture);
  if (placed == hipSuccess) {
    detail::texture_registry& all = detail::textures();
    std::lock_guard<std::mutex> hold(all.lock);
    all.made[*texture] = {*resource, *description};
  }
  return placed;
}
inline hipError_t destroy_texture_object(hipTextureObject_t texture) {
  if (texture == nullptr) return hipSuccess;
  {
    detail::texture_registry& all = detail::textures();
    std::lock_guard<std::mutex> hold(all.lock);
    all.made.erase(texture);
  }
  return hipFree(reinterpret_cast<void*>(texture));
}
inline hipError_t get_texture_object_resource_desc(hipResourceDesc* resource, hipTextureObject_t texture) {
  detail::texture_registry& all = detail::textures();
  std::lock_guard<std::mutex> hold(all.lock);
  const auto found = all.made.find(texture);
  if (found == all.made.end()) return hipErrorInvalidValue;
  *resource = found->second.resource;
  return hipSuccess;
}
inline hipError_t get_texture_object_texture_desc(hipTextureDesc* description, hipTextureObject_t texture) {
  detail::texture_registry& all = detail::textures();
  std::lock_guard<std::mutex> hold(all.lock);
  const auto found = all.made.find(texture);
  if (found == all.made.end()) return hipErrorInvalidValue;
  *description = found->second.description;
  return hipSuccess;
}

inline hipError_t create_surface_object(hipSurfaceObject_t* surface, const hipResourceDesc* resource) {
  if (surface == nullptr || resource == nullptr || resource->resType != hipResourceTypeArray) return hipErrorInvalidValue;
  detail::texture_state state;
  hipChannelFormatDesc format;
  const hipError_t error = detail::describe(*resource, &state, &format);
  return error == hipSuccess ? detail::place(state, surface) : error;
}
inline hipError_t destroy_surface_object(hipSurfaceObject_t surface) {
  return surface == nullptr ? hipSuccess : hipFree(reinterpret_cast<void*>(surface));
}

// ---- Arrays ----------------------------------------------------------------------------------------------------------

inline hipError_t malloc_3d_array(hipArray_t* array, const hipChannelFormatDesc* format, hipExtent extent,
                                  unsigned flags = 0u) {
  if (array == nullptr || format == nullptr || extent.width == 0u) return hipErrorInvalidValue;
  if ((flags & hipArrayCubemap) != 0u) return hipErrorNotSupported;
  if (detail::texel_bytes(*format) == 0u) return hipErrorInvalidChannelDescriptor;
  detail::array_state* made = new (std::nothrow) detail::array_state();
  if (made == nullptr) return hipErrorOutOfMemory;
  const std::size_t rows = extent.height > 0u ? extent.height : 1u, slices = extent.depth > 0u ? extent.depth : 1u;
  made->word = detail::array_word;
  made->format = *format;
  made->width = extent.width;
  made->height = extent.height;
  made->depth = extent.depth;
  made->flags = flags;
  made->pitch = (extent.width * detail::texel_bytes(*format) + 15u) / 16u * 16u;
  const hipError_t error = hipMalloc(reinterpret_cast<void**>(&made->data), made->pitch * rows * slices);
  if (error != hipSuccess) {
    delete made;
    return error;
  }
  *array = reinterpret_cast<hipArray_t>(made);
  return hipSuccess;
}
inline hipError_t malloc_array(hipArray_t* array, const hipChannelFormatDesc* format, std::size_t width,
                               std::size_t height = 0u, unsigned flags = 0u) {
  hipExtent extent;
  extent.width = width;
  extent.height = height;
  extent.depth = 0u;
  return malloc_3d_array(array, format, extent, flags);
}
inline hipError_t free_array(hipArray_t array) {
  if (array == nullptr) return hipSuccess;
  if (detail::state_of(array) == nullptr) return hipErrorInvalidValue;
  detail::array_state* made = reinterpret_cast<detail::array_state*>(array);
  const hipError_t error = hipFree(made->data);
  made->word = 0u;
  delete made;
  return error;
}
inline hipError_t array_get_info(hipChannelFormatDesc* format, hipExtent* extent, unsigned* flags, hipArray_t array) {
  const detail::array_state* made = detail::state_of(array);
  if (made == nullptr) return hipErrorInvalidValue;
  if (format != nullptr) *format = made->format;
  if (extent != nullptr) {
    extent->width = made->width;
    extent->height = made->height;
    extent->depth = made->depth;
  }
  if (flags != nullptr) *flags = made->flags;
  return hipSuccess;
}
inline hipError_t get_channel_desc(hipChannelFormatDesc* format, hipArray_const_t array) {
  const detail::array_state* made = detail::state_of(array);
  if (made == nullptr || format == nullptr) return hipErrorInvalidValue;
  *format = made->format;
  return hipSuccess;
}

// Offsets `x` and widths are in bytes, as CUDA's. What is not in the array is refused: hipErrorInvalidValue.
inline hipError_t memcpy_2d_to_array_async(hipArray_t array, std::size_t x, std::size_t y, const void* from,
                                           std::size_t pitch, std::size_t width, std::size_t height,
                                           hipMemcpyKind kind, hipStream_t stream = nullptr) {
  const detail::array_state* made = detail::state_of(array);
  char* to = detail::rectangle_at(made, x, y, width, height);
  if (to == nullptr) return hipErrorInvalidValue;
  return hipMemcpy2DAsync(to, made->pitch, from, pitch, width, height, kind, stream);
}
inline hipError_t memcpy_2d_to_array(hipArray_t array, std::size_t x, std::size_t y, const void* from,
                                     std::size_t pitch, std::size_t width, std::size_t height, hipMemcpyKind kind) {
  const detail::array_state* made = detail::state_of(array);
  char* to = detail::rectangle_at(made, x, y, width, height);
  return to == nullptr ? hipErrorInvalidValue : hipMemcpy2D(to, made->pitch, from, pitch, width, height, kind);
}
inline hipError_t memcpy_2d_from_array_async(void* to, std::size_t pitch, hipArray_const_t array, std::size_t x,
                                             std::size_t y, std::size_t width, std::size_t height, hipMemcpyKind kind,
                                             hipStream_t stream = nullptr) {
  const detail::array_state* made = detail::state_of(array);
  const char* from = detail::rectangle_at(made, x, y, width, height);
  if (from == nullptr) return hipErrorInvalidValue;
  return hipMemcpy2DAsync(to, pitch, from, made->pitch, width, height, kind, stream);
}
inline hipError_t memcpy_2d_from_array(void* to, std::size_t pitch, hipArray_const_t array, std::size_t x,
                                       std::size_t y, std::size_t width, std::size_t height, hipMemcpyKind kind) {
  const detail::array_state* made = detail::state_of(array);
  const char* from = detail::rectangle_at(made, x, y, width, height);
  return from == nullptr ? hipErrorInvalidValue : hipMemcpy2D(to, pitch, from, made->pitch, width, height, kind);
}

namespace detail {

// True where `bytes` from a place of the array on, row by row, are all in it.
inline bool holds_run(const array_state* array, std::size_t x, std::size_t y, std::size_t bytes) {
  if (array == nullptr || x > row_bytes(*array) || y > rows_of(*array)) return false;
  return within(y * row_bytes(*array) + x, bytes, rows_of(*array) * row_bytes(*array));
}

}  // namespace detail

// `bytes` from a place of the array on, row by row.
inline hipError_t memcpy_to_array(hipArray_t array, std::size_t x, std::size_t y, const void* from, std::size_t bytes,
                                  hipMemcpyKind kind) {
  const detail::array_state* made = detail::state_of(array);
  if (!detail::holds_run(made, x, y, bytes)) return hipErrorInvalidValue;
  const std::size_t row = detail::row_bytes(*made);
  const char* next = static_cast<const char*>(from);
  for (; bytes > 0u; x = 0u, ++y) {
    const std::size_t part = bytes < row - x ? bytes : row - x;
    const hipError_t error = hipMemcpy(made->data + y * made->pitch + x, next, part, kind);
    if (error != hipSuccess) return error;
    next += part;
    bytes -= part;
  }
  return hipSuccess;
}
inline hipError_t memcpy_from_array(void* to, hipArray_const_t array, std::size_t x, std::size_t y, std::size_t bytes,
                                    hipMemcpyKind kind) {
  const detail::array_state* made = detail::state_of(array);
  if (!detail::holds_run(made, x, y, bytes)) return hipErrorInvalidValue;
  const std::size_t row = detail::row_bytes(*made);
  char* next = static_cast<char*>(to);
  for (; bytes > 0u; x = 0u, ++y) {
    const std::size_t part = bytes < row - x ? bytes : row - x;
    const hipError_t error = hipMemcpy(next, made->data + y * made->pitch + x, part, kind);
    if (error != hipSuccess) return error;
    next += part;
    bytes -= part;
  }
  return hipSuccess;
}

namespace detail {

// One side of a copy in three dimensions: where it begins, and its strides. Positions of arrays are in texels.
struct side {
  char* data;
  std::size_t pitch, slice;
};
inline side side_of(const array_state* array, const hipPos& at, const hipPitchedPtr& memory) {
  if (array == nullptr) {
    const std::size_t slice = memory.pitch * memory.ysize;
    return {static_cast<char*>(memory.ptr) + at.z * slice + at.y * memory.pitch + at.x, memory.pitch, slice};
  }
  const std::size_t slice = array->pitch * rows_of(*array);
  return {array->data + at.z * slice + at.y * array->pitch + at.x * texel_bytes(array->format), array->pitch, slice};
}

// True where a side is memory, or an array of this header that holds the extent.
inline bool side_is_good(hipArray_const_t given, const hipPos& at, const hipPitchedPtr& memory,
                         const hipExtent& extent) {
  if (given == nullptr) return memory.ptr != nullptr;
  const array_state* array = state_of(given);
  return array != nullptr && within(at.x, extent.width, array->width) && within(at.y, extent.height, rows_of(*array)) &&
         within(at.z, extent.depth, array->depth > 0u ? array->depth : 1u);
}

}  // namespace detail

inline hipError_t memcpy_3d_async(const hipMemcpy3DParms* what, hipStream_t stream = nullptr) {
  if (what == nullptr || !detail::side_is_good(what->srcArray, what->srcPos, what->srcPtr, what->extent) ||
      !detail::side_is_good(what->dstArray, what->dstPos, what->dstPtr, what->extent)) {
    return hipErrorInvalidValue;
  }
  const detail::array_state *source = detail::state_of(what->srcArray), *target = detail::state_of(what->dstArray);
  if (source != nullptr && target != nullptr &&
      detail::texel_bytes(source->format) != detail::texel_bytes(target->format)) {
    return hipErrorInvalidValue;
  }
  const detail::array_state* array = source != nullptr ? source : target;
  const detail::side from = detail::side_of(source, what->srcPos, what->srcPtr);
  const detail::side to = detail::side_of(target, what->dstPos, what->dstPtr);
  // With an array on either side the width is in texels.
  const std::size_t width = what->extent.width * (array != nullptr ? detail::texel_bytes(array->format) : 1u);
  const hipMemcpyKind kind = source != nullptr && target != nullptr ? hipMemcpyDeviceToDevice : what->kind;
  for (std::size_t z = 0; z < what->extent.depth; ++z) {
    const hipError_t error = hipMemcpy2DAsync(to.data + z * to.slice, to.pitch, from.data + z * from.slice, from.pitch,
                                              width, what->extent.height, kind, stream);
    if (error != hipSuccess) return error;
  }
  return hipSuccess;
}
inline hipError_t memcpy_3d(const hipMemcpy3DParms* what) {
  const hipError_t error = memcpy_3d_async(what);
  return error == hipSuccess ? hipStreamSynchronize(nullptr) : error;
}

#if defined(__HIPCC__)

// ---- Fetches ---------------------------------------------------------------------------------------------------------

namespace detail {

#define ROCPORT_TEXTURE __device__ inline __attribute__((always_inline))

template <class T>
struct texel {
  typedef T scalar;
  static constexpr int count = 1;
};
template <class T, unsigned Count>
struct texel<HIP_vector_type<T, Count>> {
  typedef T scalar;
  static constexpr int count = Count;
};
template <class T>
struct is_float {
  static constexpr bool value = false;
};
template <>
struct is_float<float> {
  static constexpr bool value = true;
};

ROCPORT_TEXTURE const texture_state& state_at(const void* object) { return *static_cast<const texture_state*>(object); }

// False where the border colour stands for a texel at index `i` of `n`.
ROCPORT_TEXTURE bool addressed(const texture_state& t, int axis, int* i) {
  const int n = t.size[axis], mode = t.address[axis];
  if (*i >= 0 && *i < n) return true;
  if (t.normalized && mode == hipAddressModeWrap) {
    *i = (*i % n + n) % n;
    return true;
  }
  if (t.normalized && mode == hipAddressModeMirror) {
    const int m = (*i % (2 * n) + 2 * n) % (2 * n);
    *i = m < n ? m : 2 * n - 1 - m;
    return true;
  }
  if (mode == hipAddressModeBorder) return false;
  *i = *i < 0 ? 0 : n - 1;
  return true;
}

// A channel of a texel as a float: one that is, an integer over the largest of its type, or the bits of a word.
ROCPORT_TEXTURE float float_channel(const texture_state& t, const char* at) {
  if (t.bytes == 4) return *reinterpret_cast<const float*>(at);
  if (t.kind == hipChannelFormatKindFloat) return static_cast<float>(*reinterpret_cast<const _Float16*>(at));
  float value, largest;
  if (t.kind == hipChannelFormatKindSigned) {
    value = t.bytes == 1 ? *reinterpret_cast<const signed char*>(at) : *reinterpret_cast<const short*>(at);
    largest = t.bytes == 1 ? 127.0f : 32767.0f;
  } else {
    value = t.bytes == 1 ? *reinterpret_cast<const unsigned char*>(at) : *reinterpret_cast<const unsigned short*>(at);
    largest = t.bytes == 1 ? 255.0f : 65535.0f;
  }
  value = value / largest;
  return value < -1.0f ? -1.0f : value;
}
ROCPORT_TEXTURE int integer_channel(const texture_state& t, const char* at) {
  if (t.bytes == 4) return *reinterpret_cast<const int*>(at);
  if (t.kind == hipChannelFormatKindSigned) {
    return t.bytes == 1 ? *reinterpret_cast<const signed char*>(at) : *reinterpret_cast<const short*>(at);
  }
  return t.bytes == 1 ? *reinterpret_cast<const unsigned char*>(at) : *reinterpret_cast<const unsigned short*>(at);
}

// The texel at integer coordinates.
template <class T>
ROCPORT_TEXTURE T texel_at(const texture_state& t, int x, int y, int z) {
  typedef typename texel<T>::scalar scalar;
  scalar value[4] = {scalar(0), scalar(0), scalar(0), scalar(0)};
  const bool inside = addressed(t, 0, &x) && addressed(t, 1, &y) && addressed(t, 2, &z);
  const char* at = t.data + z * t.slice + y * t.pitch + static_cast<std::int64_t>(x) * t.channels * t.bytes;
  for (int c = 0; c < texel<T>::count; ++c) {
    if (c >= t.channels) continue;
    if (is_float<scalar>::value) {
      value[c] = static_cast<scalar>(inside ? float_channel(t, at + c * t.bytes) : t.border[c]);
    } else {
      value[c] = static_cast<scalar>(inside ? integer_channel(t, at + c * t.bytes) : static_cast<int>(t.border[c]));
    }
  }
  T result;
  __builtin_memcpy(static_cast<void*>(&result), value, sizeof result);
  return result;
}

// The place of a coordinate: the lower of two texels, and the weight of the upper one in 256ths.
ROCPORT_TEXTURE void placed(const texture_state& t, int axis, float at, int* lower, int* weight) {
  if (t.normalized) at *= static_cast<float>(t.size[axis]);
  // What is far outside is as far outside as a texel that is not there.
  at = at < -1.0e8f ? -1.0e8f : at > 1.0e8f ? 1.0e8f : at;
  if (!t.smooth) {
    *lower = static_cast<int>(__builtin_floorf(at));
    *weight = 0;
    return;
  }
  const float whole = __builtin_floorf(at);
  const int part = static_cast<int>(__builtin_floorf((at - whole) * 256.0f + 0.5f)) - 128;
  *lower = static_cast<int>(whole) + (part < 0 ? -1 : 0);
  *weight = part < 0 ? part + 256 : part;
}

template <class T, int Dimensions>
ROCPORT_TEXTURE T sampled(const texture_state& t, float x, float y, float z, int layer = 0) {
  const float given[3] = {x, y, z};
  int lower[3] = {0, 0, layer}, weight[3] = {0, 0, 0};
  for (int axis = 0; axis < Dimensions; ++axis) placed(t, axis, given[axis], &lower[axis], &weight[axis]);
  if (!t.smooth || !is_float<typename texel<T>::scalar>::value) return texel_at<T>(t, lower[0], lower[1], lower[2]);
  typedef typename texel<T>::scalar scalar;
  float sum[4] = {0.0f, 0.0f, 0.0f, 0.0f};
  for (int corner = 0; corner < 1 << Dimensions; ++corner) {
    float share = 1.0f;
    int at[3] = {lower[0], lower[1], lower[2]};
    for (int axis = 0; axis < Dimensions; ++axis) {
      const bool upper = (corner >> axis & 1) != 0;
      share *= static_cast<float>(upper ? weight[axis] : 256 - weight[axis]) / 256.0f;
      at[axis] += upper;
    }
    if (share == 0.0f) continue;
    scalar value[4];
    const T found = texel_at<T>(t, at[0], at[1], at[2]);
    __builtin_memcpy(value, static_cast<const void*>(&found), sizeof found);
    for (int c = 0; c < texel<T>::count; ++c) sum[c] += share * static_cast<float>(value[c]);
  }
  scalar value[4];
  for (int c = 0; c < texel<T>::count; ++c) value[c] = static_cast<scalar>(sum[c]);
  T result;
  __builtin_memcpy(static_cast<void*>(&result), value, sizeof result);
  return result;
}

// As on an NVIDIA H200: the layer is unsigned, so that -1 is the last one.
ROCPORT_TEXTURE int layer_of(const texture_state& t, int layer) {
  return layer >= 0 && layer < t.size[2] ? layer : t.size[2] - 1;
}

// As on an NVIDIA H200: a row without layers is filtered as an image of one row at y = 0, half of which is the border
// where the second address mode says so.
template <class T>
ROCPORT_TEXTURE T sampled_row(const texture_state& t, float x) {
  if (t.smooth && t.address[1] == hipAddressModeBorder) return sampled<T, 2>(t, x, 0.0f, 0.0f);
  return sampled<T, 1>(t, x, 0.0f, 0.0f);
}

}  // namespace detail

// A texel of linear memory; 0 outside of it.
template <class T>
ROCPORT_TEXTURE T tex1Dfetch(hipTextureObject_t texture, int x) {
  const detail::texture_state& t = detail::state_at(texture);
  if (x < 0 || x >= t.size[0]) {
    T nothing;
    __builtin_memset(static_cast<void*>(&nothing), 0, sizeof nothing);
    return nothing;
  }
  return detail::texel_at<T>(t, x, 0, 0);
}
template <class T>
ROCPORT_TEXTURE T tex1D(hipTextureObject_t texture, float x) {
  return detail::sampled_row<T>(detail::state_at(texture), x);
}
template <class T>
ROCPORT_TEXTURE T tex2D(hipTextureObject_t texture, float x, float y) {
  return detail::sampled<T, 2>(detail::state_at(texture), x, y, 0.0f);
}
template <class T>
ROCPORT_TEXTURE T tex3D(hipTextureObject_t texture, float x, float y, float z) {
  return detail::sampled<T, 3>(detail::state_at(texture), x, y, z);
}
template <class T>
ROCPORT_TEXTURE T tex1DLayered(hipTextureObject_t texture, float x, int layer) {
  const detail::texture_state& t = detail::state_at(texture);
  return detail::sampled<T, 1>(t, x, 0.0f, 0.0f, detail::layer_of(t, layer));
}
template <class T>
ROCPORT_TEXTURE T tex2DLayered(hipTextureObject_t texture, float x, float y, int layer) {
  const detail::texture_state& t = detail::state_at(texture);
  return detail::sampled<T, 2>(t, x, y, 0.0f, detail::layer_of(t, layer));
}

// There is one level, whatever a fetch asks for.
template <class T>
ROCPORT_TEXTURE T tex1DLod(hipTextureObject_t texture, float x, float) {
  return rocport::tex1D<T>(texture, x);
}
template <class T>
ROCPORT_TEXTURE T tex2DLod(hipTextureObject_t texture, float x, float y, float) {
  return rocport::tex2D<T>(texture, x, y);
}
template <class T>
ROCPORT_TEXTURE T tex3DLod(hipTextureObject_t texture, float x, float y, float z, float) {
  return rocport::tex3D<T>(texture, x, y, z);
}
template <class T>
ROCPORT_TEXTURE T tex1DLayeredLod(hipTextureObject_t texture, float x, int layer, float) {
  return rocport::tex1DLayered<T>(texture, x, layer);
}
template <class T>
ROCPORT_TEXTURE T tex2DLayeredLod(hipTextureObject_t texture, float x, float y, int layer, float) {
  return rocport::tex2DLayered<T>(texture, x, y, layer);
}

// The same, with the result at a pointer.
template <class T>
ROCPORT_TEXTURE void tex1Dfetch(T* out, hipTextureObject_t texture, int x) {
  *out = rocport::tex1Dfetch<T>(texture, x);
}
template <class T>
ROCPORT_TEXTURE void tex1D(T* out, hipTextureObject_t texture, float x) {
  *out = rocport::tex1D<T>(texture, x);
}
template <class T>
ROCPORT_TEXTURE void tex2D(T* out, hipTextureObject_t texture, float x, float y) {
  *out = rocport::tex2D<T>(texture, x, y);
}
template <class T>
ROCPORT_TEXTURE void tex3D(T* out, hipTextureObject_t texture, float x, float y, float z) {
  *out = rocport::tex3D<T>(texture, x, y, z);
}
template <class T>
ROCPORT_TEXTURE void tex1DLayered(T* out, hipTextureObject_t texture, float x, int layer) {
  *out = rocport::tex1DLayered<T>(texture, x, layer);
}
template <class T>
ROCPORT_TEXTURE void tex2DLayered(T* out, hipTextureObject_t texture, float x, float y, int layer) {
  *out = rocport::tex2DLayered<T>(texture, x, y, layer);
}

// ---- Surfaces --------------------------------------------------------------------------------------------------------

namespace detail {

// The address of an object of `bytes` at byte `x`; null where it is outside and `mode` lets that be ignored.
ROCPORT_TEXTURE char* surface_at(const void* surface, int bytes, int x, int y, int z, int mode) {
  const texture_state& t = state_at(surface);
  const int row = t.size[0] * t.channels * t.bytes;
  if (x < 0 || x + bytes > row || y < 0 || y >= t.size[1] || z < 0 || z >= t.size[2]) {
    if (mode == hipBoundaryModeTrap) __builtin_trap();
    if (mode == hipBoundaryModeZero) return nullptr;
    x = x < 0 ? 0 : x + bytes > row ? row - bytes : x;
    y = y < 0 ? 0 : y < t.size[1] ? y : t.size[1] - 1;
    z = z < 0 ? 0 : z < t.size[2] ? z : t.size[2] - 1;
  }
  return t.data + z * t.slice + y * t.pitch + x;
}
template <class T>
ROCPORT_TEXTURE T surface_read(const void* surface, int x, int y, int z, int mode) {
  T value;
  const char* at = surface_at(surface, sizeof(T), x, y, z, mode);
  if (at == nullptr) {
    __builtin_memset(static_cast<void*>(&value), 0, sizeof value);
  } else {
    __builtin_memcpy(static_cast<void*>(&value), at, sizeof value);
  }
  return value;
}
template <class T>
ROCPORT_TEXTURE void surface_write(const T& value, const void* surface, int x, int y, int z, int mode) {
  // A write outside is left out in every mode but the trapping one.
  char* at = surface_at(surface, sizeof(T), x, y, z, mode == hipBoundaryModeTrap ? mode : hipBoundaryModeZero);
  if (at != nullptr) __builtin_memcpy(at, static_cast<const void*>(&value), sizeof value);
}

}  // namespace detail

#define ROCPORT_SURFACE(shape, parameters, x, y, z)                                                              \
  template <class T>                                                                                             \
  ROCPORT_TEXTURE T surf##shape##read(hipSurfaceObject_t surface, ROCPORT_ARGUMENTS parameters,                  \
                                      hipSurfaceBoundaryMode mode = hipBoundaryModeTrap) {                       \
    return detail::surface_read<T>(surface, x, y, z, mode);                                                      \
  }                                                                                                              \
  template <class T>                                                                                             \
  ROCPORT_TEXTURE void surf##shape##read(T* out, hipSurfaceObject_t surface, ROCPORT_ARGUMENTS parameters,       \
                                         hipSurfaceBoundaryMode mode = hipBoundaryModeTrap) {                    \
    *out = detail::surface_read<T>(surface, x, y, z, mode);                                                      \
  }                                                                                                              \
  template <class T>                                                                                             \
  ROCPORT_TEXTURE void surf##shape##write(T value, hipSurfaceObject_t surface, ROCPORT_ARGUMENTS parameters,     \
                                          hipSurfaceBoundaryMode mode = hipBoundaryModeTrap) {                   \
    detail::surface_write<T>(value, surface, x, y, z, mode);                                                     \
  }
#define ROCPORT_ARGUMENTS(...) __VA_ARGS__
ROCPORT_SURFACE(1D, (int x), x, 0, 0)
ROCPORT_SURFACE(2D, (int x, int y), x, y, 0)
ROCPORT_SURFACE(3D, (int x, int y, int z), x, y, z)
ROCPORT_SURFACE(1DLayered, (int x, int layer), x, 0, layer)
ROCPORT_SURFACE(2DLayered, (int x, int y, int layer), x, y, layer)
#undef ROCPORT_ARGUMENTS
#undef ROCPORT_SURFACE
#undef ROCPORT_TEXTURE

#endif  // __HIPCC__

}  // namespace rocport

#endif  // ROCPORT_TEXTURE_H
