"""The endpoint of a badge as shields.io reads it (https://shields.io/badges/endpoint-badge): a JSON object."""

from __future__ import annotations

import json

from rocport.model import Report
from rocport.report.badge import COLOURS, LABEL, words


def render(report: Report, colour: bool = False) -> str:
    message, tone = words(report)
    return json.dumps({"schemaVersion": 1, "label": LABEL, "message": message, "color": COLOURS[tone][1:]}) + "\n"
