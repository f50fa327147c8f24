"""What a rule makes of each of its examples, as text kept beside the tests: a change of it is a change of the product.

`ROCPORT_SNAPSHOTS=write pytest -n 0 tests/rules/test_rules.py` writes them anew; read the difference before
you keep it.
"""

from __future__ import annotations

import difflib
import os
import re
from functools import cache
from pathlib import Path

from rocport.model import Finding, Span

FOLDER = Path(__file__).parent / "snapshots"
WRITE = os.environ.get("ROCPORT_SNAPSHOTS") == "write"
_HEAD = re.compile(r"^== (\d+) .*\n", re.M)


def told(findings: list[Finding], before: bytes, after: bytes) -> str:
    """The findings with their edits, and the lines that the port changes."""
    lines = []
    for item in findings:
        kinds = " ".join(kind.value for kind in (item.applicability, item.severity, item.confidence))
        lines.append(f"{item.line}-{item.end_line} phase {item.phase} {kinds}: {_at(before, item.span)}")
        lines += [f"    {text}" for text in (item.message, item.fix, item.holds) if text]
        lines += [f"    edit {_at(before, edit.span)} to {edit.text.decode()!r}" for edit in item.edits]
        if needs := sorted(item.headers | item.compat):
            lines.append(f"    needs {', '.join(needs)}")
        if item.routine:
            lines.append("    routine")
    old, new = (data.decode().splitlines() for data in (before, after))
    lines += [line for line in difflib.unified_diff(old, new, lineterm="", n=0) if not line.startswith(("---", "+++"))]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _at(data: bytes, span: Span) -> str:
    return f"[{span.start}, {span.end}) {data[span.start : span.end].decode(errors='replace')!r}"


def kept(rule: str, number: int) -> str | None:
    """What was told of an example before; None where nothing was."""
    return _sections(rule).get(number)


def numbers(rule: str) -> list[int]:
    """The examples that something is kept of, as they stand in the file."""
    return list(_sections(rule))


def write(rule: str, number: int, path: str, text: str, count: int) -> None:
    """Keep what is told of an example; drop what is beyond the `count` examples of the rule."""
    sections = {key: section for key, section in _heads(rule).items() if key < count} | {
        number: f"== {number} {path}\n{text}"
    }
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / f"{rule}.txt").write_text("".join(sections[key] for key in sorted(sections)), encoding="utf-8")


@cache
def _sections(rule: str) -> dict[int, str]:
    return {number: section.split("\n", 1)[1] for number, section in _heads(rule).items()}


def _heads(rule: str) -> dict[int, str]:
    place = FOLDER / f"{rule}.txt"
    text = place.read_text(encoding="utf-8") if place.exists() else ""
    heads = list(_HEAD.finditer(text))
    ends = [*(head.start() for head in heads), len(text)][1:]
    return {int(head[1]): text[head.start() : end] for head, end in zip(heads, ends, strict=True)}
