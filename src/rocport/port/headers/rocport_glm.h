// rocport_glm.h - what GLM's headers include, read before them.
// SPDX-License-Identifier: Apache-2.0
//
// A port makes the functions of a GLM that does not know HIP's compiler (up to 0.9.9.8, as Debian and Ubuntu have it) both
// the host's and the device's, by a pragma about its includes. The C++ library is read here first, so that the pragma does
// not reach it. Only HIP's compiler reads this.
#ifndef ROCPORT_GLM_H
#define ROCPORT_GLM_H

#if defined(__HIPCC__) && !defined(__HIPCC_RTC__)
#include <hip/hip_runtime.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cctype>
#include <cfloat>
#include <climits>
#include <cmath>
#include <complex>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <iomanip>
#include <iosfwd>
#include <iostream>
#include <iterator>
#include <limits>
#include <random>
#include <sstream>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>
#endif

#endif  // ROCPORT_GLM_H
