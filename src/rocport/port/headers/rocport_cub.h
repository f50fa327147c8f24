// rocport_cub.h - what CUB has and hipCUB has not.
// SPDX-License-Identifier: Apache-2.0
#ifndef ROCPORT_CUB_H
#define ROCPORT_CUB_H

#if defined(__HIPCC__)
#include <cstdlib>
#include <hipcub/hipcub.hpp>

// As in CUB: says where an error came from, and ends the program.
#define CubDebugExit(error)            \
  do {                                 \
    if (HipcubDebug((error))) exit(1); \
  } while (0)
#endif

#endif  // ROCPORT_CUB_H
