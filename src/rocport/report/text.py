"""The report a person reads first: counts, the worst sites, the work left, the next step."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import NoneType

from rocport.model import Applicability, Finding, Report, Section
from rocport.model.paths import beside_the_build
from rocport.model.report import Cause, Effort, said
from rocport.model.terminal import paint as painted

_COLOUR = {Applicability.SAFE: "green", Applicability.REVIEW: "yellow", Applicability.MANUAL: "red"}
_TONE = {"good": "green", "warn": "yellow", "bad": "red"}
WORST = 3
LISTED = 40


def worst(report: Report, count: int = WORST) -> list[Finding]:
    """The sites to look at first: of the gravest causes the first site, one a rule."""
    by_rule: dict[str, Finding] = {}
    for cause in report.causes:
        by_rule.setdefault(cause.first.rule, cause.first)
    return list(by_rule.values())[:count]


def work_left(efforts: Iterable[Effort]) -> str:
    """The estimate in a sentence: what a build and a run need, and what else there is."""
    minutes = {False: 0, True: 0}
    for effort in efforts:
        minutes[beside_the_build(effort.path)] += effort.minutes
    beside = f", and {_hours(minutes[True])} in CI, packaging, documentation or vendored code" if minutes[True] else ""
    return f"about {_hours(minutes[False])}{beside} (estimate: 5 min a review, 10 a build site, 45 a rewrite)"


def _what_next(finding: Finding, command: str) -> str:
    """Whose turn it is: what stands there now, or what somebody has to do."""
    whose = "port does" if command == "scan" else "done"
    return f"{whose if finding.edits or finding.headers else 'next'}: {finding.fix}"


def render(report: Report, colour: bool = False) -> str:
    if report.text is not None:
        return report.text(colour)

    def paint(text: str, **style: object) -> str:
        return painted(text, **style) if colour else text  # type: ignore[arg-type]

    lines: list[str] = []
    efforts = report.effort()
    if report.plan:
        lines.append(paint("plan", bold=True))
        for phase in report.plan:
            mark = paint("yes", fg="yellow") if phase.applies else paint("no ", dim=True)
            lines.append(f"  {mark} {phase.number} {phase.title}: {phase.reason}")
        lines += [f"  effort left: {work_left(efforts)}", ""]
    if report.verdict is not None:
        return "\n".join(_stated(report, paint)) + "\n"
    lines += tables(report.sections)
    counts = report.count()
    statuses = Counter(record.status for record in report.files)
    if report.files:
        parts = ", ".join(f"{count} {status}" for status, count in sorted(statuses.items()))
        lines.append(f"{paint('files', bold=True)}     {parts}")
    else:
        lines.append(f"{paint('files', bold=True)}     {report.files_read} read")
    words = {"safe": "done, same meaning", "review": "done, look at them", "manual": "not done, for you"}
    if report.command == "scan":
        words = {"safe": "port does them, same meaning", "review": "port does them, look at them", "manual": "for you"}
    for applicability in Applicability:
        name = applicability.value
        said = words[name]
        if applicability is Applicability.REVIEW and report.command != "scan" and (same := _unchanged(report)):
            said = (
                f"{counts[name] - same} {said}; {same} where nothing was changed"
                if same < counts[name]
                else ("nothing was changed, look at them")
            )
        lines.append(f"{paint(f'{name:9}', fg=_COLOUR[applicability], bold=True)} {counts[name]:5}  {said}")
    if report.causes:
        lines += ["", paint("look at these first", bold=True)]
        for finding in worst(report):
            lines.append(f"  {finding.path}:{finding.line}  {paint(finding.rule, fg=_COLOUR[finding.applicability])}")
            lines.append(f"      {finding.message}")
            if finding.fix:
                lines.append(f"      {_what_next(finding, report.command)}")
        lines += ["", paint("every open site, by cause", bold=True), *_by_cause(report.causes, paint)]
    if report.problems:
        lines += ["", paint("could not be handled", bold=True)]
        lines += [f"  {problem.path}: {problem.message}" for problem in report.problems]
    if efforts:
        lines += ["", f"{paint('work left', bold=True)} {work_left(efforts)}"]
        lines += [
            f"  {_hours(effort.minutes):>7}  {effort.path}  ({effort.review} review, {effort.manual} manual)"
            for effort in efforts[:8]
        ]
        if len(efforts) > 8:
            lines.append(f"  ... and {len(efforts) - 8} more files")
    return "\n".join(lines) + "\n"


def _by_cause(causes: Sequence[Cause], paint: Callable[..., str]) -> Iterator[str]:
    """A line a cause, at its first place, and below it where else it stands."""
    for cause in causes[:LISTED]:
        first = cause.first
        tag = paint(f"{first.applicability.value:7}", fg=_COLOUR[first.applicability])
        yield f"  {tag} {first.path}:{first.line}: {first.rule}: {first.message}"
        if also := cause.elsewhere("{}:{}".format):
            yield f"          {also}"
    if len(causes) > LISTED:
        sites = sum(len(cause.sites) for cause in causes[LISTED:])
        yield f"  ... and {sites} more, of {len(causes) - LISTED} causes: --format concise or json lists all of them"


def _stated(report: Report, paint: Callable[..., str]) -> Iterator[str]:
    """A report that has a verdict of its own: the verdict, the evidence, every finding, the sections."""
    assert report.verdict is not None
    yield paint(report.verdict.text, fg=_TONE.get(report.verdict.tone), bold=True)
    yield from (f"{level}: {mark.text}" for level, mark in report.evidence)
    for finding in report.findings[:LISTED]:
        tag = paint(f"{finding.applicability.value:7}", fg=_COLOUR[finding.applicability])
        yield f"  {tag} {finding.path}:{finding.line}: {finding.rule}: {finding.message}"
    if len(report.findings) > LISTED:
        yield f"  ... and {len(report.findings) - LISTED} more: --format concise or json lists all of them"
    yield from (f"  {problem.path}: {problem.message}" for problem in report.problems)
    yield from tables(report.sections)


def tables(sections: Iterable[Section], listed: int = LISTED) -> list[str]:
    """Each section with its columns aligned."""
    lines: list[str] = []
    for section in sections:
        rows = [[said(cell).replace("\n", " ") for cell in row] for row in section.rows[:listed]]
        table = [list(section.columns), *rows]
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        right = [
            bool(section.rows) and all(isinstance(row[at], int | float | NoneType) for row in section.rows)
            for at in range(len(widths))
        ]
        lines += ["", section.title, *([f"  {section.note}"] if section.note else [])]
        for row in table if rows else []:
            cells = (
                text.rjust(width) if number else text.ljust(width)
                for text, width, number in zip(row, widths, right, strict=True)
            )
            lines.append("  " + "  ".join(cells).rstrip())
        if len(section.rows) > listed:
            lines.append(f"  ... and {len(section.rows) - listed} more: --format json lists all of them")
    return lines


def _unchanged(report: Report) -> int:
    """REVIEW findings behind which no edit stands, nor a wider one's: a place to look at, not a thing that was done."""
    return sum(
        item.applicability is Applicability.REVIEW
        and not item.edits
        and not item.headers
        and "(done by " not in item.message
        for item in report.findings
    )


def _hours(minutes: int) -> str:
    return f"{minutes} min" if minutes < 90 else f"{minutes / 60:.1f} h"
