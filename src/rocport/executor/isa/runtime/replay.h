// SPDX-License-Identifier: Apache-2.0
// A call of a math library, as a captured stream records it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <type_traits>

namespace rt {

// While it lives, what this thread's call would do again; the library asks for it where the stream is being captured.
class Replay {
 public:
  explicit Replay(std::function<int()> call);
  ~Replay();
  Replay(const Replay &) = delete;

 private:
  std::function<int()> call_;
  const std::function<int()> *before_;
};

// True for memory of the device, whose scalars are read when the graph runs.
bool of_device(const void *pointer);

// A scalar that the host may change or free before the graph runs: a copy of it; of the device's, the pointer.
template <class T> std::shared_ptr<T> kept(T *scalar) {
  if (!scalar || of_device(scalar)) return {std::shared_ptr<void>(), scalar};
  // Of a type that is not named, as many bytes as the widest has and its page holds.
  std::size_t bytes = std::min<std::size_t>(16, 4096 - reinterpret_cast<std::uintptr_t>(scalar) % 4096);
  if constexpr (!std::is_void_v<T>) bytes = sizeof *scalar;
  std::shared_ptr<unsigned char> copy(new unsigned char[16]{}, std::default_delete<unsigned char[]>());
  std::memcpy(copy.get(), scalar, bytes);
  return {copy, reinterpret_cast<T *>(copy.get())};
}

}  // namespace rt
