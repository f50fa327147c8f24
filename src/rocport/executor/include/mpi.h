// SPDX-License-Identifier: Apache-2.0
// MPI for a run of one process: what a program started without mpirun sees. Messages can go to itself only.
#pragma once

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <list>
#include <vector>

#define MPI_VERSION 3
#define MPI_SUBVERSION 1
#define MPI_SUCCESS 0
#define MPI_ERR_OTHER 15
#define MPI_MAX_PROCESSOR_NAME 256
#define MPI_MAX_ERROR_STRING 256
#define MPI_PROC_NULL (-2)
#define MPI_ANY_SOURCE (-1)
#define MPI_ANY_TAG (-1)
#define MPI_UNDEFINED (-32766)
#define MPI_COMM_TYPE_SHARED 1
#define MPI_THREAD_SINGLE 0
#define MPI_THREAD_FUNNELED 1
#define MPI_THREAD_SERIALIZED 2
#define MPI_THREAD_MULTIPLE 3

typedef int MPI_Comm;
typedef int MPI_Datatype;  // the size of an element, and a number of its own above
typedef int MPI_Op;
typedef int MPI_Group;
typedef int MPI_Info;
typedef int MPI_Errhandler;
typedef int MPI_Fint;
typedef long MPI_Aint;
typedef long long MPI_Offset;
typedef long long MPI_Count;
typedef struct MPI_Status { int MPI_SOURCE, MPI_TAG, MPI_ERROR; long long rpx_bytes; } MPI_Status;
struct rpx_mpi_request { void *to; long long room; int tag; bool done; MPI_Status status; };
typedef rpx_mpi_request *MPI_Request;

#define MPI_COMM_NULL 0
#define MPI_COMM_WORLD 1
#define MPI_COMM_SELF 2
#define MPI_REQUEST_NULL ((MPI_Request) nullptr)
#define MPI_STATUS_IGNORE ((MPI_Status *)nullptr)
#define MPI_STATUSES_IGNORE ((MPI_Status *)nullptr)
#define MPI_IN_PLACE ((void *)-1)
#define MPI_BOTTOM ((void *)nullptr)
#define MPI_INFO_NULL 0
#define MPI_GROUP_NULL 0
#define MPI_ERRORS_RETURN 1
#define MPI_ERRORS_ARE_FATAL 0

#define RPX_MPI_TYPE(number, bytes) ((number) << 8 | static_cast<int>(bytes))
#define MPI_DATATYPE_NULL 0
#define MPI_CHAR RPX_MPI_TYPE(1, 1)
#define MPI_BYTE RPX_MPI_TYPE(2, 1)
#define MPI_SIGNED_CHAR RPX_MPI_TYPE(3, 1)
#define MPI_UNSIGNED_CHAR RPX_MPI_TYPE(4, 1)
#define MPI_SHORT RPX_MPI_TYPE(5, 2)
#define MPI_UNSIGNED_SHORT RPX_MPI_TYPE(6, 2)
#define MPI_INT RPX_MPI_TYPE(7, 4)
#define MPI_UNSIGNED RPX_MPI_TYPE(8, 4)
#define MPI_LONG RPX_MPI_TYPE(9, sizeof(long))
#define MPI_UNSIGNED_LONG RPX_MPI_TYPE(10, sizeof(long))
#define MPI_LONG_LONG RPX_MPI_TYPE(11, 8)
#define MPI_LONG_LONG_INT MPI_LONG_LONG
#define MPI_UNSIGNED_LONG_LONG RPX_MPI_TYPE(12, 8)
#define MPI_FLOAT RPX_MPI_TYPE(13, 4)
#define MPI_DOUBLE RPX_MPI_TYPE(14, 8)
#define MPI_LONG_DOUBLE RPX_MPI_TYPE(15, sizeof(long double))
#define MPI_INT8_T RPX_MPI_TYPE(16, 1)
#define MPI_INT16_T RPX_MPI_TYPE(17, 2)
#define MPI_INT32_T RPX_MPI_TYPE(18, 4)
#define MPI_INT64_T RPX_MPI_TYPE(19, 8)
#define MPI_UINT8_T RPX_MPI_TYPE(20, 1)
#define MPI_UINT16_T RPX_MPI_TYPE(21, 2)
#define MPI_UINT32_T RPX_MPI_TYPE(22, 4)
#define MPI_UINT64_T RPX_MPI_TYPE(23, 8)
#define MPI_C_BOOL RPX_MPI_TYPE(24, 1)
#define MPI_CXX_BOOL RPX_MPI_TYPE(25, 1)
#define MPI_DOUBLE_INT RPX_MPI_TYPE(26, 16)
#define MPI_FLOAT_INT RPX_MPI_TYPE(27, 8)
#define MPI_2INT RPX_MPI_TYPE(28, 8)
#define MPI_C_FLOAT_COMPLEX RPX_MPI_TYPE(29, 8)
#define MPI_COMPLEX MPI_C_FLOAT_COMPLEX
#define MPI_C_DOUBLE_COMPLEX RPX_MPI_TYPE(30, 16)
#define MPI_DOUBLE_COMPLEX MPI_C_DOUBLE_COMPLEX
#define MPI_AINT MPI_LONG
#define MPI_OFFSET MPI_LONG_LONG

enum { MPI_OP_NULL, MPI_SUM, MPI_PROD, MPI_MAX, MPI_MIN, MPI_LAND, MPI_LOR, MPI_LXOR, MPI_BAND, MPI_BOR, MPI_BXOR, MPI_MAXLOC, MPI_MINLOC };

namespace rpx {
namespace mpi {

struct Message { int tag; std::vector<char> data; };
inline std::list<Message> messages;
inline std::list<MPI_Request> waiting;

inline long long bytes(int count, MPI_Datatype type) { return static_cast<long long>(count) * (type & 0xff); }
inline int copy(const void *from, int count, MPI_Datatype type, void *to) {
  if (from != MPI_IN_PLACE && to != MPI_IN_PLACE && from != to && count > 0) std::memmove(to, from, static_cast<std::size_t>(bytes(count, type)));
  return MPI_SUCCESS;
}
inline void deliver(MPI_Request r, const Message &m) {
  long long n = static_cast<long long>(m.data.size()) < r->room ? static_cast<long long>(m.data.size()) : r->room;
  if (n) std::memcpy(r->to, m.data.data(), static_cast<std::size_t>(n));
  r->done = true;
  r->status = {0, m.tag, MPI_SUCCESS, n};
}
inline bool fits(int wanted, int tag) { return wanted == MPI_ANY_TAG || wanted == tag; }
inline void send(const void *from, int count, MPI_Datatype type, int to, int tag) {
  if (to == MPI_PROC_NULL) return;
  const char *p = static_cast<const char *>(from);
  Message m{tag, std::vector<char>(p, p + bytes(count, type))};
  for (auto at = waiting.begin(); at != waiting.end(); ++at)
    if (fits((*at)->tag, tag)) {
      deliver(*at, m);
      waiting.erase(at);
      return;
    }
  messages.push_back(m);
}
inline MPI_Request receive(void *to, int count, MPI_Datatype type, int from, int tag) {
  auto *r = new rpx_mpi_request{to, bytes(count, type), tag, false, {}};
  if (from == MPI_PROC_NULL) {
    r->done = true;
    r->status = {MPI_PROC_NULL, MPI_ANY_TAG, MPI_SUCCESS, 0};
    return r;
  }
  for (auto at = messages.begin(); at != messages.end(); ++at)
    if (fits(tag, at->tag)) {
      deliver(r, *at);
      messages.erase(at);
      return r;
    }
  waiting.push_back(r);
  return r;
}
inline int finish(MPI_Request *request, MPI_Status *status) {
  if (!*request) return MPI_SUCCESS;
  if (!(*request)->done) {
    std::fprintf(stderr, "rocport executor: MPI waits for a message that nobody sends: the run has one process\n");
    std::_Exit(86);
  }
  if (status) *status = (*request)->status;
  delete *request;
  *request = MPI_REQUEST_NULL;
  return MPI_SUCCESS;
}

}  // namespace mpi
}  // namespace rpx

#define RPX_MPI inline int
RPX_MPI MPI_Init(int *, char ***) { return MPI_SUCCESS; }
RPX_MPI MPI_Init_thread(int *, char ***, int wanted, int *given) { return *given = wanted, MPI_SUCCESS; }
RPX_MPI MPI_Initialized(int *flag) { return *flag = 1, MPI_SUCCESS; }
RPX_MPI MPI_Finalized(int *flag) { return *flag = 0, MPI_SUCCESS; }
RPX_MPI MPI_Finalize() { return MPI_SUCCESS; }
RPX_MPI MPI_Abort(MPI_Comm, int code) { std::exit(code); }
inline double MPI_Wtime() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }
inline double MPI_Wtick() { return 1e-9; }
RPX_MPI MPI_Comm_rank(MPI_Comm, int *rank) { return *rank = 0, MPI_SUCCESS; }
RPX_MPI MPI_Comm_size(MPI_Comm, int *size) { return *size = 1, MPI_SUCCESS; }
RPX_MPI MPI_Comm_dup(MPI_Comm from, MPI_Comm *to) { return *to = from, MPI_SUCCESS; }
RPX_MPI MPI_Comm_split(MPI_Comm from, int colour, int, MPI_Comm *to) { return *to = colour == MPI_UNDEFINED ? MPI_COMM_NULL : from, MPI_SUCCESS; }
RPX_MPI MPI_Comm_split_type(MPI_Comm from, int, int, MPI_Info, MPI_Comm *to) { return *to = from, MPI_SUCCESS; }
RPX_MPI MPI_Comm_free(MPI_Comm *c) { return *c = MPI_COMM_NULL, MPI_SUCCESS; }
RPX_MPI MPI_Comm_set_errhandler(MPI_Comm, MPI_Errhandler) { return MPI_SUCCESS; }
RPX_MPI MPI_Get_processor_name(char *name, int *length) { return *length = std::snprintf(name, MPI_MAX_PROCESSOR_NAME, "localhost"), MPI_SUCCESS; }
RPX_MPI MPI_Error_string(int code, char *text, int *length) { return *length = std::snprintf(text, MPI_MAX_ERROR_STRING, "MPI error %d", code), MPI_SUCCESS; }
RPX_MPI MPI_Type_size(MPI_Datatype type, int *size) { return *size = type & 0xff, MPI_SUCCESS; }
RPX_MPI MPI_Get_count(const MPI_Status *s, MPI_Datatype type, int *count) { return *count = static_cast<int>(s->rpx_bytes / (type & 0xff)), MPI_SUCCESS; }
RPX_MPI MPI_Barrier(MPI_Comm) { return MPI_SUCCESS; }
RPX_MPI MPI_Cart_create(MPI_Comm from, int, const int *, const int *, int, MPI_Comm *to) { return *to = from, MPI_SUCCESS; }
RPX_MPI MPI_Cart_coords(MPI_Comm, int, int n, int *at) { for (int i = 0; i < n; ++i) at[i] = 0; return MPI_SUCCESS; }
RPX_MPI MPI_Cart_rank(MPI_Comm, const int *, int *rank) { return *rank = 0, MPI_SUCCESS; }
RPX_MPI MPI_Cart_shift(MPI_Comm, int, int, int *from, int *to) { return *from = *to = MPI_PROC_NULL, MPI_SUCCESS; }
RPX_MPI MPI_Dims_create(int, int n, int *dims) { for (int i = 0; i < n; ++i) dims[i] = 1; return MPI_SUCCESS; }

RPX_MPI MPI_Send(const void *p, int n, MPI_Datatype t, int to, int tag, MPI_Comm) { return rpx::mpi::send(p, n, t, to, tag), MPI_SUCCESS; }
RPX_MPI MPI_Ssend(const void *p, int n, MPI_Datatype t, int to, int tag, MPI_Comm c) { return MPI_Send(p, n, t, to, tag, c); }
RPX_MPI MPI_Recv(void *p, int n, MPI_Datatype t, int from, int tag, MPI_Comm, MPI_Status *s) {
  MPI_Request r = rpx::mpi::receive(p, n, t, from, tag);
  return rpx::mpi::finish(&r, s);
}
RPX_MPI MPI_Isend(const void *p, int n, MPI_Datatype t, int to, int tag, MPI_Comm, MPI_Request *r) {
  rpx::mpi::send(p, n, t, to, tag);
  *r = new rpx_mpi_request{nullptr, 0, tag, true, {}};
  return MPI_SUCCESS;
}
RPX_MPI MPI_Irecv(void *p, int n, MPI_Datatype t, int from, int tag, MPI_Comm, MPI_Request *r) { return *r = rpx::mpi::receive(p, n, t, from, tag), MPI_SUCCESS; }
RPX_MPI MPI_Sendrecv(const void *p, int n, MPI_Datatype t, int to, int tag, void *q, int m, MPI_Datatype u, int from, int other, MPI_Comm c, MPI_Status *s) {
  MPI_Send(p, n, t, to, tag, c);
  return MPI_Recv(q, m, u, from, other, c, s);
}
RPX_MPI MPI_Wait(MPI_Request *r, MPI_Status *s) { return rpx::mpi::finish(r, s); }
RPX_MPI MPI_Waitall(int n, MPI_Request *r, MPI_Status *s) {
  for (int i = 0; i < n; ++i) rpx::mpi::finish(r + i, s ? s + i : nullptr);
  return MPI_SUCCESS;
}
RPX_MPI MPI_Waitany(int n, MPI_Request *r, int *which, MPI_Status *s) {
  *which = MPI_UNDEFINED;
  for (int i = 0; i < n; ++i)
    if (r[i] && r[i]->done) return *which = i, rpx::mpi::finish(r + i, s);
  return MPI_SUCCESS;
}
RPX_MPI MPI_Test(MPI_Request *r, int *flag, MPI_Status *s) {
  *flag = !*r || (*r)->done;
  return *flag ? rpx::mpi::finish(r, s) : MPI_SUCCESS;
}
RPX_MPI MPI_Testall(int n, MPI_Request *r, int *flag, MPI_Status *s) {
  *flag = 1;
  for (int i = 0; i < n; ++i) *flag &= !r[i] || r[i]->done;
  return *flag ? MPI_Waitall(n, r, s) : MPI_SUCCESS;
}

RPX_MPI MPI_Bcast(void *, int, MPI_Datatype, int, MPI_Comm) { return MPI_SUCCESS; }
RPX_MPI MPI_Reduce(const void *p, void *q, int n, MPI_Datatype t, MPI_Op, int, MPI_Comm) { return rpx::mpi::copy(p, n, t, q); }
RPX_MPI MPI_Allreduce(const void *p, void *q, int n, MPI_Datatype t, MPI_Op, MPI_Comm) { return rpx::mpi::copy(p, n, t, q); }
RPX_MPI MPI_Iallreduce(const void *p, void *q, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c, MPI_Request *r) { return *r = MPI_REQUEST_NULL, MPI_Allreduce(p, q, n, t, o, c); }
RPX_MPI MPI_Scan(const void *p, void *q, int n, MPI_Datatype t, MPI_Op, MPI_Comm) { return rpx::mpi::copy(p, n, t, q); }
RPX_MPI MPI_Exscan(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm) { return MPI_SUCCESS; }
RPX_MPI MPI_Gather(const void *p, int n, MPI_Datatype t, void *q, int, MPI_Datatype, int, MPI_Comm) { return rpx::mpi::copy(p, n, t, q); }
RPX_MPI MPI_Allgather(const void *p, int n, MPI_Datatype t, void *q, int, MPI_Datatype, MPI_Comm) { return rpx::mpi::copy(p, n, t, q); }
RPX_MPI MPI_Scatter(const void *p, int n, MPI_Datatype t, void *q, int, MPI_Datatype, int, MPI_Comm) { return rpx::mpi::copy(p, n, t, q); }
RPX_MPI MPI_Alltoall(const void *p, int n, MPI_Datatype t, void *q, int, MPI_Datatype, MPI_Comm) { return rpx::mpi::copy(p, n, t, q); }
RPX_MPI MPI_Gatherv(const void *p, int n, MPI_Datatype t, void *q, const int *, const int *at, MPI_Datatype u, int, MPI_Comm) { return rpx::mpi::copy(p, n, t, static_cast<char *>(q) + rpx::mpi::bytes(at[0], u)); }
RPX_MPI MPI_Allgatherv(const void *p, int n, MPI_Datatype t, void *q, const int *c, const int *at, MPI_Datatype u, MPI_Comm w) { return MPI_Gatherv(p, n, t, q, c, at, u, 0, w); }
RPX_MPI MPI_Scatterv(const void *p, const int *, const int *at, MPI_Datatype t, void *q, int n, MPI_Datatype, int, MPI_Comm) { return rpx::mpi::copy(static_cast<const char *>(p) + rpx::mpi::bytes(at[0], t), n, t, q); }
RPX_MPI MPI_Alltoallv(const void *p, const int *n, const int *from, MPI_Datatype t, void *q, const int *, const int *to, MPI_Datatype u, MPI_Comm) {
  return rpx::mpi::copy(static_cast<const char *>(p) + rpx::mpi::bytes(from[0], t), n[0], t, static_cast<char *>(q) + rpx::mpi::bytes(to[0], u));
}
#undef RPX_MPI
