"""Workflow commands of GitHub Actions: each finding becomes an annotation of the changed file."""

from __future__ import annotations

from rocport.model import Report, Severity
from rocport.model.terminal import printable

_LEVEL = {Severity.SLOW: "warning", Severity.COSMETIC: "notice"}


def render(report: Report, colour: bool = False) -> str:
    lines = []
    for finding in report.findings:
        text = finding.message + (f"\nnext: {finding.fix}" if finding.fix else "")
        lines.append(
            f"::{_LEVEL.get(finding.severity, 'error')} file={_property(finding.path)},line={finding.line},"
            f"endLine={finding.end_line},title={_property('rocport ' + finding.rule)}::{_data(text)}"
        )
    lines += [f"::error file={_property(problem.path)}::{_data(problem.message)}" for problem in report.problems]
    return "".join(line + "\n" for line in lines)


def _data(text: str) -> str:
    return printable(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
