"""Token streams: what every language but Python is compared by."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
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


def compare(path: str, new: Sequence[Token], old: Sequence[Token], what: str) -> list[Difference]:
    """Where two token streams differ; `what` says what a change should have been gated on."""
    keys, were = [token.key for token in new], [token.key for token in old]
    if keys == were:
        return []
    first = next((i for i, (a, b) in enumerate(zip(keys, were, strict=False)) if a != b), min(len(keys), len(were)))
    end = 0
    while end < min(len(keys), len(were)) - first and keys[-1 - end] == were[-1 - end]:
        end += 1
    stop, halt = len(keys) - end, len(were) - end
    # Only the middle is aligned: the ends are the same, and aligning is quadratic.
    matcher = difflib.SequenceMatcher(None, keys[first:stop], were[first:halt], autojunk=False)
    long = max(stop, halt) - first > 4000
    opcodes = [("replace", 0, stop - first, 0, halt - first)] if long else matcher.get_opcodes()
    found: list[Difference] = []
    for tag, start, last, begin, until in opcodes:
        if tag == "equal":
            continue
        added, gone = new[first + start : first + last], old[first + begin : first + until]
        line = _line(added, new, first + start)
        original_line = _line(gone, old, first + begin)
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
