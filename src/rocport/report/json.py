"""JSON: the documented, stable schema (docs/json.md)."""

from __future__ import annotations

import json
from typing import Any

from rocport.model import Finding, Report
from rocport.model.report import SCHEMA_VERSION


def finding_object(finding: Finding) -> dict[str, Any]:
    """One finding. Paths are relative to the scanned root, with `/`."""
    return {
        "rule": finding.rule,
        "path": finding.path,
        "line": finding.line,
        "end_line": finding.end_line,
        "severity": finding.severity.value,
        "confidence": finding.confidence.value,
        "applicability": finding.applicability.value,
        "message": finding.message,
        "fix": finding.fix,
        "phase": finding.phase,
        "edited": bool(finding.edits),
        "holds": finding.holds,
        "source": finding.source,
        "cause": finding.cause,
    }


def render(report: Report, colour: bool = False) -> str:
    """The report as one object. That of `scan` and `port` is one line: indenting it would cost more than most ports."""
    if report.data is not None:
        return json.dumps(report.data, indent=1) + "\n"
    body = {
        "schema": SCHEMA_VERSION,
        "tool": "rocport",
        "command": report.command,
        "options": dict(report.options),
        "files": [
            {
                "source": record.source,
                "output": record.output,
                "status": record.status,
                "source_sha256": record.source_sha256,
                "output_sha256": record.output_sha256,
            }
            for record in report.files
        ],
        "findings": [finding_object(finding) for finding in report.findings],
        "problems": [{"path": problem.path, "message": problem.message} for problem in report.problems],
        "suppressed": [
            {"rule": item.rule, "path": item.path, "line": item.line, "by": item.by, "reason": item.reason}
            for item in report.left_out
        ],
        "effort": [
            {"path": effort.path, "review": effort.review, "manual": effort.manual, "minutes": effort.minutes}
            for effort in report.effort()
        ],
        "plan": [
            {
                "phase": phase.number,
                "title": phase.title,
                "applies": phase.applies,
                "reason": phase.reason,
                "sites": phase.sites,
            }
            for phase in report.plan
        ],
        "summary": {
            **report.count(),
            "suppressed": report.suppressed,
            "files_read": report.files_read,
            "bytes_read": report.bytes_read,
            "problems": len(report.problems),
        },
        **({"build": report.build} if report.build is not None else {}),
    }
    return json.dumps(body) + "\n"
