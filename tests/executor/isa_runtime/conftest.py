# SPDX-License-Identifier: Apache-2.0
"""The runtime's libraries, built once; skips where no HIP compiler is."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from rocport.executor.isa.runtime.hipcc import hipcc_command
from rocport.executor.isa.runtime.library import build_libraries
from rocport.executor.isa.runtime.tree import machine_toolchain
from rocport.model import HANGING_S
from rocport.toolchain import Toolchain, ToolchainError

HipCompile = Callable[..., Path]


@pytest.fixture(scope="session")
def toolchain() -> Toolchain:
    try:
        return machine_toolchain()
    except ToolchainError as error:
        pytest.skip(str(error).splitlines()[0])


@pytest.fixture(scope="session")
def libraries(toolchain: Toolchain) -> Path:
    return build_libraries(toolchain)


@pytest.fixture(scope="session")
def hip(toolchain: Toolchain, libraries: Path, tmp_path_factory: pytest.TempPathFactory) -> HipCompile:
    """Compiles and links one file as `rocport hipcc` does."""

    def compile_file(source: Path, *words: str) -> Path:
        program = tmp_path_factory.mktemp(source.stem) / "program"
        command = hipcc_command([*words, "-w", str(source), "-o", str(program)], toolchain, libraries, {})
        subprocess.run(command.words, check=True, timeout=HANGING_S)
        return program

    return compile_file
