"""A reading as a report: what every output format of a command takes."""

from __future__ import annotations

from typing import Any

from rocport.explain.pages import failure_lines, general_lines, reading_text, who_lines
from rocport.explain.reading import Reading
from rocport.model import Applicability, Finding, Mark, Report, Section, Severity, Span


def findings_of(reading: Reading) -> list[Finding]:
    """A finding for each claimed failure, at its first line."""
    return [
        Finding(
            match.failure.id, reading.name, Span(0, 0), match.lines[0], match.lines[0], match.failure.title,
            Severity.BREAKS_RUN, Applicability.MANUAL, 0,
            fix="; ".join(match.filled(step) for step in match.failure.fix),
        )
        for match in reading.matches
    ]  # fmt: skip


def sections_of(reading: Reading, show_all: bool = False) -> list[Section]:
    """The claimed and the possible failures, for people; with `show_all` the general ones and unexplained lines too."""
    lines = [line for line in failure_lines(reading, show_all) if line]
    if show_all and not reading.foreign:
        lines += [line for line in general_lines(reading) if line]
    return [Section(f"Known failures in {reading.name}", ("what",), tuple((line,) for line in lines))] if lines else []


def who_section(reading: Reading, dated: str = "", machine: bool = True) -> Section:
    """Whose machine the paste is about, for people; without `machine` not its GPUs and versions."""
    return Section("Whose machine", ("what",), tuple((line,) for line in who_lines(reading, machine)), dated)


def reading_report(reading: Reading, data: dict[str, Any], dated: str, show_all: bool = False) -> Report:
    """The report of one paste; `data` is its JSON object, `dated` the line on the facts' age."""
    count = len(reading.matches)
    words = f"{count} known failure{'' if count == 1 else 's'}, {len(reading.possible)} possible"
    return Report(
        "explain", reading.name, (), tuple(findings_of(reading)), data=data,
        sections=(who_section(reading, dated), *sections_of(reading, show_all)),
        text=lambda colour: f"{reading_text(reading, show_all)}\n{dated}\n",
        verdict=Mark(words, "bad" if count else "good"),
    )  # fmt: skip
