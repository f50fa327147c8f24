// rocport_macros.h - takes away the macros with common names that HIP's headers leave defined.
// SPDX-License-Identifier: Apache-2.0
//
// HIP 6.4's amd_device_functions.h defines `MASK1`, `HW_ID` and the like for functions of its own and leaves them so: a
// program's `#ifndef MASK1` would take HIP's number, and a variable of the name would not compile. What the program itself has
// defined before stays what it was.
#ifndef ROCPORT_MACROS_H
#define ROCPORT_MACROS_H

#if defined(__HIP__) && !defined(__HIPCC_RTC__)
#if defined(HIP_INCLUDE_HIP_AMD_DETAIL_DEVICE_FUNCTIONS_H)
// Another header has included HIP's. A number that is HIP's own is HIP's.
#if defined(MASK1)
#if MASK1 == 0x00ff00ff
#undef MASK1
#endif
#endif
#if defined(MASK2)
#if MASK2 == 0xff00ff00
#undef MASK2
#endif
#endif
#if defined(HW_ID)
#if HW_ID == 4
#undef HW_ID
#endif
#endif
#if defined(XCC_ID)
#if XCC_ID == 20
#undef XCC_ID
#endif
#endif
#else
#pragma push_macro("MASK1")
#pragma push_macro("MASK2")
#pragma push_macro("HW_ID")
#pragma push_macro("XCC_ID")
#pragma push_macro("GETREG_IMMED")
#undef MASK1
#undef MASK2
#undef HW_ID
#undef XCC_ID
#undef GETREG_IMMED
#include <hip/hip_runtime.h>
#pragma pop_macro("GETREG_IMMED")
#pragma pop_macro("XCC_ID")
#pragma pop_macro("HW_ID")
#pragma pop_macro("MASK2")
#pragma pop_macro("MASK1")
#endif
#endif

#endif  // ROCPORT_MACROS_H
