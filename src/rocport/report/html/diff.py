"""Two texts side by side, as rows."""

from __future__ import annotations

import difflib
import itertools
from collections.abc import Collection, Sequence

CONTEXT = 3
_LONGEST_LINE = 2_000
_MOST_LINES = 20_000

Row = tuple[str, int, str, int, str]
"""(kind, line on the left, its text, line on the right, its text). Kinds: `=` equal, `~` changed, `-` only on the left,
`+` only on the right, `.` lines left out: as many as the first number says. A line that is not there is 0."""


def rows(left: bytes, right: bytes, keep: Collection[int] = ()) -> list[Row]:
    """The differences, and the lines of `keep` (numbers on the left), with CONTEXT equal lines around each; empty where
    nothing differs, or a text is no text."""
    if left == right or b"\0" in left or b"\0" in right:
        return []
    a, b = (_lines(text) for text in (left, right))
    if len(a) + len(b) > _MOST_LINES:
        return [(".", len(a), f"{len(a)} and {len(b)} lines: too long to show; see the files", 0, "")]
    matcher = difflib.SequenceMatcher(None, a, b, autojunk=len(a) > 2_000)
    whole: list[Row] = []
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        whole += _group("=" if tag == "equal" else "~", a, i1, i2, b, j1, j2)
    shown = {
        near
        for at, row in enumerate(whole)
        if row[0] != "=" or row[1] in keep
        for near in range(at - CONTEXT, at + CONTEXT + 1)
    }
    found: list[Row] = []
    for visible, group in itertools.groupby(enumerate(whole), key=lambda item: item[0] in shown):
        chosen = [row for _, row in group]
        found += chosen if visible else [(".", len(chosen), "", 0, "")]
    return found


def _group(kind: str, a: Sequence[str], i1: int, i2: int, b: Sequence[str], j1: int, j2: int) -> list[Row]:
    both = min(i2 - i1, j2 - j1)
    found: list[Row] = [(kind, i1 + n + 1, a[i1 + n], j1 + n + 1, b[j1 + n]) for n in range(both)]
    found += [("-", i + 1, a[i], 0, "") for i in range(i1 + both, i2)]
    found += [("+", 0, "", j + 1, b[j]) for j in range(j1 + both, j2)]
    return found


def _lines(text: bytes) -> list[str]:
    return [line[:_LONGEST_LINE] for line in text.decode("utf-8", "replace").splitlines()]
