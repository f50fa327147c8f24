"""Markdown, for a pull request or an issue."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from rocport.model import Applicability, Cell, Mark, Report, Section
from rocport.model.report import said

LISTED = 200
_SPECIAL = re.compile(r"[\\<>&|@\[\]`!]")
"""What makes links, pictures, mentions, code and HTML."""


def render(report: Report, colour: bool = False) -> str:
    counts = report.count()
    lines = [
        f"# rocport {report.command}",
        "",
        *([report.verdict.text, ""] if report.verdict else []),
        *(f"- {level}: {mark.text}" for level, mark in report.evidence),
    ]
    if report.verdict is None:
        lines += [
            *([""] if report.evidence else []),
            "| | sites | |",
            "|---|---:|---|",
            f"| safe | {counts['safe']} | done, keeps the meaning |",
            f"| review | {counts['review']} | done, right in the documented cases |",
            f"| manual | {counts['manual']} | not done |",
        ]
    for applicability, title in ((Applicability.MANUAL, "Not done"), (Applicability.REVIEW, "Done, to review")):
        chosen = [cause for cause in report.causes if cause.first.applicability is applicability]
        if chosen:
            lines += ["", f"## {title}", "", "| place | rule | what | next step |", "|---|---|---|---|"]
            lines += [
                f"| {' '.join((_code(item.path, item.line), cause.elsewhere(_code))).rstrip()} | {item.rule} "
                f"| {_cell(item.message)} | {_cell(item.fix)} |"
                for cause in chosen
                for item in (cause.first,)
            ]
    if report.problems:
        lines += ["", "## Could not be handled", ""]
        lines += [f"- {_code(problem.path)}: {_cell(problem.message)}" for problem in report.problems]
    efforts = report.effort()
    if efforts:
        lines += ["", "## Work left (estimate)", "", "| file | review | manual | minutes |", "|---|---:|---:|---:|"]
        lines += [f"| {_code(item.path)} | {item.review} | {item.manual} | {item.minutes} |" for item in efforts]
    lines += _sections(report.sections, LISTED)
    return "\n".join(lines) + "\n"


def render_sections(sections: Iterable[Section]) -> str:
    """Sections alone, with every row, and with links where a cell has one."""
    return "\n".join(_sections(sections, None)) + "\n"


def _sections(sections: Iterable[Section], listed: int | None) -> Iterator[str]:
    for section in sections:
        yield from ("", f"## {section.title}", "", *([section.note, ""] if section.note else []))
        if section.columns:
            yield "| " + " | ".join(section.columns) + " |"
            yield "|---" * len(section.columns) + "|"
            for row in section.rows[:listed]:
                yield "| " + " | ".join(_shown(cell, linked=listed is None) for cell in row) + " |"
        if listed is not None and len(section.rows) > listed:
            yield from ("", f"... and {len(section.rows) - listed} more; `--format json` or `html` has all of them")


def _shown(cell: Cell, linked: bool) -> str:
    text = _cell(said(cell))
    return f"[{text}]({cell.href})" if linked and isinstance(cell, Mark) and cell.href else text


def _cell(text: str) -> str:
    return _SPECIAL.sub(lambda match: f"&#{ord(match[0])};", text).replace("\n", " ")


def _code(name: str, line: int | None = None) -> str:
    """A place in the way of code; in HTML's, where a backtick in it would end Markdown's."""
    text = name if line is None else f"{name}:{line}"
    return f"<code>{_cell(text)}</code>" if set("`|<&") & set(text) else f"`{text}`"
