"""rocport_warp.h on a real compiler: it compiles for wave32 and wave64 targets; its machine code stays in 32 lanes."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from lane_isa import NotFollowed, instructions, permutes
from lane_simulator_build import HEADERS

from rocport.toolchain import Toolchain

Compile = Callable[..., Path]
TARGETS = ("gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1151")

USES = r"""
#include "rocport_warp.h"
#include <hip/hip_bf16.h>
#include <hip/hip_fp16.h>
struct Odd { char byte[37]; };
enum Small : short { a, b };
template <class T> __device__ void shuffles(T* p) {
  T v = p[threadIdx.x];
  v = rocport::shfl_sync(-1, v, 3, 16);
  v = rocport::shfl_up(v, 3);
  v = rocport::shfl_down_sync(~0ull, v, 3);
  p[threadIdx.x] = rocport::shfl_xor_sync(0xffffffffu, v, 1);
}
template <class... T> __global__ void all_types(T*... p) { (void)(int[]){(shuffles(p), 0)...}; }
template __global__ void all_types(__half*, __half2*, __hip_bfloat16*, __hip_bfloat162*, float2*, float4*, double*,
                                   bool*, char*, short*, int*, unsigned*, long long*, uchar4*, int3*, Odd*, Small*,
                                   int**);
__global__ void everything(unsigned* u, int* i, float* f, double* d) {
  using namespace rocport;
  const unsigned v = u[threadIdx.x];
  int same;
  u[0] = match_any_sync(0xffff, v) + match_any_sync(1, f[1]) + match_any_sync(1, d[1]) + match_all_sync(~0u, v, &same);
  i[1] = same + reduce_add_sync(~0u, i[0]) + reduce_min_sync(0xff, i[2]) + reduce_max_sync(0xff, i[3]);
  u[2] = reduce_add_sync(~0u, v) + reduce_min_sync(0xff, v) + reduce_max_sync(0xff, v) + reduce_and_sync(1, v);
  u[3] = reduce_or_sync(~0u, v) + reduce_xor_sync(3, v) + (any_sync(3, v) | all_sync(3, v)) + ballot_sync(3, v);
  u[4] = any(v) + all(v) + ballot(v) + activemask() + lane_id() + warp_id() + warps_per_block();
  syncwarp();
  syncwarp(lanemask_eq() | lanemask_lt() | lanemask_le() | lanemask_gt() | lanemask_ge());
  static_assert(warp_size == 32, "a constant expression");
}
int host() {
  int value = 0;
  return rocport::get_warp_size_attribute(&value, 0) == hipSuccess ? value : rocport::warp_size;
}
"""

REDUCTIONS = r"""
#include "rocport_warp.h"
extern "C" {
__global__ void by_xor(float* p) {
  float v = p[threadIdx.x];
#pragma unroll
  for (int d = 16; d > 0; d >>= 1) v += rocport::shfl_xor_sync(0xffffffff, v, d);
  p[threadIdx.x] = v;
}
__global__ void by_down(float* p) {
  float v = p[threadIdx.x];
#pragma unroll
  for (int d = 16; d > 0; d >>= 1) v += rocport::shfl_down_sync(0xffffffff, v, d);
  p[threadIdx.x] = v;
}
__global__ void by_up(float* p) {
  float v = p[threadIdx.x];
#pragma unroll
  for (int d = 1; d < 32; d <<= 1) v += rocport::shfl_up_sync(0xffffffff, v, d);
  p[threadIdx.x] = v;
}
__global__ void doubles(double* p) {
  double v = p[threadIdx.x];
#pragma unroll
  for (int d = 16; d > 0; d >>= 1) v += rocport::shfl_xor_sync(0xffffffff, v, d);
  p[threadIdx.x] = v;
}
__global__ void broadcast(float* p) { p[threadIdx.x] = rocport::shfl_sync(0xffffffff, p[threadIdx.x], 0); }
__global__ void gather(int* p) { p[threadIdx.x] = rocport::shfl_sync(0xffffffff, p[threadIdx.x], p[threadIdx.x + 64]); }
__global__ void votes(int* p) {
  const int v = p[threadIdx.x];
  p[threadIdx.x] = rocport::any_sync(0xffffffff, v > 3) + 2 * rocport::all_sync(0xffffffff, v > 4) +
                   4 * (int)rocport::ballot_sync(0xffffffff, v > 5);
}
__global__ void locked(int* lock, volatile int* sum) {
  for (bool done = false; !done;) {
    if (atomicCAS(lock, 0, 1) == 0) {
      *sum += 1;
      atomicExch(lock, 0);
      done = true;
    }
    rocport::syncwarp();
  }
}
}
"""
# With -S the -c of the toolchain has nothing to do.
STRICT = ("-Wall", "-Werror", "-Wno-unused-command-line-argument")
WIDE_STEPS = r"row_bcast:31|v_permlane64|v_permlane32_swap|wave_(shl|shr|rol|ror)|v_readlane|v_readfirstlane"


def code(compiles: Compile, text: str, folder: Path, target: str, *flags: str) -> Path:
    source = folder / "use.hip"
    source.write_text(text)
    return compiles(source, target, folder / "use.out", *STRICT, *flags, includes=[HEADERS], optimize="-O3")


@pytest.mark.parametrize("target", TARGETS)
def test_compiles_for_both_widths(hip_code: Compile, tmp_path: Path, target: str) -> None:
    assert code(hip_code, USES, tmp_path, target).stat().st_size > 0


@pytest.mark.parametrize("standard", ["c++14", "c++20"])
def test_language_standards(toolchain: Toolchain, tmp_path: Path, standard: str) -> None:
    source = tmp_path / "use.hip"
    source.write_text(USES)
    command = toolchain.compile_command(source, "gfx942", mode="syntax", std=standard, includes=[HEADERS], extra=STRICT)
    done = subprocess.run(command, capture_output=True, text=True, timeout=3600)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def gfx942(hip_code: Compile, tmp_path_factory: pytest.TempPathFactory) -> str:
    return code(hip_code, REDUCTIONS, tmp_path_factory.mktemp("isa"), "gfx942", "-S").read_text()


@pytest.mark.parametrize(
    ("kernel", "exchanges"),
    [("by_xor", 5), ("by_down", 5), ("by_up", 5), ("doubles", 10), ("broadcast", 1), ("gather", 1)],
)
def test_no_exchange_leaves_the_half_of_a_64_lane_wavefront(gfx942: str, kernel: str, exchanges: int) -> None:
    """Every lane address of every ds_bpermute is computed for all 64 lanes: reader and read lane share a half."""
    for seed in range(5):
        sources = permutes(gfx942, kernel, seed)
        assert len(sources) == exchanges, "every exchange of the source is a ds_bpermute of the code"
        for lanes in sources:
            assert all(lane // 32 == source // 32 for lane, source in enumerate(lanes)), lanes


def test_xor_exchanges_are_the_butterfly_of_32_lanes(gfx942: str) -> None:
    distances = [{lane ^ source for lane, source in enumerate(lanes)} for lanes in permutes(gfx942, "by_xor", 0)]
    assert distances == [{16}, {8}, {4}, {2}, {1}]


@pytest.mark.parametrize("kernel", ["by_xor", "by_down", "by_up", "doubles", "broadcast", "gather", "votes"])
def test_no_instruction_that_joins_64_lanes(gfx942: str, kernel: str) -> None:
    """No step across the halves, and no scalar decision on the 64-bit result of a vote."""
    body = "\n".join(" ".join([name, *operands]) for name, operands in instructions(gfx942, kernel))
    full_text = re.search(rf"^{kernel}:(.*?)^\.Lfunc_end", gfx942, re.M | re.S)
    assert full_text is not None and not re.search(WIDE_STEPS, full_text[1])
    assert not re.search(r"s_(cmp_\w+_u64|bcnt[01]_i32_b64|ff1_i32_b64|flbit_i32_b64)", body)


def test_a_lock_is_given_back_inside_the_loop_that_takes_it(gfx942: str) -> None:
    """Behind the loop the lane with the lock would wait for those that want it."""
    full_text = re.search(r"^locked:(.*?)^\.Lfunc_end", gfx942, re.M | re.S)
    assert full_text is not None
    taken, given = (full_text[1].index(f"global_atomic_{name}") for name in ("cmpswap", "swap"))
    assert taken < given < max(branch.start() for branch in re.finditer(r"s_(?:c?branch)", full_text[1]))


def test_check_notices_a_step_over_64_lanes(hip_code: Compile, tmp_path: Path) -> None:
    """The same code written with the wavefront's own width must be caught, or the check proves nothing."""
    wide = REDUCTIONS.replace("rocport::shfl_xor_sync(0xffffffff, v, d)", "__shfl_xor(v, d)").replace(
        "int d = 16", "int d = 32"
    )
    assembly = code(hip_code, wide, tmp_path, "gfx942", "-S").read_text()
    try:
        crossing = [
            lanes for lanes in permutes(assembly, "by_xor", 0) if any(i // 32 != s // 32 for i, s in enumerate(lanes))
        ]
    except NotFollowed:
        pytest.fail("the wide reduction is built from the same instructions and must be followed")
    assert crossing
