// SPDX-License-Identifier: Apache-2.0
// What programs include for plain plans as well; plans over several devices are not served.
#pragma once
#include "hipfft/hipfft.h"
