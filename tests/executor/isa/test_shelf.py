# SPDX-License-Identifier: Apache-2.0
"""The cache of the ISA executor has a bound; what was not used for longest goes first."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from rocport.cli import cli
from rocport.executor.isa import shelf


@pytest.fixture
def isa(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with three kernels, two, three and four hours old, one of this minute, and a library older than all."""
    monkeypatch.setenv("ROCPORT_CACHE", str(tmp_path))
    folder = tmp_path / "isa"
    hours = {"forms/a.o": 4, "forms/k/b.so": 3, "objects/c.co": 2, "objects/new.co": 0, "lib/x/libamdhip64.so": 9}
    for name, old in hours.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(bytes(100))
        when = time.time() - old * 3600
        os.utime(path, (when, when))
    return folder


def _there(folder: Path) -> set[str]:
    return {path.name for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    ("most", "left"),
    [
        (400, {"a.o", "b.so", "c.co", "new.co"}),
        (399, {"b.so", "c.co", "new.co"}),
        (200, {"c.co", "new.co"}),
        (0, {"new.co"}),
    ],
)
def test_the_oldest_go_until_it_is_small_enough(isa: Path, most: int, left: set[str]) -> None:
    done = shelf.prune(isa, most)
    assert _there(isa) == left | {"libamdhip64.so"}
    assert (done.files, done.bytes, done.left) == (4 - len(left), 400 - 100 * len(left), 100 * len(left))


def test_what_was_read_lately_stays(isa: Path) -> None:
    old = isa / "forms" / "a.o"
    os.utime(old, (time.time(), old.stat().st_mtime))
    shelf.prune(isa, 100)
    assert _there(isa) == {"a.o", "new.co", "libamdhip64.so"}


def test_a_translator_prunes_once_a_day(isa: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shelf, "MOST", 300)
    shelf.prune_sometimes(isa)
    assert "a.o" not in _there(isa)
    monkeypatch.setattr(shelf, "MOST", 0)
    shelf.prune_sometimes(isa)
    assert "b.so" in _there(isa)


def test_the_command_says_what_lies_there_and_what_it_removed(isa: Path) -> None:
    said = CliRunner().invoke(cli, ["cache"]).output
    assert "0.0 MiB  forms" in said and str(isa) in said and len(_there(isa)) == 5
    said = CliRunner().invoke(cli, ["cache", "--prune", "0K"]).output
    assert said.startswith("removed 3 files, 0.0 MiB; 0.0 MiB are left\n") and len(_there(isa)) == 2
    assert "as 500M" in CliRunner().invoke(cli, ["cache", "--prune", "much"]).output
