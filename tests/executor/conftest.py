"""Builds programs once a session; skips where no host compiler is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from rocport.executor.base import BuildOptions
from rocport.executor.cpu import CpuExecutor
from rocport.executor.program import load_program, with_flags

Build = Callable[..., Path]

# A package of its own, whose tests run where its kernels do.
collect_ignore = ["extension"]


@pytest.fixture(scope="session")
def build(executor: CpuExecutor, tmp_path_factory: pytest.TempPathFactory) -> Build:
    made: dict[tuple[Path, tuple[str, ...], BuildOptions], Path] = {}

    def make(path: Path, *flags: str, options: BuildOptions = BuildOptions(optimize="-O1")) -> Path:  # noqa: B008
        key = (path, flags, options)
        if key not in made:
            folder = tmp_path_factory.mktemp(path.stem)
            made[key] = executor.build(with_flags(load_program(path), *flags), folder, options)
        return made[key]

    return make
