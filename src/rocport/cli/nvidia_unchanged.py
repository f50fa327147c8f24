"""Output of `rocport verify --level nvidia-unchanged`: a text of its own, and the report formats."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import click

from rocport.cli import EXIT_CLEAN, EXIT_ERROR, EXIT_FINDINGS
from rocport.model.terminal import paint as painted

if TYPE_CHECKING:
    from pathlib import Path

    from rocport.model import Cell, Report, Section
    from rocport.verify.nvidia import Proof

PROOF = "The NVIDIA path is what it was"
_LISTED = 40
_TONE = {"unchanged": "good", "changed": "bad", "cannot tell": "warn", "not decided": "warn"}
_COLOUR = {"unchanged": "green", "changed": "red", "cannot tell": "yellow", "not decided": "yellow"}


def run(path: Path, original: Path | None, revision: str | None, strict: bool, fmt: str) -> int:
    """Compare, print, and say the exit code: 0 unchanged or not decided, 1 changed, 2 cannot tell."""
    from rocport.cli.common import emit
    from rocport.verify import nvidia

    try:
        proof = nvidia.verify(path, original, revision, strict)
    except nvidia.TreeError as error:
        raise click.ClickException(str(error)) from error
    emit(report(proof), fmt)
    return {"changed": EXIT_FINDINGS, "cannot tell": EXIT_ERROR}.get(proof.verdict, EXIT_CLEAN)


def text(proof: Proof, colour: bool = False) -> str:
    """What a person reads: differences, things to look at, counts, the verdict."""
    from rocport.verify.nvidia import Kind

    def paint(words: str, name: str) -> str:
        return painted(words, name, bold=True) if colour else words

    lines: list[str] = []
    for kind in (Kind.DIFFERENCE, Kind.UNKNOWN, Kind.UNDECIDED, Kind.REVIEW):
        name = "red" if kind is Kind.DIFFERENCE else "yellow"
        words = "not decided: look at it:" if kind is Kind.UNDECIDED else kind.value
        items = proof.of(kind)
        for item in items[:_LISTED]:
            place = f"{item.path}:{item.line}" if item.line else item.path
            if item.original_line:
                place += f" (original line {item.original_line})"
            lines.append(f"{paint(words, name)} {place}")
            lines.append(f"  {item.message}")
            lines.append(f"  next: {item.next_step}")
        if len(items) > _LISTED:
            lines.append(f"  ... and {len(items) - _LISTED} more: --format concise or json lists all of them")
    if lines:
        lines.append("")
    lines.append(f"{len(proof.files)} files, {proof.bytes_read / 1e6:.1f} MB, against {proof.original}:")
    lines += [f"  {count:6}  {shown}" for shown, count in proof.counts().items() if count]
    lines += [f"{note}." for note in proof.notes]
    counted = Counter(item.kind for item in proof.differences)
    verdict = {
        "unchanged": "with the platform predicate false, the port is the original"
        if not proof.hip_only
        else "what is shared with the NVIDIA build is the original's; the CUDA sources of this tree are HIP only",
        "changed": f"{counted[Kind.DIFFERENCE]} differences reach the NVIDIA path, or could",
        "not decided": f"{counted[Kind.UNDECIDED]} places must be looked at, and --strict fails on them",
        "cannot tell": f"{counted[Kind.UNKNOWN]} places could not be compared",
    }[proof.verdict]
    if proof.verdict == "changed" and not counted[Kind.DIFFERENCE]:
        verdict = "--strict: files that are HIP only, and what is to be looked at, count as differences"
    lines.append(f"{paint(f'NVIDIA path {proof.verdict}', _COLOUR[proof.verdict])}: {verdict}")
    if proof.verdict in ("unchanged", "not decided") and counted[Kind.REVIEW]:
        lines.append(f"{counted[Kind.REVIEW]} places to look at; --strict makes them differences")
    return "\n".join(lines) + "\n"


def report(proof: Proof) -> Report:
    """The differences as findings, for the report formats."""
    from rocport.model import Applicability, FileRecord, Finding, Mark, Problem, Report, Severity, Span
    from rocport.model.report import anchor
    from rocport.verify.nvidia import Kind

    findings = tuple(
        Finding(
            item.code,
            item.path,
            Span(0, 0),
            max(1, item.line),
            max(1, item.line),
            item.message + (f" (original line {item.original_line})" if item.original_line else ""),
            Severity.WRONG_RESULT if item.kind is Kind.DIFFERENCE else Severity.COSMETIC,
            Applicability.MANUAL if item.kind is Kind.DIFFERENCE else Applicability.REVIEW,
            fix=item.next_step,
            phase=8,
        )
        for item in proof.differences
        if item.kind is not Kind.UNKNOWN
    )
    problems = tuple(Problem(item.path, f"{item.message}; {item.next_step}") for item in proof.of(Kind.UNKNOWN))
    files = tuple(
        FileRecord(item.path, item.path, item.shown.value if item.shown else "not shown") for item in proof.files
    )
    options = (("level", "nvidia-unchanged"), ("original", proof.original), ("verdict", proof.verdict))
    return Report(
        "verify",
        proof.root,
        files,
        findings,
        problems,
        options,
        files_read=len(proof.files),
        bytes_read=proof.bytes_read,
        data=proof.to_json(),
        text=lambda colour: text(proof, colour),
        sections=(_section(proof),),
        verdict=Mark(f"NVIDIA path {proof.verdict}", _TONE[proof.verdict]),
        evidence=(("NVIDIA path", Mark(proof.verdict, _TONE[proof.verdict], "#" + anchor(PROOF))),),
    )


def _section(proof: Proof) -> Section:
    """How each file was shown to be what it was, and each place that was not."""
    from rocport.model import Mark, Section
    from rocport.verify.nvidia import Kind

    files: tuple[tuple[Cell, ...], ...] = tuple(
        (Mark(shown, "" if shown != "not shown" else "bad"), f"{count} files", "")
        for shown, count in proof.counts().items()
        if count
    )
    places: tuple[tuple[Cell, ...], ...] = tuple(
        (
            Mark(f"{item.path}:{item.line}" if item.line else item.path, "code"),
            Mark(f"{item.kind.value}: {item.message}", "bad" if item.kind is Kind.DIFFERENCE else "warn"),
            item.next_step,
        )
        for item in proof.differences
    )
    how = f"{proof.verdict}: compared with {proof.original} by code that shares nothing with the porter"
    return Section(PROOF, ("how, or where", "what", "next"), files + places, ". ".join((how, *proof.notes)) + ".")
