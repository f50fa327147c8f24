"""Kernels compiled once a session; skipped, with the reason, where a tool is missing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from rocport.executor.isa import Module, TablesError, load
from rocport.executor.isa.tables import family

HERE = Path(__file__).parent
Compile = Callable[..., bytes]


@pytest.fixture(scope="session")
def compile_hip(hip_code: Callable[..., Path], tmp_path_factory: pytest.TempPathFactory) -> Compile:
    """(source file, target, extra flags) -> code object."""
    try:
        family("gfx942")
    except TablesError as error:
        pytest.skip(str(error))
    folder = tmp_path_factory.mktemp("code-objects")
    kept: dict[tuple[str, ...], bytes] = {}

    def compiled(source: Path, target: str, *extra: str) -> bytes:
        key = (str(source), target, *extra)
        if key not in kept:
            kept[key] = hip_code(source, target, folder / f"{len(kept)}.co", *extra, optimize="-O3").read_bytes()
        return kept[key]

    return compiled


@pytest.fixture(scope="session", params=["gfx942", "gfx1100"])
def kernels(request: pytest.FixtureRequest, compile_hip: Compile) -> Module:
    return load(compile_hip(HERE / "kernels.hip", request.param, "-gline-tables-only"), request.param)
