"""The results of `rocport verify` as reports, so that every level prints every format."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING, Any

import click

from rocport.model import Applicability, Finding, Report, Severity, Span
from rocport.model.verification import HOST, Status

if TYPE_CHECKING:
    from rocport.model.verification import Verification
    from rocport.verify.functional import FunctionalVerification

_PHASE = 8


def of_build(verification: Verification) -> Report:
    """Level `build`: a finding for each compiler error, and for each kernel that is slow or cannot be launched."""
    found: dict[tuple[str, str, int, str], tuple[Severity, str, list[str]]] = {}
    for unit in verification.units:
        for error in unit.errors:
            message = error.message + (f" [in {error.within}]" if error.within else "")
            key = ("compiler-error", error.path, error.line, message)
            found.setdefault(key, (Severity.BREAKS_BUILD, error.explanation, []))[2].append(unit.target)
        if unit.status is not Status.OK and unit.reason:
            failed = unit.status is Status.FAIL
            key = ("compiler-failed" if failed else "not-tried", unit.path, 1, unit.reason)
            kind = Severity.BREAKS_BUILD if failed else Severity.COSMETIC
            found.setdefault(key, (kind, "", []))[2].append(unit.target)
        for item in unit.findings:
            key = (item.code, unit.path, 1, f"{_demangle(item.kernel)} {item.message}")
            kind = Severity.SLOW if item.code == "register-spill" else Severity.BREAKS_RUN
            found.setdefault(key, (kind, "", []))[2].append(unit.target)
    findings = tuple(
        _finding(rule, path, line, f"{message} [{', '.join(targets)}]", severity, fix)
        for (rule, path, line, message), (severity, fix, targets) in found.items()
    )
    return _report(verification.level, verification.root, findings, verification.to_json(), _build_text(verification))


def of_functional(verification: FunctionalVerification, root: str) -> Report:
    """Level `functional`: a finding for each program that is not right, and for each hazard at its place."""
    from rocport.verify.functional import Verdict, lines

    findings = []
    for program in verification.programs:
        if program.verdict is not Verdict.PASS:
            severity = Severity.WRONG_RESULT if program.verdict.failed else Severity.BREAKS_BUILD
            rule = f"program-{program.verdict.value.replace(' ', '-')}"
            findings.append(_finding(rule, program.path, 1, program.reason or program.verdict.value, severity))
        for hazard in program.hazards:
            path, line = (hazard.frames[0].path, hazard.frames[0].line) if hazard.frames else (program.path, 1)
            severity = Severity.WRONG_RESULT if hazard.grave else Severity.COSMETIC
            findings.append(
                _finding(f"hazard-{hazard.kind}", path, line, f"{hazard.message} (kernel {hazard.kernel})", severity)
            )
    text = "\n".join(lines(verification, False)) + "\n", "\n".join(lines(verification, True)) + "\n"
    return _report("functional", root, tuple(findings), verification.to_json(), text)


def of_comparison(result: dict[str, Any], root: str, command: str = "verify") -> Report:
    """Level `numerical` and `compare`: one finding, where the numbers part."""
    from rocport.numerics.text import comparison_lines

    verdict = result["verdict"]
    findings: tuple[Finding, ...] = ()
    if verdict != "equal":
        where = result["first"] or result["first_bits"]
        message, path, line = f"the verdict is {verdict}", root, "1"
        if where:
            message += f", first at {where['call']} in {where['scope'] or 'the script'}"
            path, _, line = (where["site"] or f"{root}:1").rpartition(":")
        severity = Severity.COSMETIC if verdict == "rounding" else Severity.WRONG_RESULT
        number = int(line) if line.isdigit() else 1
        findings = (_finding(f"numbers-{verdict}", path or root, number, message, severity),)

    def text(colour: bool) -> str:
        def paint(words: str, name: str) -> str:
            return click.style(words, fg=name) if colour else words

        return "\n".join(comparison_lines(result, paint)) + "\n"

    return _report("numerical", root, findings, result, (text(False), text(True)), command)


def _report(
    level: str,
    root: str,
    findings: tuple[Finding, ...],
    data: dict[str, Any],
    text: tuple[str, str],
    command: str = "verify",
) -> Report:
    options = (("level", level),)
    return Report(command, root, (), findings, (), options, data=data, text=lambda colour: text[colour])


def _finding(rule: str, path: str, line: int, message: str, severity: Severity, fix: str = "") -> Finding:
    first = max(1, line)
    return Finding(rule, path, Span(0, 0), first, first, message, severity, Applicability.MANUAL, _PHASE, fix=fix)


def _build_text(verification: Verification) -> tuple[str, str]:
    """Errors grouped over targets, then findings, then the counts and what they rest on: plain, and in colour."""
    return "\n".join(_build_lines(verification, False)) + "\n", "\n".join(_build_lines(verification, True)) + "\n"


def _build_lines(verification: Verification, colour: bool) -> list[str]:
    shown: list[str] = []

    def paint(text: str, name: str) -> str:
        return click.style(text, fg=name) if colour else text

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
        shown.append(f"{paint('note', 'yellow')} {path}: {_demangle(kernel)} {message} [{', '.join(targets)}]")
    summary = verification.summary()
    if failed or skipped or slow:
        shown.append("")
    if verification.failed:
        word, name = "FAIL", "red"
    elif summary["ok"]:
        word, name = "ok", "green"
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
    shown.append(f"How: {verification.how}.")
    return shown


def _demangle(name: str) -> str:
    """The C++ name of a symbol where c++filt is at hand."""
    if not name.startswith("_Z") or shutil.which("c++filt") is None:
        return name
    return subprocess.run(["c++filt", name], capture_output=True, text=True, check=False).stdout.strip() or name
