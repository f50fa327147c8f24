"""rocport_vector.h: what a structured binding asks of HIP's vector classes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from rocport.port import headers

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


@pytest.mark.parametrize("target", [None, "gfx942"])
def test_vectors_are_taken_apart(tmp_path: Path, target: str | None, hip_code: Callable[..., Path]) -> None:
    source = tmp_path / "use.hip"
    source.write_text(USES)
    hip_code(source, target, tmp_path / "use.o", "-Wall", includes=[Path(headers.__file__).parent])
