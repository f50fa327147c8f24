// SPDX-License-Identifier: Apache-2.0
// librccl for one process with one device: a communicator of one rank, whose collectives are copies. A second rank has
// no device to run on and is refused.
#define __HIP_PLATFORM_AMD__ 1
#include <rccl/rccl.h>

#include <cstring>

#include "state.h"

struct ncclComm {
  int dummy;
};

namespace {

std::size_t bytes_of(ncclDataType_t type) {
  switch (type) {
    case ncclInt8:
    case ncclUint8: return 1;
    case ncclFloat16:
    case ncclBfloat16: return 2;
    case ncclInt64:
    case ncclUint64:
    case ncclFloat64: return 8;
    default: return 4;
  }
}

ncclResult_t copy(const void *from, void *to, std::size_t count, ncclDataType_t type, hipStream_t stream) {
  if (from == to) return ncclSuccess;
  return hipMemcpyAsync(to, from, count * bytes_of(type), hipMemcpyDeviceToDevice, stream) ? ncclUnhandledCudaError
                                                                                            : ncclSuccess;
}

ncclResult_t alone(int ranks) {
  if (ranks == 1) return ncclSuccess;
  rt::say("RCCL with %d ranks: the ISA executor has one device and one rank", ranks);
  return ncclInvalidUsage;
}

}  // namespace

extern "C" {

ncclResult_t ncclGetVersion(int *version) {
  *version = NCCL_VERSION_CODE;
  return ncclSuccess;
}
ncclResult_t ncclGetUniqueId(ncclUniqueId *id) {
  std::memset(id, 0, sizeof *id);
  return ncclSuccess;
}
ncclResult_t ncclCommInitRank(ncclComm_t *comm, int ranks, ncclUniqueId, int rank) {
  if (ncclResult_t bad = alone(ranks)) return bad;
  if (rank) return ncclInvalidArgument;
  *comm = new ncclComm{};
  return ncclSuccess;
}
ncclResult_t ncclCommInitAll(ncclComm_t *comms, int devices, const int *) {
  if (ncclResult_t bad = alone(devices)) return bad;
  *comms = new ncclComm{};
  return ncclSuccess;
}
ncclResult_t ncclCommDestroy(ncclComm_t comm) {
  delete comm;
  return ncclSuccess;
}
ncclResult_t ncclCommAbort(ncclComm_t comm) { return ncclCommDestroy(comm); }
ncclResult_t ncclCommGetAsyncError(ncclComm_t, ncclResult_t *error) {
  *error = ncclSuccess;
  return ncclSuccess;
}
ncclResult_t ncclCommCount(const ncclComm_t, int *count) {
  *count = 1;
  return ncclSuccess;
}
ncclResult_t ncclCommCuDevice(const ncclComm_t, int *device) {
  *device = 0;
  return ncclSuccess;
}
ncclResult_t ncclCommUserRank(const ncclComm_t, int *rank) {
  *rank = 0;
  return ncclSuccess;
}
const char *ncclGetErrorString(ncclResult_t result) {
  return result == ncclSuccess ? "no error" : result == ncclInvalidUsage ? "invalid usage" : "unhandled error";
}
ncclResult_t ncclGroupStart() { return ncclSuccess; }
ncclResult_t ncclGroupEnd() { return ncclSuccess; }
ncclResult_t ncclReduce(const void *from, void *to, size_t n, ncclDataType_t type, ncclRedOp_t, int root, ncclComm_t,
                        hipStream_t stream) {
  return root ? ncclInvalidArgument : copy(from, to, n, type, stream);
}
ncclResult_t ncclBcast(void *, size_t, ncclDataType_t, int root, ncclComm_t, hipStream_t) {
  return root ? ncclInvalidArgument : ncclSuccess;
}
ncclResult_t ncclBroadcast(const void *from, void *to, size_t n, ncclDataType_t type, int root, ncclComm_t,
                           hipStream_t stream) {
  return root ? ncclInvalidArgument : copy(from, to, n, type, stream);
}
ncclResult_t ncclAllReduce(const void *from, void *to, size_t n, ncclDataType_t type, ncclRedOp_t, ncclComm_t,
                           hipStream_t stream) {
  return copy(from, to, n, type, stream);
}
ncclResult_t ncclReduceScatter(const void *from, void *to, size_t n, ncclDataType_t type, ncclRedOp_t, ncclComm_t,
                               hipStream_t stream) {
  return copy(from, to, n, type, stream);
}
ncclResult_t ncclAllGather(const void *from, void *to, size_t n, ncclDataType_t type, ncclComm_t, hipStream_t stream) {
  return copy(from, to, n, type, stream);
}
ncclResult_t ncclAllToAll(const void *from, void *to, size_t n, ncclDataType_t type, ncclComm_t, hipStream_t stream) {
  return copy(from, to, n, type, stream);
}
ncclResult_t ncclGather(const void *from, void *to, size_t n, ncclDataType_t type, int, ncclComm_t, hipStream_t stream) {
  return copy(from, to, n, type, stream);
}
ncclResult_t ncclScatter(const void *from, void *to, size_t n, ncclDataType_t type, int, ncclComm_t, hipStream_t stream) {
  return copy(from, to, n, type, stream);
}

}  // extern "C"
