"""Markdown, for a pull request or an issue."""

from __future__ import annotations

from rocport.model import Applicability, Report


def render(report: Report, colour: bool = False) -> str:
    counts = report.count()
    lines = [
        f"# rocport {report.command}",
        "",
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
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
