# SPDX-License-Identifier: Apache-2.0
"""What an executor has to get right before it is believed: selftest.hip, on each of its targets, or at each width."""

from __future__ import annotations

import contextlib
import hashlib
import re
import tempfile
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from rocport.executor.amd import width_of
from rocport.executor.base import (
    BuildError,
    BuildOptions,
    Capability,
    Executor,
    Level,
    RunOptions,
    RunResult,
    Trust,
)
from rocport.executor.compiler import executor_cache
from rocport.executor.limits import Limits
from rocport.executor.program import load_program
from rocport.model.locks import locked

PROGRAM = Path(__file__).with_name("selftest.hip")
TESTS = ("launch", "shuffle", "ballot", "divergence", "barrier", "atomic", "rounding")
_LINE = re.compile(r"^TEST (\S+) (\S+)$", re.MULTILINE)
_WIDTH = re.compile(r"^WIDTH (\d+)$", re.MULTILINE)
_SECONDS = 600.0


@dataclass(frozen=True)
class SelfTest:
    """The outcome, by place: a target, or `width 32` of an executor that has none."""

    failed: Mapping[str, tuple[str, ...]]
    """Place -> tests that failed, or did not run."""
    reason: str = ""
    """Why it could not be run at all."""

    @property
    def passed(self) -> bool:
        """Every test at every place."""
        return not self.reason and bool(self.failed) and not any(self.failed.values())

    def __str__(self) -> str:
        if self.reason:
            return f"self-test not run: {self.reason}"
        if self.passed:
            return f"self-test passed at {', '.join(self.failed)}: {', '.join(TESTS)}"
        wrong = (f"{place}: {', '.join(tests)}" for place, tests in self.failed.items() if tests)
        return "self-test failed at " + "; ".join(wrong)


def read_outcome(result: RunResult, width: int) -> tuple[str, ...]:
    """The tests that failed in one run; those that printed nothing failed: an emulator without a device ends well."""
    said = dict(_LINE.findall(result.stdout))
    failed = tuple(name for name in TESTS if said.get(name) != "ok")
    reported = _WIDTH.search(result.stdout)
    if not failed and (reported is None or int(reported[1]) != width):
        return ("width",)
    return failed


def _places(capability: Capability) -> dict[str, RunOptions]:
    """Place -> how to run there: each target, or each width of an executor that has no targets."""
    if capability.targets:
        return {target: RunOptions(width=width_of(target), target=target) for target in capability.targets}
    return {f"width {width}": RunOptions(width=width) for width in capability.widths}


def self_test(
    executor: Executor, capability: Capability, seconds: float = _SECONDS, known: Collection[str] = ()
) -> SelfTest:
    """Builds a usable executor's self-test and runs it at each place but those `known` to be right. Never raises."""
    failed: dict[str, tuple[str, ...]] = {}
    program = load_program(PROGRAM)
    with tempfile.TemporaryDirectory(prefix="rocport-selftest-") as folder:
        try:
            executable = executor.build(program, Path(folder), BuildOptions(optimize="-O1"))
        except (BuildError, OSError) as error:
            return SelfTest({}, str(error).splitlines()[0])
        for place, options in _places(capability).items():
            if place in known:
                failed[place] = ()
                continue
            ran = executor.run(executable, (), Path(folder), replace(options, limits=Limits(seconds=seconds)))
            failed[place] = read_outcome(ran, options.width)
    return SelfTest(failed)


def trusted(
    executor: Executor, capability: Capability | None = None, passed: Collection[str] = ()
) -> tuple[Capability, SelfTest]:
    """The capability with the trust that the self-test earns, not run again where it has `passed`; a failed test is a
    refusal."""
    known = capability or executor.probe()
    if not known.usable:
        return replace(known, trust=Trust.UNTESTED), SelfTest({}, known.refusal)
    outcome = self_test(executor, known, known=passed)
    if outcome.passed:
        return replace(known, trust=Trust.SELF_TESTED), outcome
    return replace(known, trust=Trust.UNTESTED, refusal=str(outcome)), outcome


def remembered(executor: Executor) -> tuple[Capability, SelfTest]:
    """As `trusted`, but a self-test that passed with this very executor, compiler and device is not run again.

    Kept in the cache folder, by what the executor says of itself and by the state of its own files. A second process
    waits for the first, and takes what that one found.
    """
    capability = executor.probe()
    if not capability.usable:
        return trusted(executor, capability)
    state = hashlib.sha256(f"{executor.name}\n{capability.detail}\n".encode())
    for path in sorted(PROGRAM.parent.rglob("*")):
        if path.suffix in (".py", ".h", ".hpp", ".cpp", ".cuh", ".hip"):
            status = path.stat()
            state.update(f"{path} {status.st_mtime_ns} {status.st_size}\n".encode())
    # By target: one that passed beside others need not be asked alone.
    folder = executor_cache() / "selftest"
    records = {
        place: folder / f"{state.hexdigest()[:20]}-{place.removeprefix('width ')}" for place in _places(capability)
    }
    with contextlib.ExitStack() as held:
        writable = True
        try:
            held.enter_context(locked(folder / f"{state.hexdigest()[:20]}.lock"))
        except OSError:
            writable = False
        passed = [place for place, record in records.items() if record.is_file()]
        if len(passed) == len(records):
            return replace(capability, trust=Trust.SELF_TESTED), SelfTest(dict.fromkeys(passed, ()))
        known, outcome = trusted(executor, capability, passed)
        for place in (place for place, tests in outcome.failed.items() if writable and not tests):
            records[place].touch()
    return known, outcome


@dataclass(frozen=True)
class Evidence:
    """What a verdict rests on: one run each of one or more executors."""

    runs: tuple[tuple[Capability, int, RunResult], ...]
    """(executor, wavefront width, what it gave)."""

    @property
    def agree(self) -> bool:
        """Two executors or more, all ended well, with the same output."""
        names = {capability.executor for capability, _, _ in self.runs}
        outputs = {result.stdout for _, _, result in self.runs}
        return len(names) > 1 and len(outputs) == 1 and all(result.ok for _, _, result in self.runs)

    @property
    def claim(self) -> str:
        """`hardware-verified`, `ISA-verified`, `ISA-run`, `source-verified`, or `not verified`.

        The device's own code was run correctly only if the executor passed its self-test and a second executor agrees:
        emulators have bugs; without the second it is `ISA-run`. The hardware itself needs no second opinion.
        """
        good = [
            capability for capability, _, result in self.runs if result.ok and capability.trust is not Trust.UNTESTED
        ]
        if any(capability.level is Level.HARDWARE for capability in good):
            return "hardware-verified"
        if any(capability.level is Level.ISA for capability in good):
            return "ISA-verified" if self.agree else "ISA-run"
        return "source-verified" if good else "not verified"

    def __str__(self) -> str:
        told = (
            f"{capability.executor} at width {width} ({capability.level.value}, {capability.trust.value})"
            for capability, width, _ in self.runs
        )
        return f"{self.claim} by {', '.join(told)}"
