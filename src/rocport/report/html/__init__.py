"""One self-contained page: no network, no framework, opened from a file.

The page is a template with a style sheet and a script (`page.html`, `page.css`, `page.js`) and one block of JSON. All
text of the user's reaches the page in that block and is put on it as text, never as markup.
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from typing import Any

from rocport import __version__
from rocport.model import Cell, Mark, Report, Section
from rocport.model.report import anchor
from rocport.report.html.diff import Row, rows

SCHEMA = 3


@dataclass(frozen=True)
class Page:
    """A report, and the texts of its files: path of the sources -> (source, output path, its port)."""

    report: Report
    texts: Mapping[str, tuple[bytes, str, bytes]] = field(default_factory=dict)


def render(report: Report, colour: bool = False) -> str:
    """The findings as a page. `colour` is of terminals."""
    return render_page(Page(report))


def render_page(page: Page) -> str:
    """The whole page as text."""
    parts = {name: _part(name) for name in ("page.css", "page.js")}
    # `<` opens a tag and ends a script; the line separators end a line of JavaScript.
    data = json.dumps(_data(page), separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        data = data.replace(character, f"\\u{ord(character):04x}")
    text = _part("page.html")
    for mark, value in (("/*style*/", parts["page.css"]), ("/*script*/", parts["page.js"]), ("{}", data)):
        text = text.replace(mark, value, 1)
    return text


def _part(name: str) -> str:
    return resources.files(__name__).joinpath(name).read_text(encoding="utf-8")


def _data(page: Page) -> dict[str, Any]:
    report = page.report
    lines: dict[str, set[int]] = {path: set() for path, (source, _, ported) in page.texts.items() if source != ported}
    for finding in report.findings:
        lines.setdefault(finding.path, set()).add(finding.line)
    return {
        "schema": SCHEMA,
        "version": __version__,
        "command": report.command,
        "root": report.root,
        "options": dict(report.options),
        "filesRead": report.files_read,
        "findings": [
            [item.path, item.line, item.rule, item.applicability.value, item.message, item.fix, item.holds, item.source]
            for item in report.findings
        ],
        "files": [_file(path, page.texts.get(path), lines[path]) for path in sorted(lines)],
        "effort": {item.path: item.minutes for item in report.effort()},
        "problems": [{"path": item.path, "message": item.message} for item in report.problems],
        "leftOut": [
            {"rule": item.rule, "path": item.path, "line": item.line, "by": item.by, "reason": item.reason}
            for item in report.left_out
        ],
        "sections": [_section(section) for section in report.sections],
        "verdict": report.verdict and _cell(report.verdict),
        "evidence": [[level, _cell(said)] for level, said in report.evidence],
    }


def _cell(cell: Cell) -> Any:
    """A number or text as it is, a Mark as [text, tone, link]; what is no number in JSON as text."""
    if isinstance(cell, Mark):
        return [cell.text, cell.tone, cell.href]
    return cell if not isinstance(cell, float) or math.isfinite(cell) else str(cell)


def _section(section: Section) -> dict[str, Any]:
    plot = section.plot
    return {
        "id": anchor(section.title),
        "title": section.title,
        "note": section.note,
        "columns": section.columns,
        "bars": section.bars,
        "rows": [[_cell(cell) for cell in row] for row in section.rows],
        "plot": plot
        and {
            "x": plot.x,
            "y": plot.y,
            "log": plot.log,
            "series": [{"name": item.name, "line": item.line, "points": item.points} for item in plot.series],
        },
    }


def _file(path: str, texts: tuple[bytes, str, bytes] | None, lines: Collection[int]) -> dict[str, Any]:
    made: Sequence[Row] = ()
    output = ""
    if texts is not None:
        source, output, ported = texts
        made = rows(source, ported, lines)
    return {"path": path, "output": output, "rows": made}
