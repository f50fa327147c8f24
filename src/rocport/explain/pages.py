"""Diagnoses, failures and rules as text for people and as plain data for programs."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import Any

from rocport.doctor.diagnosis import diagnose as check_machine
from rocport.explain.match import Match
from rocport.explain.reading import Reading
from rocport.explain.vendor import OTHERS, UNKNOWN
from rocport.facts.dates import facts_as_of
from rocport.facts.failures import Failure
from rocport.model import Example, Rule

WIDTH = 100
MOST_POSSIBLE = 5

COLLECT = (
    "the whole output from the command line to the last line, not an excerpt: the first error matters most",
    "rocport doctor --json (machine, versions, wheels, environment)",
    "python -m torch.utils.collect_env; python -m bitsandbytes, where they are installed",
    "for a crash or a wrong result: the same run with AMD_SERIALIZE_KERNEL=3 HIP_LAUNCH_BLOCKING=1 AMD_LOG_LEVEL=3",
    "for a hang between GPUs: the same run with NCCL_DEBUG=INFO; for a build: MAX_JOBS=1 and a clean build folder",
    "sudo dmesg -T | grep -iE 'amdgpu|kfd' of the time of the failure",
)
"""What to bring along when no failure is recognised."""


def reading_text(reading: Reading, show_all: bool = False) -> str:
    """The report `rocport explain` prints: who, what, and what the checks of `rocport doctor` add."""
    return "\n".join(_reading_lines(reading, show_all))


def _reading_lines(reading: Reading, show_all: bool) -> Iterator[str]:
    yield from diagnosis_lines(reading, show_all)
    if reading.foreign:
        return
    yield from _check_lines(reading)
    if not reading.matches:
        yield from collect_lines()


def diagnosis_lines(reading: Reading, show_all: bool = False, machine: bool = True) -> Iterator[str]:
    """What `rocport explain` and `rocport doctor --from` both say of a paste: who, what, and which lines look like
    errors; `machine` is False where the GPUs and versions it shows are printed elsewhere."""
    yield from who_lines(reading, machine)
    if reading.foreign:
        return
    name, diagnosis = reading.name, reading.diagnosis
    found = f"{_count(len(reading.matches), 'known failure')} found"
    if not reading.matches:
        found = "no failure is certain" if reading.possible else "no known failure found"
    yield f"{name}: {diagnosis.lines} lines read, {found}."
    yield from failure_lines(reading, show_all)
    if not reading.matches:
        if diagnosis.suspects:
            yield ""
            yield "Lines that look like errors:"
            yield from (f"  {name}:{line}: {text}" for line, text in diagnosis.suspects)
    elif show_all:
        yield from general_lines(reading)
    elif reading.general:
        yield ""
        ids = ", ".join(match.failure.id for match in reading.general)
        yield f"The same lines also fit, in general: {ids} (--all shows them)."


def collect_lines() -> Iterator[str]:
    """What to bring along, after a blank line."""
    yield ""
    yield "To find out more, collect:"
    yield from (f"  - {step}" for step in COLLECT)


def general_lines(reading: Reading) -> Iterator[str]:
    """What `--all` adds: the general failures in full, and the lines that look like errors."""
    for match in reading.general:
        yield ""
        yield from _match_lines(match, reading.name)
    if reading.diagnosis.suspects:
        yield ""
        yield "Lines that look like errors and are not explained above:"
        yield from (f"  {reading.name}:{line}: {text}" for line, text in reading.diagnosis.suspects)


def who_lines(reading: Reading, machine: bool = True) -> Iterator[str]:
    """Whose GPU the paste is about; with `machine` also the GPUs and the versions it shows."""
    vendor = reading.vendor_found
    if reading.foreign:
        yield f"{reading.name}:{vendor.line}: {OTHERS[vendor.name]} ({vendor.text}), and no GPU of AMD."
        yield "rocport diagnoses AMD GPUs: it has nothing to say about this one."
        return
    if machine:
        yield from (gpu.label for gpu in reading.machine.gpus)
    if not reading.machine.gpus:
        yield from (f"{reading.name}: {gpu}." for gpu in _told_gpu(reading))
    versions = check_machine(reading.machine).versions() if machine and reading.machine.facts.versions else {}
    shown = [f"{key} {value}" for key, value in versions.items() if value]
    if shown:
        yield "Versions: " + ", ".join(shown)
    if vendor.cuda_build:
        yield f"{reading.name}:{vendor.line}: a CUDA build ({vendor.text}), and no GPU is named."
        yield "On an NVIDIA machine nothing here is for rocport; on an AMD machine it needs a ROCm build:"
        yield "  rocport compat --gpu <the GPU's name or gfx> --want torch"
    elif reading.vendor == UNKNOWN and reading.matches:
        yield "Nothing in it says whose GPU this is; what follows is for an AMD GPU."


def _told_gpu(reading: Reading) -> list[str]:
    """The GPU that is told of in words; empty where none is."""
    return [reading.told.gpu] if reading.told is not None and reading.told.gpu else []


def _possible_lines(reading: Reading, show_all: bool) -> Iterator[str]:
    """What may be the cause, least doubted first, each with what speaks against it; the first few unless `show_all`."""
    if not reading.possible:
        return
    yield ""
    yield "Possible causes, not certain:"
    shown = reading.possible if show_all else reading.possible[:MOST_POSSIBLE]
    for match in shown:
        failure = match.failure
        yield f"  {reading.name}:{match.lines[0]}: {failure.title} [{failure.id}]"
        yield from _wrapped("  not certain: ", "; ".join(match.doubts))
        if not reading.matches:
            yield from _wrapped("  if it is so: ", match.filled(failure.fix[0]))
    left = len(reading.possible) - len(shown)
    if left:
        yield f"  and {left} more (rocport explain --all FILE shows them)"
    if reading.vendor == UNKNOWN:
        yield "  rocport explain --vendor amd FILE says whose GPU it is."


def failure_lines(reading: Reading, show_all: bool = False) -> Iterator[str]:
    """Each failure of a reading, most specific first, then what may be the cause."""
    for match in reading.matches:
        yield ""
        yield from _match_lines(match, reading.name)
    yield from _possible_lines(reading, show_all)


def _check_lines(reading: Reading) -> Iterator[str]:
    """The checks of the machine that fail, one line each."""
    if not reading.machine.gpus:
        return
    failed = [result for result in check_machine(reading.machine).results if result.status == "fail"]
    if failed:
        yield ""
        yield f"The machine it shows fails {_count(len(failed), 'check')} (rocport doctor --from {reading.name}):"
        for result in failed:
            yield f"  {result.check.id}: {result.message}"


def _match_lines(match: Match, name: str) -> Iterator[str]:
    failure = match.failure
    yield f"{name}:{match.lines[0]}: {failure.title} [{failure.id}]"
    yield f"    > {match.text[:160]}"
    if match.count > 1:
        shown = ", ".join(str(line) for line in match.lines[1:6])
        yield f"    also on line {shown}" + (f" and more ({match.count} in all)" if match.count > 6 else "")
    yield from _body(failure, match)


def _body(failure: Failure, match: Match | None = None) -> Iterator[str]:
    fill = match.filled if match else str
    yield from _wrapped("Why: ", fill(failure.cause))
    if failure.applies:
        yield from _wrapped("Holds for: ", fill(failure.applies))
    yield from _wrapped("Versions: ", failure.bounds)
    yield "  Fix:"
    for number, step in enumerate(failure.fix, 1):
        yield from _wrapped(f"  {number}. ", fill(step))
    yield f"  Certainty: {failure.certainty}. Source: {', '.join(failure.sources)}"


def _wrapped(label: str, text: str) -> Iterator[str]:
    indent = "  " + " " * len(label)
    yield from textwrap.wrap(
        text,
        WIDTH,
        initial_indent=f"  {label}",
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


def failure_text(failure: Failure) -> str:
    """The page of one failure."""
    lines = [f"{failure.id}: {failure.title}", ""]
    lines += _body(failure)
    lines += ["", "  A log says:"]
    lines += [f"    {line}" for line in failure.example.splitlines()]
    return "\n".join(lines)


def rule_text(rule: Rule, doc: str) -> str:
    """The page of one rule: docstring, examples before and after, what it must leave alone, sources."""
    lines = [
        f"{rule.name}: {rule.summary}",
        f"severity {rule.severity.value}, edits {rule.applicability.value}, phase {rule.phase}, "
        f"for {', '.join(sorted(rule.languages))}",
        "",
        doc.strip(),
    ]
    for example in rule.examples:
        lines += ["", f"Found ({example.path}):", _indented(example.before)]
        if example.contains:
            lines += ["  ported text holds:", *(f"    {text}" for text in example.contains)]
    if rule.clean:
        lines += ["", "Left alone:"]
        lines += [_indented(item.before if isinstance(item, Example) else item) for item in rule.clean]
    if rule.sources:
        lines += ["", "Sources:", *(f"  {source}" for source in rule.sources)]
    return "\n".join(lines)


def _indented(text: str) -> str:
    return textwrap.indent(textwrap.dedent(text).strip("\n"), "    ")


def failure_data(failure: Failure) -> dict[str, Any]:
    """A failure as JSON-ready data."""
    return {
        "id": failure.id,
        "area": failure.area,
        "title": failure.title,
        "signatures": [signature.text for signature in failure.signatures],
        "applies": failure.applies,
        "bounds": failure.bounds,
        "cause": failure.cause,
        "fix": list(failure.fix),
        "sources": list(failure.sources),
        "certainty": failure.certainty,
        "specificity": failure.specificity,
    }


def match_data(match: Match) -> dict[str, Any]:
    """A match as JSON-ready data, placeholders filled. `doubts` is empty for one that is claimed."""
    failure = match.failure
    return {
        "id": failure.id,
        "area": failure.area,
        "title": failure.title,
        "lines": list(match.lines),
        "count": match.count,
        "text": match.text,
        "values": match.values,
        "doubts": list(match.doubts),
        "applies": match.filled(failure.applies),
        "bounds": failure.bounds,
        "cause": match.filled(failure.cause),
        "fix": [match.filled(step) for step in failure.fix],
        "sources": list(failure.sources),
        "certainty": failure.certainty,
        "specificity": failure.specificity,
    }


def reading_data(reading: Reading) -> dict[str, Any]:
    """A reading as JSON-ready data. `collect` is empty when something was found."""
    diagnosis, vendor = reading.diagnosis, reading.vendor_found
    return {
        "log": reading.name,
        "lines": diagnosis.lines,
        "vendor": {"name": vendor.name, "line": vendor.line, "text": vendor.text, "cuda_build": vendor.cuda_build},
        "gpus": [gpu.label for gpu in reading.machine.gpus] or _told_gpu(reading),
        "matches": [match_data(match) for match in reading.matches],
        "possible": [match_data(match) for match in reading.possible],
        "general": [match_data(match) for match in reading.general],
        "suspects": [{"line": line, "text": text} for line, text in diagnosis.suspects],
        "collect": [] if reading.matches or reading.foreign else list(COLLECT),
        **facts_as_of("failures"),
    }


def rule_data(rule: Rule, doc: str) -> dict[str, Any]:
    """A rule as JSON-ready data."""
    return {
        "name": rule.name,
        "summary": rule.summary,
        "severity": rule.severity.value,
        "applicability": rule.applicability.value,
        "phase": rule.phase,
        "languages": sorted(rule.languages),
        "doc": doc.strip(),
        "examples": [
            {
                "path": example.path,
                "before": example.before,
                "contains": list(example.contains),
                "absent": list(example.absent),
            }
            for example in rule.examples
        ],
        "clean": [item.before if isinstance(item, Example) else item for item in rule.clean],
        "sources": list(rule.sources),
    }


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "s")
