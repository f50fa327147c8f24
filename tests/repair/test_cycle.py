"""The cycle: a repair that helps is part of the port, one that does not is taken back, and sources stay as they are."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from rocport import api
from rocport.model import Applicability
from rocport.model.verification import Diagnostic, Note, Status, UnitResult, Verification
from rocport.repair import cycle
from rocport.repair.report import edits_left, end_line, lines, to_json, with_errors

SOURCE = "__global__ void k() {}\nint f() { return INT_MAX; }\nint g() { return INT_MIN; }\n"
Judge = Callable[[str], Mapping[int, str]]
"""Text of a file of the port -> line in it and what the compiler says there."""


def compiler(judge: Judge, unit: str = "k.cu") -> cycle.Compile:
    def compile_port(where: Path) -> Verification:
        text = (where / unit).read_text()
        moved = len(text.splitlines()) - len(SOURCE.splitlines())
        errors = tuple(
            Diagnostic(unit, line, text.splitlines()[line - 1].find("INT") + 1, said, "k.cu", line - moved)
            for line, said in judge(text).items()
        )
        status = Status.FAIL if errors else Status.OK
        return Verification("build", str(where), ("gfx942",), "said", (UnitResult(unit, "gfx942", status, "", errors),))

    return compile_port


def undeclared(text: str, *names: str) -> dict[int, str]:
    """The first line of each name, unless the header is there."""
    if "<limits.h>" in text:
        return {}
    at = {name: number for number, line in enumerate(text.splitlines(), 1) for name in names if name in line}
    return {line: f"use of undeclared identifier '{name}'" for name, line in at.items()}


@pytest.fixture
def source(tmp_path: Path) -> Path:
    (tmp_path / "t").mkdir()
    (tmp_path / "t" / "k.cu").write_text(SOURCE)
    return tmp_path / "t"


def built(source: Path, judge: Judge, **settings: str) -> cycle.Built:
    unit = "hip/k.hip" if settings else "k.cu"
    return cycle.build(api.porting(source, api.Settings(**settings)), source.parent / "o", compiler(judge, unit))


@pytest.mark.parametrize("settings", [{}, {"layout": "both"}], ids=["hip", "both"])
def test_a_repair_that_answers_two_errors_is_one_finding_of_the_patch(source: Path, settings: dict[str, str]) -> None:
    done = built(source, lambda text: undeclared(text, "INT_MAX", "INT_MIN"), **settings)
    (one,) = done.repaired
    assert (one.repair.name, len(one.answers), done.before, done.taken_back) == ("standard-include", 2, 0, ())
    assert one.finding in done.patch.findings
    assert done.verification.passed
    assert (source / "k.cu").read_text() == SOURCE
    if settings:
        assert "limits.h" not in (source.parent / "o" / "k.cu").read_text()
    assert end_line(done, 0) == "1 of 1 units of your build compile (1 of them by 1 repairs); 0 edits remain"


def test_a_repair_after_which_the_error_stays_is_taken_back(source: Path) -> None:
    done = built(source, lambda text: {text.count("\n") - 1: "use of undeclared identifier 'INT_MAX'"})
    assert [one.repair.name for one in done.taken_back] == ["standard-include"]
    assert not done.repaired
    assert "limits.h" not in (source.parent / "o" / "k.cu").read_text()
    *_, error = with_errors(done.patch.findings, done)
    assert (error.path, error.line, error.rule) == ("k.cu", 2, "compiler-error")
    assert "standard-include was tried there and taken back" in error.fix
    assert edits_left([error]) == 1
    assert "tried and taken back" in list(lines(done, 1))
    assert json.loads(json.dumps(to_json(done, 1)))["taken_back"] == [
        {"repair": "standard-include", "path": "k.cu", "line": 2}
    ]


def test_a_repair_whose_header_is_nowhere_is_taken_back(source: Path) -> None:
    def judge(text: str) -> dict[int, str]:
        return undeclared(text, "INT_MAX") or {1: "'limits.h' file not found"}

    done = built(source, judge)
    assert done.taken_back and not done.repaired


def test_repairs_that_break_a_unit_that_compiled_are_taken_back(source: Path) -> None:
    (source / "l.cu").write_text(SOURCE)
    one = compiler(lambda text: undeclared(text, "INT_MAX"))

    def both(where: Path) -> Verification:
        first = one(where)
        broken = "limits.h" in (where / "k.cu").read_text()
        error = (Diagnostic("l.cu", 1, 1, "other", "l.cu", 1),) if broken else ()
        other = UnitResult("l.cu", "gfx942", Status.FAIL if broken else Status.OK, "", error)
        return Verification("build", str(where), ("gfx942",), "said", (*first.units, other))

    done = cycle.build(api.porting(source), source.parent / "o", both)
    assert done.taken_back and not done.repaired
    assert done.verification.paths() == {"k.cu": Status.FAIL, "l.cu": Status.OK}


def test_a_file_that_was_edited_by_hand_is_not_repaired(source: Path) -> None:
    judge: Judge = lambda text: undeclared(text, "INT_MAX")  # noqa: E731
    api.apply(api.port(source), source.parent / "o")
    (source.parent / "o" / "k.cu").write_text(SOURCE + "// by hand\n")
    done = built(source, judge)
    assert not done.repaired and not done.taken_back


def test_an_error_at_a_site_that_waits_for_somebody_joins_it(source: Path) -> None:
    (source / "k.cu").write_text('__global__ void k() { asm("mma.sync.aligned.m16n8k8.row.col.f32 x;"); }\n')
    patch = api.port(source)
    (manual,) = (one for one in patch.findings if one.applicability is Applicability.MANUAL)
    error = Diagnostic("k.cu", 9, 1, "no such thing", "k.cu", manual.line)
    elsewhere = Diagnostic("k.cu", 9, 1, "another", "k.cu", 77, notes=(Note("k.cu", 1, 1, "n"),))
    unit = UnitResult("k.cu", "gfx942", Status.FAIL, "", (error, elsewhere))
    done = cycle.Built(patch, api.Landed(), Verification("build", "o", ("gfx942",), "said", (unit,)))
    found = with_errors(patch.findings, done)
    assert len(found) == len(patch.findings) + 1
    assert any(one.rule == manual.rule and "it does not compile: no such thing" in one.message for one in found)
    assert found[-1].line == 77 and found[-1].fix
