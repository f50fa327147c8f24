# SPDX-License-Identifier: Apache-2.0
"""Level `functional`: build a repository's own self-checking programs and run them, with no GPU.

A program runs as the machine code of each target, in order and in a drawn order, on poisoned memory, and what it copies
back from the device is compared between the runs. Where that is not possible its source runs on the CPU executor, with
the reason. Otherwise the source-level run is the second opinion: it looks at lanes one by one, and names lines. A
program that is wrong, or that depends on memory nobody wrote, runs again with its accesses watched.
"""

from __future__ import annotations

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

from rocport.executor.amd import width_of
from rocport.executor.base import (
    Access,
    BuildError,
    BuildOptions,
    Capability,
    Executor,
    Hazard,
    Level,
    RunOptions,
    RunResult,
)
from rocport.executor.choice import RAN_ONCE, Choice, ChoiceError, check_output, choose, unserved
from rocport.executor.cpu import CpuExecutor
from rocport.executor.differential import Difference, Divergence, compare_traces
from rocport.executor.limits import Limits
from rocport.executor.program import Program, ProgramError, load_program
from rocport.executor.registry import find_executor
from rocport.executor.selftest import Evidence, remembered
from rocport.facts.targets import wave_target
from rocport.model import HANGING_S
from rocport.model.terminal import paint as painted
from rocport.project.languages import KERNEL_SOURCES
from rocport.project.make import makefile_of

_POISONS = (0xFF, 0xA7)
# Orders and the poison of each, by the level of evidence; the number is the seed of a random order. Of the machine
# code waves and workgroups have an order, of the source lanes too.
_ORDERS = {
    Level.ISA: (("forward", _POISONS[0]), ("20260", _POISONS[1])),
    Level.SOURCE: (("forward", _POISONS[0]), ("reverse", _POISONS[1]), ("20260", _POISONS[0])),
}
# What watching the accesses adds; the rest is seen in every run.
_WATCHED = frozenset(
    [
        *("shared-race", "global-race", "relies-on-lockstep", "out-of-bounds", "shared-out-of-bounds"),
        *("uninitialised-read", "uninitialised-copy"),
    ]
)
_SKIPPED = frozenset([".git", "build", "node_modules", ".venv", "__pycache__"])
_MAIN = re.compile(rb"\bint\s+main\s*\(")


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
    executor: str = ""
    """`isa` or `source`: that one alone. Empty: the machine code where it runs, with the source-level run beside it."""
    targets: tuple[str, ...] = ()
    """Whose machine code; none: one target of each width."""
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
    level: str = ""
    """What was run: `isa`, the machine code of a target, or `source`; empty where nothing was."""
    fallback: str = ""
    """Why it is not the machine code."""
    second_opinion: str = ""
    """What the source-level run says that the machine code does not; empty where both agree."""


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

    def levels(self) -> dict[str, int]:
        """Programs by what was run of them."""
        return {level.value: sum(p.level == level.value for p in self.programs) for level in (Level.ISA, Level.SOURCE)}

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "level": "functional",
            "how": self.how,
            "summary": self.summary(),
            "levels": self.levels(),
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
                    "level": p.level,
                    "fallback": p.fallback,
                    "second_opinion": p.second_opinion,
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
        makefile = makefile_of(here)
        if not mains and makefile is None:
            continue
        try:
            load_program(here, confined)
        except ProgramError:
            found += [here / name for name in mains]
            continue
        found += [here] if makefile is not None else [here / name for name in mains]
    return found


def _has_main(path: Path) -> bool:
    try:
        return _MAIN.search(path.read_bytes()) is not None
    except OSError:
        return False


def verify(path: Path, options: FunctionalOptions, progress: Progress | None = None) -> FunctionalVerification:
    """Builds and runs every program below `path`.

    Raises:
        FunctionalError: there is no program, or nothing that can run one.
    """
    paths = find_programs(path, options.confined)
    if not paths:
        raise FunctionalError(
            f"{path}: no program to run: no Makefile that compiles one, and no .hip or .cu file with a main()"
        )
    try:
        choice = choose(options.executor, targets_of(options))
    except ChoiceError as error:
        raise FunctionalError(str(error)) from error
    second: tuple[Executor, Capability] | None = None
    if options.second:
        other = find_executor(options.second)
        known, _ = remembered(other)
        if not known.usable or not known.widths:
            raise FunctionalError(f"{options.second}: {known.refusal or 'it runs no HIP programs'}")
        second = other, known
    results: list[ProgramResult] = []
    with ThreadPoolExecutor(max(1, options.jobs)) as pool:
        work = pool.map(lambda item: verify_program(choice, item, options, second), paths)
        for done, result in enumerate(work, 1):
            results.append(result)
            if progress is not None:
                progress(result, done, len(paths))
    return FunctionalVerification(_how(choice, options), tuple(results))


def targets_of(options: FunctionalOptions) -> tuple[str, ...]:
    """The targets whose machine code is wanted: those that are named, or one of each width."""
    return options.targets or tuple(wave_target(width).name for width in options.widths)


def _how(choice: Choice, options: FunctionalOptions) -> str:
    widths = ", ".join(map(str, options.widths))
    source = "no CPU executor"
    if choice.source:
        source = (
            f"CPU executor (HIP source compiled by {choice.source[1].detail}), wavefront width {widths}, forward, "
            "reverse and random order, poisoned memory; level of evidence: source, no device instructions"
        )
    if choice.machine is None:
        return source + (f"; not as machine code: {choice.reason}" if choice.reason else "")
    capability = choice.machine[1]
    return (
        f"machine code of {', '.join(capability.targets)} (compiled by {capability.detail}) on the ISA executor, in "
        "order and in a drawn order of waves and workgroups, poisoned memory; level of evidence: isa"
        + (f". Beside it, and where that is not possible: {source}" if choice.source else "")
    )


@dataclass(frozen=True)
class _Run:
    width: int
    order: str
    poison: int
    target: str = ""
    again: bool = False

    @property
    def label(self) -> str:
        return f"{self.target or f'wave{self.width}'} {self.order}" + (" again" if self.again else "")


def verify_program(
    choice: Choice, path: Path, options: FunctionalOptions, second: tuple[Executor, Capability] | None = None
) -> ProgramResult:
    """Builds one program and runs it in every way; on a second executor too, when it is right so far."""
    try:
        program = load_program(path, options.confined)
    except ProgramError as error:
        return ProgramResult(path.name, str(path), Verdict.NOT_BUILT, str(error))
    scratch = Path(tempfile.mkdtemp(prefix="rocport-verify-"))
    try:
        result, evidence = _judged(choice, program, path, options, scratch)
        if result.verdict is not Verdict.PASS:
            return result
        return _confirmed(result, program, options, scratch, evidence, second)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


_Evidence = list[tuple[Capability, int, RunResult]]


def _judged(
    choice: Choice, program: Program, path: Path, options: FunctionalOptions, scratch: Path
) -> tuple[ProgramResult, _Evidence]:
    """The machine code's verdict, with what the source-level run adds; the source's own where that says nothing."""
    result: ProgramResult | None = None
    fallback, evidence = choice.reason, _Evidence()
    if choice.machine:
        result, fallback, evidence = _verify(*choice.machine, program, path, options, scratch / "isa")
        if choice.source is None:
            return replace(result, fallback=fallback), evidence
    assert choice.source is not None  # choose() gives one of the two
    if result is not None and fallback and result.runs:
        fallback += f"; {RAN_ONCE}"
    own, _, more = _verify(*choice.source, program, path, options, scratch / "source")
    if result is None or fallback:
        # Where neither builds, the HIP compiler's word is that of the device's own compiler.
        if result is not None and own.verdict is result.verdict is Verdict.NOT_BUILT:
            own = replace(own, reason=f"{result.reason}; nor at source level: {own.reason}")
        return replace(own, fallback=fallback), more
    return _joined(result, own), [*evidence, *more]


def _joined(result: ProgramResult, own: ProgramResult) -> ProgramResult:
    """What the machine code showed, and what the source-level run adds: hazards with their lines. Where a program is
    right as machine code and wrong at source level, a grave hazard decides; without one the former is believed."""
    known = {(hazard.kind, hazard.place) for hazard in result.hazards}
    hazards = (*result.hazards, *(h for h in own.hazards if (h.kind, h.place) not in known))
    result = replace(result, hazards=hazards, self_checking=result.self_checking or own.self_checking)
    if own.verdict is result.verdict is Verdict.PASS or (own.verdict.failed and result.verdict.failed):
        return result
    said = f"{own.verdict.value}: {own.reason}"
    if own.verdict.failed and result.verdict is Verdict.PASS and any(h.grave for h in own.hazards):
        reason = own.reason if own.verdict is Verdict.HAZARD else f"right as machine code; at source level {said}"
        return replace(result, verdict=Verdict.HAZARD, reason=reason)
    return replace(result, second_opinion=said)


def _verify(
    executor: Executor, capability: Capability, program: Program, path: Path, options: FunctionalOptions, scratch: Path
) -> tuple[ProgramResult, str, _Evidence]:
    """The result of one executor, why it says nothing of the program (empty where it does), and the last run of each
    target or width."""
    evidence: dict[tuple[int, str], tuple[Capability, int, RunResult]] = {}
    machine = capability.level is Level.ISA

    def result(verdict: Verdict, reason: str = "", **more: Any) -> tuple[ProgramResult, str, _Evidence]:
        level = "" if verdict is Verdict.NOT_BUILT else capability.level.value
        kept = list(evidence.values())
        return ProgramResult(program.name, str(path), verdict, reason, level=level, **more), "", kept

    def nothing(reason: str, **more: Any) -> tuple[ProgramResult, str, _Evidence]:
        return result(Verdict.NOT_BUILT, reason, **more)[0], reason, []

    try:
        executables = _build(executor, capability, program, scratch, options)
    except BuildError as error:
        reason = str(error) + (f" (missing: {', '.join(error.missing[:5])})" if error.missing else "")
        if machine:
            return nothing(f"not built for {' and '.join(capability.targets)}: {reason}")
        return result(Verdict.NOT_BUILT, reason)
    arguments = options.arguments if options.arguments is not None else (program.runs[0] if program.runs else ())
    places = [(width_of(target), target) for target in capability.targets] if machine else []
    places = places or [(width, "") for width in options.widths]
    plan = [_Run(width, order, poison, target) for width, target in places
            for order, poison in _ORDERS[capability.level]]  # fmt: skip
    runs: dict[_Run, RunResult] = {}
    checking = False
    hazards: dict[tuple[str, str], Hazard] = {}
    kernels: dict[str, None] = {}
    watched: dict[int | None, Path] = {}

    def run_one(run: _Run) -> RunResult:
        trace = scratch / f"trace-{len(runs)}"
        how = RunOptions(width=run.width, order=run.order, poison=run.poison, trace=trace, quiet=options.quiet,
                         target=run.target or None, limits=options.limits)  # fmt: skip
        runs[run] = executor.run(executables[run.width], arguments, program.folder, how)
        return runs[run]

    def closer(run: _Run) -> bool:
        found, only_lockstep = _why(executor, program, arguments, run, options, scratch, watched, executables)
        for hazard in found:
            hazards.setdefault((hazard.kind, hazard.place), hazard)
        return only_lockstep

    def judged(run: _Run) -> tuple[ProgramResult, str, _Evidence] | None:
        """What one run decides by itself; None where it is right so far."""
        nonlocal checking
        outcome = run_one(run)
        evidence[run.width, run.target] = (capability, run.width, outcome)
        labels = tuple(r.label for r in runs)
        wrong, right = check_output(outcome)
        if machine and (why := unserved(outcome)):
            return nothing(f"{run.target}: {why}", runs=labels)
        if outcome.timed_out:
            return result(Verdict.TIMEOUT, f"{run.label}: more than {options.timeout_s:g} s", runs=labels)
        checking |= right
        kernels.update(dict.fromkeys(kernel.name for kernel in outcome.kernels))
        for hazard in outcome.hazards:
            hazards.setdefault((hazard.kind, hazard.place), hazard)
        if not wrong:
            return None
        seen = [r.label for r, o in runs.items() if not check_output(o)[0]]
        reason = f"{run.label}: {wrong}" + (f"; right at {', '.join(seen)}" if seen else "")
        only_lockstep = False
        # What waits for ever does so with watched accesses too, only slower.
        if not any(hazard.kind == "no-progress" for hazard in outcome.hazards):
            only_lockstep = closer(run)
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

    for run in plan:
        if (decided := judged(run)) is not None:
            return decided
    divergences = _divergences(plan, scratch)
    unsteady = ""
    if any(divergence.kind is not Difference.ROUNDING for _, divergence in divergences):
        again = replace(plan[0], again=True)
        if (decided := judged(again)) is not None:
            return decided
        own = compare_traces(scratch / "trace-0", scratch / f"trace-{len(plan)}", poison=_POISONS)
        if own is not None and own.kind is not Difference.ROUNDING:
            divergences = []  # it does not even repeat itself: its own check judges it
            unsteady = (
                f"; two runs alike, {plan[0].label}, part at copy {own.sequence} after kernel {own.kernel}: "
                f"{own.kind.value}, {own.message}: whether it depends on width or order is not known"
            )
    bad = [text for text, divergence in divergences if not divergence.kind.benign]
    if bad or options.watch:
        for run in {(run.width, run.target): run for run in plan}.values():
            closer(run)
    kept = tuple(hazards.values())
    more = {
        "self_checking": checking,
        "divergences": tuple(text for text, _ in divergences),
        "hazards": kept,
        "runs": tuple(r.label for r in runs),
        "kernels": tuple(kernels),
    }
    if bad and not checking:
        return result(Verdict.DIFFERS, bad[0], **more)
    grave = next((hazard for hazard in kept if hazard.grave), None)
    if grave is not None:
        return result(Verdict.HAZARD, f"{grave.place}: {grave.message}", **more)
    return result(Verdict.PASS, "" if checking else f"ran clean; it prints no verdict of its own{unsteady}", **more)


def _confirmed(
    result: ProgramResult,
    program: Program,
    options: FunctionalOptions,
    scratch: Path,
    runs: _Evidence,
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
            reason = f"{capability.executor} at width {width}: {wrong or 'no end in time'}; right before"
            return replace(result, verdict=Verdict.WRONG, reason=reason)
    return replace(result, evidence=str(Evidence(tuple(runs))))


def _why(
    executor: Executor,
    program: Program,
    arguments: Sequence[str],
    run: _Run,
    options: FunctionalOptions,
    scratch: Path,
    watched: dict[int | None, Path],
    executables: dict[int, Path],
) -> tuple[tuple[Hazard, ...], bool]:
    """Looks closer: what the accesses show, and whether only lanes in step make the program right."""
    limits = options.limits
    closely = RunOptions(
        width=run.width, access=Access.ALL, quiet=options.quiet, limits=limits, target=run.target or None
    )
    if not isinstance(executor, CpuExecutor):
        seen = executor.run(executables[run.width], arguments, program.folder, closely)
        return tuple(hazard for hazard in seen.hazards if hazard.kind in _WATCHED), False
    fixed = run.width if executor.needs_width(program) else None
    executable = watched.get(fixed)
    if executable is None:
        try:
            build = BuildOptions(width=fixed, optimize=options.optimize, instrument=True)
            executable = watched[fixed] = executor.build(program, scratch / f"watched-{fixed or 'any'}", build)
        except BuildError:
            return (), False
    seen = executor.run(executable, arguments, program.folder, closely)
    found = tuple(hazard for hazard in seen.hazards if hazard.kind in _WATCHED)
    grave = {hazard.kind for hazard in found if hazard.grave}
    # A lane that runs ahead also reads what its neighbour has not written yet.
    if "relies-on-lockstep" not in grave or grave - {"relies-on-lockstep", "uninitialised-read"}:
        return found, False
    stepped = executor.run(
        executable, arguments, program.folder, RunOptions(width=run.width, access=Access.LOCKSTEP, limits=limits)
    )
    return found, not check_output(stepped)[0]


def _build(
    executor: Executor, capability: Capability, program: Program, folder: Path, options: FunctionalOptions
) -> dict[int, Path]:
    """Width -> executable. One for all, or one for each where the source-level executor meets source that depends on
    the width at compile time.

    Raises:
        BuildError: it does not build.
    """
    if isinstance(executor, CpuExecutor):
        return executor.build_widths(program, folder, options.widths, BuildOptions(optimize=options.optimize))
    executable = executor.build(program, folder / "any", BuildOptions(optimize=options.optimize))
    return dict.fromkeys(map(width_of, capability.targets), executable)


def _divergences(plan: Sequence[_Run], scratch: Path) -> list[tuple[str, Divergence]]:
    """First difference of each run from the first one."""
    found: list[tuple[str, Divergence]] = []
    for number, run in enumerate(plan[1:], 1):
        divergence = compare_traces(scratch / "trace-0", scratch / f"trace-{number}", poison=_POISONS)
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
        level = f" [{program.level}]" if program.level else ""
        shown.append(
            f"{word(program.verdict)} {program.name}{level}" + (f": {program.reason}" if program.reason else "")
        )
        if program.fallback and program.verdict is not Verdict.NOT_BUILT:
            shown.append(f"  not as machine code: {program.fallback}")
        if program.second_opinion:
            shown.append(f"  at source level: {program.second_opinion}")
        parted = [text for text in program.divergences if text != program.reason]
        if program.verdict is Verdict.PASS and parted:
            shown.append("  its check passes in every run; what lies between depends on the order of blocks and waves:")
        shown += [f"  {text}" for text in parted]
        for hazard in program.hazards:
            kind = "hazard" if hazard.grave else "note"
            shown.append(f"  {kind}[{hazard.kind}] {hazard.place}: {hazard.message} (kernel {hazard.kernel})")
    counts = ", ".join(f"{count} {name}" for name, count in verification.summary().items() if count)
    total = len(verification.programs)
    levels = ", ".join(f"{count} at level {name}" for name, count in verification.levels().items() if count)
    return [
        *shown,
        "",
        f"{total} program{'s' * (total != 1)}: {counts}" + (f"; run: {levels}" if levels else ""),
        f"How: {verification.how}.",
    ]
