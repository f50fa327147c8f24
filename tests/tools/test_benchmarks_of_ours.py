"""What the benchmarks that try our own code count, and what they ask for before they start."""

from __future__ import annotations

import gc
import importlib
import runpy
import subprocess
import sys
import weakref
from pathlib import Path

import pytest

from rocport.model.digest import code_digest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


def test_a_reading_of_other_code_is_not_taken(tmp_path: Path) -> None:
    hostile = importlib.import_module("hostile")
    place = tmp_path / "kept"
    assert hostile.Kept(place, 1e9).code == code_digest(by_content=True)
    assert hostile.Kept(place, 1e9, "slow").of("a text", lambda: (False, 4096)) == (False, 4096)
    assert hostile.Kept(place, 1e9, "slow").of("a text", lambda: (True, 65536)) == (False, 4096)
    assert hostile.Kept(place, -1, "slow").of("a text", lambda: (True, 65536)) == (False, 4096)
    assert hostile.Kept(place, -1, "mended").of("a text", lambda: (True, 65536)) is None
    assert hostile.Kept(place, 1e9, "mended").of("a text", lambda: (True, 65536)) == (True, 65536)


def test_a_mutant_takes_the_place_of_a_function_that_the_collector_has_frozen(tmp_path: Path) -> None:
    mutants = importlib.import_module("mutants")
    place = tmp_path / "one.py"
    place.write_text("def one():\n    return 1\n")
    one = runpy.run_path(str(place))["one"]
    gone = weakref.proxy({"a set, gone at once"})
    gc.freeze()
    try:
        assert mutants._replaced(str(place), b"def one():\n    return 2\n", 1)
    finally:
        gc.freeze()
    assert one() == 2
    assert type(gone) is weakref.ProxyType
    assert not mutants._replaced(str(place), b"def one():\n    return 2\n", 2)


def test_what_is_tried_beside_the_mutants_of_a_run_is_a_functions_own_code(tmp_path: Path) -> None:
    mutants = importlib.import_module("mutants")
    (tmp_path / "src" / "rocport").mkdir(parents=True)
    (tmp_path / "src" / "rocport" / "a.py").write_text("def f():\n    return 1\n")
    shadow = mutants.Shadow.__new__(mutants.Shadow)
    shadow.folder = tmp_path
    row = {"key": "k", "path": "a.py", "start": 20, "end": 21, "text": "2", "tests": ["t"]}
    assert mutants.own_code(row, shadow) == {**row, "key": "own code, k", "text": "1"}


@pytest.mark.parametrize("passes_with_its_own", [True, False])
def test_a_test_that_fails_with_the_functions_own_code_kills_no_mutant(
    monkeypatch: pytest.MonkeyPatch, passes_with_its_own: bool
) -> None:
    mutants = importlib.import_module("mutants")
    asked: list[tuple[bytes, list[str]]] = []

    def forked(session: None, row: dict[str, object], code: bytes, items: list[str]) -> tuple[int, str]:
        asked.append((code, items))
        fails = "A" in items and (code == b"mutant" or not passes_with_its_own)
        return (1, "a") if fails else (0, "")

    monkeypatch.setattr(mutants, "_forked", forked)
    monkeypatch.setattr(mutants, "_SOUND", {})
    row = {"place": "p", "function": 1, "tests": ["a", "b", "gone"]}
    expected = 1 if passes_with_its_own else 0
    for _ in range(2):
        assert mutants._judged(None, row, b"mutant", b"own", {"a": "A", "b": "B"}) == expected
    assert asked.count((b"own", ["A"])) == 1
    assert asked.count((b"mutant", ["B"])) == (0 if passes_with_its_own else 2)


def test_mutants_without_coverage_say_so_before_they_start(tmp_path: Path) -> None:
    without = (
        "import importlib.util, runpy, sys; find = importlib.util.find_spec; sys.argv = sys.argv[1:]; "
        "importlib.util.find_spec = lambda name, *more: None if name == 'coverage' else find(name, *more); "
        "runpy.run_path(sys.argv[0], run_name='__main__')"
    )
    command = [sys.executable, "-c", without, str(BENCHMARKS / "mutants.py")]
    run = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False, timeout=3600)
    assert (run.returncode, run.stdout) == (2, "")
    assert "pip install coverage" in run.stderr
