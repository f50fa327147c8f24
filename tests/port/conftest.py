"""What is asked of the programs that a port makes: that they compile for a GPU, and what they print."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from rocport.executor.base import BuildOptions, RunOptions
from rocport.executor.cpu import CpuExecutor
from rocport.executor.program import load_program


@pytest.fixture
def compiles(hip_code: Callable[..., Path], tmp_path: Path) -> Callable[..., Path]:
    """Compiles a HIP source for the device; what came of it."""

    def compile_(source: Path, target: str, *flags: str) -> Path:
        return hip_code(source, target, tmp_path / f"{source.stem}.o", "-w", *flags)

    return compile_


@pytest.fixture
def outputs(executor: CpuExecutor, tmp_path: Path) -> Callable[..., list[str]]:
    """What a HIP program prints at width 32 and at width 64, in each order of its blocks; it ends well."""

    def run(source: Path, *orders: str) -> list[str]:
        executable = executor.build(load_program(source), tmp_path / "build", BuildOptions(optimize="-O1"))
        printed = []
        for width in (32, 64):
            for order in orders or ("forward",):
                result = executor.run(executable, (), source.parent, RunOptions(width=width, order=order))
                assert result.ok, result.stdout[-500:] + result.stderr
                printed.append(result.stdout.strip())
        return printed

    return run
