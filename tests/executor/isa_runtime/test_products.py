# SPDX-License-Identifier: Apache-2.0
"""Large products and factorizations behind the real headers: by an OpenBLAS where one is, and by loops."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from rocport.executor.blas import VARIABLE, blas_library
from rocport.model import HANGING_S

from .conftest import HipCompile

PROGRAM = Path(__file__).parents[1] / "programs" / "large_products.hip"


@pytest.fixture(scope="module")
def program(hip: HipCompile) -> Path:
    return hip(PROGRAM, "-O1", "--offload-arch=gfx942", "-lhipblas", "-lhipsolver")


@pytest.mark.parametrize("by", ["openblas", "loops"])
def test_they_are_right(program: Path, by: str) -> None:
    library = blas_library() if by == "openblas" else ""
    if by == "openblas" and not library:
        pytest.skip("no OpenBLAS: neither numpy, scipy, a scipy-openblas wheel nor libopenblas.so.0 is installed")
    done = subprocess.run(
        [program], capture_output=True, text=True, timeout=HANGING_S, check=False, env={**os.environ, VARIABLE: library}
    )
    assert done.stdout == "PASSED\n", done.stdout + done.stderr


def test_epilogues_layouts_convolutions_and_normalizations(hip: HipCompile) -> None:
    libraries = ["hipblaslt", "MIOpen", "rocrand", "rocfft", "rocsolver", "rocblas", "rocsparse"]
    source = Path(__file__).with_name("host_libraries.cpp")
    program = hip(source, "-O0", "-std=c++17", *(f"-l{name}" for name in libraries))
    done = subprocess.run([program], capture_output=True, text=True, timeout=HANGING_S, check=False)
    assert done.stdout == "PASSED\n", done.stdout + done.stderr


def test_what_solvers_sparse_matrices_and_plans_are_asked_for(hip: HipCompile) -> None:
    source = Path(__file__).with_name("sparse_and_solver.cpp")
    program = hip(source, "-O0", "-std=c++17", "-lhipsolver", "-lhipsparse", "-lhipfft")
    done = subprocess.run([program], capture_output=True, text=True, timeout=HANGING_S, check=False)
    assert done.stdout == "PASSED\n", done.stdout + done.stderr


def test_vectors_of_types_named_at_run_time(hip: HipCompile) -> None:
    program = hip(Path(__file__).with_name("typed_vectors.cpp"), "-O0", "-std=c++17", "-lhipblas")
    done = subprocess.run([program], capture_output=True, text=True, timeout=HANGING_S, check=False)
    assert done.stdout == "PASSED\n", done.stdout + done.stderr
