// rocport_thrust.h - the allocator of page-locked host memory that Thrust has for CUDA and rocThrust lacks.
// SPDX-License-Identifier: Apache-2.0
//
// Stands for thrust/system/cuda/experimental/pinned_allocator.h. Memory comes from hipHostMalloc and is not initialized;
// std::bad_alloc is thrown where there is none, as there.
#ifndef ROCPORT_THRUST_H
#define ROCPORT_THRUST_H

#include <hip/hip_runtime_api.h>

#include <cstddef>
#include <limits>
#include <new>

namespace thrust {
namespace system {
namespace hip {
namespace experimental {

template <class T>
class pinned_allocator {
 public:
  typedef T value_type;
  typedef T* pointer;
  typedef const T* const_pointer;
  typedef T& reference;
  typedef const T& const_reference;
  typedef std::size_t size_type;
  typedef std::ptrdiff_t difference_type;
  template <class U>
  struct rebind {
    typedef pinned_allocator<U> other;
  };

  pinned_allocator() {}
  template <class U>
  pinned_allocator(const pinned_allocator<U>&) {}

  pointer address(reference value) { return &value; }
  const_pointer address(const_reference value) const { return &value; }
  size_type max_size() const { return (std::numeric_limits<size_type>::max)() / sizeof(T); }

  pointer allocate(size_type count, const_pointer = nullptr) {
    void* memory = nullptr;
    if (count > max_size() || hipHostMalloc(&memory, count * sizeof(T), 0) != hipSuccess) throw std::bad_alloc();
    return static_cast<pointer>(memory);
  }
  void deallocate(pointer memory, size_type) {
    if (hipHostFree(memory) != hipSuccess) (void)hipGetLastError();
  }
};

template <class T, class U>
bool operator==(const pinned_allocator<T>&, const pinned_allocator<U>&) {
  return true;
}
template <class T, class U>
bool operator!=(const pinned_allocator<T>&, const pinned_allocator<U>&) {
  return false;
}

}  // namespace experimental
}  // namespace hip
}  // namespace system
namespace hip {
namespace experimental {
using thrust::system::hip::experimental::pinned_allocator;
}
}  // namespace hip
}  // namespace thrust

#endif  // ROCPORT_THRUST_H
