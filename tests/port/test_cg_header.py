"""rocport_cg.h: CUDA's groups within a warp, on wavefronts of 32 and of 64 lanes."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lane_simulator_build import HEADERS, build

THREADS = 64
CHECK = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
WAVEFRONTS = pytest.mark.parametrize("wavefront", [32, 64])
VALUES = st.lists(st.integers(-50, 50), min_size=THREADS, max_size=THREADS)


class Arguments(ctypes.Structure):
    _fields_ = (("value", ctypes.c_int), ("operand", ctypes.c_int), ("branch", ctypes.c_int))


NAMES = (
    *("size", "rank", "meta_size", "meta_rank", "shfl", "shfl_up", "shfl_down", "shfl_xor"),
    *("ballot", "any", "all", "match_any", "match_all", "match_all_predicate"),
    *("sum", "largest", "inclusive", "exclusive", "inclusive_max", "leader_ran"),
)


class Answers(ctypes.Structure):
    _fields_ = (*((name, ctypes.c_int) for name in NAMES), ("wide", ctypes.c_longlong))


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    return build("cg_harness.cpp", tmp_path_factory.mktemp("cg"))


def ask(
    library: ctypes.CDLL,
    kind: str,
    size: int,
    wavefront: int,
    values: list[int],
    operand: int,
    branches: list[int] | None = None,
) -> list[dict[str, int]]:
    arguments = (Arguments * THREADS)(
        *(Arguments(value, operand, 0 if branches is None else branches[t]) for t, value in enumerate(values))
    )
    out = (Answers * THREADS)()
    assert library.cg_call(kind.encode(), size, wavefront, arguments, out)
    return [{name: getattr(answer, name) for name in (*NAMES, "wide")} for answer in out]


def expected(
    group: list[int], thread: int, values: list[int], operand: int, meta: tuple[int, int], tile: bool
) -> dict[str, int]:
    """What CUDA defines for one thread of a group, whose threads are given in order of rank."""
    rank, size = group.index(thread), len(group)
    mine = [values[t] for t in group]
    keys = [value & 3 for value in mine]
    same = len(set(keys)) == 1
    up, down, xor = rank - operand, rank + operand, rank ^ operand
    return {
        "size": size,
        "rank": rank,
        "meta_size": meta[0],
        "meta_rank": meta[1],
        "shfl": mine[operand % size],
        "shfl_up": mine[up] if up >= 0 else mine[rank],
        "shfl_down": mine[down] if down < size else mine[rank],
        "shfl_xor": (mine[xor] if xor < size else mine[rank]) if tile else 0,
        "ballot": sum((value & 1) << r for r, value in enumerate(mine)),
        "any": int(any(value & 1 for value in mine)),
        "all": int(all(value & 1 for value in mine)),
        "match_any": sum(1 << r for r, key in enumerate(keys) if key == keys[rank]),
        "match_all": (1 << size) - 1 if same else 0,
        "match_all_predicate": int(same),
        "sum": sum(mine),
        "largest": max(mine),
        "inclusive": sum(mine[: rank + 1]),
        "exclusive": sum(mine[:rank]),
        "inclusive_max": max(mine[: rank + 1]),
        "leader_ran": int(rank == 0),
        "wide": sum(mine) << 20,
    }


def same_bits(got: dict[str, int], want: dict[str, int]) -> bool:
    return all((got[name] - want[name]) % 2**32 == 0 for name in NAMES) and got["wide"] == want["wide"]


@WAVEFRONTS
@pytest.mark.parametrize("size", [1, 2, 4, 8, 16, 32])
@pytest.mark.parametrize("kind", ["tile", "nested"])
@given(values=VALUES, operand=st.integers(0, 31))
@settings(CHECK, max_examples=12)
def test_tiles(library: ctypes.CDLL, wavefront: int, size: int, kind: str, values: list[int], operand: int) -> None:
    """Tiles of the block, and of tiles of 32; distances up to the size of the tile."""
    operand %= size
    got = ask(library, kind, size, wavefront, values, operand)
    for t in range(THREADS):
        group = list(range(t // size * size, t // size * size + size))
        meta = (THREADS // size, t // size) if kind == "tile" else (32 // size, t % 32 // size)
        want = expected(group, t, values, operand, meta, tile=True)
        assert same_bits(got[t], want), (t, got[t], want)


def warps_on_branches(branches: list[int]) -> dict[int, list[int]]:
    """Thread -> the threads of its warp on its branch, in order of lane."""
    return {
        t: [o for o in range(t // 32 * 32, t // 32 * 32 + 32) if branches[o] == branches[t]]
        for t in range(THREADS)
        if branches[t] >= 0
    }


@WAVEFRONTS
@pytest.mark.parametrize("kind", ["coalesced", "labeled", "binary", "pieces"])
@given(
    values=VALUES,
    branches=st.lists(st.integers(-1, 2), min_size=THREADS, max_size=THREADS) | st.just([0] * THREADS),
    operand=st.integers(0, 40),
    size=st.sampled_from([1, 2, 4, 8, 16, 32]),
)
@CHECK
def test_groups_of_diverged_lanes(
    library: ctypes.CDLL, wavefront: int, kind: str, values: list[int], branches: list[int], operand: int, size: int
) -> None:
    """The active lanes of a warp; by label; by predicate; and cut into pieces by rank."""
    got = ask(library, kind, size, wavefront, values, operand, branches)
    for t, active in warps_on_branches(branches).items():
        group, meta = active, (1, 0)
        if kind == "labeled":
            labels = list(dict.fromkeys(values[o] & 3 for o in active))
            group = [o for o in active if values[o] & 3 == values[t] & 3]
            meta = (len(labels), labels.index(values[t] & 3))
        elif kind == "binary":
            group = [o for o in active if values[o] & 1 == values[t] & 1]
            meta = (1, 0) if len(group) == len(active) else (2, values[t] & 1)
        elif kind == "pieces":
            piece = active.index(t) // size
            group = active[piece * size : piece * size + size]
            meta = ((len(active) + size - 1) // size, piece)
        want = expected(group, t, values, operand, meta, tile=False)
        assert same_bits(got[t], want), (t, group, got[t], want)


@WAVEFRONTS
@pytest.mark.parametrize("size", [2, 8, 32])
@pytest.mark.parametrize("bytes_copied", [256, 252, 13])
def test_blocks_tiles_of_unknown_size_and_copies(
    library: ctypes.CDLL, wavefront: int, size: int, bytes_copied: int
) -> None:
    values = [(7 * t * t + 3) % 101 for t in range(THREADS)]
    data = (ctypes.c_int * THREADS)(*values)
    out = (ctypes.c_int * (2 * THREADS))()
    copied = ctypes.create_string_buffer(257)
    library.cg_blocks(size, wavefront, data, bytes_copied, out, copied)
    assert out[0] == sum(values)
    assert [out[2 * t + 1] for t in range(0, THREADS, size)] == [
        sum(values[t : t + size]) for t in range(0, THREADS, size)
    ]
    assert copied.raw == bytes(data)[:bytes_copied] + bytes(257 - bytes_copied)


USES = r"""
#include "rocport_cg.h"
#include <hip/hip_fp16.h>
namespace cg = rocport::cg;
__device__ int unknown(cg::thread_group g, int v) { g.sync(); return v + g.thread_rank() + g.size() + g.num_threads(); }
__device__ float typed(const cg::thread_block_tile<32>& tile, float v) {
  return cg::reduce(tile, v, cg::plus<float>());
}
__global__ void groups(float* f, int* i, double* d, __half* h) {
  __shared__ float shared[64];
  cg::thread_block block = cg::this_thread_block();
  auto warp = cg::tiled_partition<32>(block);
  auto eight = cg::tiled_partition<8>(warp);
  cg::coalesced_group active = cg::coalesced_threads();
  f[0] = typed(warp, f[1]) + cg::reduce(eight, f[2], [](float a, float b) { return a > b ? a : b; });
  i[0] = warp.ballot(i[1]) + eight.any(i[2]) + active.all(i[3]);
  i[3] = unknown(block, 1) + unknown(warp, 2) + unknown(active, 3);
  i[1] = cg::inclusive_scan(warp, i[4]) + cg::exclusive_scan(active, i[5], cg::bit_or<int>());
  i[2] = cg::labeled_partition(active, i[6]).size() + cg::binary_partition(warp, i[7] > 0).size();
  h[0] = warp.shfl_down(h[1], 3);
  d[0] = warp.shfl_xor(d[1], 1);
  cg::memcpy_async(block, shared, f, sizeof shared);
  cg::wait(block);
  cg::grid_group grid = cg::this_grid();
  grid.sync();
  cg::sync(warp);
}
__global__ void copies(int4 *s, const int4 *g, int *o) {
  auto grid = rocport::cg::this_grid();
  auto token = grid.barrier_arrive();
  auto block = rocport::cg::this_thread_block();
  rocport::cg::memcpy_async(block, s, rocport::cg::aligned_size_t<16>(64), g, 32);
  rocport::cg::memcpy_async(block, s, g, rocport::cg::aligned_size_t<16>(64));
  auto tile = rocport::cg::tiled_partition<16>(block);
  *o = rocport::cg::invoke_one_broadcast(tile, [&] { return atomicAdd(o, 1); });
  grid.barrier_wait(static_cast<decltype(token) &&>(token));
}
"""


@pytest.mark.parametrize("target", [None, "gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1151"])
def test_compiles_for_both_widths(tmp_path: Path, target: str | None, hip_code: Callable[..., Path]) -> None:
    source = tmp_path / "use.hip"
    source.write_text(USES)
    hip_code(source, target, tmp_path / "use.o", "-Wall", "-Werror", includes=[HEADERS])
