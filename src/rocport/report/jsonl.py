"""JSON lines: one finding an object and line, for streams and databases; a problem has `"problem": true`."""

from __future__ import annotations

import json

from rocport.model import Report
from rocport.report.json import finding_object


def render(report: Report, colour: bool = False) -> str:
    lines = [json.dumps(finding_object(finding)) for finding in report.findings]
    lines += [
        json.dumps({"problem": True, "path": problem.path, "message": problem.message}) for problem in report.problems
    ]
    return "".join(line + "\n" for line in lines)
