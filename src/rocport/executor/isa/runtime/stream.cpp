// SPDX-License-Identifier: Apache-2.0
// Streams and events. Work is done when it is issued, so everything before is always done.
#include <set>

#include "replay.h"
#include "state.h"

namespace rt {
namespace {

std::recursive_mutex mutex;
std::set<hipStream_t> &streams() {
  static auto *all = new std::set<hipStream_t>;
  return *all;
}
std::set<hipEvent_t> &events() {
  static auto *all = new std::set<hipEvent_t>;
  return *all;
}
bool named(hipStream_t stream) { return reinterpret_cast<std::size_t>(stream) > 2; }
thread_local const std::function<int()> *replayed = nullptr;
bool known(hipEvent_t event) {
  std::lock_guard<std::recursive_mutex> guard(mutex);
  return events().count(event) != 0;
}

}  // namespace

bool valid(hipStream_t stream) {
  std::lock_guard<std::recursive_mutex> guard(mutex);
  return !named(stream) || streams().count(stream);
}

bool capturing(hipStream_t stream) { return named(stream) && valid(stream) && stream->capture; }

Replay::Replay(std::function<int()> call) : call_(std::move(call)), before_(replayed) { replayed = &call_; }
Replay::~Replay() { replayed = before_; }

bool of_device(const void *pointer) {
  Allocation found;
  return find_allocation(pointer, &found) && found.kind != Kind::host;
}

int in_capture(hipStream_t stream, const char *what) {
  if (!capturing(stream)) return 0;
  if (!replayed) {
    (void)unserved((std::string(what) + " in a captured stream").c_str());
    return 2;
  }
  record(stream, hipGraphNodeTypeHost, [call = *replayed] { return call() ? fail(hipErrorUnknown) : hipSuccess; });
  return 1;
}

void end_captures_into(ihipGraph *graph) {
  std::lock_guard<std::recursive_mutex> guard(mutex);
  for (hipStream_t stream : streams())
    if (stream->capture == graph) stream->capture = nullptr, stream->owns_capture = false;
  for (hipEvent_t event : events())
    if (event->capture == graph) event->capture = nullptr;
}

hipError_t enqueue(hipStream_t stream, hipGraphNodeType type, Work work) {
  if (!valid(stream)) return fail(hipErrorInvalidHandle);
  if (capturing(stream)) {
    record(stream, type, std::move(work));
    return hipSuccess;
  }
  return work();
}

}  // namespace rt

using namespace rt;

namespace {

template <class T> bool fits(T found, T value, unsigned flags, T mask) {
  found &= mask;
  return flags == hipStreamWaitValueEq    ? found == value
         : flags == hipStreamWaitValueAnd ? (found & value) != 0
         : flags == hipStreamWaitValueNor ? static_cast<T>(~(found | value)) != 0
                                          : static_cast<std::make_signed_t<T>>(found - value) >= 0;
}

// Everything before is done, so only another thread of the host can write the value: the wait spins for it.
template <class T> hipError_t wait_value(hipStream_t stream, void *pointer, T value, unsigned flags, T mask) {
  if (!pointer) return fail(hipErrorInvalidValue);
  return enqueue(stream, hipGraphNodeTypeEmpty, [=] {
    while (!fits<T>(__atomic_load_n(static_cast<T *>(pointer), __ATOMIC_SEQ_CST), value, flags, mask))
      __builtin_ia32_pause();
    return hipSuccess;
  });
}
template <class T> hipError_t write_value(hipStream_t stream, void *pointer, T value) {
  if (!pointer) return fail(hipErrorInvalidValue);
  return enqueue(stream, hipGraphNodeTypeMemset, [=] {
    __atomic_store_n(static_cast<T *>(pointer), value, __ATOMIC_SEQ_CST);
    return hipSuccess;
  });
}

}  // namespace

extern "C" {

hipError_t hipStreamCreateWithPriority(hipStream_t *stream, unsigned flags, int priority) {
  if (!stream || (flags != hipStreamDefault && flags != hipStreamNonBlocking)) return fail(hipErrorInvalidValue);
  std::lock_guard<std::recursive_mutex> guard(rt::mutex);
  *stream = new ihipStream_t;
  (*stream)->flags = flags;
  (*stream)->priority = priority < -1 ? -1 : priority > 1 ? 1 : priority;
  streams().insert(*stream);
  return hipSuccess;
}
hipError_t hipStreamCreate(hipStream_t *stream) { return hipStreamCreateWithPriority(stream, hipStreamDefault, 0); }
hipError_t hipStreamCreateWithFlags(hipStream_t *stream, unsigned flags) {
  return hipStreamCreateWithPriority(stream, flags, 0);
}
hipError_t hipExtStreamCreateWithCUMask(hipStream_t *stream, uint32_t, const uint32_t *) {
  return hipStreamCreate(stream);
}
hipError_t hipStreamDestroy(hipStream_t stream) {
  std::lock_guard<std::recursive_mutex> guard(rt::mutex);
  if (!named(stream) || !streams().erase(stream)) return fail(hipErrorInvalidHandle);
  delete stream;
  return hipSuccess;
}
hipError_t hipStreamSynchronize(hipStream_t stream) {
  if (!valid(stream)) return fail(hipErrorInvalidHandle);
  return capturing(stream) ? fail(hipErrorStreamCaptureUnsupported) : hipSuccess;
}
hipError_t hipStreamQuery(hipStream_t stream) { return hipStreamSynchronize(stream); }
hipError_t hipStreamWaitEvent(hipStream_t stream, hipEvent_t event, unsigned) {
  if (!valid(stream) || !known(event)) return fail(hipErrorInvalidHandle);
  // A stream that waits for an event of a capture joins that capture.
  if (event->capture && named(stream) && !stream->capture) stream->capture = event->capture;
  return hipSuccess;
}
hipError_t hipStreamGetFlags(hipStream_t stream, unsigned *flags) {
  if (!flags) return fail(hipErrorInvalidValue);
  if (!valid(stream)) return fail(hipErrorInvalidHandle);
  *flags = named(stream) ? stream->flags : 0;
  return hipSuccess;
}
hipError_t hipStreamGetPriority(hipStream_t stream, int *priority) {
  if (!priority) return fail(hipErrorInvalidValue);
  if (!valid(stream)) return fail(hipErrorInvalidHandle);
  *priority = named(stream) ? stream->priority : 0;
  return hipSuccess;
}
hipError_t hipStreamGetDevice(hipStream_t stream, hipDevice_t *device) {
  if (!valid(stream)) return fail(hipErrorInvalidHandle);
  *device = 0;
  return hipSuccess;
}
int hipGetStreamDeviceId(hipStream_t stream) { return valid(stream) ? 0 : -1; }
hipError_t hipDeviceGetStreamPriorityRange(int *least, int *greatest) {
  if (least) *least = 1;
  if (greatest) *greatest = -1;
  return hipSuccess;
}
hipError_t hipStreamAddCallback(hipStream_t stream, hipStreamCallback_t callback, void *data, unsigned flags) {
  if (!callback || flags) return fail(hipErrorInvalidValue);
  return enqueue(stream, hipGraphNodeTypeHost, [=] {
    callback(stream, hipSuccess, data);
    return hipSuccess;
  });
}
hipError_t hipLaunchHostFunc(hipStream_t stream, hipHostFn_t function, void *data) {
  if (!function) return fail(hipErrorInvalidValue);
  return enqueue(stream, hipGraphNodeTypeHost, [=] {
    function(data);
    return hipSuccess;
  });
}
hipError_t hipStreamWriteValue32(hipStream_t stream, void *pointer, uint32_t value, unsigned) {
  return write_value(stream, pointer, value);
}
hipError_t hipStreamWriteValue64(hipStream_t stream, void *pointer, uint64_t value, unsigned) {
  return write_value(stream, pointer, value);
}
hipError_t hipStreamWaitValue32(hipStream_t stream, void *pointer, uint32_t value, unsigned flags, uint32_t mask) {
  return wait_value(stream, pointer, value, flags, mask);
}
hipError_t hipStreamWaitValue64(hipStream_t stream, void *pointer, uint64_t value, unsigned flags, uint64_t mask) {
  return wait_value(stream, pointer, value, flags, mask);
}

hipError_t hipEventCreateWithFlags(hipEvent_t *event, unsigned flags) {
  if (!event) return fail(hipErrorInvalidValue);
  std::lock_guard<std::recursive_mutex> guard(rt::mutex);
  *event = new ihipEvent_t;
  (*event)->timed = !(flags & hipEventDisableTiming);
  events().insert(*event);
  return hipSuccess;
}
hipError_t hipEventCreate(hipEvent_t *event) { return hipEventCreateWithFlags(event, 0); }
hipError_t hipEventDestroy(hipEvent_t event) {
  std::lock_guard<std::recursive_mutex> guard(rt::mutex);
  if (!events().erase(event)) return fail(hipErrorInvalidHandle);
  delete event;
  return hipSuccess;
}
hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream) {
  if (!known(event) || !valid(stream)) return fail(hipErrorInvalidHandle);
  event->when = std::chrono::steady_clock::now();
  event->recorded = true;
  event->capture = capturing(stream) ? stream->capture : nullptr;
  return hipSuccess;
}
hipError_t hipEventRecordWithFlags(hipEvent_t event, hipStream_t stream, unsigned) { return hipEventRecord(event, stream); }
hipError_t hipEventSynchronize(hipEvent_t event) { return known(event) ? hipSuccess : fail(hipErrorInvalidHandle); }
hipError_t hipEventQuery(hipEvent_t event) { return known(event) ? hipSuccess : fail(hipErrorInvalidHandle); }
hipError_t hipEventElapsedTime(float *milliseconds, hipEvent_t start, hipEvent_t stop) {
  if (!milliseconds) return fail(hipErrorInvalidValue);
  if (!known(start) || !known(stop) || !start->recorded || !stop->recorded || !start->timed || !stop->timed)
    return fail(hipErrorInvalidHandle);
  *milliseconds = std::chrono::duration<float, std::milli>(stop->when - start->when).count();
  return hipSuccess;
}

}  // extern "C"
