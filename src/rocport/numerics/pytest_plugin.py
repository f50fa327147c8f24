"""Record a test suite to a golden file: `pytest -p rocport.numerics.pytest_plugin --rocport-golden FILE`.

Every test is a scope of its own, named by its node id, so that another run is compared test by test. With pytest-xdist
every worker would write the file: use one process.
"""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from rocport.numerics.config import CaptureConfig
from rocport.numerics.golden import part_of, seal
from rocport.numerics.recorder import Recorder


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("rocport")
    group.addoption("--rocport-golden", metavar="FILE", help="record every module and operator of the tests to FILE")
    group.addoption("--rocport-sample", type=int, metavar="N", help="keep N elements of every tensor too")
    group.addoption("--rocport-full", action="store_true", help="keep every tensor")


def pytest_configure(config: pytest.Config) -> None:
    golden = config.getoption("--rocport-golden")
    if not golden:
        return
    if hasattr(config, "workerinput") or config.getoption("numprocesses", None):
        raise pytest.UsageError("--rocport-golden records one process; run pytest without -n")
    path = Path(golden)
    if path.exists() or part_of(path).exists():
        raise pytest.UsageError(f"{path}: exists, or a capture of it was cut off; name another file or remove it")
    sample = config.getoption("--rocport-sample")
    mode = "full" if config.getoption("--rocport-full") else "sample" if sample else "stats"
    config.pluginmanager.register(_Session(path, CaptureConfig(mode=mode, sample=sample or CaptureConfig.sample)))


class _Session:
    """Records from the first test to the last."""

    def __init__(self, golden: Path, config: CaptureConfig) -> None:
        self._golden = golden
        self._recorder = Recorder(part_of(golden), config, ["pytest"])

    def pytest_sessionstart(self) -> None:
        self._recorder.__enter__()

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, Any, None]:
        with self._recorder.section(item.nodeid):
            yield

    def pytest_sessionfinish(self, exitstatus: int) -> None:
        self._recorder.__exit__(None, None, None)
        ok = int(exitstatus) == 0
        seal(
            part_of(self._golden), self._golden, {"ok": ok, "reason": "ended" if ok else f"exit code {int(exitstatus)}"}
        )
