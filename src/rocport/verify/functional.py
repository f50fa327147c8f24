# SPDX-License-Identifier: Apache-2.0
"""Level `functional`: build a repository's own self-checking programs for the CPU executor and run them at each width.

Each program runs forward, in reverse and in a seeded random order on poisoned memory, and once more as it first ran, to
see whether it is repeatable at all. What it copies back from the device is compared between the runs. A program that is
wrong, or that depends on memory nobody wrote, is built again with its accesses watched, to name the lines.
"""

from __future__ import annotations

import itertools
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from enum import Enum
from pathlib import Path
from typing import Any

from rocport.executor.base import (
    Access,
    BuildError,
    BuildOptions,
    Capability,
    Executor,
    Hazard,
    RunOptions,
    RunResult,
)
from rocport.executor.cpu import CpuExecutor
from rocport.executor.differential import Difference, Divergence, compare_traces
from rocport.executor.limits import Limits
from rocport.executor.program import Program, ProgramError, load_program
from rocport.executor.registry import find_executor
from rocport.executor.selftest import Evidence, remembered
from rocport.model import HANGING_S
from rocport.model.terminal import paint as painted
from rocport.project.languages import KERNEL_SOURCES

_POISONS = (0xFF, 0xA7)
# Orders and the poison of each; the number is the seed of a random order.
_ORDERS = (("forward", _POISONS[0]), ("reverse", _POISONS[1]), ("20260", _POISONS[0]))
# What watching the accesses adds; the rest is seen in every run.
_WATCHED = frozenset(
    [
        *("shared-race", "global-race", "relies-on-lockstep", "out-of-bounds", "shared-out-of-bounds"),
        *("uninitialised-read", "uninitialised-copy"),
    ]
)
_SKIPPED = frozenset([".git", "build", "node_modules", ".venv", "__pycache__"])
_MAIN = re.compile(rb"\bint\s+main\s*\(")
_WRONG = re.compile(r"\b(?:FAIL(?:ED|S|URE)?|MISMATCH(?:ES|ED)?|INCORRECT|WRONG)\b", re.IGNORECASE)
_NO_FAULT = re.compile(
    r"\b(?:0|no|none|without)\s+(?:\w+\s+){0,2}(?:fail|mismatch|incorrect|wrong)|(?:fail\w*|mismatch\w*)\s*[:=]\s*0\b",
    re.IGNORECASE,
)
_RIGHT = re.compile(r"\b(?:PASS(?:ED|ES)?|SUCCESS(?:FUL|FULLY)?|CORRECT|VERIFIED|OK)\b", re.IGNORECASE)


class Verdict(Enum):
    """Of one program."""

    PASS = "pass"
    """Right by its own check (or silent and clean) at every width; no difference beyond rounding."""
    WRONG = "wrong"
    """Its own check fails, or it crashes, at a width."""
    DIFFERS = "differs"
    """Its check passes or says nothing, but what it computes depends on width or order, or on memory nobody wrote."""
    HAZARD = "hazard"
    """Right, but by luck: a hazard was seen."""
    NOT_BUILT = "not built"
    TIMEOUT = "timeout"

    @property
    def failed(self) -> bool:
        """It counts against the repository."""
        return self in (Verdict.WRONG, Verdict.DIFFERS, Verdict.HAZARD)


@dataclass(frozen=True)
class FunctionalOptions:
    """How to verify."""

    widths: tuple[int, ...] = (32, 64)
    arguments: tuple[str, ...] | None = None
    """Arguments for every program; None takes those of the Makefile's run target."""
    timeout_s: float = HANGING_S
    jobs: int = 1
    optimize: str = "-O2"
    quiet: tuple[str, ...] = ()
    second: str = ""
    """Another executor that right programs are run on as well."""
    watch: bool = False
    """Watch the accesses of right programs too: races and reads of unwritten memory that no run happened to show."""
    confined: bool = True
    """Programs, and `make -n`, write below their folders only and reach no network."""

    @property
    def limits(self) -> Limits:
        """Of one run."""
        return Limits(seconds=self.timeout_s, confined=self.confined)


@dataclass(frozen=True)
class ProgramResult:
    """What one program showed. The evidence: executor, widths, orders."""

    name: str
    path: str
    verdict: Verdict
    reason: str = ""
    self_checking: bool = False
    divergences: tuple[str, ...] = ()
    hazards: tuple[Hazard, ...] = ()
    runs: tuple[str, ...] = ()
    """Each run by width and order."""
    kernels: tuple[str, ...] = ()
    """The kernels that were launched."""
    evidence: str = ""
    """What a pass rests on: the claim, and each executor with its widths, level and trust."""


@dataclass(frozen=True)
class FunctionalVerification:
    """All programs of a tree."""

    how: str
    programs: tuple[ProgramResult, ...] = field(default=())

    @property
    def failed(self) -> bool:
        """Some program is wrong, differs, or has a hazard."""
        return any(program.verdict.failed for program in self.programs)

    @property
    def passed(self) -> bool:
        """At least one program was run, and none failed."""
        return not self.failed and any(program.verdict is Verdict.PASS for program in self.programs)

    def summary(self) -> dict[str, int]:
        """Programs by verdict."""
        return {verdict.value: sum(p.verdict is verdict for p in self.programs) for verdict in Verdict}

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "level": "functional",
            "how": self.how,
            "summary": self.summary(),
            "programs": [
                {
                    "name": p.name,
                    "path": p.path,
                    "verdict": p.verdict.value,
                    "reason": p.reason,
                    "self_checking": p.self_checking,
                    "divergences": list(p.divergences),
                    "hazards": [
                        {
                            "kind": h.kind, "message": h.message, "kernel": h.kernel, "count": h.count,
                            "grave": h.grave,
                            "frames": [str(frame) for frame in h.frames],
                        }
                        for h in p.hazards
                    ],
                    "runs": list(p.runs),
                    "kernels": list(p.kernels),
                    "evidence": p.evidence,
                }
                for p in self.programs
            ],
        }  # fmt: skip


class FunctionalError(Exception):
    """Nothing to verify was found; the message says what was looked for."""


Progress = Callable[[ProgramResult, int, int], None]


def find_programs(path: Path, confined: bool = True) -> list[Path]:
    """Files and folders to load programs from: `path` itself, or what is below it.

    A folder whose Makefile compiles something is one program; elsewhere each HIP or CUDA file with a main() is one.
    """
    if path.is_file():
        return [path]
    found: list[Path] = []
    for folder, folders, files in os.walk(path, followlinks=False):
        here = Path(folder)
        folders[:] = sorted(name for name in folders if name not in _SKIPPED and not name.startswith("."))
        mains = [name for name in sorted(files) if name.endswith(KERNEL_SOURCES) and _has_main(here / name)]
        if not mains and not any(name in files for name in ("Makefile", "makefile", "GNUmakefile")):
            continue
        try:
            load_program(here, confined)
        except ProgramError:
            found += [here / name for name in mains]
            continue
        if any(name in files for name in ("Makefile", "makefile", "GNUmakefile")):
            found.append(here)
        else:
            found += [here / name for name in mains]
    return found


def _has_main(path: Path) -> bool:
    try:
        return _MAIN.search(path.read_bytes()) is not None
    except OSError:
        return False


def verify(path: Path, options: FunctionalOptions, progress: Progress | None = None) -> FunctionalVerification:
    """Builds and runs every program below `path`.

    Raises:
        FunctionalError: there is no program, or no host compiler.
    """
    executor = CpuExecutor()
    capability, _ = remembered(executor)
    if not capability.usable:
        raise FunctionalError(capability.refusal)
    second: tuple[Executor, Capability] | None = None
    if options.second:
        other = find_executor(options.second)
        known, _ = remembered(other)
        if not known.usable or not known.widths:
            raise FunctionalError(f"{options.second}: {known.refusal or 'it runs no HIP programs'}")
        second = other, known
    paths = find_programs(path, options.confined)
    if not paths:
        raise FunctionalError(
            f"{path}: no program to run: no Makefile that compiles one, and no .hip or .cu file with a main()"
        )
    widths = ", ".join(map(str, options.widths))
    how = (
        f"CPU executor (HIP source compiled by {capability.detail}), wavefront width {widths}, forward, reverse "
        "and random order, poisoned memory; level of evidence: source, no device instructions"
    )
    results: list[ProgramResult] = []
    with ThreadPoolExecutor(max(1, options.jobs)) as pool:
        for done, result in enumerate(
            pool.map(lambda item: verify_program(executor, item, options, second, capability), paths), 1
        ):
            results.append(result)
            if progress is not None:
                progress(result, done, len(paths))
    return FunctionalVerification(how, tuple(results))


@dataclass(frozen=True)
class _Run:
    width: int
    order: str
    poison: int
    again: bool = False

    @property
    def label(self) -> str:
        return f"wave{self.width} {self.order}" + (" again" if self.again else "")


def verify_program(
    executor: CpuExecutor,
    path: Path,
    options: FunctionalOptions,
    second: tuple[Executor, Capability] | None = None,
    capability: Capability | None = None,
) -> ProgramResult:
    """Builds one program and runs it in every way; on a second executor too, when it is right so far."""
    try:
        program = load_program(path, options.confined)
    except ProgramError as error:
        return ProgramResult(path.name, str(path), Verdict.NOT_BUILT, str(error))
    scratch = Path(tempfile.mkdtemp(prefix="rocport-verify-"))
    try:
        result, last = _verify(executor, program, path, options, scratch)
        if result.verdict is not Verdict.PASS or last is None:
            return result
        own = capability or executor.probe()
        return _confirmed(result, program, options, scratch, [(own, width, last) for width in options.widths], second)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _verify(
    executor: CpuExecutor, program: Program, path: Path, options: FunctionalOptions, scratch: Path
) -> tuple[ProgramResult, RunResult | None]:
    """The result, and the last run."""
    outcome: RunResult | None = None

    def result(verdict: Verdict, reason: str = "", **more: Any) -> tuple[ProgramResult, RunResult | None]:
        return ProgramResult(program.name, str(path), verdict, reason, **more), outcome

    try:
        executables = build_widths(executor, program, scratch, options.widths, options.optimize)
    except BuildError as error:
        reason = str(error) + (f" (missing: {', '.join(error.missing[:5])})" if error.missing else "")
        return result(Verdict.NOT_BUILT, reason)
    arguments = options.arguments if options.arguments is not None else (program.runs[0] if program.runs else ())
    plan = [
        _Run(options.widths[0], "forward", _POISONS[0]),
        _Run(options.widths[0], "forward", _POISONS[0], True),
    ]
    plan += [_Run(width, order, poison) for width, (order, poison) in itertools.product(options.widths, _ORDERS)]
    plan.pop(2)  # the first of the product is the very first run
    runs: dict[_Run, RunResult] = {}
    checking = False
    hazards: dict[tuple[str, str], Hazard] = {}
    kernels: dict[str, None] = {}
    watched: dict[int | None, Path] = {}
    for number, run in enumerate(plan):
        trace = scratch / f"trace-{number}"
        outcome = executor.run(
            executables[run.width], arguments, program.folder,
            RunOptions(width=run.width, order=run.order, poison=run.poison, trace=trace, quiet=options.quiet,
                       limits=options.limits),
        )  # fmt: skip
        runs[run] = outcome
        labels = tuple(r.label for r in runs)
        if outcome.timed_out:
            return result(Verdict.TIMEOUT, f"{run.label}: more than {options.timeout_s:g} s", runs=labels)
        wrong, right = check_output(outcome)
        checking |= right
        kernels.update(dict.fromkeys(kernel.name for kernel in outcome.kernels))
        for hazard in outcome.hazards:
            hazards.setdefault((hazard.kind, hazard.place), hazard)
        if wrong:
            seen = [r.label for r, o in runs.items() if not check_output(o)[0]]
            reason = f"{run.label}: {wrong}" + (f"; right at {', '.join(seen)}" if seen else "")
            extra: tuple[Hazard, ...] = ()
            only_lockstep = False
            # What waits for ever does so with watched accesses too, only slower.
            if not any(hazard.kind == "no-progress" for hazard in outcome.hazards):
                extra, only_lockstep = _why(executor, program, arguments, run.width, options, scratch, watched)
            for hazard in extra:
                hazards.setdefault((hazard.kind, hazard.place), hazard)
            verdict = Verdict.WRONG
            if only_lockstep:
                verdict = Verdict.HAZARD
                reason = f"relies on lockstep: right only when lanes meet at each access to shared memory ({reason})"
            more = {
                "self_checking": checking,
                "hazards": tuple(hazards.values()),
                "runs": labels,
                "kernels": tuple(kernels),
            }
            return result(verdict, reason, **more)
    divergences = _divergences(plan, scratch)
    bad = [text for text, divergence in divergences if not divergence.kind.benign]
    if bad or options.watch:
        for width in options.widths:
            for hazard in _why(executor, program, arguments, width, options, scratch, watched)[0]:
                hazards.setdefault((hazard.kind, hazard.place), hazard)
    kept = tuple(hazards.values())
    more = {
        "self_checking": checking,
        "divergences": tuple(text for text, _ in divergences),
        "hazards": kept,
        "runs": tuple(r.label for r in plan),
        "kernels": tuple(kernels),
    }
    if bad and not checking:
        return result(Verdict.DIFFERS, bad[0], **more)
    grave = next((hazard for hazard in kept if hazard.grave), None)
    if grave is not None:
        return result(Verdict.HAZARD, f"{grave.place}: {grave.message}", **more)
    return result(Verdict.PASS, "" if checking else "ran clean; it prints no verdict of its own", **more)


def _confirmed(
    result: ProgramResult,
    program: Program,
    options: FunctionalOptions,
    scratch: Path,
    runs: list[tuple[Capability, int, RunResult]],
    second: tuple[Executor, Capability] | None,
) -> ProgramResult:
    """The result with its evidence; wrong when the second executor finds it so."""
    if second is None:
        return replace(result, evidence=str(Evidence(tuple(runs))))
    executor, capability = second
    arguments = options.arguments if options.arguments is not None else (program.runs[0] if program.runs else ())
    try:
        executable = executor.build(program, scratch / capability.executor, BuildOptions(optimize=options.optimize))
    except BuildError as error:
        reason = f"not built for {capability.executor}: {error}"
        return replace(result, reason=reason, evidence=str(Evidence(tuple(runs))))
    for width in capability.widths:
        outcome = executor.run(executable, arguments, program.folder, RunOptions(width=width, limits=options.limits))
        runs.append((capability, width, outcome))
        wrong, _ = check_output(outcome)
        if wrong or outcome.timed_out:
            reason = f"{capability.executor} at width {width}: {wrong or 'no end in time'}; right on the CPU"
            return replace(result, verdict=Verdict.WRONG, reason=reason)
    return replace(result, evidence=str(Evidence(tuple(runs))))


def _why(
    executor: CpuExecutor,
    program: Program,
    arguments: Sequence[str],
    width: int,
    options: FunctionalOptions,
    scratch: Path,
    watched: dict[int | None, Path],
) -> tuple[tuple[Hazard, ...], bool]:
    """Looks closer: what the accesses show, and whether only lanes in step make the program right."""
    fixed = width if executor.needs_width(program) else None
    executable = watched.get(fixed)
    if executable is None:
        try:
            build = BuildOptions(width=fixed, optimize=options.optimize, instrument=True)
            executable = watched[fixed] = executor.build(program, scratch / f"watched-{fixed or 'any'}", build)
        except BuildError:
            return (), False
    limits = options.limits
    closely = RunOptions(width=width, access=Access.ALL, quiet=options.quiet, limits=limits)
    seen = executor.run(executable, arguments, program.folder, closely)
    found = tuple(hazard for hazard in seen.hazards if hazard.kind in _WATCHED)
    grave = {hazard.kind for hazard in found if hazard.grave}
    # A lane that runs ahead also reads what its neighbour has not written yet.
    if "relies-on-lockstep" not in grave or grave - {"relies-on-lockstep", "uninitialised-read"}:
        return found, False
    stepped = executor.run(
        executable, arguments, program.folder, RunOptions(width=width, access=Access.LOCKSTEP, limits=limits)
    )
    return found, not check_output(stepped)[0]


def build_widths(
    executor: CpuExecutor, program: Program, folder: Path, widths: Sequence[int], optimize: str = "-O2"
) -> dict[int, Path]:
    """Width -> executable: one for all, or one for each where the source depends on the width at compile time.

    Raises:
        BuildError: it does not build either way.
    """
    if not executor.needs_width(program):
        try:
            executable = executor.build(program, folder / "any", BuildOptions(optimize=optimize))
            return dict.fromkeys(widths, executable)
        except BuildError as error:
            # warpSize in a constant expression, as HIP before 7.0 allowed.
            if "warpSize" not in error.log and "wave_width" not in error.log:
                raise
    return {
        width: executor.build(program, folder / str(width), BuildOptions(width=width, optimize=optimize))
        for width in widths
    }


def check_output(outcome: RunResult) -> tuple[str, bool]:
    """(what is wrong, or empty; whether the program said that it is right)."""
    if outcome.status:
        how = f"ended by signal {-outcome.status}" if outcome.status < 0 else f"exit status {outcome.status}"
        last = (outcome.stderr.strip() or outcome.stdout.strip()).splitlines()
        return how + (f": {last[-1].strip()[:200]}" if last else ""), False
    for line in (outcome.stdout + "\n" + outcome.stderr).splitlines():
        if _WRONG.search(line) and not _NO_FAULT.search(line):
            return f"its check says: {line.strip()[:200]}", False
    return "", bool(_RIGHT.search(outcome.stdout + outcome.stderr))


def _divergences(plan: Sequence[_Run], scratch: Path) -> list[tuple[str, Divergence]]:
    """First difference of each run from the first one; none when the program does not even repeat itself."""
    reference = scratch / "trace-0"
    own = compare_traces(reference, scratch / "trace-1", poison=_POISONS)
    if own is not None and own.kind is not Difference.ROUNDING:
        return []
    found: list[tuple[str, Divergence]] = []
    for number, run in enumerate(plan[2:], 2):
        divergence = compare_traces(reference, scratch / f"trace-{number}", poison=_POISONS)
        if divergence is not None:
            text = (
                f"{plan[0].label} and {run.label} part at copy {divergence.sequence} after kernel {divergence.kernel}: "
                f"{divergence.kind.value}, {divergence.message}"
            )
            found.append((text, divergence))
    return found


def lines(verification: FunctionalVerification, colour: bool) -> list[str]:
    """For a terminal: one line a program, with its evidence below; then the counts and what they rest on."""
    paint = {Verdict.PASS: "green", Verdict.WRONG: "red", Verdict.DIFFERS: "red"}

    def word(verdict: Verdict) -> str:
        return painted(verdict.value, paint.get(verdict, "yellow")) if colour else verdict.value

    shown: list[str] = []
    for program in verification.programs:
        shown.append(f"{word(program.verdict)} {program.name}" + (f": {program.reason}" if program.reason else ""))
        parted = [text for text in program.divergences if text != program.reason]
        if program.verdict is Verdict.PASS and parted:
            shown.append("  its check passes in every run; what lies between depends on the order of blocks and waves:")
        shown += [f"  {text}" for text in parted]
        for hazard in program.hazards:
            kind = "hazard" if hazard.grave else "note"
            shown.append(f"  {kind}[{hazard.kind}] {hazard.place}: {hazard.message} (kernel {hazard.kernel})")
    counts = ", ".join(f"{count} {name}" for name, count in verification.summary().items() if count)
    total = len(verification.programs)
    return [*shown, "", f"{total} program{'s' * (total != 1)}: {counts}", f"How: {verification.how}."]
