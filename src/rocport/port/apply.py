"""Findings of one CUDA source in, the ported bytes out."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from rocport.model import Applicability, Edit, Finding, Span
from rocport.port.edits import choose, edits_of, replaced
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
    edits: tuple[Edit, ...] = ()
    """Every edit of the source that was made, in order of place, the includes among them."""


def _done_by(winner: Finding, finding: Finding) -> Finding:
    """A finding whose place a wider edit has rewritten: that one has read it, and says what is to be looked at."""
    done = finding.applicability is Applicability.REVIEW
    return replace(
        finding,
        edits=(),
        message=f"{finding.message} (done by {winner.rule})",
        applicability=Applicability.SAFE if done else finding.applicability,
    )


def apply(source: CudaSource, findings: Sequence[Finding]) -> Applied:
    """Apply the edits of the findings and add the includes they need.

    A finding whose edits overlap a wider one's is kept in the list without its edits, and says which rule did its work.
    """
    chosen, lost = choose(findings)
    winner = {id(finding): other for finding, other in lost}
    findings = [_done_by(winner[id(finding)], finding) if id(finding) in winner else finding for finding in findings]
    headers = frozenset().union(*(finding.headers for finding in chosen)) if chosen else frozenset()
    edits = edits_of(chosen)
    data = replaced(source.data, edits)
    lines = _missing_includes(source.path, data, headers)
    if lines:
        text = b"".join(line + source.newline for line in lines)
        offset = include_point(source)
        if any(edit.span.start < offset < edit.span.end for edit in edits):
            offset = include_point(CudaSource(source.path, data))
            whole = Span(0, len(source.data))
            edits = [Edit(whole, replaced(data, [Edit(Span(offset, offset), text)]))]
        else:
            # Ahead of every other edit there: what a rule puts before the first code may use what the headers define.
            place = next((at for at, edit in enumerate(edits) if edit.span.start >= offset), len(edits))
            edits = [*edits[:place], Edit(Span(offset, offset), text), *edits[place:]]
        data = replaced(source.data, edits)
    generated = frozenset(header for header in headers if not header.startswith("<"))
    return Applied(data, tuple(findings), generated, tuple(edits))


def _missing_includes(path: str, data: bytes, headers: frozenset[str]) -> list[bytes]:
    """Include lines for the headers the ported text does not include yet, system headers first."""
    # A comment opener inside a string can hide a real include here: it is included twice then, which does nothing.
    seen = set(include_names(_BLOCK_COMMENT.sub(b"", data)))
    lines = []
    for header in sorted(headers, key=lambda name: (not name.startswith("<"), name)):
        spelled = header if header.startswith("<") else f'"{relative_to(path, header)}"'
        name = spelled.strip('<>"')
        if name not in seen:
            lines.append(b"#include " + os.fsencode(spelled))
    return lines


def relative_to(path: str, header: str) -> str:
    """How a file at `path` spells a header that lies at the root of the tree."""
    return posixpath.relpath(header, posixpath.dirname(path) or ".")
