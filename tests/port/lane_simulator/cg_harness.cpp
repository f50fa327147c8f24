// One exported function: every thread of a block of 64 asks a group of rocport_cg.h everything it can tell.
// SPDX-License-Identifier: Apache-2.0
#include "lanes.h"
#include "rocport_cg.h"

#include <cstring>

namespace {

namespace cg = rocport::cg;

struct Arguments { int value, operand, branch; };

struct Answers {
  int size, rank, meta_size, meta_rank;
  int shfl, shfl_up, shfl_down, shfl_xor;
  unsigned ballot, any, all, match_any, match_all, match_all_predicate;
  int sum, largest, inclusive, exclusive, inclusive_max, leader_ran;
  long long wide;
};

template <unsigned Size, class Parent>
int butterfly(const cg::thread_block_tile<Size, Parent>& group, int value, int operand) {
  return group.shfl_xor(value, static_cast<unsigned>(operand));
}
int butterfly(const cg::coalesced_group&, int, int) { return 0; }

template <class Group>
Answers ask(const Group& group, const Arguments& a) {
  Answers r{};
  const int predicate = a.value & 1, key = a.value & 3;
  r.size = static_cast<int>(group.size());
  r.rank = static_cast<int>(group.thread_rank());
  r.meta_size = static_cast<int>(group.meta_group_size());
  r.meta_rank = static_cast<int>(group.meta_group_rank());
  r.shfl = group.shfl(a.value, a.operand);
  r.shfl_up = group.shfl_up(a.value, static_cast<unsigned>(a.operand));
  r.shfl_down = group.shfl_down(a.value, static_cast<unsigned>(a.operand));
  r.shfl_xor = butterfly(group, a.value, a.operand);
  r.ballot = group.ballot(predicate);
  r.any = group.any(predicate);
  r.all = group.all(predicate);
  r.match_any = group.match_any(key);
  int same = -1;
  r.match_all = group.match_all(key, same);
  r.match_all_predicate = static_cast<unsigned>(same);
  r.sum = cg::reduce(group, a.value, cg::plus<int>());
  r.largest = cg::reduce(group, a.value, cg::greater<int>());
  r.inclusive = cg::inclusive_scan(group, a.value);
  r.exclusive = cg::exclusive_scan(group, a.value);
  r.inclusive_max = cg::inclusive_scan(group, a.value, cg::greater<int>());
  cg::invoke_one(group, [&] { r.leader_ran = 1; });
  r.wide = cg::reduce(group, static_cast<long long>(a.value) << 20, cg::plus<long long>());
  group.sync();
  return r;
}

template <unsigned Size>
Answers tile(const char* kind, const Arguments& a) {
  const cg::thread_block block = cg::this_thread_block();
  if (!std::strcmp(kind, "tile")) return ask(cg::tiled_partition<Size>(block), a);
  if (!std::strcmp(kind, "nested")) return ask(cg::tiled_partition<Size>(cg::tiled_partition<32>(block)), a);
  return ask(cg::tiled_partition(cg::coalesced_threads(), Size), a);
}

bool answer(const char* kind, int size, const Arguments& a, Answers* out) {
  if (!std::strcmp(kind, "coalesced")) return *out = ask(cg::coalesced_threads(), a), true;
  if (!std::strcmp(kind, "labeled")) return *out = ask(cg::labeled_partition(cg::coalesced_threads(), a.value & 3), a), true;
  if (!std::strcmp(kind, "binary")) return *out = ask(cg::binary_partition(cg::coalesced_threads(), a.value & 1), a), true;
  switch (size) {
    case 1: return *out = tile<1>(kind, a), true;
    case 2: return *out = tile<2>(kind, a), true;
    case 4: return *out = tile<4>(kind, a), true;
    case 8: return *out = tile<8>(kind, a), true;
    case 16: return *out = tile<16>(kind, a), true;
    case 32: return *out = tile<32>(kind, a), true;
    default: return false;
  }
}

// The sum over a group of unknown kind through shared memory, as in CUDA's own introduction to cooperative groups.
int sum_through_memory(const cg::thread_group& group, int* memory, int value) {
  const auto rank = static_cast<unsigned>(group.thread_rank());
  for (auto i = static_cast<unsigned>(group.size() / 2); i > 0; i /= 2) {
    memory[rank] = value;
    group.sync();
    if (rank < i) value += memory[rank + i];
    group.sync();
  }
  return value;
}

}  // namespace

extern "C" int cg_call(const char* kind, int size, int wavefront, const Arguments* arguments, Answers* out) {
  bool known = true;
  lanes::run(dim3(64), static_cast<unsigned>(wavefront), [&] {
    const Arguments& a = arguments[lanes::current];
    if (a.branch < 0) return;
    lanes::set_branch(a.branch);
    if (!answer(kind, size, a, out + lanes::current)) known = false;
  });
  return known;
}

// Sums over the whole block and over runtime-sized tiles of it; `out` has two values a thread. A copy of `in` by all
// threads goes to `copied`.
extern "C" void cg_blocks(int size, int wavefront, const int* in, int bytes, int* out, char* copied) {
  static int memory[64];
  lanes::run(dim3(8, 4, 2), static_cast<unsigned>(wavefront), [&] {
    const unsigned i = lanes::current;
    const cg::thread_block block = cg::this_thread_block();
    out[2 * i] = sum_through_memory(block, memory, in[i]);
    cg::sync(block);
    const cg::thread_group tile = cg::tiled_partition(block, static_cast<unsigned>(size));
    const unsigned first = static_cast<unsigned>(block.thread_rank() - tile.thread_rank());
    out[2 * i + 1] = sum_through_memory(tile, memory + first, in[i]);
    cg::memcpy_async(block, copied, reinterpret_cast<const char*>(in), static_cast<size_t>(bytes));
    cg::wait(block);
    cg::this_grid().sync();
  });
}
