"""Token streams: what every language but Python is compared by."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from rocport.verify.nvidia.model import Difference, Kind

CODE = "nvidia-tokens"
_MOST = 20
_SHOWN = 60


@dataclass(frozen=True)
class Token:
    """One token and its line. `spaced`: white space stands before it, which `#` in a macro makes visible."""

    text: str
    line: int
    spaced: bool = False

    @property
    def key(self) -> tuple[str, bool]:
        return self.text, self.spaced


class LexError(Exception):
    """A text that is not of its language: line and reason."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(reason)
        self.line = line
        self.reason = reason


def aligned(new: Sequence[Hashable], old: Sequence[Hashable]) -> list[tuple[str, int, int, int, int]]:
    """How one sequence became another: `(tag, start, end, old start, old end)`, as difflib. Aligning is quadratic
    and worse where much repeats, so only the middle is, the ends being the same, and a large one is replaced whole."""
    most = min(len(new), len(old))
    first = next((place for place in range(most) if new[place] != old[place]), most)
    end = 0
    while end < most - first and new[-1 - end] == old[-1 - end]:
        end += 1
    stop, halt = len(new) - end, len(old) - end
    middle: Sequence[tuple[str, int, int, int, int]] = [("replace", 0, stop - first, 0, halt - first)]
    many, were = Counter(new[first:stop]), Counter(old[first:halt])
    if sum(count * were[item] for item, count in many.items()) <= _ALIGNED:
        middle = difflib.SequenceMatcher(None, new[first:stop], old[first:halt], autojunk=False).get_opcodes()
    found = [(tag, first + a, first + b, first + c, first + d) for tag, a, b, c, d in middle]
    if first:
        found.insert(0, ("equal", 0, first, 0, first))
    return [*found, ("equal", stop, len(new), halt, len(old))] if end else found


_ALIGNED = 50_000
"""Pairs of equal items that aligning may look at, for each block that it finds."""


def compare(path: str, new: Sequence[Token], old: Sequence[Token], what: str) -> list[Difference]:
    """Where two token streams differ; `what` says what a change should have been gated on."""
    keys, were = [token.key for token in new], [token.key for token in old]
    if keys == were:
        return []
    found: list[Difference] = []
    for tag, start, last, begin, until in aligned(keys, were):
        if tag == "equal":
            continue
        added, gone = new[start:last], old[begin:until]
        line = _line(added, new, start)
        original_line = _line(gone, old, begin)
        if added and gone and [item.text for item in added] == [item.text for item in gone]:
            message = f"white space before {_text(added)} is not as it was"
        elif added and gone:
            message = f"{_text(added)} stands where {_text(gone)} was"
        elif added:
            message = f"added on every platform: {_text(added)}"
        else:
            message = f"missing on NVIDIA: {_text(gone)}"
        found.append(Difference(Kind.DIFFERENCE, CODE, path, line, original_line, message, f"gate it on {what}"))
        if len(found) == _MOST:
            break
    return found


def _line(part: Sequence[Token], whole: Sequence[Token], place: int) -> int:
    if part:
        return part[0].line
    if not whole:
        return 0
    return whole[min(place, len(whole) - 1)].line


def _text(tokens: Sequence[Token]) -> str:
    text = " ".join(" ".join(token.text for token in tokens[:40]).split())
    return f"`{text}`" if len(text) <= _SHOWN else f"`{text[: _SHOWN - 3]}...`"
