"""Building findings over CUDA sources."""

from __future__ import annotations

from collections.abc import Iterable

from rocport.model import Applicability, Confidence, Edit, Finding, Rule, Severity, Span
from rocport.syntax.cuda import CudaSource

DYNAMIC_PARALLELISM = "dynamic parallelism"
GENCO = "build it with hipcc --genco"
"""The one change for a file of NVIDIA's machine code: where it is named, and where it is loaded."""


def replace(source: CudaSource, position: int, text: bytes) -> Edit:
    """Replace one token."""
    return Edit(Span(source.starts[position], source.end(position)), text)


def replace_range(source: CudaSource, first: int, last: int, text: bytes) -> Edit:
    """Replace the tokens [first, last) and whatever stands between them."""
    return Edit(Span(source.starts[first], source.end(last - 1)), text)


def insert(offset: int, text: bytes) -> Edit:
    """Insert text at a byte offset."""
    return Edit(Span(offset, offset), text)


def finding(
    rule: Rule,
    source: CudaSource,
    position: int,
    message: str,
    *,
    last: int | None = None,
    edits: Iterable[Edit] = (),
    applicability: Applicability | None = None,
    severity: Severity | None = None,
    confidence: Confidence = Confidence.HIGH,
    fix: str = "",
    headers: Iterable[str] = (),
    holds: str = "",
    routine: bool = False,
    cause: str = "",
) -> Finding:
    """A finding on the token at `position`, or on the tokens from `position` to `last` (inclusive)."""
    start = source.starts[position]
    end = source.end(position if last is None else last)
    return Finding(
        rule=rule.name,
        path=source.path,
        span=Span(start, end),
        line=source.line(start),
        end_line=source.line(max(start, end - 1)),
        message=message,
        severity=rule.severity if severity is None else severity,
        applicability=rule.applicability if applicability is None else applicability,
        confidence=confidence,
        fix=fix,
        phase=rule.phase,
        edits=tuple(edits),
        headers=frozenset(headers),
        holds=holds,
        source=rule.sources[0] if rule.sources else "",
        routine=routine,
        cause=cause,
    )


def operand_before(source: CudaSource, operator: int) -> tuple[int, int] | None:
    """Tokens [first, last) of the postfix expression that ends before the operator."""
    last = at = operator
    text = source.at(at - 1)
    if text in (b")", b"]"):
        opening = source.pairs.get(at - 1)
        if opening is None:
            return None
        at = opening
        if source.is_ident(at - 1) and source.at(at - 1) not in (b"return", b"if", b"while"):
            at -= 1
    elif source.is_ident(at - 1):
        at -= 1
    else:
        return None
    while source.at(at - 1) in (b".", b"->", b"::") and (source.is_ident(at - 2) or source.at(at - 2) in (b")", b"]")):
        at -= 2
        if source.at(at) in (b")", b"]"):
            opening = source.pairs.get(at)
            if opening is None:
                break
            at = opening
            if source.is_ident(at - 1):
                at -= 1
    return (at, last) if at < last else None
