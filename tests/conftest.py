"""The order of the tests on several workers; what they need on any machine, and the compilers that they ask for."""

from __future__ import annotations

import gc
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import HealthCheck, settings

from rocport.executor.cpu import CpuExecutor
from rocport.executor.precompiled import PLAIN, header
from rocport.toolchain import Toolchain, ToolchainError, find
from rocport.toolchain.compiler import Mode

_STANDARD = "gnu++17"
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")


@pytest.hookimpl(tryfirst=True)
def pytest_collection() -> None:
    """What is collected stays to the end: the garbage collector walks none of it, now or between the tests."""
    gc.disable()


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


def pytest_sessionfinish() -> None:
    gc.unfreeze()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """A worker takes a file at a time (`--dist loadfile`): what its fixtures build is built once. Files with a test
    that takes long come first, so that no worker waits for another's at the end."""
    if hasattr(config, "workerinput"):
        long = {item.path for item in items if item.get_closest_marker("slow")}
        items.sort(key=lambda item: item.path not in long)


@pytest.fixture(scope="session")
def toolchain() -> Toolchain:
    """The HIP compiler."""
    try:
        return find()
    except ToolchainError as error:
        pytest.skip(f"no HIP compiler: {str(error).splitlines()[0]}")


@pytest.fixture(scope="session")
def hip_code(toolchain: Toolchain) -> Callable[..., Path]:
    """Compiles a HIP source to the code of a target, or of the host (None). HIP's own header is read once for each of
    them, as that is most of what a small source costs: the source must define nothing that changes it."""

    def compiled(
        source: Path,
        target: str | None,
        output: Path,
        *flags: str,
        includes: Sequence[Path] = (),
        optimize: Literal["-O1", "-O3"] = "-O1",
    ) -> Path:
        if target and (reason := toolchain.targets().get(target, "not known")):
            pytest.skip(f"{target}: {reason}")
        mode: Mode = "device" if target else "host"
        command = toolchain.compile_command(
            source, target, mode=mode, std=_STANDARD, includes=includes, output=output, optimize=optimize, extra=flags
        )
        *before, _, _ = toolchain.compile_command("", target, mode=mode, std=_STANDARD)  # less -c and the source
        made = header([*before, *PLAIN], ("hip/hip_runtime.h",), ())
        command += [*PLAIN, "-Xclang", "-include-pch", "-Xclang", str(made)] if made else []
        done = subprocess.run(command, capture_output=True, text=True, timeout=3600)
        assert done.returncode == 0, done.stderr[-4000:]
        return output

    return compiled


@pytest.fixture(scope="session")
def executor() -> CpuExecutor:
    """Runs HIP programs from their source; it looks for a host compiler once."""
    found = CpuExecutor()
    capability = found.probe()
    if not capability.usable:
        pytest.skip(capability.refusal)
    return found
