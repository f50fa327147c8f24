"""Which edits of one file are made, and the bytes after them. Knows no language."""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Sequence
from dataclasses import replace

from rocport.model import Applicability, Edit, Finding


def choose(findings: Sequence[Finding]) -> tuple[list[Finding], list[tuple[Finding, Finding]]]:
    """(findings whose edits are made, (finding whose edits are not, the one in its way)).

    Of two findings whose edits overlap, the one with the wider edit wins (a rule that rewrites a statement has read
    what stands in it); otherwise the first by place, then by name. Equal edits overlap nothing: they are made once.
    """
    done = [finding for finding in findings if finding.applicability is not Applicability.MANUAL]

    def rank(finding: Finding) -> tuple[int, int, str]:
        widest = max(edit.span.end - edit.span.start for edit in finding.edits)
        return (-widest, min(edit.span.start for edit in finding.edits), finding.rule)

    taken = _Taken()
    chosen = [finding for finding in done if not finding.edits]
    lost: list[tuple[Finding, Finding]] = []
    for finding in sorted((finding for finding in done if finding.edits), key=rank):
        clash = next((other for edit in finding.edits if (other := taken.clash(edit)) is not None), None)
        if clash is not None:
            lost.append((finding, clash))
            continue
        chosen.append(finding)
        for edit in finding.edits:
            taken.add(edit, finding)
    return chosen, lost


def edits_of(findings: Iterable[Finding]) -> list[Edit]:
    """The edits of findings that do not overlap, each once, in order of place."""
    return sorted({edit for finding in findings for edit in finding.edits})


def replaced(data: bytes, edits: Iterable[Edit]) -> bytes:
    """The bytes after edits that are in order of place and do not overlap."""
    pieces: list[bytes] = []
    position = 0
    for edit in edits:
        pieces.append(data[position : edit.span.start])
        pieces.append(edit.text)
        position = edit.span.end
    pieces.append(data[position:])
    return b"".join(pieces)


def origin(edits: Iterable[Edit], offset: int) -> int | None:
    """The place in the source of a byte of the text after edits in order of place; None for what an edit wrote."""
    moved = 0
    for edit in edits:
        start = edit.span.start + moved
        if offset < start:
            break
        if offset < start + len(edit.text):
            return None
        moved += len(edit.text) - (edit.span.end - edit.span.start)
    return offset - moved


def left_manual(finding: Finding, reason: str) -> Finding:
    """The finding without its edits, for the reader to do, with the reason in its message."""
    return replace(
        finding,
        applicability=Applicability.MANUAL,
        edits=(),
        headers=frozenset(),
        compat=frozenset(),
        message=f"{finding.message} (not edited: {reason})",
    )


class _Taken:
    """Edits accepted so far: pairwise apart, so a bisection finds the only candidates for an overlap."""

    def __init__(self) -> None:
        self._spans: list[tuple[int, int]] = []
        self._owners: dict[tuple[int, int], tuple[Edit, Finding]] = {}
        self._edits: set[Edit] = set()

    def clash(self, edit: Edit) -> Finding | None:
        """Whose edit overlaps this one; an equal edit overlaps nothing, it is made once."""
        if edit in self._edits:
            return None
        key = (edit.span.start, edit.span.end)
        at = bisect.bisect_left(self._spans, key)
        for candidate in self._spans[max(0, at - 2) : at + 2]:
            other, owner = self._owners[candidate]
            if other.span.overlaps(edit.span):
                return owner
        return None

    def add(self, edit: Edit, owner: Finding) -> None:
        self._edits.add(edit)
        key = (edit.span.start, edit.span.end)
        if key not in self._owners:
            bisect.insort(self._spans, key)
            self._owners[key] = (edit, owner)
