"""The model of CUDA's warp operations against an NVIDIA GPU, where one is present."""

from __future__ import annotations

import shutil
import struct
import subprocess
from pathlib import Path

import pytest
from warp_program import ANSWERED, CASES, CUDA_KERNELS, RESULTS, answers, draw, moved

MAIN = r"""
#include <cstdio>
#include <cstring>
const int owners[] = {%(owners)s}, values[] = {%(values)s};
int main() {
  int *where, *o, *v;
  unsigned* asked;
  const size_t n = 49920, m = %(cases)d * 32 * 16;
  if (cudaMallocManaged(&where, n * 4) || cudaMallocManaged(&asked, m * 4)) return 3;
  if (cudaMallocManaged(&o, sizeof owners) || cudaMallocManaged(&v, sizeof values)) return 3;
  memcpy(o, owners, sizeof owners), memcpy(v, values, sizeof values);
  shuffles<<<1, 32>>>(where);
  operations<<<1, 32>>>(%(cases)d, o, v, asked);
  if (cudaDeviceSynchronize()) return 4;
  return fwrite(where, 4, n, stdout) + fwrite(asked, 4, m, stdout) == n + m ? 0 : 5;
}
"""


@pytest.fixture(scope="module")
def output(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    nvcc, smi = shutil.which("nvcc"), shutil.which("nvidia-smi")
    if smi is None or subprocess.run([smi, "-L"], capture_output=True, timeout=3600).returncode != 0:
        pytest.skip("no NVIDIA GPU")
    if nvcc is None:
        pytest.skip("no nvcc")
    folder: Path = tmp_path_factory.mktemp("nvidia")
    cases = draw()
    text = CUDA_KERNELS + MAIN % {
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
    want = moved()
    assert list(struct.unpack_from(f"<{len(want)}i", output)) == want


def test_votes_matches_and_reductions(output: bytes) -> None:
    got = struct.unpack_from(f"<{CASES * 32 * RESULTS}I", output, 4 * len(moved()))
    for number, (owners, values) in enumerate(draw()):
        for lane in range(32):
            at = (number * 32 + lane) * RESULTS
            assert list(got[at : at + ANSWERED]) == answers(owners, values, lane), (number, lane)
