"""Notebooks: the code cells of an .ipynb file as Python, with the line of the file each code line stands on."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

MAGIC = ("%", "!", "?")
_SHELL = ("%%bash", "%%sh", "%%script", "%%!")
_SOURCE = re.compile(r"%%(?:cu\w*|writefile\b.*\.cuh?)\s*$")
"""A cell that is a CUDA source: of a magic of its own, or written to a file."""


@dataclass(frozen=True)
class Cell:
    """Python of one code cell; `lines[i]` is the line of the notebook file that holds line i + 1 of the code."""

    code: bytes
    lines: tuple[int, ...]
    commands: tuple[tuple[int, str], ...]
    """Shell commands (`!pip install ...`, the lines of a cell of `%%bash`): (line of the file, text)."""


def cells(data: bytes) -> list[Cell]:
    """Code cells in order; one that is a CUDA source as a string. Raises ValueError for a file that is no notebook."""
    text = data.decode("utf-8")
    body: Any = json.loads(text)
    if not isinstance(body, dict):
        raise ValueError("expected an object with 'cells'")
    found: list[Cell] = []
    at = 0
    for cell in body.get("cells", ()):
        if not isinstance(cell, dict) or cell.get("cell_type") != "code":
            continue
        source = cell.get("source", "")
        parts = source.splitlines(keepends=True) if isinstance(source, str) else [str(part) for part in source]
        first = parts[0].strip() if parts else ""
        code: list[str] = []
        numbers: list[int] = []
        commands: list[tuple[int, str]] = []
        for part in parts:
            where = _place(text, part, at)
            at = max(at, where)
            number = text.count("\n", 0, where) + 1
            line = part.rstrip("\n")
            if _SOURCE.match(first):
                if not code and first.startswith("%%cu"):
                    commands.append((number, "nvcc cell.cu"))  # what the magic runs
                line = line if code else "_ = r'''"
            elif first.startswith(_SHELL):
                commands.append((number, line.strip() if commands else ""))
                line = "pass"
            elif line.lstrip().startswith(MAGIC):
                commands.append((number, line.strip().lstrip("%!? ")))
                line = line[: len(line) - len(line.lstrip())] + "pass"
            code.append(line)
            numbers.append(number)
        if _SOURCE.match(first):
            code[-1] += "'''"
        found.append(Cell("\n".join(code).encode(), tuple(numbers), tuple(commands)))
    return found


def _place(text: str, part: str, at: int) -> int:
    """Offset of a source line in the file's JSON text, which may or may not escape non-ASCII letters."""
    for written in (json.dumps(part, ensure_ascii=False)[1:-1], json.dumps(part)[1:-1]):
        where = text.find(written, at)
        if where >= 0:
            return where
    return at
