"""One line a finding: `path:line: applicability rule: message`."""

from __future__ import annotations

from rocport.model import Report


def render(report: Report, colour: bool = False) -> str:
    lines = [
        f"{finding.path}:{finding.line}: {finding.applicability.value} {finding.rule}: {finding.message}"
        for finding in report.findings
    ]
    lines += [f"{problem.path}: problem: {problem.message}" for problem in report.problems]
    return "".join(line + "\n" for line in lines)
