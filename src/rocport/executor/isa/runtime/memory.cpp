// SPDX-License-Identifier: Apache-2.0
// Device memory: pages of the host whose last bytes lie before a page that nobody may touch, with marked bytes around
// what was asked for. A write out of bounds ends the program there, or is seen at the next look.
#include <cstdlib>

#include <sys/mman.h>
#include <unistd.h>

#include "state.h"
#include "trace.h"

namespace rt {
namespace {

constexpr std::size_t kAlignment = 256;
constexpr std::size_t kPage = 4096;
constexpr unsigned char kMark = 0xc9;
// Each allocation with pages of its own takes two entries of the kernel's table of 65,530; behind that many they share.
constexpr std::size_t kMostGuarded = 16384;
constexpr std::size_t kLookedAtAfterLaunch = 64;

std::map<char *, Allocation> &table() {
  static auto *allocations = new std::map<char *, Allocation>;
  return *allocations;
}
std::recursive_mutex mutex;
std::size_t in_use;

std::size_t up(std::size_t value, std::size_t to) { return (value + to - 1) / to * to; }

int poison() {
  static const int byte = [] {
    std::string text = setting("ROCPORT_POISON", "");
    return text.empty() ? -1 : std::atoi(text.c_str());
  }();
  return byte;
}

// The marked bytes: from the start of the page to the memory, and from its end to the guard.
void margins(const Allocation &a, char **before, std::size_t *count_before, char **behind, std::size_t *count_behind) {
  *before = a.owned;
  *count_before = static_cast<std::size_t>(a.base - a.owned);
  if (*count_before > 1024) *before = a.base - 1024, *count_before = 1024;
  *behind = a.base + a.size;
  *count_behind = static_cast<std::size_t>(a.owned + a.pages - *behind);
}

void look(const Allocation &a, const char *after) {
  if (!a.owned) return;
  char *side[2];
  std::size_t count[2];
  margins(a, &side[0], &count[0], &side[1], &count[1]);
  for (int s = 0; s < 2; ++s)
    for (std::size_t i = 0; i < count[s]; ++i)
      if (static_cast<unsigned char>(side[s][i]) != kMark) {
        say("out of bounds: byte %lld of an allocation of %zu bytes was written (seen %s)",
            static_cast<long long>(side[s] + i - a.base), a.size, after);
        std::memset(side[s], kMark, count[s]);
        break;
      }
}

}  // namespace

void *allocate(std::size_t bytes, Kind kind, unsigned flags) {
  std::lock_guard<std::recursive_mutex> guard(mutex);
  if (bytes == 0 || in_use + bytes > device_memory()) return nullptr;
  Allocation a;
  a.size = bytes;
  a.kind = kind;
  a.flags = flags;
  const bool guarded = table().size() < kMostGuarded;
  if (guarded) {
    a.pages = up(up(bytes, kAlignment), kPage);
    void *mapped = mmap(nullptr, a.pages + 2 * kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED) return nullptr;
    a.owned = static_cast<char *>(mapped) + kPage;
    if (mprotect(a.owned, a.pages, PROT_READ | PROT_WRITE)) return munmap(mapped, a.pages + 2 * kPage), nullptr;
  } else {
    a.pages = up(bytes, kAlignment) + 2 * kAlignment;
    void *shared = nullptr;
    if (posix_memalign(&shared, kAlignment, a.pages)) return nullptr;
    a.owned = static_cast<char *>(shared);
  }
  a.base = guarded ? a.owned + a.pages - up(bytes, kAlignment) : a.owned + kAlignment;
  char *before, *behind;
  std::size_t count_before, count_behind;
  margins(a, &before, &count_before, &behind, &count_behind);
  std::memset(before, kMark, count_before);
  std::memset(behind, kMark, count_behind);
  if (poison() >= 0 && kind == Kind::device) std::memset(a.base, poison(), bytes);
  in_use += bytes;
  if (!guarded) a.flags |= 1u << 31;
  table()[a.base] = a;
  return a.base;
}

bool release(void *pointer) {
  std::lock_guard<std::recursive_mutex> guard(mutex);
  auto at = table().find(static_cast<char *>(pointer));
  if (at == table().end() || !at->second.owned) return false;
  Allocation a = at->second;
  look(a, "when it was freed");
  table().erase(at);
  in_use -= a.size;
  if (a.flags >> 31)
    std::free(a.owned);
  else
    munmap(a.owned - kPage, a.pages + 2 * kPage);
  return true;
}

bool find_allocation(const void *pointer, Allocation *out) {
  std::lock_guard<std::recursive_mutex> guard(mutex);
  char *p = static_cast<char *>(const_cast<void *>(pointer));
  auto at = table().upper_bound(p);
  if (at == table().begin()) return false;
  --at;
  if (p > at->first + at->second.size) return false;
  *out = at->second;
  return true;
}

hipError_t check_range(const void *pointer, std::size_t bytes, const char *what) {
  Allocation a;
  if (!bytes || !find_allocation(pointer, &a)) return hipSuccess;
  const std::size_t offset = static_cast<std::size_t>(static_cast<const char *>(pointer) - a.base);
  if (offset == a.size) return hipSuccess;  // another object may start where this one ends
  if (offset + bytes <= a.size) return hipSuccess;
  say("out of bounds: %s of %zu bytes at byte %zu of an allocation of %zu bytes", what, bytes, offset, a.size);
  return hipErrorInvalidValue;
}

void check_margins(const char *after) {
  std::lock_guard<std::recursive_mutex> guard(mutex);
  if (table().size() > kLookedAtAfterLaunch) return;
  for (auto &entry : table()) look(entry.second, after);
}

void memory_use(std::size_t *used, std::size_t *count) {
  std::lock_guard<std::recursive_mutex> guard(mutex);
  *used = in_use;
  *count = table().size();
}

}  // namespace rt

using namespace rt;

namespace {

std::size_t at_least_one(std::size_t n) { return n ? n : 1; }
std::size_t texel_bytes(const hipChannelFormatDesc &d) { return static_cast<std::size_t>(d.x + d.y + d.z + d.w) / 8; }

hipError_t get(void **pointer, std::size_t bytes, Kind kind, unsigned flags) {
  if (!pointer) return fail(hipErrorInvalidValue);
  *pointer = nullptr;
  if (!bytes) return hipSuccess;
  *pointer = allocate(bytes, kind, flags);
  return *pointer ? hipSuccess : fail(hipErrorOutOfMemory);
}

// Which sides of a copy are known must agree with what the program says of it.
hipError_t check_copy(const void *to, const void *from, std::size_t bytes, hipMemcpyKind kind) {
  if (!bytes) return hipSuccess;
  if (!to || !from) return fail(hipErrorInvalidValue);
  if (kind < hipMemcpyHostToHost || (kind > hipMemcpyDefault && kind != hipMemcpyDeviceToDeviceNoCU))
    return fail(hipErrorInvalidMemcpyDirection);
  if (hipError_t bad = check_range(to, bytes, "a copy to device memory")) return fail(bad);
  if (hipError_t bad = check_range(from, bytes, "a copy from device memory")) return fail(bad);
  return hipSuccess;
}

bool to_host(const void *to, const void *from, hipMemcpyKind kind) {
  auto device = [](const void *p) {  // pinned memory is the host's
    Allocation a;
    return find_allocation(p, &a) && a.kind != Kind::host;
  };
  return kind == hipMemcpyDeviceToHost || (kind == hipMemcpyDefault && device(from) && !device(to));
}

hipError_t copy(void *to, const void *from, std::size_t bytes, hipMemcpyKind kind, hipStream_t stream) {
  if (!valid(stream)) return fail(hipErrorInvalidHandle);
  if (hipError_t bad = check_copy(to, from, bytes, kind)) return bad;
  return enqueue(stream, hipGraphNodeTypeMemcpy, [=] {
    if (bytes) std::memmove(to, from, bytes);
    if (to_host(to, from, kind)) write_trace(last_kernel().c_str(), to, bytes);
    return hipSuccess;
  });
}

struct Side {
  char *data;
  std::size_t pitch, slice;
};

hipError_t copy_box(Side to, Side from, std::size_t width, std::size_t height, std::size_t depth, hipMemcpyKind kind,
                    hipStream_t stream) {
  if (!valid(stream)) return fail(hipErrorInvalidHandle);
  if (!width || !height || !depth) return hipSuccess;
  if ((height > 1 || depth > 1) && (width > to.pitch || width > from.pitch)) return fail(hipErrorInvalidPitchValue);
  auto last = [&](const Side &s) { return (depth - 1) * s.slice + (height - 1) * s.pitch + width; };
  if (hipError_t bad = check_copy(to.data, from.data, 1, kind)) return bad;
  if (hipError_t bad = check_range(to.data, last(to), "a copy to device memory")) return fail(bad);
  if (hipError_t bad = check_range(from.data, last(from), "a copy from device memory")) return fail(bad);
  return enqueue(stream, hipGraphNodeTypeMemcpy, [=] {
    for (std::size_t z = 0; z < depth; ++z)
      for (std::size_t y = 0; y < height; ++y) {
        char *row = to.data + z * to.slice + y * to.pitch;
        std::memmove(row, from.data + z * from.slice + y * from.pitch, width);
        if (to_host(row, from.data, kind)) write_trace(last_kernel().c_str(), row, width);
      }
    return hipSuccess;
  });
}

hipError_t copy_2d(void *to, std::size_t to_pitch, const void *from, std::size_t from_pitch, std::size_t width,
                   std::size_t height, hipMemcpyKind kind, hipStream_t stream) {
  if (width && height && (width > to_pitch || width > from_pitch)) return fail(hipErrorInvalidPitchValue);
  return copy_box({static_cast<char *>(to), to_pitch, 0}, {static_cast<char *>(const_cast<void *>(from)), from_pitch, 0},
                  width, height, 1, kind, stream);
}

template <class T> hipError_t fill(void *to, T value, std::size_t count, hipStream_t stream) {
  if (!valid(stream)) return fail(hipErrorInvalidHandle);
  if (count && !to) return fail(hipErrorInvalidValue);
  if (hipError_t bad = check_range(to, count * sizeof(T), "a fill of device memory")) return fail(bad);
  return enqueue(stream, hipGraphNodeTypeMemset, [=] {
    std::fill_n(static_cast<T *>(to), count, value);
    return hipSuccess;
  });
}

hipError_t fill_box(char *to, std::size_t pitch, std::size_t slice, int value, std::size_t width, std::size_t height,
                    std::size_t depth, hipStream_t stream) {
  if (!width || !height || !depth) return hipSuccess;
  if (!to) return fail(hipErrorInvalidValue);
  if (hipError_t bad = check_range(to, (depth - 1) * slice + (height - 1) * pitch + width, "a fill of device memory"))
    return fail(bad);
  return enqueue(stream, hipGraphNodeTypeMemset, [=] {
    for (std::size_t z = 0; z < depth; ++z)
      for (std::size_t y = 0; y < height; ++y) std::memset(to + z * slice + y * pitch, value, width);
    return hipSuccess;
  });
}

char *cell(hipArray_const_t a, std::size_t x_bytes, std::size_t y) {
  return static_cast<char *>(a->data) + y * a->pitch + x_bytes;
}

// hipMemcpy3DParms: with an array on a side, x and the width count elements; else bytes.
hipError_t copy_3d(const hipMemcpy3DParms *p, hipStream_t stream) {
  if (!p) return fail(hipErrorInvalidValue);
  const std::size_t unit = p->srcArray   ? texel_bytes(p->srcArray->format)
                           : p->dstArray ? texel_bytes(p->dstArray->format)
                                         : 1;
  auto side = [&](hipArray_t a, const hipPos &at, const hipPitchedPtr &linear) -> Side {
    if (a) {
      const std::size_t slice = a->pitch * at_least_one(a->height);
      return {static_cast<char *>(a->data) + at.x * texel_bytes(a->format) + at.y * a->pitch + at.z * slice, a->pitch,
              slice};
    }
    const std::size_t slice = linear.pitch * at_least_one(linear.ysize);
    return {static_cast<char *>(linear.ptr) + at.x + at.y * linear.pitch + at.z * slice, linear.pitch, slice};
  };
  return copy_box(side(p->dstArray, p->dstPos, p->dstPtr), side(p->srcArray, p->srcPos, p->srcPtr),
                  p->extent.width * unit, at_least_one(p->extent.height), at_least_one(p->extent.depth), p->kind, stream);
}

hipError_t copy_drv_3d(const HIP_MEMCPY3D *p, hipStream_t stream) {
  if (!p) return fail(hipErrorInvalidValue);
  auto side = [](hipMemoryType type, const void *host, hipDeviceptr_t on_device, hipArray_t a, std::size_t pitch,
                 std::size_t height, std::size_t x, std::size_t y, std::size_t z) -> Side {
    char *data = type == hipMemoryTypeHost    ? static_cast<char *>(const_cast<void *>(host))
                 : type == hipMemoryTypeArray ? static_cast<char *>(a->data)
                                              : static_cast<char *>(on_device);
    if (type == hipMemoryTypeArray) pitch = a->pitch, height = a->height;
    const std::size_t slice = pitch * at_least_one(height);
    return {data + x + y * pitch + z * slice, pitch, slice};
  };
  return copy_box(side(p->dstMemoryType, p->dstHost, p->dstDevice, p->dstArray, p->dstPitch, p->dstHeight,
                       p->dstXInBytes, p->dstY, p->dstZ),
                  side(p->srcMemoryType, p->srcHost, p->srcDevice, p->srcArray, p->srcPitch, p->srcHeight,
                       p->srcXInBytes, p->srcY, p->srcZ),
                  p->WidthInBytes, at_least_one(p->Height), at_least_one(p->Depth), hipMemcpyDefault, stream);
}

hipError_t copy_param_2d(const hip_Memcpy2D *p, hipStream_t stream) {
  if (!p) return fail(hipErrorInvalidValue);
  auto side = [](hipMemoryType type, const void *host, hipDeviceptr_t on_device, hipArray_t a, std::size_t pitch,
                 std::size_t x, std::size_t y) -> Side {
    char *data = type == hipMemoryTypeHost    ? static_cast<char *>(const_cast<void *>(host))
                 : type == hipMemoryTypeArray ? static_cast<char *>(a->data)
                                              : static_cast<char *>(on_device);
    if (type == hipMemoryTypeArray) pitch = a->pitch;
    return {data + x + y * pitch, pitch, 0};
  };
  return copy_box(
      side(p->dstMemoryType, p->dstHost, p->dstDevice, p->dstArray, p->dstPitch, p->dstXInBytes, p->dstY),
      side(p->srcMemoryType, p->srcHost, p->srcDevice, p->srcArray, p->srcPitch, p->srcXInBytes, p->srcY),
      p->WidthInBytes, p->Height, 1, hipMemcpyDefault, stream);
}

int bits_of(hipArray_Format format) {
  switch (format) {
    case HIP_AD_FORMAT_UNSIGNED_INT8:
    case HIP_AD_FORMAT_SIGNED_INT8: return 8;
    case HIP_AD_FORMAT_UNSIGNED_INT16:
    case HIP_AD_FORMAT_SIGNED_INT16:
    case HIP_AD_FORMAT_HALF: return 16;
    default: return 32;
  }
}

hipError_t make_array(hipArray_t *array, const hipChannelFormatDesc &format, std::size_t width, std::size_t height,
                      std::size_t depth, unsigned flags) {
  if (!array || !width || !texel_bytes(format)) return fail(hipErrorInvalidValue);
  auto made = std::make_unique<hipArray>(
      hipArray{nullptr, format, width, height, depth, width * texel_bytes(format), flags});
  made->data = allocate(made->pitch * at_least_one(height) * at_least_one(depth), Kind::device);
  if (!made->data) return fail(hipErrorOutOfMemory);
  *array = made.release();
  return hipSuccess;
}

hipChannelFormatDesc channels_of(hipArray_Format format, unsigned channels) {
  const int bits = bits_of(format);
  const auto kind = format == HIP_AD_FORMAT_FLOAT || format == HIP_AD_FORMAT_HALF ? hipChannelFormatKindFloat
                    : format >= HIP_AD_FORMAT_SIGNED_INT8 ? hipChannelFormatKindSigned
                                                          : hipChannelFormatKindUnsigned;
  return {bits, channels > 1 ? bits : 0, channels > 2 ? bits : 0, channels > 3 ? bits : 0, kind};
}

}  // namespace

extern "C" {

hipError_t hipMalloc(void **pointer, size_t bytes) { return get(pointer, bytes, Kind::device, 0); }
hipError_t hipExtMallocWithFlags(void **pointer, size_t bytes, unsigned flags) {
  return get(pointer, bytes, Kind::device, flags);
}
hipError_t hipFree(void *pointer) {
  return !pointer || release(pointer) ? hipSuccess : fail(hipErrorInvalidValue);
}
hipError_t hipHostMalloc(void **pointer, size_t bytes, unsigned flags) { return get(pointer, bytes, Kind::host, flags); }
hipError_t hipHostAlloc(void **pointer, size_t bytes, unsigned flags) { return get(pointer, bytes, Kind::host, flags); }
hipError_t hipMallocHost(void **pointer, size_t bytes) { return get(pointer, bytes, Kind::host, 0); }
hipError_t hipMemAllocHost(void **pointer, size_t bytes) { return get(pointer, bytes, Kind::host, 0); }
hipError_t hipHostFree(void *pointer) { return hipFree(pointer); }
hipError_t hipFreeHost(void *pointer) { return hipFree(pointer); }
hipError_t hipMallocManaged(void **pointer, size_t bytes, unsigned flags) {
  if (flags != hipMemAttachGlobal && flags != hipMemAttachHost && flags != hipMemAttachSingle)
    return fail(hipErrorInvalidValue);
  return get(pointer, bytes, Kind::managed, flags);
}
hipError_t hipMallocPitch(void **pointer, size_t *pitch, size_t width, size_t height) {
  if (!pitch) return fail(hipErrorInvalidValue);
  *pitch = up(width, kAlignment);
  return hipMalloc(pointer, *pitch * height);
}
hipError_t hipMemAllocPitch(hipDeviceptr_t *pointer, size_t *pitch, size_t width, size_t height, unsigned element) {
  if (element != 4 && element != 8 && element != 16) return fail(hipErrorInvalidValue);
  return hipMallocPitch(pointer, pitch, width, height);
}
hipError_t hipMalloc3D(hipPitchedPtr *pointer, hipExtent extent) {
  if (!pointer) return fail(hipErrorInvalidValue);
  pointer->xsize = extent.width;
  pointer->ysize = extent.height;
  return hipMallocPitch(&pointer->ptr, &pointer->pitch, extent.width,
                        at_least_one(extent.height) * at_least_one(extent.depth));
}
hipError_t hipHostRegister(void *pointer, size_t bytes, unsigned flags) {
  if (!pointer || !bytes) return fail(hipErrorInvalidValue);
  std::lock_guard<std::recursive_mutex> guard(rt::mutex);
  if (table().count(static_cast<char *>(pointer))) return fail(hipErrorHostMemoryAlreadyRegistered);
  Allocation a;
  a.base = static_cast<char *>(pointer);
  a.size = bytes;
  a.kind = Kind::host;
  a.flags = flags;
  table()[a.base] = a;
  return hipSuccess;
}
hipError_t hipHostUnregister(void *pointer) {
  std::lock_guard<std::recursive_mutex> guard(rt::mutex);
  auto at = table().find(static_cast<char *>(pointer));
  if (at == table().end() || at->second.owned) return fail(hipErrorHostMemoryNotRegistered);
  table().erase(at);
  return hipSuccess;
}
hipError_t hipHostGetDevicePointer(void **on_device, void *host, unsigned) {
  Allocation a;
  if (!on_device || !host || !find_allocation(host, &a)) return fail(hipErrorInvalidValue);
  *on_device = host;
  return hipSuccess;
}
hipError_t hipHostGetFlags(unsigned *flags, void *host) {
  Allocation a;
  if (!flags || !find_allocation(host, &a) || a.kind != Kind::host) return fail(hipErrorInvalidValue);
  *flags = a.flags & ~(1u << 31);
  return hipSuccess;
}
hipError_t hipPointerGetAttributes(hipPointerAttribute_t *attributes, const void *pointer) {
  if (!attributes || !pointer) return fail(hipErrorInvalidValue);
  std::memset(attributes, 0, sizeof *attributes);
  Allocation a;
  if (!find_allocation(pointer, &a)) {
    attributes->type = hipMemoryTypeUnregistered;
    attributes->device = -2;  // hipInvalidDeviceId
    return hipSuccess;
  }
  attributes->type = a.kind == Kind::device ? hipMemoryTypeDevice
                     : a.kind == Kind::host ? hipMemoryTypeHost
                                            : hipMemoryTypeManaged;
  attributes->devicePointer = const_cast<void *>(pointer);
  attributes->hostPointer = a.kind == Kind::device ? nullptr : const_cast<void *>(pointer);
  attributes->isManaged = a.kind == Kind::managed;
  attributes->allocationFlags = a.flags & ~(1u << 31);
  return hipSuccess;
}
hipError_t hipPointerGetAttribute(void *data, hipPointer_attribute attribute, hipDeviceptr_t pointer) {
  Allocation a;
  if (!data || !find_allocation(pointer, &a)) return fail(hipErrorInvalidValue);
  switch (attribute) {
    case HIP_POINTER_ATTRIBUTE_MEMORY_TYPE:
      *static_cast<unsigned *>(data) = a.kind == Kind::device ? hipMemoryTypeDevice : hipMemoryTypeHost;
      return hipSuccess;
    case HIP_POINTER_ATTRIBUTE_DEVICE_POINTER:
    case HIP_POINTER_ATTRIBUTE_HOST_POINTER: *static_cast<void **>(data) = pointer; return hipSuccess;
    case HIP_POINTER_ATTRIBUTE_IS_MANAGED: *static_cast<bool *>(data) = a.kind == Kind::managed; return hipSuccess;
    case HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL: *static_cast<int *>(data) = 0; return hipSuccess;
    case HIP_POINTER_ATTRIBUTE_RANGE_START_ADDR: *static_cast<void **>(data) = a.base; return hipSuccess;
    case HIP_POINTER_ATTRIBUTE_RANGE_SIZE: *static_cast<size_t *>(data) = a.size; return hipSuccess;
    case HIP_POINTER_ATTRIBUTE_MAPPED: *static_cast<bool *>(data) = true; return hipSuccess;
    default: return fail(unserved("hipPointerGetAttribute of this attribute"));
  }
}
hipError_t hipMemPtrGetInfo(void *pointer, size_t *bytes) {
  Allocation a;
  if (!bytes || !find_allocation(pointer, &a)) return fail(hipErrorInvalidValue);
  *bytes = a.size;
  return hipSuccess;
}
hipError_t hipMemGetAddressRange(hipDeviceptr_t *base, size_t *bytes, hipDeviceptr_t pointer) {
  Allocation a;
  if (!find_allocation(pointer, &a)) return fail(hipErrorNotFound);
  if (base) *base = a.base;
  if (bytes) *bytes = a.size;
  return hipSuccess;
}
hipError_t hipMemGetInfo(size_t *free_bytes, size_t *total) {
  size_t used, count;
  memory_use(&used, &count);
  if (total) *total = device_memory();
  if (free_bytes) *free_bytes = device_memory() - used;
  return hipSuccess;
}

// ---- copies --------------------------------------------------------------------------------------------------------

hipError_t hipMemcpy(void *to, const void *from, size_t bytes, hipMemcpyKind kind) {
  return copy(to, from, bytes, kind, nullptr);
}
hipError_t hipMemcpyAsync(void *to, const void *from, size_t bytes, hipMemcpyKind kind, hipStream_t stream) {
  return copy(to, from, bytes, kind, stream);
}
hipError_t hipMemcpyWithStream(void *to, const void *from, size_t bytes, hipMemcpyKind kind, hipStream_t stream) {
  return copy(to, from, bytes, kind, stream);
}
hipError_t hipMemcpyPeer(void *to, int to_device, const void *from, int from_device, size_t bytes) {
  if (to_device || from_device) return fail(hipErrorInvalidDevice);
  return copy(to, from, bytes, hipMemcpyDeviceToDevice, nullptr);
}
hipError_t hipMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device, size_t bytes, hipStream_t s) {
  if (to_device || from_device) return fail(hipErrorInvalidDevice);
  return copy(to, from, bytes, hipMemcpyDeviceToDevice, s);
}
hipError_t hipMemcpyHtoD(hipDeviceptr_t to, void *from, size_t n) { return hipMemcpy(to, from, n, hipMemcpyHostToDevice); }
hipError_t hipMemcpyDtoH(void *to, hipDeviceptr_t from, size_t n) { return hipMemcpy(to, from, n, hipMemcpyDeviceToHost); }
hipError_t hipMemcpyDtoD(hipDeviceptr_t to, hipDeviceptr_t from, size_t n) {
  return hipMemcpy(to, from, n, hipMemcpyDeviceToDevice);
}
hipError_t hipMemcpyHtoDAsync(hipDeviceptr_t to, void *from, size_t n, hipStream_t stream) {
  return copy(to, from, n, hipMemcpyHostToDevice, stream);
}
hipError_t hipMemcpyDtoHAsync(void *to, hipDeviceptr_t from, size_t n, hipStream_t stream) {
  return copy(to, from, n, hipMemcpyDeviceToHost, stream);
}
hipError_t hipMemcpyDtoDAsync(hipDeviceptr_t to, hipDeviceptr_t from, size_t n, hipStream_t stream) {
  return copy(to, from, n, hipMemcpyDeviceToDevice, stream);
}
hipError_t hipMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                       hipMemcpyKind kind) {
  return copy_2d(to, to_pitch, from, from_pitch, width, height, kind, nullptr);
}
hipError_t hipMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                            hipMemcpyKind kind, hipStream_t stream) {
  return copy_2d(to, to_pitch, from, from_pitch, width, height, kind, stream);
}
hipError_t hipMemcpyParam2D(const hip_Memcpy2D *p) { return copy_param_2d(p, nullptr); }
hipError_t hipMemcpyParam2DAsync(const hip_Memcpy2D *p, hipStream_t stream) { return copy_param_2d(p, stream); }
hipError_t hipDrvMemcpy2DUnaligned(const hip_Memcpy2D *p) { return copy_param_2d(p, nullptr); }
hipError_t hipMemcpy3D(const hipMemcpy3DParms *p) { return copy_3d(p, nullptr); }
hipError_t hipMemcpy3DAsync(const hipMemcpy3DParms *p, hipStream_t stream) { return copy_3d(p, stream); }
hipError_t hipDrvMemcpy3D(const HIP_MEMCPY3D *p) { return copy_drv_3d(p, nullptr); }
hipError_t hipDrvMemcpy3DAsync(const HIP_MEMCPY3D *p, hipStream_t stream) { return copy_drv_3d(p, stream); }
hipError_t hipMemset(void *to, int value, size_t n) { return fill<unsigned char>(to, static_cast<unsigned char>(value), n, nullptr); }
hipError_t hipMemsetAsync(void *to, int value, size_t n, hipStream_t stream) {
  return fill<unsigned char>(to, static_cast<unsigned char>(value), n, stream);
}
hipError_t hipMemsetD8(hipDeviceptr_t to, unsigned char value, size_t n) { return fill(to, value, n, nullptr); }
hipError_t hipMemsetD8Async(hipDeviceptr_t to, unsigned char value, size_t n, hipStream_t s) { return fill(to, value, n, s); }
hipError_t hipMemsetD16(hipDeviceptr_t to, unsigned short value, size_t n) { return fill(to, value, n, nullptr); }
hipError_t hipMemsetD16Async(hipDeviceptr_t to, unsigned short value, size_t n, hipStream_t s) { return fill(to, value, n, s); }
hipError_t hipMemsetD32(hipDeviceptr_t to, int value, size_t n) { return fill(to, value, n, nullptr); }
hipError_t hipMemsetD32Async(hipDeviceptr_t to, int value, size_t n, hipStream_t s) { return fill(to, value, n, s); }
hipError_t hipMemset2D(void *to, size_t pitch, int value, size_t width, size_t height) {
  return fill_box(static_cast<char *>(to), pitch, 0, value, width, height, 1, nullptr);
}
hipError_t hipMemset2DAsync(void *to, size_t pitch, int value, size_t width, size_t height, hipStream_t stream) {
  return fill_box(static_cast<char *>(to), pitch, 0, value, width, height, 1, stream);
}
hipError_t hipMemset3DAsync(hipPitchedPtr to, int value, hipExtent e, hipStream_t stream) {
  return fill_box(static_cast<char *>(to.ptr), to.pitch, to.pitch * at_least_one(to.ysize), value, e.width, e.height,
                  e.depth, stream);
}
hipError_t hipMemset3D(hipPitchedPtr to, int value, hipExtent e) { return hipMemset3DAsync(to, value, e, nullptr); }

// ---- arrays --------------------------------------------------------------------------------------------------------

hipError_t hipMallocArray(hipArray_t *array, const hipChannelFormatDesc *format, size_t width, size_t height,
                          unsigned flags) {
  return format ? make_array(array, *format, width, height, 0, flags) : fail(hipErrorInvalidValue);
}
hipError_t hipMalloc3DArray(hipArray_t *array, const hipChannelFormatDesc *format, hipExtent e, unsigned flags) {
  return format ? make_array(array, *format, e.width, e.height, e.depth, flags) : fail(hipErrorInvalidValue);
}
hipError_t hipArrayCreate(hipArray_t *array, const HIP_ARRAY_DESCRIPTOR *d) {
  return d ? make_array(array, channels_of(d->Format, d->NumChannels), d->Width, d->Height, 0, 0)
           : fail(hipErrorInvalidValue);
}
hipError_t hipArray3DCreate(hipArray_t *array, const HIP_ARRAY3D_DESCRIPTOR *d) {
  return d ? make_array(array, channels_of(d->Format, d->NumChannels), d->Width, d->Height, d->Depth, d->Flags)
           : fail(hipErrorInvalidValue);
}
hipError_t hipFreeArray(hipArray_t array) {
  if (!array) return fail(hipErrorInvalidValue);
  release(array->data);
  delete array;
  return hipSuccess;
}
hipError_t hipArrayDestroy(hipArray_t array) { return hipFreeArray(array); }
hipError_t hipArrayGetInfo(hipChannelFormatDesc *format, hipExtent *extent, unsigned *flags, hipArray_t array) {
  if (!array) return fail(hipErrorInvalidHandle);
  if (format) *format = array->format;
  if (extent) *extent = {array->width, array->height, array->depth};
  if (flags) *flags = array->flags;
  return hipSuccess;
}
hipError_t hipGetChannelDesc(hipChannelFormatDesc *format, hipArray_const_t array) {
  if (!array || !format) return fail(hipErrorInvalidValue);
  *format = array->format;
  return hipSuccess;
}
hipError_t hipMemcpyToArray(hipArray_t to, size_t x, size_t y, const void *from, size_t bytes, hipMemcpyKind kind) {
  return to ? hipMemcpy(cell(to, x, y), from, bytes, kind) : fail(hipErrorInvalidValue);
}
hipError_t hipMemcpyFromArray(void *to, hipArray_const_t from, size_t x, size_t y, size_t bytes, hipMemcpyKind kind) {
  return from ? hipMemcpy(to, cell(from, x, y), bytes, kind) : fail(hipErrorInvalidValue);
}
hipError_t hipMemcpy2DToArrayAsync(hipArray_t to, size_t x, size_t y, const void *from, size_t pitch, size_t width,
                                   size_t height, hipMemcpyKind kind, hipStream_t stream) {
  return to ? copy_2d(cell(to, x, y), to->pitch, from, pitch, width, height, kind, stream) : fail(hipErrorInvalidValue);
}
hipError_t hipMemcpy2DToArray(hipArray_t to, size_t x, size_t y, const void *from, size_t pitch, size_t width,
                              size_t height, hipMemcpyKind kind) {
  return hipMemcpy2DToArrayAsync(to, x, y, from, pitch, width, height, kind, nullptr);
}
hipError_t hipMemcpy2DFromArrayAsync(void *to, size_t pitch, hipArray_const_t from, size_t x, size_t y, size_t width,
                                     size_t height, hipMemcpyKind kind, hipStream_t stream) {
  return from ? copy_2d(to, pitch, cell(from, x, y), from->pitch, width, height, kind, stream)
              : fail(hipErrorInvalidValue);
}
hipError_t hipMemcpy2DFromArray(void *to, size_t pitch, hipArray_const_t from, size_t x, size_t y, size_t width,
                                size_t height, hipMemcpyKind kind) {
  return hipMemcpy2DFromArrayAsync(to, pitch, from, x, y, width, height, kind, nullptr);
}
hipError_t hipMemcpyHtoA(hipArray_t to, size_t offset, const void *from, size_t bytes) {
  return to ? hipMemcpy(cell(to, offset, 0), from, bytes, hipMemcpyHostToDevice) : fail(hipErrorInvalidValue);
}
hipError_t hipMemcpyAtoH(void *to, hipArray_t from, size_t offset, size_t bytes) {
  return from ? hipMemcpy(to, cell(from, offset, 0), bytes, hipMemcpyDeviceToHost) : fail(hipErrorInvalidValue);
}

// ---- pools, advice, virtual memory ---------------------------------------------------------------------------------

hipError_t hipMallocAsync(void **pointer, size_t bytes, hipStream_t stream) {
  return valid(stream) ? hipMalloc(pointer, bytes) : fail(hipErrorInvalidHandle);
}
hipError_t hipMallocFromPoolAsync(void **pointer, size_t bytes, hipMemPool_t, hipStream_t stream) {
  return hipMallocAsync(pointer, bytes, stream);
}
hipError_t hipFreeAsync(void *pointer, hipStream_t stream) {
  if (capturing(stream)) return enqueue(stream, hipGraphNodeTypeMemFree, [] { return hipSuccess; });  // a replay uses it again
  return hipFree(pointer);
}
hipError_t hipDeviceGetDefaultMemPool(hipMemPool_t *pool, int) {
  *pool = reinterpret_cast<hipMemPool_t>(1);
  return hipSuccess;
}
hipError_t hipDeviceGetMemPool(hipMemPool_t *pool, int) { return hipDeviceGetDefaultMemPool(pool, 0); }
hipError_t hipDeviceSetMemPool(int, hipMemPool_t) { return hipSuccess; }
hipError_t hipMemPoolCreate(hipMemPool_t *pool, const hipMemPoolProps *) { return hipDeviceGetDefaultMemPool(pool, 0); }
hipError_t hipMemPoolDestroy(hipMemPool_t) { return hipSuccess; }
hipError_t hipMemPoolTrimTo(hipMemPool_t, size_t) { return hipSuccess; }
hipError_t hipMemPoolSetAttribute(hipMemPool_t, hipMemPoolAttr, void *) { return hipSuccess; }
hipError_t hipMemPoolGetAttribute(hipMemPool_t, hipMemPoolAttr attribute, void *value) {
  size_t used, count;
  memory_use(&used, &count);
  if (attribute >= hipMemPoolAttrReleaseThreshold)
    *static_cast<uint64_t *>(value) = attribute == hipMemPoolAttrReleaseThreshold ? 0 : used;
  else
    *static_cast<int *>(value) = 1;
  return hipSuccess;
}
hipError_t hipMemPoolSetAccess(hipMemPool_t, const hipMemAccessDesc *, size_t) { return hipSuccess; }
hipError_t hipMemPoolGetAccess(hipMemAccessFlags *flags, hipMemPool_t, hipMemLocation *) {
  *flags = hipMemAccessFlagsProtReadWrite;
  return hipSuccess;
}
hipError_t hipMemPrefetchAsync(const void *pointer, size_t bytes, int, hipStream_t) {
  if (hipError_t bad = check_range(pointer, bytes, "a prefetch")) return fail(bad);
  return hipSuccess;
}
hipError_t hipMemAdvise(const void *pointer, size_t bytes, hipMemoryAdvise, int) {
  if (hipError_t bad = check_range(pointer, bytes, "advice")) return fail(bad);
  return hipSuccess;
}
hipError_t hipMemRangeGetAttribute(void *data, size_t bytes, hipMemRangeAttribute, const void *, size_t) {
  std::memset(data, 0, bytes);
  return hipSuccess;
}
hipError_t hipStreamAttachMemAsync(hipStream_t, void *, size_t, unsigned) { return hipSuccess; }

constexpr size_t kGranularity = size_t{2} << 20;
hipError_t hipMemGetAllocationGranularity(size_t *bytes, const hipMemAllocationProp *, hipMemAllocationGranularity_flags) {
  *bytes = kGranularity;
  return hipSuccess;
}
hipError_t hipMemAddressReserve(void **pointer, size_t bytes, size_t, void *, unsigned long long) {
  if (!pointer || !bytes || bytes % kPage) return fail(hipErrorInvalidValue);
  void *p = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) return fail(hipErrorOutOfMemory);
  *pointer = p;
  return hipSuccess;
}
hipError_t hipMemAddressFree(void *pointer, size_t bytes) {
  return munmap(pointer, bytes) ? fail(hipErrorInvalidValue) : hipSuccess;
}
// A handle is a memory file, so that two mappings of it are the same memory.
hipError_t hipMemCreate(hipMemGenericAllocationHandle_t *handle, size_t bytes, const hipMemAllocationProp *, unsigned long long) {
  if (!handle || !bytes || bytes % kPage) return fail(hipErrorInvalidValue);
  const int file = memfd_create("rocport", 0);
  if (file < 0 || ftruncate(file, static_cast<off_t>(bytes))) return fail(hipErrorOutOfMemory);
  *handle = reinterpret_cast<hipMemGenericAllocationHandle_t>(static_cast<uintptr_t>(file) + 1);
  return hipSuccess;
}
hipError_t hipMemRelease(hipMemGenericAllocationHandle_t handle) {
  return close(static_cast<int>(reinterpret_cast<uintptr_t>(handle)) - 1) ? fail(hipErrorInvalidValue) : hipSuccess;
}
hipError_t hipMemMap(void *pointer, size_t bytes, size_t offset, hipMemGenericAllocationHandle_t handle, unsigned long long) {
  const int file = static_cast<int>(reinterpret_cast<uintptr_t>(handle)) - 1;
  void *p = mmap(pointer, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, static_cast<off_t>(offset));
  return p == MAP_FAILED ? fail(hipErrorInvalidValue) : hipSuccess;
}
hipError_t hipMemUnmap(void *pointer, size_t bytes) {
  void *p = mmap(pointer, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  return p == MAP_FAILED ? fail(hipErrorInvalidValue) : hipSuccess;
}
hipError_t hipMemSetAccess(void *pointer, size_t bytes, const hipMemAccessDesc *access, size_t count) {
  if (!count || !access) return fail(hipErrorInvalidValue);
  const int rights = access->flags == hipMemAccessFlagsProtReadWrite ? PROT_READ | PROT_WRITE
                     : access->flags == hipMemAccessFlagsProtRead    ? PROT_READ
                                                                     : PROT_NONE;
  return mprotect(pointer, bytes, rights) ? fail(hipErrorInvalidValue) : hipSuccess;
}
hipError_t hipMemGetAccess(unsigned long long *flags, const hipMemLocation *, void *) {
  *flags = hipMemAccessFlagsProtReadWrite;
  return hipSuccess;
}

}  // extern "C"
