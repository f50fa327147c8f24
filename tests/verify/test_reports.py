"""What a verification is as text and as a report: every count, place and mark."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rocport.executor.base import Frame, Hazard
from rocport.model import Applicability, Mark, Severity
from rocport.model.verification import HOST, Diagnostic, KernelFinding, KernelUse, Status, UnitResult, Verification
from rocport.verify import reports
from rocport.verify.functional import FunctionalVerification, ProgramResult, Verdict, lines
from rocport.verify.reports import demangled, finding_of, of_build, of_functional

ERROR = Diagnostic("a.cu", 3, 5, "no such name", "a.cu", 3, "it is hipX in HIP")
OK = UnitResult("b.cu", "gfx942", Status.OK)
USE = KernelUse("k", 10, 4, 20, 0, 0, 16, 1024, 64, 256, 8)


@pytest.fixture(autouse=True)
def _plain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reports.shutil, "which", lambda name: None)


def of(*units: UnitResult, targets: tuple[str, ...] = ("gfx942", "gfx1100"), **more: object) -> Verification:
    return Verification("build", "/t", targets, "by a test", units, **more)  # type: ignore[arg-type]


def text(verification: Verification) -> list[str]:
    return of_build(verification).text(False).splitlines()


def failing(path: str, target: str, *errors: Diagnostic, reason: str = "") -> UnitResult:
    return UnitResult(path, target, Status.FAIL, reason, errors)


def test_one_error_on_two_targets_is_said_once() -> None:
    units = [failing("a.cu", target, ERROR) for target in ("gfx942", "gfx1100")]
    assert text(of(*units)) == [
        "fail a.cu",
        "  a.cu:3:5: no such name [gfx942, gfx1100]",
        "    it is hipX in HIP",
        "",
        "FAIL: 0 of 1 translation units compile, 1 fail; 0 kernels",
        "  host pass: 0 of 0",
        "  gfx942: 0 of 1",
        "  gfx1100: 0 of 1",
        "How: by a test.",
    ]
    (finding,) = of_build(of(*units)).findings
    assert (finding.rule, finding.path, finding.line) == ("compiler-error", "a.cu", 3)
    assert finding.message == "no such name [gfx942, gfx1100]" and finding.fix == "it is hipX in HIP"
    assert (finding.severity, finding.applicability) == (Severity.BREAKS_BUILD, Applicability.MANUAL)


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({}, "  a.cu:3:5: no such name [gfx942]"),
        ({"column": 0}, "  a.cu:3: no such name [gfx942]"),
        ({"line": 0, "column": 0}, "  a.cu (from a.cu:3): no such name [gfx942]"),
        ({"original_line": 2}, "  a.cu:3:5 (from a.cu:2): no such name [gfx942]"),
        ({"original_path": "b.cu"}, "  a.cu:3:5 (from b.cu:3): no such name [gfx942]"),
        ({"original_line": None}, "  a.cu:3:5: no such name [gfx942]"),
        ({"within": "x/y.h"}, "  a.cu:3:5: no such name [in x/y.h] [gfx942]"),
    ],
)
def test_the_place_of_an_error(change: dict[str, object], line: str) -> None:
    verification = of(failing("a.cu", "gfx942", replace(ERROR, **change)))
    assert line in text(verification)
    (finding,) = of_build(verification).findings
    assert finding.line == max(1, int(change.get("line", 3))) and finding.message == line.split(": ", 1)[1]


def test_what_was_skipped_and_what_failed_without_an_error() -> None:
    skipped = UnitResult("s.cpp", HOST, Status.SKIP, "<mpi.h> is not here")
    failed = failing("f.cu", "gfx942", reason="took too long")
    shown = text(of(skipped, failed, replace(OK, reason="ignored")))
    assert shown[:5] == [
        "fail f.cu", "  f.cu: took too long [gfx942]", "skip s.cpp: <mpi.h> is not here [host]", "",
        "FAIL: 1 of 3 translation units compile, 1 fail, 1 skipped; 0 kernels",
    ]  # fmt: skip
    assert shown[5:8] == ["  host pass: 0 of 1, 1 skipped", "  gfx942: 1 of 2", "  gfx1100: 0 of 0"]
    kinds = {item.rule: (item.path, item.severity) for item in of_build(of(skipped, failed)).findings}
    assert kinds == {
        "not-tried": ("s.cpp", Severity.COSMETIC), "compiler-failed": ("f.cu", Severity.BREAKS_BUILD)
    }  # fmt: skip


@pytest.mark.parametrize(
    ("units", "word", "tone", "whole"),
    [
        ([OK], "ok: 1 of 1", "good", "good"),
        ([OK, UnitResult("s.cpp", HOST, Status.SKIP, "r")], "not all verified: 1 of 2", "bad", "warn"),
        ([UnitResult("s.cpp", HOST, Status.SKIP, "r")], "nothing verified: 0 of 1", "bad", "warn"),
        ([OK, failing("a.cu", HOST, ERROR)], "FAIL: 1 of 2", "bad", "warn"),
    ],
)
def test_the_verdict(units: list[UnitResult], word: str, tone: str, whole: str) -> None:
    report = of_build(of(*units))
    assert any(line.startswith(f"{word} translation units compile") for line in report.text(False).splitlines())
    count = word.split(": ")[1]
    assert report.verdict == Mark(f"{count} translation units compile", tone)
    assert report.evidence == (("compiled", Mark(f"{count} units for gfx942, gfx1100", whole, "#build")),)
    assert report.text(True) != report.text(False) and report.data == of(*units).to_json()


def test_a_clean_result_begins_with_its_verdict() -> None:
    assert text(of(OK))[0].startswith("ok: ")


def test_what_to_mend_first() -> None:
    other = replace(ERROR, message="other", line=9)
    one = [failing("a.cu", "gfx942", ERROR), failing("b.cu", "gfx942", ERROR, other)]
    shown = text(of(*one))
    at = shown.index("what to mend first")
    assert shown[at + 1 : at + 4] == [
        "  2 units (1 compile with it mended)  a.cu:3: no such name",
        "  1 units (not alone)  a.cu:9: other",
        "",
    ]
    assert "what to mend first" not in text(of(one[1])), "one unit: it says all of them"
    many = [failing(f"{at}.cu", "gfx942", replace(ERROR, message=f"m{at}")) for at in range(5)]
    assert "  ... and 2 more causes" in text(of(*many)) and "more causes" not in "".join(text(of(*many[:3])))


def test_findings_of_kernels_and_units_nobody_names() -> None:
    findings = (KernelFinding("register-spill", "k", "spills"), KernelFinding("lds-over-limit", "k", "needs"))
    unit = replace(OK, findings=findings, kernels=(USE,))
    verification = of(unit, replace(unit, target="gfx1100"), not_named=("x/a.cu", "x/b.cu", "c.cu"))
    shown = text(verification)
    assert shown[:4] == [
        "note b.cu: k spills [gfx942, gfx1100]", "note b.cu: k needs [gfx942, gfx1100]", "",
        "ok: 1 of 1 translation units compile; 2 kernels",
    ]  # fmt: skip
    assert "  3 sources that no build file names were left out (2 in x, 1 in .): --all-units" in shown
    assert "  1 source that no build file names was left out (1 in .): --all-units" in text(of(OK, not_named=("c.cu",)))
    severities = {item.rule: item.severity for item in of_build(verification).findings}
    assert severities == {"register-spill": Severity.SLOW, "lds-over-limit": Severity.BREAKS_RUN}


def test_the_units_by_target() -> None:
    units = (failing("a.cu", "gfx942", ERROR), replace(OK, path="a.cu", target=HOST),
             UnitResult("s.cu", "gfx1100", Status.SKIP, "no header"), replace(OK, path="c.cu"))  # fmt: skip
    (section,) = of_build(of(*units)).sections
    assert section.columns == ("unit", HOST, "gfx942", "gfx1100", "why") and section.title == "Build"
    assert section.rows == (
        (Mark("a.cu", "code"), Mark("ok", "good"), Mark("fail", "bad"), None, "a.cu:3: no such name"),
        (Mark("s.cu", "code"), None, None, Mark("skip", "warn"), "no header"),
        (Mark("c.cu", "code"), None, Mark("ok", "good"), None, ""),
    )


def test_what_the_kernels_use() -> None:
    spilling = replace(USE, name="s", vgpr_spills=2, sgpr_spills=3, occupancy=0)
    _, section = of_build(of(replace(OK, kernels=(USE, spilling)))).sections
    rows = [row[3:] for row in section.rows]
    assert rows == [(10, 4, 20, 1024, 16, 0, 8, 64), (10, 4, 20, 1024, 16, Mark("5", "bad"), None, 64)]
    assert section.rows[0][:3] == (Mark("k", "code"), Mark("b.cu", "code"), "gfx942")
    assert section.plot is not None
    assert [(line.name, line.points) for line in section.plot.series] == [
        ("gfx942", ((14, 8, "k: 1024 bytes of LDS"),)), ("gfx1100", ())
    ]  # fmt: skip
    _, plain = of_build(of(replace(OK, kernels=(spilling,)))).sections
    assert plain.plot is None


def test_a_finding_stands_on_a_line() -> None:
    for line, shown in ((0, 1), (-3, 1), (1, 1), (7, 7)):
        made = finding_of("rule", "a", line, "m", Severity.SLOW, "fix")
        assert (made.line, made.end_line, made.fix, made.phase) == (shown, shown, "fix", 8)


def test_names_are_demangled_where_the_tool_is_at_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def run(command: list[str], input: str, **more: object) -> object:
        asked.append(input)
        return type("Done", (), {"stdout": "\n".join(f"{name}()" for name in input.split("\n")) + "\n"})()

    for given in (["_Z1kv", "_Z1kv"], iter(["_Z1kv"])):
        assert demangled(given) == {"_Z1kv": "_Z1kv"}, "the tool is not installed"
    monkeypatch.setattr(reports.shutil, "which", lambda name: f"/bin/{name}")
    monkeypatch.setattr(reports.subprocess, "run", run)
    assert demangled(iter(["b", "a", "b"])) == {"a": "a()", "b": "b()"} and asked == ["a\nb"]
    assert demangled([]) == {} and len(asked) == 1
    assert demangled(["a", "odd\nname"]) == {"a": "a()", "odd\nname": "odd\nname"}
    monkeypatch.setattr(reports.subprocess, "run", lambda *a, **k: type("Done", (), {"stdout": "one\n"})())
    assert demangled(iter(["a", "b"])) == {"a": "a", "b": "b"}, "an answer that does not fit is none"


# ---- level functional ------------------------------------------------------------------------------------------------

RACE = Hazard("shared-race", "two threads", "k", 2, (Frame("f", "x.hip", 7),))
NOTE = Hazard("inactive-lane", "reads zero", "k", 1, grave=False)
RIGHT = ProgramResult("a", "a.hip", Verdict.PASS, evidence="ISA-run", level="isa", hazards=(NOTE,))
WRONG = ProgramResult("b", "b.hip", Verdict.HAZARD, "by luck", level="source", hazards=(RACE,), fallback="no textures",
                      second_opinion="differs", divergences=("by luck", "at copy 3"))  # fmt: skip
BROKEN = ProgramResult("c", "c.hip", Verdict.NOT_BUILT, fallback="no header")


def test_a_line_a_program_and_the_counts() -> None:
    told = lines(FunctionalVerification("by a test", (RIGHT, WRONG, BROKEN)), False)
    assert told == [
        "pass a [isa]",
        "  note[inactive-lane] kernel k: reads zero (kernel k)",
        "hazard b [source]: by luck",
        "  not as machine code: no textures",
        "  at source level: differs",
        "  at copy 3",
        "  hazard[shared-race] x.hip:7: two threads (kernel k)",
        "not built c",
        "",
        "3 programs: 1 pass, 1 hazard, 1 not built; run: 1 at level isa, 1 at level source",
        "How: by a test.",
    ]


def test_one_program_that_passes_with_differences() -> None:
    told = lines(FunctionalVerification("h", (replace(RIGHT, hazards=(), divergences=("at copy 1",)),)), False)
    assert told[1:3] == [
        "  its check passes in every run; what lies between depends on the order of blocks and waves:", "  at copy 1"
    ]  # fmt: skip
    assert told[-2] == "1 program: 1 pass; run: 1 at level isa"
    assert lines(FunctionalVerification("h", (BROKEN,)), False)[-2] == "1 program: 1 not built"


@pytest.mark.parametrize(
    ("verdict", "colour"),
    [
        (Verdict.PASS, "32"),
        (Verdict.WRONG, "31"),
        (Verdict.DIFFERS, "31"),
        (Verdict.HAZARD, "33"),
        (Verdict.TIMEOUT, "33"),
    ],
)
def test_the_colour_of_a_verdict(verdict: Verdict, colour: int) -> None:
    first = lines(FunctionalVerification("h", (replace(BROKEN, verdict=verdict),)), True)[0]
    assert f"{colour}m" in first.split(verdict.value)[0]


@pytest.mark.parametrize(
    ("verdicts", "failed", "passed"),
    [
        ([], False, False), ([Verdict.PASS], False, True), ([Verdict.NOT_BUILT], False, False),
        ([Verdict.PASS, Verdict.NOT_BUILT], False, True), ([Verdict.PASS, Verdict.TIMEOUT], False, True),
        ([Verdict.PASS, Verdict.WRONG], True, False), ([Verdict.DIFFERS], True, False), ([Verdict.HAZARD], True, False),
    ],
)  # fmt: skip
def test_what_counts_against_a_repository(verdicts: list[Verdict], failed: bool, passed: bool) -> None:
    found = FunctionalVerification("h", tuple(replace(BROKEN, verdict=verdict) for verdict in verdicts))
    assert (found.failed, found.passed) == (failed, passed)
    assert sum(found.summary().values()) == len(verdicts)


def test_the_report_of_programs() -> None:
    verification = FunctionalVerification("by a test", (RIGHT, WRONG, BROKEN))
    report = of_functional(verification, "/t")
    assert [(item.rule, item.path, item.line, item.severity) for item in report.findings] == [
        ("hazard-inactive-lane", "a.hip", 1, Severity.COSMETIC),
        ("program-hazard", "b.hip", 1, Severity.WRONG_RESULT),
        ("hazard-shared-race", "x.hip", 7, Severity.WRONG_RESULT),
        ("program-not-built", "c.hip", 1, Severity.BREAKS_BUILD),
    ]
    assert [item.message for item in report.findings][1:] == ["by luck", "two threads (kernel k)", "not built"]
    assert report.verdict == Mark("1 of 3 programs are right at every width", "bad")
    (ran, (title, machine)) = report.evidence
    assert ran[1].text == "1 of 3 programs" == machine.text and title == "machine code run"
    assert (ran[1].tone, machine.tone, machine.href) == ("bad", "warn", ran[1].href)
    assert [row[1:] for row in report.sections[0].rows] == [
        (Mark("pass", "good"), 0, "", "ISA-run", ""),
        (Mark("hazard", "bad"), 1, "by luck", "source", "no textures"),
        (Mark("not built", "bad"), 0, "", "", "no header"),
    ]
    whole = of_functional(FunctionalVerification("h", (RIGHT,)), "/t")
    assert whole.verdict is not None and whole.verdict.tone == "good" == whole.evidence[1][1].tone
    assert whole.text(False).endswith("How: h.\n") and "\x1b[32mpass" in whole.text(True)


def test_the_data_of_programs_holds_all_of_it() -> None:
    data = FunctionalVerification("h", (WRONG,)).to_json()
    assert data["summary"] == {verdict.value: int(verdict is Verdict.HAZARD) for verdict in Verdict}
    assert data["levels"] == {"isa": 0, "source": 1}
    (program,) = data["programs"]
    assert program["hazards"] == [
        {"kind": "shared-race", "message": "two threads", "kernel": "k", "count": 2, "grave": True,
         "frames": [str(RACE.frames[0])]}
    ]  # fmt: skip
    assert program["divergences"] == ["by luck", "at copy 3"] and program["verdict"] == "hazard"
