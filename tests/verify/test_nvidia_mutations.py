"""Changes planted in ports, one at a time: every one that reaches the NVIDIA path must be caught."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import Any

import nvidia_mutations as planted
import nvidia_trees
import pytest
from click.testing import CliRunner

from rocport.cli import cli
from rocport.verify import nvidia
from rocport.verify.nvidia import generated, python

ROWSTATS = Path(__file__).parent.parent.parent / "examples" / "rowstats"


@pytest.fixture(autouse=True)
def remember(monkeypatch: pytest.MonkeyPatch) -> None:
    """A change touches a file or two: what rests on the texts alone is worked out once for each text."""
    compared: dict[tuple[Any, ...], python.Compared] = {}
    checked: dict[tuple[str, bytes], generated.Checked] = {}
    compare, check = python.compare, generated.check

    def compare_once(ported: bytes, original: bytes, facts: python.Facts) -> python.Compared:
        key = ported, original, facts.path, repr(facts.constants), facts.imports_torch, facts.requires
        if key not in compared:
            compared[key] = compare(ported, original, facts)
        return compared[key]

    def check_once(path: str, data: bytes) -> generated.Checked:
        if (path, data) not in checked:
            checked[path, data] = check(path, data)
        return checked[path, data]

    monkeypatch.setattr(python, "compare", compare_once)
    monkeypatch.setattr(generated, "check", check_once)


def write(folder: Path, tree: planted.Tree) -> Path:
    for path, entry in tree.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        if entry.link:
            place.symlink_to(entry.link)
        else:
            place.write_bytes(entry.data)
            place.chmod(0o755 if entry.executable else 0o644)
    return folder


def read(folder: Path) -> dict[str, planted.Entry]:
    return {
        path.relative_to(folder).as_posix(): planted.Entry(path.read_bytes(), bool(path.stat().st_mode & 0o100))
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != "rocport-manifest.json"
    }


class Bench:
    """An original and its port on the disk; a mutation changes a file or two, and is taken back."""

    def __init__(self, folder: Path, original: planted.Tree, ported: planted.Tree) -> None:
        self.original = write(folder / "original", original)
        self.ported = write(folder / "ported", ported)
        self.tree = ported

    def verdict(self, tree: planted.Tree) -> str:
        touched = [path for path in {*self.tree, *tree} if self.tree.get(path) != tree.get(path)]
        for path in touched:
            (self.ported / path).unlink(missing_ok=True)
        write(self.ported, {path: tree[path] for path in touched if path in tree})
        try:
            return nvidia.verify(self.ported, self.original).verdict
        finally:
            for path in touched:
                (self.ported / path).unlink(missing_ok=True)
                folder = (self.ported / path).parent
                while folder != self.ported and folder.is_dir() and not os.listdir(folder):
                    folder.rmdir()
                    folder = folder.parent
            write(self.ported, {path: self.tree[path] for path in touched if path in self.tree})


def run(bench: Bench, original: planted.Tree) -> tuple[Counter[str], list[str]]:
    """Kinds of the planted changes, and those that were not caught."""
    assert bench.verdict(bench.tree) == "unchanged"
    kinds: Counter[str] = Counter()
    missed: list[str] = []
    for mutation in planted.mutations(bench.tree, original):
        kinds[mutation.kind] += 1
        if bench.verdict(mutation.tree) == "unchanged":
            missed.append(f"{mutation.kind} at {mutation.where}")
    return kinds, missed


def report(kinds: Counter[str], missed: list[str]) -> str:
    lost = Counter(item.partition(" at ")[0] for item in missed)
    lines = [f"{count:5} {count - lost[kind]:7}  {kind}" for kind, count in sorted(kinds.items())]
    return "\n".join(["planted caught", *lines, f"{kinds.total():5} {kinds.total() - len(missed):7}  in all"])


def test_every_change_planted_in_a_gated_project_is_caught(tmp_path: Path) -> None:
    original = planted.tree_of(nvidia_trees.ORIGINAL)
    kinds, missed = run(Bench(tmp_path, original, planted.tree_of(nvidia_trees.PORTED)), original)
    print(report(kinds, missed))
    assert not missed
    assert kinds.total() >= 200


@pytest.mark.parametrize("source", ["rowstats", "project"])
def test_every_change_planted_in_what_port_writes_is_caught(source: str, tmp_path: Path) -> None:
    folder = tmp_path / "source"
    tree = read(ROWSTATS) if source == "rowstats" else planted.tree_of(nvidia_trees.ORIGINAL)
    write(folder, tree)
    result = CliRunner().invoke(
        cli, ["port", str(folder), "--layout", "both", "--out", str(tmp_path / "out"), "-j", "1"]
    )
    assert result.exit_code in (0, 1), result.output
    kinds, missed = run(Bench(tmp_path / "bench", tree, read(tmp_path / "out")), tree)
    print(report(kinds, missed))
    assert not missed
    assert kinds.total() >= 60
