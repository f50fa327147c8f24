"""What a run hands to the report formats."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from rocport.model.findings import Applicability, Finding, Severity
from rocport.model.paths import beside_the_build

SCHEMA_VERSION = 1

# Places of a cause that are named after the first.
ELSEWHERE = 3
# Estimates, not measurements: minutes for the first site of a rule in a file.
REVIEW_MINUTES = 5
MANUAL_MINUTES = 45
BUILD_MINUTES = 10
# Phases of the porting procedure in which a MANUAL site is device code to write again.
_REWRITE_PHASES = (2, 3)
# What hurts most first: a wrong result is seen by nobody, a build that breaks by everybody.
_GRAVEST = (
    Severity.WRONG_RESULT,
    Severity.BREAKS_BUILD,
    Severity.BREAKS_RUN,
    Severity.BREAKS_IMPORT,
    Severity.SLOW,
    Severity.COSMETIC,
)


@dataclass(frozen=True)
class Effort:
    """Estimated work left on one file, in minutes: REVIEW sites to read, MANUAL ones to write."""

    path: str
    review: int
    manual: int
    minutes: int


@dataclass(frozen=True)
class Cause:
    """Open sites that one change settles: one thing to understand, however many places it has."""

    sites: tuple[Finding, ...]
    """At least one: what the build needs first, there not done before done, then in order of path and line."""

    @property
    def first(self) -> Finding:
        return self.sites[0]

    def elsewhere(self, code: Callable[[str, int], str]) -> str:
        """The places after the first, the first few of them named as `code` writes one; empty where there are none."""
        others = self.sites[1:]
        places = ", ".join(code(site.path, site.line) for site in others[:ELSEWHERE])
        more = f" and {len(others) - ELSEWHERE} more" if len(others) > ELSEWHERE else ""
        return f"also {places}{more}" if others else ""


@dataclass(frozen=True)
class FileRecord:
    """One file of the tree and what became of it.

    `status` is `translated`, `copied`, `generated`, `unchanged` (translated, the output was already right) or
    `conflict` (the output was edited by hand and left alone), `edited` (by hand, and there was nothing to merge),
    `merged` (with edits by hand) or `removed` (its source is gone). Paths are relative, hashes SHA-256 in hex.
    """

    source: str
    output: str
    status: str
    source_sha256: str = ""
    output_sha256: str = ""


@dataclass(frozen=True)
class Problem:
    """A file that could not be read, written or understood: place, expectation, next step in one message."""

    path: str
    message: str


@dataclass(frozen=True)
class LeftOut:
    """A finding that the project does not want: nothing is reported of it, and nothing is edited there.

    `by` is `comment` (a suppression in the source, with its `reason`), `baseline`, or `settings` (`select`, `ignore` or
    `per-file-ignores`).
    """

    rule: str
    path: str
    line: int
    by: str
    reason: str = ""


@dataclass(frozen=True)
class PhasePlan:
    """Whether a phase (0 to 8) of the porting procedure applies to a repository, and why."""

    number: int
    title: str
    applies: bool
    reason: str
    sites: int


@dataclass(frozen=True)
class Mark:
    """Text that is `good`, `warn`, `bad` or `dim`, `code`, or a link: to a page beside this one (`pages/a.html`) or to
    a part of this one (`#build`)."""

    text: str
    tone: str = ""
    href: str = ""


Cell = str | int | float | Mark | None
"""None: nothing is known."""


def said(cell: Cell) -> str:
    """A cell as text."""
    if isinstance(cell, Mark):
        return cell.text
    return "" if cell is None else f"{cell:.3g}" if isinstance(cell, float) else str(cell)


@dataclass(frozen=True)
class Series:
    """One line of a plot, or its points: (x, y, what it is)."""

    name: str
    points: tuple[tuple[float, float, str], ...]
    line: bool = True


@dataclass(frozen=True)
class Plot:
    """Numbers over numbers. `x` and `y` name the axes with their units; on a `log` axis 0 lies at its lower end."""

    x: str
    y: str
    series: tuple[Series, ...]
    log: bool = False


@dataclass(frozen=True)
class Section:
    """A table of a report, beside its findings, with a plot where it has one. `bars` are the columns drawn as bars too,
    `note` says how it was found out."""

    title: str
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[Cell, ...], ...] = ()
    note: str = ""
    bars: tuple[int, ...] = ()
    plot: Plot | None = None


def anchor(title: str) -> str:
    """The id of the section of that title on a page."""
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")


@dataclass(frozen=True)
class Report:
    """What a command found, as the formats take it.

    `findings` and `problems` are what every format shows, `sections` what those for people show too: text (unless the
    command has a `text` of its own, with and without colour), markdown and html. A command whose result is more than a
    list of findings gives `data`, its own JSON object (a schema each in report/schemas).

    `verdict` is the first sentence where it is not about sites, `evidence` what each level of proof showed.
    """

    command: str
    root: str
    files: tuple[FileRecord, ...]
    findings: tuple[Finding, ...]
    problems: tuple[Problem, ...] = ()
    options: tuple[tuple[str, str], ...] = ()
    files_read: int = 0
    bytes_read: int = 0
    plan: tuple[PhasePlan, ...] = ()
    """The phases, for `scan`; empty for `port`."""
    left_out: tuple[LeftOut, ...] = ()
    data: Mapping[str, Any] | None = None
    text: Callable[[bool], str] | None = None
    sections: tuple[Section, ...] = ()
    verdict: Mark | None = None
    evidence: tuple[tuple[str, Mark], ...] = ()
    build: Mapping[str, Any] | None = None
    """What compiling the port showed, for the JSON of `port --build`."""

    @property
    def suppressed(self) -> int:
        """Findings left out by suppressions in the source or by a baseline."""
        return sum(item.by != "settings" for item in self.left_out)

    def count(self) -> dict[str, int]:
        """Findings per applicability, every applicability named."""
        counted = Counter(finding.applicability for finding in self.findings)
        return {applicability.value: counted[applicability] for applicability in Applicability}

    @cached_property
    def causes(self) -> tuple[Cause, ...]:
        """REVIEW and MANUAL sites by what is said of them: what the build needs first, there not done before done, the
        gravest, then the widest."""
        groups: dict[tuple[str, ...], list[Finding]] = defaultdict(list)
        for finding in self.findings:
            if finding.applicability is not Applicability.SAFE:
                said = (finding.cause,) if finding.cause else (finding.rule, finding.message, finding.fix)
                groups[said].append(finding)
        causes = [Cause(tuple(sorted(sites, key=_reach))) for sites in groups.values()]
        return tuple(sorted(causes, key=_weight))

    def effort(self) -> list[Effort]:
        """Work left for each file with REVIEW or MANUAL sites, what the build needs and most work first; empty where it
        is not about sites.

        A site counts a third where its file has one of the same rule, or any file before it the same cause: it is
        usually the same change.
        """
        seen: set[tuple[str, str, Applicability, int]] = set()
        left: dict[str, float] = defaultdict(float)
        sites: dict[str, Counter[Applicability]] = defaultdict(Counter)
        for cause in self.causes if self.verdict is None else ():
            for number, site in enumerate(cause.sites):
                here = (site.path, site.rule, site.applicability, minutes := _minutes(site))
                left[site.path] += minutes / 3 if number or here in seen else minutes
                seen.add(here)
                sites[site.path][site.applicability] += 1
        efforts = [
            Effort(path, counted[Applicability.REVIEW], counted[Applicability.MANUAL], round(left[path]))
            for path, counted in sites.items()
        ]
        return sorted(efforts, key=lambda effort: (beside_the_build(effort.path), -effort.minutes, effort.path))


def _reach(site: Finding) -> tuple[bool, bool, str, int]:
    done = site.applicability is not Applicability.MANUAL
    return beside_the_build(site.path), done, site.path, site.line


def _weight(cause: Cause) -> tuple[bool, bool, int, int, str, int]:
    first = cause.first
    beside, done, path, line = _reach(first)
    return beside, done, _GRAVEST.index(first.severity), -len(cause.sites), path, line


def _minutes(site: Finding) -> int:
    """What one open site costs by itself."""
    if site.applicability is Applicability.REVIEW:
        return REVIEW_MINUTES
    return MANUAL_MINUTES if site.phase in _REWRITE_PHASES else BUILD_MINUTES
