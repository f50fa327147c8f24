"""The results of `rocport verify` as reports, so that every level prints every format."""

from __future__ import annotations

import shutil
import subprocess
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rocport.model import Applicability, Finding, Mark, Plot, Report, Section, Series, Severity, Span
from rocport.model.report import anchor
from rocport.model.terminal import paint as painted
from rocport.model.verification import HOST, Status

if TYPE_CHECKING:
    from rocport.model import Cell
    from rocport.model.verification import KernelUse, UnitResult, Verification
    from rocport.verify.functional import FunctionalVerification

_PHASE = 8
_CAUSES = 3
RUNS = "Runs at wavefront width 32 and 64"


def of_build(verification: Verification) -> Report:
    """Level `build`: a finding for each compiler error, and for each kernel that is slow or cannot be launched."""
    findings = findings_of(verification)
    summary = verification.summary()
    whole = summary["ok"] == summary["units"]
    said = f"{summary['ok']} of {summary['units']} units for {', '.join(verification.targets)}"
    report = report_of(
        verification.level, verification.root, findings, verification.to_json(), _build_text(verification)
    )
    return replace(
        report,
        sections=tuple(_build_sections(verification)),
        verdict=Mark(f"{summary['ok']} of {summary['units']} translation units compile", "good" if whole else "bad"),
        evidence=(("compiled", Mark(said, "good" if whole else "warn", "#build")),),
    )


def findings_of(verification: Verification, original: bool = False) -> tuple[Finding, ...]:
    """A finding for each compiler error, each kernel that is slow or cannot be launched, each warning of undefined
    code, each unit not tried: in the port, or with `original` at the line of the source where that is known."""
    found: dict[tuple[str, str, int, str], tuple[Severity, str, list[str]]] = {}
    names = demangled(item.kernel for unit in verification.units for item in unit.findings)
    for unit in verification.units:
        for error in unit.errors:
            message = error.message + (f" [in {error.within}]" if error.within else "")
            place = (error.original_path, error.original_line) if original else (None, None)
            key = ("compiler-error", place[0] or error.path, place[1] or error.line, message)
            found.setdefault(key, (Severity.BREAKS_BUILD, error.explanation, []))[2].append(unit.target)
        if unit.status is not Status.OK and unit.reason:
            failed = unit.status is Status.FAIL
            key = ("compiler-failed" if failed else "not-tried", unit.path, 1, unit.reason)
            kind = Severity.BREAKS_BUILD if failed else Severity.COSMETIC
            found.setdefault(key, (kind, "", []))[2].append(unit.target)
        for item in unit.findings:
            at = (item.original_path, item.original_line) if original and item.original_path else (item.path, item.line)
            key = (item.code, at[0] or unit.path, at[1] or 1, f"{names[item.kernel]} {item.message}".strip())
            kind = Severity.SLOW if item.code == "register-spill" else Severity.BREAKS_RUN
            found.setdefault(key, (kind, "", []))[2].append(unit.target)
    return tuple(
        finding_of(rule, path, line, f"{message} [{', '.join(targets)}]", severity, fix)
        for (rule, path, line, message), (severity, fix, targets) in found.items()
    )


def of_functional(verification: FunctionalVerification, root: str) -> Report:
    """Level `functional`: a finding for each program that is not right, and for each hazard at its place."""
    from rocport.executor.base import Level
    from rocport.verify.functional import Verdict, lines

    findings = []
    for program in verification.programs:
        if program.verdict is not Verdict.PASS:
            severity = Severity.WRONG_RESULT if program.verdict.failed else Severity.BREAKS_BUILD
            rule = f"program-{program.verdict.value.replace(' ', '-')}"
            findings.append(finding_of(rule, program.path, 1, program.reason or program.verdict.value, severity))
        for hazard in program.hazards:
            path, line = (hazard.frames[0].path, hazard.frames[0].line) if hazard.frames else (program.path, 1)
            severity = Severity.WRONG_RESULT if hazard.grave else Severity.COSMETIC
            findings.append(
                finding_of(f"hazard-{hazard.kind}", path, line, f"{hazard.message} (kernel {hazard.kernel})", severity)
            )
    text = "\n".join(lines(verification, False)) + "\n", "\n".join(lines(verification, True)) + "\n"
    programs = verification.programs
    passed = sum(program.verdict is Verdict.PASS for program in programs)
    machine = sum(program.level == Level.ISA.value for program in programs)
    said = Mark(
        f"{passed} of {len(programs)} programs", "good" if passed == len(programs) else "bad", "#" + anchor(RUNS)
    )
    ran = Mark(f"{machine} of {len(programs)} programs", "good" if machine == len(programs) else "warn", said.href)
    rows = tuple(
        (
            Mark(program.path, "code"),
            Mark(program.verdict.value, "good" if program.verdict is Verdict.PASS else "bad"),
            sum(hazard.grave for hazard in program.hazards),
            program.reason or program.second_opinion,
            program.evidence or program.level,
            program.fallback,
        )
        for program in programs
    )
    columns = ("program", "verdict", "hazards", "why", "evidence", "why not as machine code")
    report = report_of("functional", root, tuple(findings), verification.to_json(), text)
    return replace(
        report,
        verdict=Mark(f"{passed} of {len(programs)} programs are right at every width", said.tone),
        sections=(Section(RUNS, columns, rows, verification.how),),
        evidence=(("run at 32 and 64", said), ("machine code run", ran)),
    )


def report_of(
    level: str,
    root: str,
    findings: tuple[Finding, ...],
    data: dict[str, Any],
    text: tuple[str, str],
    command: str = "verify",
) -> Report:
    options = (("level", level),)
    return Report(command, root, (), findings, (), options, data=data, text=lambda colour: text[colour])


def finding_of(rule: str, path: str, line: int, message: str, severity: Severity, fix: str = "") -> Finding:
    first = max(1, line)
    return Finding(rule, path, Span(0, 0), first, first, message, severity, Applicability.MANUAL, _PHASE, fix=fix)


def _build_sections(verification: Verification) -> Iterator[Section]:
    """The units by target, and what each kernel uses of a target."""
    tones = {Status.OK: "good", Status.FAIL: "bad", Status.SKIP: "warn"}
    columns = (HOST, *verification.targets)
    units: dict[str, dict[str, UnitResult]] = {}
    for unit in verification.units:
        units.setdefault(unit.path, {})[unit.target] = unit
    rows = []
    for path, by_target in units.items():
        said = [f"{error.path}:{error.line}: {error.message}" for unit in by_target.values() for error in unit.errors]
        why = [*(unit.reason for unit in by_target.values() if unit.reason), *said, ""][0]
        states = [by_target[name].status if name in by_target else None for name in columns]
        rows.append(
            (Mark(path, "code"), *(Mark(state.value, tones[state]) if state else None for state in states), why)
        )
    yield Section("Build", ("unit", *columns, "why"), tuple(rows), verification.how)
    kernels = [(unit, kernel) for unit in verification.units for kernel in unit.kernels]
    if not kernels:
        return
    names = demangled([kernel.name for _, kernel in kernels])
    points = tuple(
        Series(
            target,
            tuple(
                (
                    kernel.vgprs + kernel.agprs,
                    kernel.occupancy,
                    f"{names[kernel.name]}: {kernel.lds_bytes} bytes of LDS",
                )
                for unit, kernel in kernels
                if unit.target == target and kernel.occupancy
            ),
            line=False,
        )
        for target in verification.targets
    )
    yield Section(
        "Kernels: registers, LDS, spills and occupancy",
        (
            "kernel", "unit", "target", "VGPR", "AGPR", "SGPR", "LDS bytes", "scratch bytes", "spills", "occupancy",
            "wavefront",
        ),
        tuple(
            (
                Mark(names[kernel.name], "code"), Mark(unit.path, "code"), unit.target, kernel.vgprs, kernel.agprs,
                kernel.sgprs, kernel.lds_bytes, kernel.scratch_bytes, _spills(kernel), kernel.occupancy or None,
                kernel.wavefront,
            )
            for unit, kernel in kernels
        ),
        "Read from the code objects; occupancy is waves of one SIMD at the same time, by the compiler's count of "
        "registers and static LDS.",
        bars=(3, 5, 6, 7, 9),
        plot=Plot("VGPR and AGPR of a lane", "waves a SIMD", points) if any(one.points for one in points) else None,
    )  # fmt: skip


def _spills(kernel: KernelUse) -> Cell:
    spills = kernel.vgpr_spills + kernel.sgpr_spills
    return Mark(str(spills), "bad") if spills else 0


def _build_text(verification: Verification) -> tuple[str, str]:
    """Errors grouped over targets, then findings, then the counts and what they rest on: plain, and in colour."""
    return "\n".join(_build_lines(verification, False)) + "\n", "\n".join(_build_lines(verification, True)) + "\n"


def _build_lines(verification: Verification, colour: bool) -> list[str]:
    shown: list[str] = []
    names = demangled(item.kernel for unit in verification.units for item in unit.findings)

    def paint(text: str, name: str) -> str:
        return painted(text, name) if colour else text

    failed: dict[str, dict[tuple[str, str, str], list[str]]] = {}
    skipped: dict[tuple[str, str], list[str]] = {}
    slow: dict[tuple[str, str, str], list[str]] = {}
    for unit in verification.units:
        if unit.status is Status.SKIP:
            skipped.setdefault((unit.path, unit.reason), []).append(unit.target)
        elif unit.status is Status.FAIL:
            lines = failed.setdefault(unit.path, {})
            for error in unit.errors:
                place = ":".join(str(part) for part in (error.path, error.line, error.column) if part)
                if error.original_line and (error.original_path, error.original_line) != (
                    error.path,
                    error.line,
                ):
                    place += f" (from {error.original_path}:{error.original_line})"
                message = error.message + (f" [in {error.within}]" if error.within else "")
                lines.setdefault((place, message, error.explanation), []).append(unit.target)
            if unit.reason:
                lines.setdefault((unit.path, unit.reason, ""), []).append(unit.target)
        for finding in unit.findings:
            slow.setdefault((unit.path, finding.kernel, finding.message), []).append(unit.target)
    for path, lines in failed.items():
        shown.append(f"{paint('fail', 'red')} {path}")
        for (place, message, explanation), targets in lines.items():
            shown.append(f"  {place}: {message} [{', '.join(targets)}]")
            if explanation:
                shown.append(f"    {explanation}")
    for (path, reason), targets in skipped.items():
        shown.append(f"{paint('skip', 'yellow')} {path}: {reason} [{', '.join(targets)}]")
    for (path, kernel, message), targets in slow.items():
        shown.append(f"{paint('note', 'yellow')} {path}: {names[kernel]} {message} [{', '.join(targets)}]")
    summary = verification.summary()
    if failed or skipped or slow:
        shown.append("")
    causes = verification.causes()
    if len(failed) > 1:
        shown.append("what to mend first")
        for cause in causes[:_CAUSES]:
            gain = f"{cause.alone} compile with it mended" if cause.alone else "not alone"
            shown.append(f"  {cause.units} units ({gain})  {cause.place}: {cause.message}")
        shown += [f"  ... and {len(causes) - _CAUSES} more causes"] if len(causes) > _CAUSES else []
        shown.append("")
    if verification.failed:
        word, name = "FAIL", "red"
    elif verification.passed:
        word, name = "ok", "green"
    elif summary["ok"]:
        word, name = "not all verified", "yellow"
    else:
        word, name = "nothing verified", "yellow"
    text = f"{summary['ok']} of {summary['units']} translation units compile"
    text += f", {summary['fail']} fail" if summary["fail"] else ""
    text += f", {summary['skip']} skipped" if summary["skip"] else ""
    shown.append(f"{paint(word, name)}: {text}; {summary['kernels']} kernels")
    for target, counts in summary["by_target"].items():
        tried = sum(counts.values())
        label = "host pass" if target == HOST else target
        shown.append(
            f"  {label}: {counts['ok']} of {tried}" + (f", {counts['skip']} skipped" if counts["skip"] else "")
        )
    if count := len(verification.not_named):
        folders = Counter(path.rpartition("/")[0] or "." for path in verification.not_named).most_common(3)
        where = ", ".join(f"{number} in {folder}" for folder, number in folders)
        verb = "source that no build file names was" if count == 1 else "sources that no build file names were"
        shown.append(f"  {count} {verb} left out ({where}): --all-units")
    shown.append(f"How: {verification.how}.")
    return shown


def demangled(symbols: Iterable[str]) -> dict[str, str]:
    """Symbol -> its C++ name, where c++filt is at hand."""
    plain = {name: name for name in symbols}
    names = sorted(name for name in plain if "\n" not in name)
    if not names or shutil.which("c++filt") is None:
        return plain
    done = subprocess.run(["c++filt"], input="\n".join(names), capture_output=True, text=True, check=False)
    said = done.stdout.splitlines()
    return plain | dict(zip(names, said, strict=True)) if len(said) == len(names) else plain
