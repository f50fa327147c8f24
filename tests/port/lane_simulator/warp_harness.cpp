// One exported function: every thread of a block of 64 calls one function of rocport_warp.h with its own arguments.
// SPDX-License-Identifier: Apache-2.0
#include "lanes.h"
#include "rocport_warp.h"

#include <cstring>

namespace {

constexpr unsigned block_size = 64;
constexpr unsigned slot = 64;  // bytes a value takes in the buffers

template <unsigned N>
struct Bytes { unsigned char byte[N]; };
enum Colour : short { red, green };
struct Pair { unsigned short lo, hi; };
struct alignas(16) Quad { float x, y, z, w; };

struct Arguments {
  unsigned long long mask;
  int lane, width, branch;  // branch < 0: the thread does not call
};

template <class T>
T get(const unsigned char* in) {
  T value;
  std::memcpy(&value, in, sizeof(T));
  return value;
}

template <class T>
void put(unsigned char* out, T value) { std::memcpy(out, &value, sizeof(T)); }

template <class T>
bool shuffle(const char* op, const Arguments& a, const unsigned char* in, unsigned char* out) {
  using namespace rocport;
  const T v = get<T>(in);
  const unsigned delta = static_cast<unsigned>(a.lane);
  if (!std::strcmp(op, "shfl_sync")) return put(out, shfl_sync(a.mask, v, a.lane, a.width)), true;
  if (!std::strcmp(op, "shfl_up_sync")) return put(out, shfl_up_sync(a.mask, v, delta, a.width)), true;
  if (!std::strcmp(op, "shfl_down_sync")) return put(out, shfl_down_sync(a.mask, v, delta, a.width)), true;
  if (!std::strcmp(op, "shfl_xor_sync")) return put(out, shfl_xor_sync(a.mask, v, a.lane, a.width)), true;
  if (!std::strcmp(op, "shfl")) return put(out, shfl(v, a.lane, a.width)), true;
  if (!std::strcmp(op, "shfl_up")) return put(out, shfl_up(v, delta, a.width)), true;
  if (!std::strcmp(op, "shfl_down")) return put(out, shfl_down(v, delta, a.width)), true;
  if (!std::strcmp(op, "shfl_xor")) return put(out, shfl_xor(v, a.lane, a.width)), true;
  return false;
}

template <class T>
bool match(const char* op, const Arguments& a, const unsigned char* in, unsigned char* out) {
  if (!std::strcmp(op, "match_any_sync")) return put(out, rocport::match_any_sync(a.mask, get<T>(in))), true;
  if (!std::strcmp(op, "match_all_sync")) {
    int predicate = -1;
    put(out, rocport::match_all_sync(a.mask, get<T>(in), &predicate));
    put(out + 4, predicate);
    return true;
  }
  return false;
}

template <class T>
bool any_type(const char* op, const Arguments& a, const unsigned char* in, unsigned char* out) {
  return shuffle<T>(op, a, in, out) || match<T>(op, a, in, out);
}

template <class T>
bool reduction(const char* op, const Arguments& a, const unsigned char* in, unsigned char* out) {
  using namespace rocport;
  const T v = get<T>(in);
  if (!std::strcmp(op, "reduce_add_sync")) return put(out, reduce_add_sync(a.mask, v)), true;
  if (!std::strcmp(op, "reduce_min_sync")) return put(out, reduce_min_sync(a.mask, v)), true;
  if (!std::strcmp(op, "reduce_max_sync")) return put(out, reduce_max_sync(a.mask, v)), true;
  return false;
}

bool integer(const char* op, const Arguments& a, const unsigned char* in, unsigned char* out) {
  using namespace rocport;
  const int p = get<int>(in);
  const auto u = static_cast<unsigned>(p);
  if (!std::strcmp(op, "ballot_sync")) return put(out, ballot_sync(a.mask, p)), true;
  if (!std::strcmp(op, "any_sync")) return put(out, any_sync(a.mask, p)), true;
  if (!std::strcmp(op, "all_sync")) return put(out, all_sync(a.mask, p)), true;
  if (!std::strcmp(op, "ballot")) return put(out, ballot(p)), true;
  if (!std::strcmp(op, "any")) return put(out, any(p)), true;
  if (!std::strcmp(op, "all")) return put(out, all(p)), true;
  if (!std::strcmp(op, "activemask")) return put(out, activemask()), true;
  if (!std::strcmp(op, "reduce_and_sync")) return put(out, reduce_and_sync(a.mask, u)), true;
  if (!std::strcmp(op, "reduce_or_sync")) return put(out, reduce_or_sync(a.mask, u)), true;
  if (!std::strcmp(op, "reduce_xor_sync")) return put(out, reduce_xor_sync(a.mask, u)), true;
  if (!std::strcmp(op, "lane_id")) return put(out, lane_id()), true;
  if (!std::strcmp(op, "warp_id")) return put(out, warp_id()), true;
  if (!std::strcmp(op, "warps_per_block")) return put(out, warps_per_block()), true;
  if (!std::strcmp(op, "lanemask_eq")) return put(out, lanemask_eq()), true;
  if (!std::strcmp(op, "lanemask_lt")) return put(out, lanemask_lt()), true;
  if (!std::strcmp(op, "lanemask_le")) return put(out, lanemask_le()), true;
  if (!std::strcmp(op, "lanemask_gt")) return put(out, lanemask_gt()), true;
  if (!std::strcmp(op, "lanemask_ge")) return put(out, lanemask_ge()), true;
  if (!std::strcmp(op, "syncwarp")) return syncwarp(a.mask), put(out, activemask()), true;
  if (!std::strcmp(op, "warp_size_attribute")) {
    int value = -1;
    const hipError_t status = get_warp_size_attribute(&value, a.lane);
    return put(out, value), put(out + 4, static_cast<int>(status)), true;
  }
  return false;
}

using Call = bool (*)(const char*, const Arguments&, const unsigned char*, unsigned char*);
struct Type { const char* name; Call call; };
const Type types[] = {
    {"bool", any_type<bool>}, {"char", any_type<char>}, {"short", any_type<short>}, {"enum", any_type<Colour>},
    {"half", any_type<Bytes<2>>}, {"half2", any_type<Pair>}, {"long long", any_type<long long>},
    {"float", any_type<float>}, {"double", any_type<double>}, {"float2", any_type<Bytes<8>>},
    {"bytes3", any_type<Bytes<3>>}, {"bytes12", any_type<Bytes<12>>}, {"float4", any_type<Quad>},
    {"bytes37", any_type<Bytes<37>>}, {"pointer", any_type<const void*>},
    {"int", [](const char* op, const Arguments& a, const unsigned char* in, unsigned char* out) {
       return any_type<int>(op, a, in, out) || reduction<int>(op, a, in, out) || integer(op, a, in, out);
     }},
    {"unsigned", [](const char* op, const Arguments& a, const unsigned char* in, unsigned char* out) {
       return any_type<unsigned>(op, a, in, out) || reduction<unsigned>(op, a, in, out);
     }},
};

}  // namespace

static_assert(rocport::warp_size == 32, "");

// Calls `op` for values of `type` on a block of 64 threads, in wavefronts of `wavefront` lanes. `in` and `out` hold 64
// slots of 64 bytes. Returns 0 where the type or the operation is unknown.
extern "C" int warp_call(const char* op, const char* type, int wavefront, const Arguments* arguments,
                         const unsigned char* in, unsigned char* out) {
  for (const Type& t : types) {
    if (std::strcmp(t.name, type) != 0) continue;
    bool known = true;
    lanes::run(dim3(block_size), static_cast<unsigned>(wavefront), [&] {
      const unsigned i = lanes::current;
      if (arguments[i].branch < 0) return;
      lanes::set_branch(arguments[i].branch);
      if (!t.call(op, arguments[i], in + i * slot, out + i * slot)) known = false;
    });
    return known;
  }
  return 0;
}
