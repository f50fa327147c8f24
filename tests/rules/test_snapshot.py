from __future__ import annotations

from pathlib import Path

import pytest
import snapshot

from rocport.model import Applicability, Edit, Finding, Severity, Span
from rocport.rules import discover


def test_a_finding_is_told_with_its_edit_and_the_lines_that_change() -> None:
    edits = (Edit(Span(0, 3), b"new"),)
    finding = Finding(
        "r", "a.cu", Span(0, 3), 1, 2, "says", Severity.SLOW, Applicability.REVIEW, 3,
        fix="do", edits=edits, headers=frozenset({"h.h"}), routine=True,
    )  # fmt: skip
    assert snapshot.told([finding], b"old;\nsame;\n", b"new;\nsame;\n").splitlines() == [
        "1-2 phase 3 review slow high: [0, 3) 'old'",
        "    says",
        "    do",
        "    edit [0, 3) 'old' to 'new'",
        "    needs h.h",
        "    routine",
        "@@ -1 +1 @@",
        "-old;",
        "+new;",
    ]


def test_what_is_written_is_read_back_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshot, "FOLDER", tmp_path)
    for number, text in ((2, "two\n"), (0, "nought\nmore\n"), (2, "again\n")):
        snapshot.write("a-rule", number, "kernel.cu", text, 3)
    assert (tmp_path / "a-rule.txt").read_text() == "== 0 kernel.cu\nnought\nmore\n== 2 kernel.cu\nagain\n"
    assert [snapshot.kept("a-rule", number) for number in range(3)] == ["nought\nmore\n", None, "again\n"]
    snapshot.write("a-rule", 0, "kernel.cu", "alone\n", 1)
    assert (tmp_path / "a-rule.txt").read_text() == "== 0 kernel.cu\nalone\n", "examples that are gone go"


def test_there_is_a_snapshot_for_every_example_and_for_nothing_else() -> None:
    kept = {place.stem: snapshot.numbers(place.stem) for place in snapshot.FOLDER.glob("*.txt")}
    assert kept == {loaded.rule.name: list(range(len(loaded.rule.examples))) for loaded in discover()}
