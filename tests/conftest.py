"""What a module makes once is made by one worker; the compilers that tests ask for."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocport.executor.cpu import CpuExecutor
from rocport.toolchain import Toolchain, ToolchainError, find

HERE = Path(__file__).parent


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Tests that share a fixture of a wider scope than a function's stay together (`--dist loadgroup`): spread over
    the workers, each of them would build the same programs and ask the same children again."""
    if not config.pluginmanager.hasplugin("xdist"):
        return
    for item in items:
        fixtures = item._fixtureinfo.name2fixturedefs.values()  # type: ignore[attr-defined]
        if any(used[-1].scope != "function" and _of_tests(used[-1].func) for used in fixtures):
            item.add_marker(pytest.mark.xdist_group(item.nodeid.partition("::")[0]))


def _of_tests(function: object) -> bool:
    code = getattr(function, "__code__", None)
    return code is not None and HERE in Path(code.co_filename).parents


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
