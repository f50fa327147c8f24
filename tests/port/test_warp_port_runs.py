"""CUDA kernels that lean on 32-lane warps, ported by the rules and run on wavefronts of 32 and of 64 lanes."""

from __future__ import annotations

import ctypes
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from lane_simulator_build import HEADERS, build

from rocport.model import Applicability, Context, Options
from rocport.port.engine import port_file
from rocport.scan.engine import scan_cuda
from rocport.syntax.project import build_index, names_of

CUDA = r"""
#include <cuda_runtime.h>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
#define FULL_MASK 0xffffffff
#define WARP_SIZE 32
#define LANE (threadIdx.x & (WARP_SIZE - 1))
#if CUDART_VERSION < 9000
#define BALLOT(p) __ballot(p)
#define SHFL_UP(v, d) __shfl_up(v, d)
#else
#define BALLOT(p) __ballot_sync(FULL_MASK, p)
#define SHFL_UP(v, d) __shfl_up_sync(FULL_MASK, v, d)
#endif

template <unsigned mask, class T>
__device__ T warp_sum(T v) {
  for (int offset = warpSize / 2; offset > 0; offset /= 2) v += __shfl_xor_sync(mask, v, offset);
  return v;
}

// One partial sum a warp, combined by the first warp: the block reduction of a thousand programs.
__global__ void block_sum(const int* in, int* out) {
  __shared__ int partial[32];
  int v = warp_sum<FULL_MASK>(in[threadIdx.x]);
  if (LANE == 0) partial[threadIdx.x / 32] = v;
  __syncthreads();
  v = threadIdx.x < blockDim.x / WARP_SIZE ? partial[LANE] : 0;
  if ((threadIdx.x >> 5) == 0) v = warp_sum<FULL_MASK>(v);
  if (threadIdx.x == 0) *out = v;
}

// Stream compaction: rank among the kept lanes of the warp, one atomic a warp.
__global__ void keep_odd(const int* in, int* out, int* count) {
  const int v = in[threadIdx.x];
  const unsigned kept = BALLOT(v & 1);
  int base = 0;
  if (LANE == 0) base = atomicAdd(count, __popc(kept));
  base = __shfl_sync(FULL_MASK, base, 0);
  if (v & 1) out[base + __popc(kept & ((1u << LANE) - 1))] = v;
}

// Warp-aggregated atomics over whoever is active.
__global__ void count_positive(const int* in, int* count, int* leaders) {
  if (in[threadIdx.x] > 0) {
    const unsigned active = __activemask();
    const int leader = __ffs(active) - 1;
    if (LANE == leader) { atomicAdd(count, __popc(active)); atomicAdd(leaders, 1); }
  }
}

__global__ void warp_scan(const int* in, int* out) {
  int v = in[threadIdx.x];
#pragma unroll
  for (int d = 1; d < 32; d <<= 1) { const int o = SHFL_UP(v, d); if (LANE >= d) v += o; }
  out[threadIdx.x] = v;
}

__global__ void tiles(const int* in, int* out) {
  auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  auto eight = cg::tiled_partition<8>(warp);
  const int v = in[threadIdx.x];
  out[threadIdx.x] = cg::reduce(warp, v, cg::greater<int>()) + 1000 * cg::reduce(eight, v, cg::plus<int>());
}
"""

HARNESS = r"""
#include "lanes.h"
#include <cstring>
#include "kernels.h"
extern "C" void run(const char* kernel, int wavefront, const int* in, int* out, int* counters) {
  lanes::run(dim3(64), wavefront, [&] {
    if (!std::strcmp(kernel, "block_sum")) block_sum(in, out);
    if (!std::strcmp(kernel, "keep_odd")) keep_odd(in, out, counters);
    if (!std::strcmp(kernel, "count_positive")) count_positive(in, counters, counters + 1);
    if (!std::strcmp(kernel, "warp_scan")) warp_scan(in, out);
    if (!std::strcmp(kernel, "tiles")) tiles(in, out);
  });
}
"""


@pytest.fixture(scope="module")
def ported() -> bytes:
    data = CUDA.encode()
    context = Context(Options(), build_index(["kernels.cu"], [names_of(data)]))
    findings = scan_cuda("kernels.cu", data, context)
    result = port_file("kernels.cu", data, findings)
    assert result.data is not None
    assert not [f for f in result.findings if f.applicability is Applicability.MANUAL and f.rule.startswith("warp")]
    return result.data


@pytest.fixture(scope="module")
def library(ported: bytes, tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    folder = tmp_path_factory.mktemp("port")
    (folder / "kernels.h").write_bytes(ported)
    harness = folder / "harness.cpp"
    harness.write_text(HARNESS)
    return build(str(harness), folder, (folder,))


@pytest.mark.parametrize("wavefront", [32, 64])
@pytest.mark.parametrize("seed", range(4))
def test_port_computes_what_the_cuda_program_computes(library: ctypes.CDLL, wavefront: int, seed: int) -> None:
    chance = random.Random(seed)
    values = [chance.randint(-99, 99) for _ in range(64)]
    data = (ctypes.c_int * 64)(*values)

    def run(kernel: str) -> tuple[list[int], list[int]]:
        out, counters = (ctypes.c_int * 64)(), (ctypes.c_int * 2)()
        library.run(kernel.encode(), wavefront, data, out, counters)
        return list(out), list(counters)

    assert run("block_sum")[0][0] == sum(values)
    odd = [v for v in values if v & 1]
    out, counters = run("keep_odd")
    assert counters[0] == len(odd) and sorted(out[: len(odd)]) == sorted(odd)
    _, counters = run("count_positive")
    warps_with_positive = sum(any(v > 0 for v in values[at : at + 32]) for at in (0, 32))
    assert counters == [sum(v > 0 for v in values), warps_with_positive]
    assert run("warp_scan")[0] == [sum(values[t // 32 * 32 : t + 1]) for t in range(64)]
    assert run("tiles")[0] == [
        max(values[t // 32 * 32 : t // 32 * 32 + 32]) + 1000 * sum(values[t // 8 * 8 : t // 8 * 8 + 8])
        for t in range(64)
    ]


@pytest.mark.parametrize("target", [None, "gfx942", "gfx1100"])
@pytest.mark.parametrize("warp", ["logical32", "native"])
def test_port_compiles(tmp_path: Path, target: str | None, warp: str, hip_code: Callable[..., Path]) -> None:
    """Both modes; the native one without cooperative groups, of which HIP has too little."""
    text = (
        CUDA
        if warp == "logical32"
        else CUDA[: CUDA.index("__global__ void tiles")].replace("#include <cooperative_groups/reduce.h>\n", "")
    )
    data = text.encode()
    findings = scan_cuda("k.cu", data, Context(Options(warp=warp), build_index(["k.cu"], [names_of(data)])))
    result = port_file("k.cu", data, findings)
    source = tmp_path / "k.cu"
    source.write_bytes(result.data or data)
    hip_code(source, target, tmp_path / "k.o", includes=[HEADERS])
