"""What compiling and repairing a port came to, joined with the findings of the port."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from rocport.model import Applicability, Finding
from rocport.repair.cycle import Built, Tried
from rocport.verify.reports import findings_of

_ERRORS = ("compiler-error", "compiler-failed", "not-tried", "undefined-behaviour")
_NEXT = (
    "no repair is known: write it so that clang takes it, where it must differ behind the platform's macro; port again"
)


def with_errors(findings: Iterable[Finding], built: Built) -> tuple[Finding, ...]:
    """The findings of the port, and what the compiler says: an error at a site that waits for somebody joins it, and
    the others are findings of their own, at the line of the source."""
    joined = list(findings)
    open_at = {
        (one.path, line): at
        for at, one in enumerate(joined)
        if one.applicability is not Applicability.SAFE
        for line in range(one.line, one.end_line + 1)
    }
    back = {answer[:2]: one for one in built.taken_back for answer in one.answers}
    for error in findings_of(built.verification, original=True):
        at = open_at.get((error.path, error.line))
        if at is not None and error.rule == "compiler-error":
            said = f"{joined[at].message}; it does not compile: {error.message}"
            joined[at] = replace(joined[at], message=said, applicability=Applicability.MANUAL)
        elif error.rule in _ERRORS:
            tried = back.get((error.path, error.line))
            fix = error.fix or _NEXT if error.rule == "compiler-error" else error.fix
            fix += f" ({tried.repair.name} was tried there and taken back)" if tried else ""
            joined.append(replace(error, fix=fix))
    return tuple(joined)


def edits_left(findings: Iterable[Finding]) -> int:
    """Sites that somebody has to edit; a unit that could not be tried asks for a header, not for an edit."""
    return sum(one.applicability is Applicability.MANUAL and one.rule != "not-tried" for one in findings)


def end_line(built: Built, left: int) -> str:
    summary = built.verification.summary()
    gained = summary["ok"] - built.before
    text = f"{summary['ok']} of {summary['units']} units of your build compile"
    text += f" ({gained} of them by {len(built.repaired)} repairs)" if gained else ""
    text += f", {summary['skip']} could not be tried" if summary["skip"] else ""
    return f"{text}; {left} edits remain"


def lines(built: Built, left: int) -> Iterator[str]:
    """For people: the repairs, what stops most units, what was left out, the end line."""
    for title, tried in (("repaired", built.repaired), ("tried and taken back", built.taken_back)):
        if tried:
            yield title
            yield from (f"  {one.finding.path}:{one.finding.line}: {one.repair.name}" for one in tried)
    causes = built.verification.causes()
    if causes:
        yield "what to mend first"
        yield from (f"  {cause.units} units  {cause.place}: {cause.message}" for cause in causes[:3])
    if count := len(built.verification.not_named):
        folders = Counter(path.rpartition("/")[0] or "." for path in built.verification.not_named).most_common(3)
        where = ", ".join(f"{number} in {folder}" for folder, number in folders)
        plural = "s" * (count > 1)
        yield f"{count} source{plural} that no build file names: left out ({where}); rocport verify --all-units"
    yield f"How: {built.verification.how}."
    yield end_line(built, left)


def to_json(built: Built, left: int) -> dict[str, Any]:
    """The key `build` of `port --build --format json`."""

    def tried(one: Tried) -> dict[str, Any]:
        return {"repair": one.repair.name, "path": one.finding.path, "line": one.finding.line}

    return {
        "verification": built.verification.to_json(),
        "compiled_before": built.before,
        "repaired": [tried(one) for one in built.repaired],
        "taken_back": [tried(one) for one in built.taken_back],
        "edits_left": left,
        "said": end_line(built, left),
    }
