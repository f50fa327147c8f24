# SPDX-License-Identifier: Apache-2.0
"""A program whose host side is parallel by OpenMP: the SDK's libomp is linked, and found when it runs."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from rocport.executor.isa.runtime.hipcc import openmp_folder
from rocport.model import HANGING_S
from rocport.toolchain import Toolchain

from .conftest import HipCompile

_SOURCE = """
#include <omp.h>
#include <cstdio>
int main() {
  int threads = 0, sum = 0;
#pragma omp parallel num_threads(3) reduction(+ : sum)
  {
#pragma omp single
    threads = omp_get_num_threads();
    sum += omp_get_thread_num();
  }
  std::printf("%d %d\\n", threads, sum);
}
"""


def test_threads_of_a_parallel_region_run(hip: HipCompile, toolchain: Toolchain, tmp_path: Path) -> None:
    if not openmp_folder(toolchain):
        pytest.skip("the HIP compiler has no libomp beside it")
    source = tmp_path / "parallel.cpp"
    source.write_text(_SOURCE)
    done = subprocess.run([hip(source, "-fopenmp")], capture_output=True, text=True, timeout=HANGING_S, check=False)
    assert done.stdout == "3 3\n", done.stderr
