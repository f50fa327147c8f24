"""Kernels compiled once a session; skipped, with the reason, where a tool is missing."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from rocport.executor.isa import Module, TablesError, load
from rocport.executor.isa.tables import family
from rocport.toolchain import ToolchainError, find

HERE = Path(__file__).parent
Compile = Callable[..., bytes]


@pytest.fixture(scope="session")
def compile_hip(tmp_path_factory: pytest.TempPathFactory) -> Compile:
    """(source file, target, extra flags) -> code object."""
    try:
        toolchain = find()
        family("gfx942")
    except (ToolchainError, TablesError) as error:
        pytest.skip(str(error))
    folder = tmp_path_factory.mktemp("code-objects")
    kept: dict[tuple[str, ...], bytes] = {}

    def compiled(source: Path, target: str, *extra: str) -> bytes:
        key = (str(source), target, *extra)
        if key not in kept:
            output = folder / f"{len(kept)}.co"
            command = toolchain.compile_command(source, target, mode="device", output=output, extra=extra)
            done = subprocess.run(command, capture_output=True, text=True, timeout=3600, check=False)
            assert done.returncode == 0, done.stderr
            kept[key] = output.read_bytes()
        return kept[key]

    return compiled


@pytest.fixture(scope="session", params=["gfx942", "gfx1100"])
def kernels(request: pytest.FixtureRequest, compile_hip: Compile) -> Module:
    return load(compile_hip(HERE / "kernels.hip", request.param, "-gline-tables-only"), request.param)
