// SPDX-License-Identifier: Apache-2.0
// Device clocks: nanoseconds, so that wall_clock64() agrees with hipDeviceAttributeWallClockRate.
#pragma once

#include <time.h>

RPX_INLINE long long wall_clock64() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<long long>(now.tv_sec) * 1000000000ll + now.tv_nsec;
}
// Cycles at the clock rate that the device's properties give, 1.7 GHz.
RPX_INLINE long long clock64() { return wall_clock64() * 17 / 10; }
RPX_INLINE unsigned long long __clock64() { return static_cast<unsigned long long>(clock64()); }
RPX_INLINE long long __clock() { return clock64(); }
namespace rpx {
RPX_INLINE clock_t device_clock() { return static_cast<clock_t>(clock64()); }  // clock() in device code
}
RPX_INLINE unsigned long long __builtin_amdgcn_s_memtime() { return static_cast<unsigned long long>(wall_clock64()); }
RPX_INLINE unsigned long long __builtin_amdgcn_s_memrealtime() { return static_cast<unsigned long long>(wall_clock64()); }
RPX_INLINE void __trap() { rpx::fatal("the kernel called __trap()"); }
RPX_INLINE void __builtin_amdgcn_s_trap(int) { rpx::fatal("the kernel trapped"); }
RPX_INLINE void __builtin_amdgcn_endpgm() { rpx::unsupported("ending a wavefront with s_endpgm"); }
RPX_INLINE void __brkpt() { rpx::fatal("the kernel called __brkpt()"); }
namespace rpx {
// Addresses in shared memory have 32 bits on the device.
u32 shared_address(const void *pointer);
void *shared_pointer(u32 address);
}  // namespace rpx
#define ROCPORT_SHARED_ADDRESS(pointer) ::rpx::shared_address(pointer)
#define ROCPORT_SHARED_POINTER(address) ::rpx::shared_pointer(address)
template <class T> RPX_INLINE unsigned long long __cvta_generic_to_shared(T *p) { return rpx::shared_address(p); }
template <class T> RPX_INLINE unsigned __isShared(T *p) { return rpx::is_shared((const void *)p); }
template <class T> RPX_INLINE unsigned __isLocal(T *p) { return rpx::is_private((const void *)p); }
template <class T> RPX_INLINE unsigned __isGlobal(T *p) { return !rpx::is_shared((const void *)p) && !rpx::is_private((const void *)p); }
RPX_INLINE void __prof_trigger(int) {}
