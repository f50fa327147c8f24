"""Findings of one file in, the ported bytes out."""

from __future__ import annotations

import bisect
import posixpath
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from rocport.model import Applicability, Edit, Finding, Span
from rocport.syntax.cuda import CudaSource
from rocport.syntax.includes import include_names, include_point

_BLOCK_COMMENT = re.compile(rb"/\*[^*]*(?:\*(?!/)[^*]*)*\*/")


@dataclass(frozen=True)
class Applied:
    """The ported bytes of one file and the findings as they turned out."""

    data: bytes
    findings: tuple[Finding, ...]
    headers: frozenset[str]
    """Generated headers (not `<...>`) the file now includes."""


def apply(source: CudaSource, findings: Sequence[Finding]) -> Applied:
    """Apply the edits of the findings and add the includes they need.

    Of two findings whose edits overlap, the one that covers the other wins (a rule that rewrites a statement has read
    what stands in it); otherwise the first by place, then by name. The loser is kept in the list without its edits, and
    says which rule took its place.
    """
    chosen, findings = _choose(findings)
    headers = frozenset().union(*(finding.headers for finding in chosen)) if chosen else frozenset()
    edits = sorted({edit for finding in chosen for edit in finding.edits})
    data = _replace(source.data, edits)
    lines = _missing_includes(source.path, data, headers)
    if lines:
        text = b"".join(line + source.newline for line in lines)
        offset = include_point(source)
        if any(edit.span.start < offset < edit.span.end for edit in edits):
            ported = CudaSource(source.path, data)
            edits, source_data, offset = [], data, include_point(ported)
        else:
            source_data = source.data
        data = _replace(source_data, sorted([*edits, Edit(Span(offset, offset), text)]))
    generated = frozenset(header for header in headers if not header.startswith("<"))
    return Applied(data, tuple(findings), generated)


def _choose(findings: Sequence[Finding]) -> tuple[list[Finding], list[Finding]]:
    done = [finding for finding in findings if finding.applicability is not Applicability.MANUAL]
    editing = [finding for finding in done if finding.edits]

    def rank(finding: Finding) -> tuple[int, int, str]:
        widest = max(edit.span.end - edit.span.start for edit in finding.edits)
        return (-widest, min(edit.span.start for edit in finding.edits), finding.rule)

    taken = _Taken()
    chosen = [finding for finding in done if not finding.edits]
    replaced: dict[int, Finding] = {}
    for finding in sorted(editing, key=rank):
        clash = next((other for edit in finding.edits if (other := taken.clash(edit)) is not None), None)
        if clash is None:
            chosen.append(finding)
            for edit in finding.edits:
                taken.add(edit, finding)
        else:
            replaced[id(finding)] = clash
    listed = [
        replace(finding, edits=(), message=f"{finding.message} (done by {replaced[id(finding)].rule})")
        if id(finding) in replaced
        else finding
        for finding in findings
    ]
    return chosen, listed


class _Taken:
    """Edits accepted so far: pairwise apart, so a bisection finds the only candidates for an overlap."""

    def __init__(self) -> None:
        self._spans: list[tuple[int, int]] = []
        self._owners: dict[tuple[int, int], tuple[Edit, Finding]] = {}

    def clash(self, edit: Edit) -> Finding | None:
        """Whose edit overlaps this one; an equal edit overlaps nothing, it is made once."""
        key = (edit.span.start, edit.span.end)
        at = bisect.bisect_left(self._spans, key)
        for candidate in self._spans[max(0, at - 2) : at + 2]:
            other, owner = self._owners[candidate]
            if other.span.overlaps(edit.span) and other != edit:
                return owner
        return None

    def add(self, edit: Edit, owner: Finding) -> None:
        key = (edit.span.start, edit.span.end)
        if key not in self._owners:
            bisect.insort(self._spans, key)
            self._owners[key] = (edit, owner)


def _replace(data: bytes, edits: Iterable[Edit]) -> bytes:
    pieces: list[bytes] = []
    position = 0
    for edit in edits:
        pieces.append(data[position : edit.span.start])
        pieces.append(edit.text)
        position = edit.span.end
    pieces.append(data[position:])
    return b"".join(pieces)


def _missing_includes(path: str, data: bytes, headers: frozenset[str]) -> list[bytes]:
    """Include lines for the headers the ported text does not include yet, system headers first."""
    # A comment opener inside a string can hide a real include here: it is included twice then, which does nothing.
    seen = set(include_names(_BLOCK_COMMENT.sub(b"", data)))
    lines = []
    for header in sorted(headers, key=lambda name: (not name.startswith("<"), name)):
        spelled = header if header.startswith("<") else f'"{relative_to(path, header)}"'
        name = spelled.strip('<>"')
        if name not in seen:
            lines.append(b"#include " + spelled.encode())
    return lines


def relative_to(path: str, header: str) -> str:
    """How a file at `path` spells a header that lies at the root of the tree."""
    return posixpath.relpath(header, posixpath.dirname(path) or ".")
