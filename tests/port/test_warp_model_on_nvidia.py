"""The model of CUDA's warp operations against an NVIDIA GPU, where one is present."""

from __future__ import annotations

import random
import shutil
import struct
import subprocess
from pathlib import Path

import cuda_warp_model as cuda
import pytest

CASES = 200
WIDTHS = (2, 4, 8, 16, 32)
OPERANDS = range(-8, 70)
MODES = ("idx", "up", "down", "xor")
RESULTS = 16

PROGRAM = r"""
#include <cstdio>
#include <cuda_runtime.h>
__device__ const int owners[] = {%(owners)s};
__device__ const int values[] = {%(values)s};
__global__ void shuffles(int* out) {
  const int lane = threadIdx.x, v = 1000 + 7 * lane;
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
__global__ void operations(unsigned* out) {
  const int lane = threadIdx.x;
  for (int c = 0; c < %(cases)d; ++c) {
    const int owner = owners[32 * c + lane], v = values[32 * c + lane];
    unsigned mask = 0;
    for (int i = 0; i < 32; ++i) mask |= (unsigned)(owners[32 * c + i] == owner) << i;
    unsigned* mine = out + (32 * c + lane) * 16;
    if (c & 1) ask(mask, v, mine);                      // converged, with masks of their own
    else for (int i = 0; i < 4; ++i) if (i == owner) ask(mask, v, mine);  // each on its branch
    __syncwarp();
  }
}
int main() {
  int* moved;
  unsigned* asked;
  const size_t n = 32 * 5 * 78 * 4, m = %(cases)d * 32 * 16;
  if (cudaMallocManaged(&moved, n * 4) || cudaMallocManaged(&asked, m * 4)) return 3;
  shuffles<<<1, 32>>>(moved);
  operations<<<1, 32>>>(asked);
  if (cudaDeviceSynchronize()) return 4;
  return fwrite(moved, 4, n, stdout) + fwrite(asked, 4, m, stdout) == n + m ? 0 : 5;
}
"""


@pytest.fixture(scope="module")
def cases() -> list[tuple[list[int], list[int]]]:
    """(group of each lane, value of each lane)"""
    chance = random.Random(7)
    found = []
    for number in range(CASES):
        groups = chance.randint(1, 4)
        owners = [chance.randrange(groups) for _ in range(32)]
        values = [chance.choice([0, 1, -1, chance.getrandbits(31), -chance.getrandbits(31)]) for _ in range(32)]
        found.append((owners, values[:1] * 32 if number % 10 == 0 else values))
    return found


@pytest.fixture(scope="module")
def output(tmp_path_factory: pytest.TempPathFactory, cases: list[tuple[list[int], list[int]]]) -> bytes:
    nvcc, smi = shutil.which("nvcc"), shutil.which("nvidia-smi")
    if smi is None or subprocess.run([smi, "-L"], capture_output=True, timeout=3600).returncode != 0:
        pytest.skip("no NVIDIA GPU")
    if nvcc is None:
        pytest.skip("no nvcc")
    folder: Path = tmp_path_factory.mktemp("nvidia")
    text = PROGRAM % {
        "owners": ",".join(str(owner) for owners, _ in cases for owner in owners),
        "values": ",".join(str(value) for _, values in cases for value in values),
        "cases": CASES,
    }
    (folder / "model.cu").write_text(text)
    subprocess.run(
        [nvcc, "-arch=native", "-O2", "-w", "-o", folder / "model", folder / "model.cu"], check=True, timeout=3600
    )
    return subprocess.run([folder / "model"], check=True, capture_output=True, timeout=3600).stdout


def test_shuffles(output: bytes) -> None:
    got = struct.iter_unpack("<i", output)
    for width in WIDTHS:
        for operand in OPERANDS:
            for mode in MODES:
                want = [1000 + 7 * cuda.shuffle_source(mode, lane, operand, width) for lane in range(32)]
                assert [next(got)[0] for _ in range(32)] == want, (mode, width, operand)


def test_votes_matches_and_reductions(output: bytes, cases: list[tuple[list[int], list[int]]]) -> None:
    start = 4 * 32 * len(WIDTHS) * len(OPERANDS) * len(MODES)
    answers = struct.unpack_from(f"<{CASES * 32 * RESULTS}I", output, start)
    for number, (owners, values) in enumerate(cases):
        for lane in range(32):
            group = {other for other in range(32) if owners[other] == owners[lane]}
            signed = [values[other] for other in sorted(group)]
            unsigned = [value & 0xFFFFFFFF for value in signed]
            bits = {other: struct.pack("<i", value) for other, value in enumerate(values)}
            want = [
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
            at = (number * 32 + lane) * RESULTS
            assert list(answers[at : at + len(want)]) == want, (number, lane)
