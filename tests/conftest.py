"""The order of the tests on several workers; what they need on any machine, and the compilers that they ask for."""

from __future__ import annotations

import gc

import pytest
from hypothesis import HealthCheck, settings

from rocport.executor.cpu import CpuExecutor
from rocport.toolchain import Toolchain, ToolchainError, find

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
def executor() -> CpuExecutor:
    """Runs HIP programs from their source; it looks for a host compiler once."""
    found = CpuExecutor()
    capability = found.probe()
    if not capability.usable:
        pytest.skip(capability.refusal)
    return found
