"""The place of a compiler's error: in the port, and in the source whose edits made the port's text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rocport.model import Edit, Span
from rocport.model.verification import Diagnostic
from rocport.port.edits import origin
from rocport.syntax.cuda import CudaSource


@dataclass(frozen=True)
class Change:
    """What a repair does to the file at `path` of the port: edits of its text, headers that it shall include."""

    path: str
    edits: tuple[Edit, ...] = ()
    headers: frozenset[str] = frozenset()
    ahead: str = ""
    """A header to include before all else, also where the file includes it later."""


@dataclass(frozen=True)
class Site:
    """One error of a unit. `read` gives a file of the port as tokens, None for one that is not repaired."""

    error: Diagnostic
    unit: str
    """Path of the unit, in the port."""
    read: Callable[[str], CudaSource | None]

    @property
    def text(self) -> CudaSource | None:
        """The file that the error stands in."""
        return self.read(self.error.path)


def token_at(text: CudaSource, line: int, column: int) -> int | None:
    """The token that begins at a line and a column, both from 1."""
    offset = offset_at(text, line, column)
    position = text.token_at(offset) if column else len(text.starts)
    return position if position < len(text.texts) and text.starts[position] == offset else None


def offset_at(text: CudaSource, line: int, column: int) -> int:
    return text.line_span(line)[0] + column - 1


def to_source(edits: Sequence[Edit], wanted: Sequence[Edit], moved: int) -> tuple[Edit, ...] | None:
    """Edits of a port's text as edits of its source, whose `edits` made the text; None where one of them touches what
    the port wrote. The text lies `moved` bytes further down than those edits say."""
    found = [_to_source(edits, edit, moved) for edit in wanted]
    return tuple(edit for edit in found if edit is not None) if None not in found else None


def _to_source(edits: Sequence[Edit], wanted: Edit, moved: int) -> Edit | None:
    first, size = wanted.span.start - moved, wanted.span.end - wanted.span.start
    if first < 0:
        return None
    start = origin(edits, first)
    if size == 0 and start is None and first > 0 and (before := origin(edits, first - 1)) is not None:
        # An insertion stands between two bytes: one that is the source's is enough.
        start = before + 1
    if start is None or (size and origin(edits, first + size - 1) != start + size - 1):
        return None
    return Edit(Span(start, start + size), wanted.text)
