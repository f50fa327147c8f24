"""rocport_vector.h: what a structured binding asks of HIP's vector classes."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from rocport.port import headers
from rocport.toolchain import ToolchainError, find

USES = """\
#include <hip/hip_runtime.h>
#include "rocport_vector.h"
__device__ float2 sorted(float a, float b) { return {fminf(a, b), fmaxf(a, b)}; }
__global__ void k(float *o, int4 *p) {
  auto [low, high] = sorted(o[0], o[1]);
  auto &[a, b, c, d] = *p;
  a = b + c + d;
  const auto [x, y, z] = make_uint3(1, 2, 3);
  o[2] = low + high + x + y + z;
}
"""


def test_vectors_are_taken_apart(tmp_path: Path) -> None:
    try:
        toolchain = find()
    except ToolchainError as error:
        pytest.skip(f"no HIP compiler: {error}")
    source = tmp_path / "use.hip"
    source.write_text(USES)
    folder = Path(headers.__file__).parent
    command = toolchain.compile_command(
        source, "gfx942", mode="object", includes=[folder], extra=["-Wall", "-std=c++17"], output=tmp_path / "use.o"
    )
    done = subprocess.run(command, capture_output=True, text=True, timeout=3600)
    assert done.returncode == 0, done.stderr
