// SPDX-License-Identifier: Apache-2.0
// Switching between stacks: callee-saved registers and the stack pointer, nothing else.
#pragma once

extern "C" {
// Saves where we are to *save and goes on at `target`, which an earlier call saved or fiber_prepare made.
void rpx_switch(void **save, void *target);
void rpx_fiber_start();
}

namespace rpx {

// A stack on which the first switch calls entry(), which must never return. Frame pointer chains end there.
inline void *fiber_prepare(void *top, void (*entry)()) {
  void **sp = reinterpret_cast<void **>(reinterpret_cast<unsigned long>(top) & ~63ul);
#if defined(__x86_64__)
  *--sp = nullptr;  // keeps the stack aligned as after a call
  *--sp = nullptr;
  *--sp = reinterpret_cast<void *>(&rpx_fiber_start);
  *--sp = nullptr;                           // rbp
  *--sp = reinterpret_cast<void *>(entry);   // rbx
  for (int i = 0; i < 4; ++i) *--sp = nullptr;  // r12-r15
#else
  sp -= 20;
  for (int i = 0; i < 20; ++i) sp[i] = nullptr;
  sp[0] = reinterpret_cast<void *>(entry);             // x19
  sp[11] = reinterpret_cast<void *>(&rpx_fiber_start);  // x30
#endif
  return sp;
}

}  // namespace rpx
