// SPDX-License-Identifier: Apache-2.0
#include "internal_api.h"

namespace rpx {
const ErrorText kErrors[] = {
#include "error_table.inc"
};
const int kErrorCount = static_cast<int>(sizeof(kErrors) / sizeof(*kErrors));
}  // namespace rpx
