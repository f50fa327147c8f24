"""Compile a port, repair what the compiler says and the table knows, compile again.

A repair is a finding like any other, with edits of the source: the port is made again with it, by the same engine, and
lands by the same merge. One after which its error stays, or which breaks a unit that compiled, is taken back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from rocport.model import Edit, Finding, Patch, Severity, Span
from rocport.model.verification import Diagnostic, Status, Verification
from rocport.port.engine import Porting
from rocport.port.landing import Landed, Landing
from rocport.repair.site import Change, Site, to_source
from rocport.repair.table import REPAIRS, Repair
from rocport.syntax.cuda import CudaSource
from rocport.syntax.includes import include_point

ROUNDS = 4
RULE = "build-repair"
_PHASE = 8

Compile = Callable[[Path], Verification]
Place = tuple[str, int, str]
"""Path and line in the source, and what the compiler says there."""


@dataclass(frozen=True)
class Tried:
    """One repair: the finding with its edits, and the errors that it answers."""

    repair: Repair
    finding: Finding
    answers: frozenset[Place]


@dataclass(frozen=True)
class Built:
    """A port as it was compiled last. `repaired` are findings of its patch, `taken_back` are not in it."""

    patch: Patch
    landed: Landed
    verification: Verification
    repaired: tuple[Tried, ...] = ()
    taken_back: tuple[Tried, ...] = ()
    before: int = 0
    """Units that compiled before the first repair."""


def build(porting: Porting, where: Path, compile_port: Compile, force: bool = False) -> Built:
    """Write the port to `where`, compile it, repair it as far as the table goes. Raises as `Landing` and the compiler
    do."""

    def written(porting: Porting) -> Built:
        patch = porting.patch()
        landed = Landing(patch, where, force).write()
        return Built(patch, landed, compile_port(where))

    now = written(porting)
    before = len(_compiling(now.verification))
    kept: list[Tried] = []
    taken_back: list[Tried] = []
    for _ in range(ROUNDS):
        known = {_edit(one.finding) for one in (*kept, *taken_back)}
        new = [one for one in _proposed(porting, now, where) if _edit(one.finding) not in known]
        if not new:
            break
        then = written(porting.also(one.finding for one in new))
        bad = _without_effect(new, now.verification, then.verification)
        if bad:
            taken_back += bad
            new = [one for one in new if one not in bad]
            then = written(porting.also(one.finding for one in new))
            if bad := _without_effect(new, now.verification, then.verification):
                taken_back += new
                new, then = [], written(porting)
        porting, now = porting.also(one.finding for one in new), then
        kept += new
    return replace(now, repaired=tuple(kept), taken_back=tuple(taken_back), before=before)


def errors(verification: Verification) -> Iterable[Diagnostic]:
    return (error for unit in verification.units if unit.status is Status.FAIL for error in unit.errors)


def place(error: Diagnostic) -> Place:
    path, line = error.original_path or error.path, error.original_line or error.line
    return path, line, error.message


def _edit(finding: Finding) -> tuple[object, ...]:
    return finding.path, finding.edits, finding.headers


def _compiling(verification: Verification) -> set[str]:
    return {path for path, status in verification.paths().items() if status is Status.OK}


def _proposed(porting: Porting, built: Built, where: Path) -> list[Tried]:
    """A repair for each error that the table answers; one that answers several errors is made once."""

    @cache
    def text(path: str) -> tuple[CudaSource, str, int] | None:
        return _text(porting, built.patch, where, path)

    def read(path: str) -> CudaSource | None:
        found = text(path)
        return found[0] if found else None

    tried: dict[tuple[object, ...], Tried] = {}
    for unit in built.verification.units:
        for error in unit.errors if unit.status is Status.FAIL else ():
            for repair in REPAIRS:
                match = repair.message.match(error.message)
                change = repair.make(Site(error, unit.path, read), match) if match else None
                finding = _finding(porting, repair, error, change, text(change.path)) if change else None
                if finding is None:
                    continue
                earlier = tried.get(_edit(finding))
                answers = earlier.answers if earlier else frozenset()
                tried[_edit(finding)] = Tried(repair, earlier.finding if earlier else finding, answers | {place(error)})
                break
    return list(tried.values())


def _text(porting: Porting, patch: Patch, where: Path, path: str) -> tuple[CudaSource, str, int] | None:
    """A file of the port as tokens, the path of its source, and how many bytes its text lies behind the edits' own;
    None for what is not repaired: generated text, a file edited by hand, one that NVIDIA's build reads too."""
    file = patch.files.get(path)
    source = file.source if file is not None else path if patch.options.layout == "hip" else ""
    ported = porting.ported.get(source)
    if ported is None or porting.tree.by_path[source].language != "cuda":
        return None
    try:
        present = (where / path).read_bytes()
        made = ported.data if ported.data is not None else porting.tree.read(source)
    except OSError:
        return None
    if not present.endswith(made):
        return None
    return CudaSource(path, present), source, len(present) - len(made) + ported.mark


def _finding(
    porting: Porting, repair: Repair, error: Diagnostic, change: Change, text: tuple[CudaSource, str, int] | None
) -> Finding | None:
    if text is None:
        return None
    _, path, moved = text
    edits = to_source(porting.ported[path].edits, change.edits, moved)
    if edits is None:
        return None
    source = CudaSource(path, porting.tree.read(path))
    if change.ahead:
        at = include_point(source)
        edits = (Edit(Span(at, at), f"#include <{change.ahead}>".encode() + source.newline),)
    own_line = error.original_line if error.original_path == path else None
    line = source.line(edits[0].span.start) if edits else own_line or 1
    return Finding(
        RULE,
        path,
        Span(*source.line_span(line)) if not edits else Span(edits[0].span.start, edits[-1].span.end),
        line,
        source.line(edits[-1].span.end) if edits else line,
        f"{repair.name}: {repair.reason}; without it the compiler says: {error.message}; with it, tried, it does not",
        Severity.BREAKS_BUILD,
        repair.applicability,
        _PHASE,
        edits=edits,
        headers=change.headers,
    )


def _without_effect(new: list[Tried], before: Verification, after: Verification) -> list[Tried]:
    """The repairs whose error stays, or that made another one, or after which a unit that compiled does not."""
    old = {place(error) for error in errors(before)}
    said = {place(error) for error in errors(after)}
    fresh = said - old
    worse = _compiling(before) - _compiling(after)
    broken = {place(error)[0] for unit in after.units if unit.path in worse for error in unit.errors}
    return [one for one in new if one.answers & said or _causes(one.finding, fresh) or one.finding.path in broken] or (
        new if worse else []
    )


def _causes(finding: Finding, fresh: set[Place]) -> bool:
    """Whether an error that is new stands where the finding's edits do, or is about a header that it includes."""
    missing = {f"'{header.strip('<>')}' file not found" for header in finding.headers}
    lines = range(finding.line, finding.end_line + 1) if finding.edits else ()
    return any((path == finding.path and line in lines) or message in missing for path, line, message in fresh)
