"""Scans remember what they found, and never more than is still true."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from rocport import api
from rocport.model import Finding
from rocport.scan import cache as caching
from rocport.scan import engine
from rocport.scan.cache import Cache
from rocport.syntax.project import names_of

KERNEL = """#include "mask.h"
__global__ void k(int* p) { *p = __shfl_sync(FULL, *p, 0);
  if (threadIdx.x % 32 == 0) *p = __ballot_sync(0xffffffff, 1); }
"""
SETUP = "import torch\nmajor = torch.version.cuda.split('.')[0]\n"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "repo"
    root.mkdir()
    (root / "k.cu").write_text(KERNEL)
    (root / "mask.h").write_text("#define FULL 0xffffffffu\n")
    (root / "m.py").write_text(SETUP)
    return root


def _scan(root: Path, cache: Cache | None, **options: str) -> tuple[Finding, ...]:
    targets = tuple(options.get("target", "").split()) if options else ()
    return api.scan(root, api.Settings(target=targets), jobs=1, cache=cache).findings


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Paths the rules ran over."""
    seen: list[str] = []
    original = engine.scan_file

    def scan_file(path: str, *rest: object) -> object:
        seen.append(path)
        return original(path, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(engine, "scan_file", scan_file)
    return seen


def test_a_second_scan_reads_no_file_and_finds_the_same(tree: Path, own_cache: Path, read: list[str]) -> None:
    without = _scan(tree, None)
    assert {finding.path for finding in without} == {"k.cu", "m.py"}
    path = own_cache / "scan.sqlite"
    assert _scan(tree, Cache(path)) == without
    read.clear()
    assert _scan(tree, Cache(path)) == without
    assert read == []


def test_a_changed_file_is_read_again(tree: Path, own_cache: Path, read: list[str]) -> None:
    cache = Cache(own_cache / "scan.sqlite")
    _scan(tree, cache)
    read.clear()
    (tree / "m.py").write_text("import os\n" + SETUP)
    lines = [finding.line for finding in _scan(tree, cache) if finding.path == "m.py"]
    assert read == ["m.py"]
    assert lines == [3]


def test_a_changed_macro_makes_the_sources_new_but_not_the_python(tree: Path, own_cache: Path, read: list[str]) -> None:
    cache = Cache(own_cache / "scan.sqlite")
    _scan(tree, cache)
    read.clear()
    (tree / "mask.h").write_text("#define FULL 0xffffu\n")
    assert _scan(tree, cache) == _scan(tree, None)
    assert read[:2] == ["k.cu", "mask.h"]
    assert read.count("m.py") == 1  # of the scan without a cache


def test_other_options_are_other_entries(tree: Path, own_cache: Path) -> None:
    cache = Cache(own_cache / "scan.sqlite")
    _scan(tree, cache)
    assert _scan(tree, cache, target="gfx1100") == _scan(tree, None, target="gfx1100")


def test_a_renamed_file_keeps_no_finding_of_its_old_name(tree: Path, own_cache: Path) -> None:
    cache = Cache(own_cache / "scan.sqlite")
    _scan(tree, cache)
    (tree / "m.py").rename(tree / "n.py")
    assert {finding.path for finding in _scan(tree, cache)} == {"k.cu", "n.py"}


def test_other_rules_are_other_entries(tree: Path, own_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = Cache(own_cache / "scan.sqlite")
    _scan(tree, cache)
    ran: list[str] = []
    original = engine.scan_file
    monkeypatch.setattr(engine, "scan_file", lambda path, *rest: ran.append(path) or original(path, *rest))
    monkeypatch.setattr(caching, "code_fingerprint", lambda: "another version")
    _scan(tree, cache)
    assert sorted(ran) == ["k.cu", "m.py", "mask.h"]


@pytest.mark.parametrize("content", [b"", b"half", b"SQLite format 3\0" + b"\xff" * 200])
def test_a_broken_cache_is_replaced(tree: Path, own_cache: Path, content: bytes) -> None:
    path = own_cache / "scan.sqlite"
    path.write_bytes(content)
    assert _scan(tree, Cache(path)) == _scan(tree, None)
    assert sqlite3.connect(path).execute("SELECT count(*) FROM entry").fetchone()[0] > 0


def test_a_cache_with_nonsense_in_it_is_not_believed(tree: Path, own_cache: Path) -> None:
    path = own_cache / "scan.sqlite"
    expected = _scan(tree, Cache(path))
    with sqlite3.connect(path) as database:
        database.execute("UPDATE entry SET text = 'no json'")
    assert _scan(tree, Cache(path)) == expected


def test_a_folder_that_cannot_be_written_costs_the_cache_only(tree: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert _scan(tree, Cache(tmp_path / "file" / "scan.sqlite")) == _scan(tree, None)


def test_entries_that_nobody_used_go(own_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = Cache(own_cache / "scan.sqlite")
    monkeypatch.setattr(caching.time, "time", lambda: 100 * 86_400.0)
    cache.put({"old": 1, "wanted": 2})
    monkeypatch.setattr(caching.time, "time", lambda: 125 * 86_400.0)
    cache.put({"new": 3}, used=["wanted"])
    monkeypatch.setattr(caching.time, "time", lambda: 140 * 86_400.0)
    cache.put({})
    assert cache.get(["old", "wanted", "new"]) == {"wanted": 2, "new": 3}


def test_names_survive_the_way_through_the_cache() -> None:
    names = names_of(
        b'#include <torch/extension.h>\n#define A "\xff"\n__device__ int f(int x) { return x; }\n'
        b"void g(A &a, FILE *o) { fwrite(&a, sizeof(a), 1, o); }\n"
    )
    assert names.macros and names.device_functions and names.torch_extension
    assert names.sized == {b"A", b"a"}
    assert caching.unpack_names(caching.pack_names(names)) == names


def test_another_rocport_reads_nothing_that_an_older_one_packed(
    tree: Path, own_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = Cache(own_cache / "scan.sqlite")
    monkeypatch.setattr(caching, "code_fingerprint", lambda: "older")
    monkeypatch.setattr(caching, "pack_names", lambda names: ["of", "another", "shape"])
    _scan(tree, cache)
    monkeypatch.undo()
    assert _scan(tree, cache) == _scan(tree, None)
