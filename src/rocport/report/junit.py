"""JUnit XML: one test suite a file with findings, one failed test case a finding."""

from __future__ import annotations

import re
from collections import defaultdict
from xml.sax.saxutils import escape, quoteattr

from rocport.model import Finding, Report
from rocport.model.terminal import printable

# Characters XML 1.0 does not allow, even escaped.
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render(report: Report, colour: bool = False) -> str:
    files: dict[str, list[Finding]] = defaultdict(list)
    for finding in report.findings:
        files[finding.path].append(finding)
    count = len(report.findings)
    lines = ['<?xml version="1.0" encoding="UTF-8"?>']
    lines.append(
        f'<testsuites name="rocport {report.command}" tests="{max(1, count)}" failures="{count}" '
        f'errors="{len(report.problems)}">'
    )
    if not count:
        lines.append('<testsuite name="rocport" tests="1" failures="0"><testcase name="no findings"/></testsuite>')
    for path, findings in files.items():
        lines.append(f'<testsuite name={_attribute(path)} tests="{len(findings)}" failures="{len(findings)}">')
        for finding in findings:
            name = _attribute(f"{finding.rule} line {finding.line}")
            lines.append(f"<testcase name={name} classname={_attribute(path)}>")
            text = _text(f"{path}:{finding.line}: {finding.message}\nnext: {finding.fix}")
            kind, message = _attribute(finding.severity.value), _attribute(finding.message)
            lines.append(f"<failure type={kind} message={message}>{text}</failure>")
            lines.append("</testcase>")
        lines.append("</testsuite>")
    for problem in report.problems:
        lines.append(f'<testsuite name={_attribute(problem.path)} tests="1" errors="1">')
        lines.append(f'<testcase name="read"><error message={_attribute(problem.message)}/></testcase></testsuite>')
    lines.append("</testsuites>")
    return "\n".join(lines) + "\n"


def _text(text: str) -> str:
    return escape(_NOT_XML.sub("?", printable(text)))


def _attribute(text: str) -> str:
    return quoteattr(_NOT_XML.sub("?", printable(text)), {"\n": "&#10;"})
