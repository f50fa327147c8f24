"""Kernels that ask CUDA's warp functions for 49,920 shuffles and 96,000 votes, matches and reductions, and the answers.

One text for NVIDIA GPUs (CUDA's functions) and for AMD machine code (the same of rocport_warp.h).
"""

from __future__ import annotations

import random
import re
import struct

import cuda_warp_model as cuda

CASES = 200
WIDTHS = (2, 4, 8, 16, 32)
OPERANDS = range(-8, 70)
MODES = ("idx", "up", "down", "xor")
RESULTS = 16
ANSWERED = 15
"""Results of a lane that are written."""

CUDA_KERNELS = r"""
extern "C" __global__ void shuffles(int* moved) {
  const int lane = threadIdx.x & 31, v = 1000 + 7 * lane;
  int* out = moved + 49920 * (threadIdx.x / 32);
  for (int width = 2; width <= 32; width *= 2) {
    for (int operand = -8; operand < 70; ++operand, out += 128) {
      out[lane] = __shfl_sync(~0u, v, operand, width);
      out[32 + lane] = __shfl_up_sync(~0u, v, operand, width);
      out[64 + lane] = __shfl_down_sync(~0u, v, operand, width);
      out[96 + lane] = __shfl_xor_sync(~0u, v, operand, width);
    }
  }
}
__device__ __noinline__ void ask(unsigned mask, int v, unsigned* out) {
  const unsigned u = v;
  int same;
  out[0] = __ballot_sync(mask, v);
  out[1] = __any_sync(mask, v) != 0;
  out[2] = __all_sync(mask, v) != 0;
  out[3] = __match_any_sync(mask, v);
  out[4] = __match_all_sync(mask, v, &same);
  out[5] = same != 0;
  out[6] = __reduce_add_sync(mask, u);
  out[7] = __reduce_min_sync(mask, v);
  out[8] = __reduce_max_sync(mask, v);
  out[9] = __reduce_min_sync(mask, u);
  out[10] = __reduce_max_sync(mask, u);
  out[11] = __reduce_and_sync(mask, u);
  out[12] = __reduce_or_sync(mask, u);
  out[13] = __reduce_xor_sync(mask, u);
  out[14] = __reduce_add_sync(mask, v);
}
// A second warp takes the cases from the last on: on a wavefront of 64 lanes two of them run side by side.
extern "C" __global__ void operations(int cases, const int* owners, const int* values, unsigned* asked) {
  const int lane = threadIdx.x & 31, warp = threadIdx.x / 32;
  for (int step = 0; step < cases; ++step) {
    const int c = warp ? cases - 1 - step : step;
    const int owner = owners[32 * c + lane], v = values[32 * c + lane];
    unsigned mask = 0;
    for (int i = 0; i < 32; ++i) mask |= (unsigned)(owners[32 * c + i] == owner) << i;
    unsigned* mine = asked + ((warp * cases + c) * 32 + lane) * 16;
    if (c & 1) ask(mask, v, mine);                      // converged, with masks of their own
    else for (int i = 0; i < 4; ++i) if (i == owner) ask(mask, v, mine);  // each on its branch
    __syncwarp();
  }
}
"""

HIP_KERNELS = "#include <hip/hip_runtime.h>\n#include <rocport_warp.h>\n" + re.sub(
    r"\b__(\w+_sync|syncwarp)\(", r"rocport::\1(", CUDA_KERNELS
)

Cases = list[tuple[list[int], list[int]]]


def draw(count: int = CASES) -> Cases:
    """(group of each lane, value of each lane), the same ones every time."""
    chance = random.Random(7)
    found = []
    for number in range(count):
        groups = chance.randint(1, 4)
        owners = [chance.randrange(groups) for _ in range(32)]
        values = [chance.choice([0, 1, -1, chance.getrandbits(31), -chance.getrandbits(31)]) for _ in range(32)]
        found.append((owners, values[:1] * 32 if number % 10 == 0 else values))
    return found


def moved() -> list[int]:
    """What `shuffles` writes, in order."""
    return [
        1000 + 7 * cuda.shuffle_source(mode, lane, operand, width)
        for width in WIDTHS
        for operand in OPERANDS
        for mode in MODES
        for lane in range(32)
    ]


def answers(owners: list[int], values: list[int], lane: int) -> list[int]:
    """The ANSWERED results of one lane of one case."""
    group = {other for other in range(32) if owners[other] == owners[lane]}
    signed = [values[other] for other in sorted(group)]
    unsigned = [value & 0xFFFFFFFF for value in signed]
    bits = {other: struct.pack("<i", value) for other, value in enumerate(values)}
    return [
        cuda.ballot(group, dict(enumerate(values))),
        int(any(signed)),
        int(all(signed)),
        cuda.match_any(group, bits, lane),
        *cuda.match_all(group, bits),
        cuda.reduce("add", unsigned, False),
        min(signed) & 0xFFFFFFFF,
        max(signed) & 0xFFFFFFFF,
        min(unsigned),
        max(unsigned),
        *(cuda.reduce(op, unsigned, False) for op in ("and", "or", "xor")),
        cuda.reduce("add", signed, True) & 0xFFFFFFFF,
    ]
