// rocport_nvtx.h - NVTX annotations, which mark ranges for NVIDIA's profilers, on AMD.
// SPDX-License-Identifier: Apache-2.0
//
// An annotation never decides what a program computes. Everything of NVTX's C and C++ interface that code calls is here
// and does nothing, so that no unit is lost for it. Define ROCPORT_USE_ROCTX and link roctx64 to get marks, pushed and
// started ranges in ROCm's profilers; domains, colours, categories and payloads have no counterpart there.
#ifndef ROCPORT_NVTX_H
#define ROCPORT_NVTX_H

#include <stddef.h>
#include <stdint.h>

#if defined(ROCPORT_USE_ROCTX)
#include <roctracer/roctx.h>
#endif

typedef uint64_t nvtxRangeId_t;
typedef struct nvtxDomainRegistration_st nvtxDomainRegistration;
typedef nvtxDomainRegistration* nvtxDomainHandle_t;
typedef struct nvtxStringRegistration_st nvtxStringRegistration;
typedef nvtxStringRegistration* nvtxStringHandle_t;
typedef struct nvtxResourceHandle* nvtxResourceHandle_t;

typedef enum nvtxColorType_t { NVTX_COLOR_UNKNOWN = 0, NVTX_COLOR_ARGB = 1 } nvtxColorType_t;
typedef enum nvtxMessageType_t {
  NVTX_MESSAGE_UNKNOWN = 0,
  NVTX_MESSAGE_TYPE_ASCII = 1,
  NVTX_MESSAGE_TYPE_UNICODE = 2,
  NVTX_MESSAGE_TYPE_REGISTERED = 3
} nvtxMessageType_t;
typedef enum nvtxPayloadType_t {
  NVTX_PAYLOAD_UNKNOWN = 0,
  NVTX_PAYLOAD_TYPE_UNSIGNED_INT64 = 1,
  NVTX_PAYLOAD_TYPE_INT64 = 2,
  NVTX_PAYLOAD_TYPE_DOUBLE = 3,
  NVTX_PAYLOAD_TYPE_UNSIGNED_INT32 = 4,
  NVTX_PAYLOAD_TYPE_INT32 = 5,
  NVTX_PAYLOAD_TYPE_FLOAT = 6
} nvtxPayloadType_t;

typedef union nvtxMessageValue_t {
  const char* ascii;
  const wchar_t* unicode;
  nvtxStringHandle_t registered;
} nvtxMessageValue_t;

typedef struct nvtxEventAttributes_v2 {
  uint16_t version;
  uint16_t size;
  uint32_t category;
  int32_t colorType;
  uint32_t color;
  int32_t payloadType;
  int32_t reserved0;
  union payload_t {
    uint64_t ullValue;
    int64_t llValue;
    double dValue;
    uint32_t uiValue;
    int32_t iValue;
    float fValue;
  } payload;
  int32_t messageType;
  nvtxMessageValue_t message;
} nvtxEventAttributes_v2;
typedef nvtxEventAttributes_v2 nvtxEventAttributes_t;

typedef enum nvtxResourceGenericType_t {
  NVTX_RESOURCE_TYPE_UNKNOWN = 0,
  NVTX_RESOURCE_TYPE_GENERIC_POINTER = 1 << 16 | 1,
  NVTX_RESOURCE_TYPE_GENERIC_HANDLE = 1 << 16 | 2,
  NVTX_RESOURCE_TYPE_GENERIC_THREAD_NATIVE = 1 << 16 | 3,
  NVTX_RESOURCE_TYPE_GENERIC_THREAD_POSIX = 1 << 16 | 4
} nvtxResourceGenericType_t;
typedef struct nvtxResourceAttributes_v0 {
  uint16_t version;
  uint16_t size;
  int32_t identifierType;
  union identifier_t {
    const void* pValue;
    uint64_t ullValue;
  } identifier;
  int32_t messageType;
  nvtxMessageValue_t message;
} nvtxResourceAttributes_v0;
typedef nvtxResourceAttributes_v0 nvtxResourceAttributes_t;

#define NVTX_SUCCESS 0
#define NVTX_FAIL 1
#define NVTX_ERR_INIT_LOAD_PROPERTY 2
#define NVTX_ERR_INIT_ACCESS_LIBRARY 3
#define NVTX_ERR_INIT_LOAD_LIBRARY 4
#define NVTX_ERR_INIT_MISSING_LIBRARY_ENTRY_POINT 5
#define NVTX_ERR_INIT_FAILED_LIBRARY_ENTRY_POINT 6
#define NVTX_ERR_NO_INJECTION_LIBRARY_AVAILABLE 7
#define NVTX_RESOURCE_CLASS_GENERIC 1
#define NVTX_RESOURCE_ATTRIB_STRUCT_SIZE ((uint16_t)(sizeof(nvtxResourceAttributes_t)))
#define NVTX_VERSION 3
#define NVTX_EVENT_ATTRIB_STRUCT_SIZE ((uint16_t)(sizeof(nvtxEventAttributes_t)))
#define NVTX_NO_PUSH_POP_TRACKING ((int)-2)

#if defined(ROCPORT_USE_ROCTX)
#define ROCPORT_ROCTX(call, otherwise) call
#else
#define ROCPORT_ROCTX(call, otherwise) otherwise
#endif
#define ROCPORT_UNUSED(argument) ((void)(argument))

static inline void nvtxInitialize(const void* reserved) { ROCPORT_UNUSED(reserved); }

static inline int nvtxRangePushA(const char* message) {
  ROCPORT_UNUSED(message);
  return ROCPORT_ROCTX(roctxRangePushA(message), 0);
}
static inline int nvtxRangePop(void) { return ROCPORT_ROCTX(roctxRangePop(), 0); }
static inline void nvtxMarkA(const char* message) {
  ROCPORT_UNUSED(message);
  ROCPORT_ROCTX(roctxMarkA(message), (void)0);
}
static inline nvtxRangeId_t nvtxRangeStartA(const char* message) {
  ROCPORT_UNUSED(message);
  return ROCPORT_ROCTX(roctxRangeStartA(message), 0u);
}
static inline void nvtxRangeEnd(nvtxRangeId_t id) {
  ROCPORT_UNUSED(id);
  ROCPORT_ROCTX(roctxRangeStop(id), (void)0);
}
// Wide characters: roctx has none.
static inline int nvtxRangePushW(const wchar_t* message) {
  ROCPORT_UNUSED(message);
  return nvtxRangePushA("");
}
static inline void nvtxMarkW(const wchar_t* message) { ROCPORT_UNUSED(message); }
static inline nvtxRangeId_t nvtxRangeStartW(const wchar_t* message) {
  ROCPORT_UNUSED(message);
  return nvtxRangeStartA("");
}
// The text of an event; empty where it is not a plain string.
static inline const char* rocport_nvtx_text(const nvtxEventAttributes_t* event) {
  return event && event->messageType == NVTX_MESSAGE_TYPE_ASCII && event->message.ascii ? event->message.ascii : "";
}
static inline int nvtxRangePushEx(const nvtxEventAttributes_t* event) { return nvtxRangePushA(rocport_nvtx_text(event)); }
static inline void nvtxMarkEx(const nvtxEventAttributes_t* event) { nvtxMarkA(rocport_nvtx_text(event)); }
static inline nvtxRangeId_t nvtxRangeStartEx(const nvtxEventAttributes_t* event) {
  return nvtxRangeStartA(rocport_nvtx_text(event));
}

// Domains: their ranges are ranges of the one there is.
static inline nvtxDomainHandle_t nvtxDomainCreateA(const char* name) {
  ROCPORT_UNUSED(name);
  return NULL;
}
static inline nvtxDomainHandle_t nvtxDomainCreateW(const wchar_t* name) {
  ROCPORT_UNUSED(name);
  return NULL;
}
static inline void nvtxDomainDestroy(nvtxDomainHandle_t domain) { ROCPORT_UNUSED(domain); }
static inline nvtxStringHandle_t nvtxDomainRegisterStringA(nvtxDomainHandle_t domain, const char* text) {
  ROCPORT_UNUSED(domain);
  ROCPORT_UNUSED(text);
  return NULL;
}
static inline nvtxStringHandle_t nvtxDomainRegisterStringW(nvtxDomainHandle_t domain, const wchar_t* text) {
  ROCPORT_UNUSED(domain);
  ROCPORT_UNUSED(text);
  return NULL;
}
static inline nvtxResourceHandle_t nvtxDomainResourceCreate(nvtxDomainHandle_t domain, nvtxResourceAttributes_t* resource) {
  ROCPORT_UNUSED(domain);
  ROCPORT_UNUSED(resource);
  return NULL;
}
static inline void nvtxDomainResourceDestroy(nvtxResourceHandle_t resource) { ROCPORT_UNUSED(resource); }
static inline int nvtxDomainRangePushEx(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event) {
  ROCPORT_UNUSED(domain);
  return nvtxRangePushEx(event);
}
static inline int nvtxDomainRangePop(nvtxDomainHandle_t domain) {
  ROCPORT_UNUSED(domain);
  return nvtxRangePop();
}
static inline nvtxRangeId_t nvtxDomainRangeStartEx(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event) {
  ROCPORT_UNUSED(domain);
  return nvtxRangeStartEx(event);
}
static inline void nvtxDomainRangeEnd(nvtxDomainHandle_t domain, nvtxRangeId_t id) {
  ROCPORT_UNUSED(domain);
  nvtxRangeEnd(id);
}
static inline void nvtxDomainMarkEx(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event) {
  ROCPORT_UNUSED(domain);
  nvtxMarkEx(event);
}

// Names of categories, threads, devices, streams and events, by type of the argument.
#define nvtxNameCategoryA(...) ((void)0)
#define nvtxNameCategoryW(...) ((void)0)
#define nvtxDomainNameCategoryA(...) ((void)0)
#define nvtxDomainNameCategoryW(...) ((void)0)
#define nvtxNameOsThreadA(...) ((void)0)
#define nvtxNameOsThreadW(...) ((void)0)
#define nvtxNameCuDeviceA(...) ((void)0)
#define nvtxNameCuDeviceW(...) ((void)0)
#define nvtxNameCuContextA(...) ((void)0)
#define nvtxNameCuContextW(...) ((void)0)
#define nvtxNameCuStreamA(...) ((void)0)
#define nvtxNameCuStreamW(...) ((void)0)
#define nvtxNameCuEventA(...) ((void)0)
#define nvtxNameCuEventW(...) ((void)0)
#define nvtxNameCudaDeviceA(...) ((void)0)
#define nvtxNameCudaDeviceW(...) ((void)0)
#define nvtxNameCudaStreamA(...) ((void)0)
#define nvtxNameCudaStreamW(...) ((void)0)
#define nvtxNameCudaEventA(...) ((void)0)
#define nvtxNameCudaEventW(...) ((void)0)

#if defined(UNICODE) || defined(_UNICODE)
#define nvtxRangePush nvtxRangePushW
#define nvtxMark nvtxMarkW
#define nvtxRangeStart nvtxRangeStartW
#define nvtxDomainCreate nvtxDomainCreateW
#define nvtxDomainRegisterString nvtxDomainRegisterStringW
#else
#define nvtxRangePush nvtxRangePushA
#define nvtxMark nvtxMarkA
#define nvtxRangeStart nvtxRangeStartA
#define nvtxDomainCreate nvtxDomainCreateA
#define nvtxDomainRegisterString nvtxDomainRegisterStringA
#endif
#define nvtxNameCategory nvtxNameCategoryA
#define nvtxDomainNameCategory nvtxDomainNameCategoryA
#define nvtxNameOsThread nvtxNameOsThreadA
#define nvtxNameCuDevice nvtxNameCuDeviceA
#define nvtxNameCuStream nvtxNameCuStreamA
#define nvtxNameCudaDevice nvtxNameCudaDeviceA
#define nvtxNameCudaStream nvtxNameCudaStreamA
#define nvtxNameCudaEvent nvtxNameCudaEventA

#if defined(__cplusplus) && __cplusplus >= 201103L

// The C++ interface, nvtx3.hpp. Attributes are taken in any number and order, as there; of them only the message counts.
#include <string>

namespace nvtx3 {
inline namespace v1 {

struct rgb {
  template <class R, class G, class B>
  constexpr rgb(R, G, B) noexcept {}
};
struct argb {
  template <class A, class R, class G, class B>
  constexpr argb(A, R, G, B) noexcept {}
};
struct color {
  template <class T>
  constexpr explicit color(T&&) noexcept {}
};
struct category {
  template <class T>
  constexpr explicit category(T&&) noexcept {}
};
template <class Domain>
struct named_category_in : category {
  template <class Id>
  explicit named_category_in(Id, const char*) noexcept : category(0) {}
};
using named_category = named_category_in<void>;
struct payload {
  template <class T>
  constexpr explicit payload(T&&) noexcept {}
};

template <class Domain>
class registered_string_in {
 public:
  explicit registered_string_in(const char* text) : text_(text) {}
  explicit registered_string_in(const std::string& text) : text_(text) {}
  const char* text() const noexcept { return text_.c_str(); }

 private:
  std::string text_;
};
using registered_string = registered_string_in<void>;

class message {
 public:
  message(const char* text) noexcept : text_(text) {}
  message(const std::string& text) noexcept : text_(text.c_str()) {}
  message(const wchar_t*) noexcept : text_("") {}
  template <class Domain>
  message(const registered_string_in<Domain>& text) noexcept : text_(text.text()) {}
  const char* text() const noexcept { return text_; }

 private:
  const char* text_;
};

class domain {
 public:
  struct global {};
  template <class Domain = global>
  static const domain& get() noexcept {
    static const domain only;
    return only;
  }
};

class event_attributes {
 public:
  event_attributes() noexcept : text_("") {}
  template <class... Rest>
  explicit event_attributes(const char* text, const Rest&...) noexcept : text_(text) {}
  template <class... Rest>
  explicit event_attributes(const std::string& text, const Rest&...) noexcept : text_(text.c_str()) {}
  template <class... Rest>
  explicit event_attributes(const message& text, const Rest&...) noexcept : text_(text.text()) {}
  template <class Domain, class... Rest>
  explicit event_attributes(const registered_string_in<Domain>& text, const Rest&...) noexcept : text_(text.text()) {}
  template <class... Rest>
  explicit event_attributes(const color&, const Rest&... rest) noexcept : event_attributes(rest...) {}
  template <class... Rest>
  explicit event_attributes(const rgb&, const Rest&... rest) noexcept : event_attributes(rest...) {}
  template <class... Rest>
  explicit event_attributes(const argb&, const Rest&... rest) noexcept : event_attributes(rest...) {}
  template <class... Rest>
  explicit event_attributes(const category&, const Rest&... rest) noexcept : event_attributes(rest...) {}
  template <class... Rest>
  explicit event_attributes(const payload&, const Rest&... rest) noexcept : event_attributes(rest...) {}
  const char* text() const noexcept { return text_; }

 private:
  const char* text_;
};

template <class Domain>
class scoped_range_in {
 public:
  scoped_range_in() noexcept { nvtxRangePushA(""); }
  explicit scoped_range_in(const event_attributes& attributes) noexcept { nvtxRangePushA(attributes.text()); }
  template <class First, class... Rest>
  explicit scoped_range_in(const First& first, const Rest&... rest) noexcept
      : scoped_range_in(event_attributes(first, rest...)) {}
  scoped_range_in(const scoped_range_in&) = delete;
  scoped_range_in& operator=(const scoped_range_in&) = delete;
  ~scoped_range_in() noexcept { nvtxRangePop(); }
};
using scoped_range = scoped_range_in<domain::global>;
template <class Domain>
using domain_thread_range = scoped_range_in<Domain>;
using thread_range = scoped_range;

struct range_handle {
  nvtxRangeId_t id;
};
template <class Domain = domain::global, class... Arguments>
range_handle start_range_in(const Arguments&... arguments) noexcept {
  return range_handle{nvtxRangeStartA(event_attributes(arguments...).text())};
}
template <class... Arguments>
range_handle start_range(const Arguments&... arguments) noexcept {
  return start_range_in<domain::global>(arguments...);
}
template <class Domain = domain::global>
void end_range_in(range_handle range) noexcept {
  nvtxRangeEnd(range.id);
}
inline void end_range(range_handle range) noexcept { nvtxRangeEnd(range.id); }

template <class Domain>
class unique_range_in {
 public:
  template <class... Arguments>
  explicit unique_range_in(const Arguments&... arguments) noexcept : range_(start_range(arguments...)) {}
  unique_range_in(unique_range_in&& other) noexcept : range_(other.range_), ours_(other.ours_) { other.ours_ = false; }
  unique_range_in(const unique_range_in&) = delete;
  unique_range_in& operator=(const unique_range_in&) = delete;
  ~unique_range_in() noexcept {
    if (ours_) end_range(range_);
  }

 private:
  range_handle range_;
  bool ours_ = true;
};
using unique_range = unique_range_in<domain::global>;

template <class Domain = domain::global, class... Arguments>
void mark_in(const Arguments&... arguments) noexcept {
  nvtxMarkA(event_attributes(arguments...).text());
}
template <class... Arguments>
void mark(const Arguments&... arguments) noexcept {
  mark_in<domain::global>(arguments...);
}

}  // namespace v1
}  // namespace nvtx3

#define NVTX3_FUNC_RANGE() ::nvtx3::scoped_range nvtx3_range__ { __func__ }
#define NVTX3_FUNC_RANGE_IN(D) ::nvtx3::scoped_range_in<D> nvtx3_range__ { __func__ }
#define NVTX3_FUNC_RANGE_IF(C) ::nvtx3::scoped_range nvtx3_range__ { (C) ? __func__ : "" }
#define NVTX3_V1_FUNC_RANGE NVTX3_FUNC_RANGE
#define NVTX3_V1_FUNC_RANGE_IN NVTX3_FUNC_RANGE_IN

#endif

#endif  // ROCPORT_NVTX_H
