"""Markdown, for a pull request or an issue."""

from __future__ import annotations

from rocport.model import Applicability, Report
from rocport.model.report import said

LISTED = 200


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
        chosen = [finding for finding in report.findings if finding.applicability is applicability]
        if chosen:
            lines += ["", f"## {title}", "", "| place | rule | what | next step |", "|---|---|---|---|"]
            lines += [
                f"| `{item.path}:{item.line}` | {item.rule} | {_cell(item.message)} | {_cell(item.fix)} |"
                for item in chosen
            ]
    if report.problems:
        lines += ["", "## Could not be handled", ""]
        lines += [f"- `{problem.path}`: {_cell(problem.message)}" for problem in report.problems]
    efforts = report.effort()
    if efforts:
        lines += ["", "## Work left (estimate)", "", "| file | review | manual | minutes |", "|---|---:|---:|---:|"]
        lines += [f"| `{item.path}` | {item.review} | {item.manual} | {item.minutes} |" for item in efforts]
    for section in report.sections:
        lines += ["", f"## {section.title}", "", *([section.note, ""] if section.note else [])]
        if section.columns:
            lines += ["| " + " | ".join(section.columns) + " |", "|---" * len(section.columns) + "|"]
            lines += ["| " + " | ".join(_cell(text) for text in map(said, row)) + " |" for row in section.rows[:LISTED]]
        if len(section.rows) > LISTED:
            lines += ["", f"... and {len(section.rows) - LISTED} more; `--format json` or `html` has all of them"]
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
