"""SARIF 2.1.0, for code scanning services. Paths are relative to the scanned root."""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from typing import Any
from urllib.parse import quote

from rocport import __version__
from rocport.model import Finding, Report, Severity

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVEL = {Severity.SLOW: "warning", Severity.COSMETIC: "note"}


def render(report: Report, colour: bool = False) -> str:
    names = sorted({finding.rule for finding in report.findings})
    places = {name: number for number, name in enumerate(names)}
    seen: Counter[tuple[str, str, str]] = Counter()
    results = [_result(finding, places[finding.rule], seen) for finding in report.findings]
    sources = {finding.rule: finding.source for finding in report.findings}
    run: dict[str, Any] = {
        "tool": {
            "driver": {
                "name": "rocport",
                "semanticVersion": __version__,
                "rules": [_rule(name, sources[name]) for name in names],
            }
        },
        "columnKind": "utf16CodeUnits",
        "results": results,
        "invocations": [
            {
                "executionSuccessful": True,
                "toolExecutionNotifications": [
                    {
                        "level": "warning",
                        "message": {"text": problem.message},
                        "locations": [{"physicalLocation": {"artifactLocation": {"uri": quote(problem.path)}}}],
                    }
                    for problem in report.problems
                ],
            }
        ],
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}) + "\n"


def _rule(name: str, source: str) -> dict[str, Any]:
    rule: dict[str, Any] = {"id": name}
    if source.startswith("https://"):
        rule["helpUri"] = source
    return rule


def _result(finding: Finding, place: int, seen: Counter[tuple[str, str, str]]) -> dict[str, Any]:
    text = finding.message + (f". Next: {finding.fix}" if finding.fix else "")
    key = (finding.rule, finding.path, finding.message)
    mark = hashlib.sha256("\0".join([*key, str(seen[key])]).encode(errors="surrogateescape")).hexdigest()[:16]
    seen[key] += 1
    return {
        "ruleId": finding.rule,
        "ruleIndex": place,
        "level": _LEVEL.get(finding.severity, "error"),
        "message": {"text": text},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": quote(os.fsencode(finding.path))},
                    "region": {"startLine": finding.line, "endLine": max(finding.line, finding.end_line)},
                }
            }
        ],
        "partialFingerprints": {"rocport/v1": mark},
        "properties": {
            "severity": finding.severity.value,
            "confidence": finding.confidence.value,
            "applicability": finding.applicability.value,
            "phase": finding.phase,
        },
    }
