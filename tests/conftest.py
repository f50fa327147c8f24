"""The order of the tests on several workers; the compilers that tests ask for."""

from __future__ import annotations

import pytest

from rocport.executor.cpu import CpuExecutor
from rocport.toolchain import Toolchain, ToolchainError, find


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
