# SPDX-License-Identifier: Apache-2.0
"""The HIP runtime library: what it answers without a kernel, what it refuses, and that no name is missing."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from rocport.executor.isa.runtime.library import LIBRARIES, exported
from rocport.facts.targets import load_target
from rocport.model import HANGING_S
from rocport.toolchain import Toolchain

from .conftest import HipCompile

HERE = Path(__file__).parent


def _run(program: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [program], capture_output=True, text=True, timeout=HANGING_S, check=False, env={**os.environ, **environment}
    )


@pytest.fixture(scope="module")
def host_api(hip: HipCompile) -> Path:
    return hip(HERE / "host_api.hip", "-O0", "--offload-arch=gfx942", "--offload-arch=gfx1100")


@pytest.mark.parametrize("name", ["gfx942", "gfx1100"])
def test_memory_symbols_graphs_and_errors(host_api: Path, name: str) -> None:
    done = _run(host_api, ROCPORT_EXEC_TARGET=name)
    target = load_target(name)
    assert done.stdout == f"{name} {target.wavefront} {target.lds_bytes}\nPASSED\n", done.stderr
    assert done.stderr.count("hipCreateTextureObject is not served") == 1  # called twice
    assert "`rocport run --executor source` serves textures" in done.stderr
    assert "a copy to device memory of 401 bytes at byte 0 of an allocation of 400 bytes" in done.stderr
    assert "refused: more threads a block than the kernel was compiled for" in done.stderr


def test_a_program_without_code_for_the_target_says_what_it_has(host_api: Path) -> None:
    done = _run(host_api, ROCPORT_EXEC_TARGET="gfx90a")
    assert done.returncode == 1
    assert "no code for gfx90a in this program: it was built for gfx942, gfx1100" in done.stderr.replace(
        "gfx1100, gfx942", "gfx942, gfx1100"
    )


def test_a_write_behind_an_allocation_is_seen_when_it_is_freed(hip: HipCompile, tmp_path: Path) -> None:
    source = tmp_path / "behind.cpp"
    source.write_text(
        "#include <hip/hip_runtime.h>\nint main() { char *p; (void)hipMalloc(&p, 10); p[12] = 1; return hipFree(p); }\n"
    )
    done = _run(hip(source))
    assert done.returncode == 0
    assert "byte 12 of an allocation of 10 bytes was written (seen when it was freed)" in done.stderr


def test_every_function_of_the_headers_is_there(toolchain: Toolchain, libraries: Path) -> None:
    headers = ("hip_runtime_api.h", "amd_detail/amd_hip_gl_interop.h")
    text = "".join((toolchain.include / "hip" / header).read_text() for header in headers)
    declared = set(re.findall(r"^(?:hipError_t|const char\*) (hip\w+) *\(", text, re.M))
    declared -= {name for name in declared if f"{name}R0600" in text}  # macros name the newer one
    there = exported(libraries / "libamdhip64.so")
    assert len(declared) > 400 and "hipGraphicsGLRegisterBuffer" in declared
    assert sorted(declared - there) == []


@pytest.mark.parametrize("library", [library.name for library in LIBRARIES])
def test_every_library_loads(libraries: Path, library: str) -> None:
    import ctypes

    assert ctypes.CDLL(str(libraries / f"lib{library}.so"))
