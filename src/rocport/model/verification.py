"""What a verification found: per translation unit and target, what compiled, what did not, and what the kernels use."""

from __future__ import annotations

import enum
from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import Any

VERIFICATION_SCHEMA = 1
HOST = "host"
"""Stands for the host pass where a gfx target is named otherwise."""


class Status(enum.Enum):
    OK = "ok"
    FAIL = "fail"
    SKIP = "skip"
    """Not tried, for the reason given: never counted as passed."""


@dataclass(frozen=True)
class KernelUse:
    """Registers and memory of one kernel, read from its code object. Sizes in bytes."""

    name: str
    """The symbol, mangled."""
    vgprs: int
    agprs: int
    sgprs: int
    vgpr_spills: int
    sgpr_spills: int
    scratch_bytes: int
    """Private memory of one lane known at compile time: spills and arrays that are indexed at run time."""
    lds_bytes: int
    """LDS of one workgroup known at compile time; without what a launch adds dynamically."""
    wavefront: int
    max_workgroup: int
    """Threads in a workgroup the kernel was compiled for."""
    occupancy: int = 0
    """Waves of one SIMD at the same time, by the compiler's count of registers and LDS; 0: not known."""


@dataclass(frozen=True)
class FixIt:
    """What the compiler would write in a file of the tree instead of what stands from `line`, `column` to `end_line`,
    `end_column`: from 1, in bytes, the end left out."""

    path: str
    line: int
    column: int
    end_line: int
    end_column: int
    text: str


@dataclass(frozen=True)
class Note:
    """What the compiler adds to an error. `path` is empty for a place outside of the tree."""

    path: str
    line: int
    column: int
    message: str


@dataclass(frozen=True)
class Diagnostic:
    """One compiler error, at its place in the port and in the source it came from.

    `original_path` and `original_line` are None where the source is not at hand. `within` is the header the compiler
    pointed at, where that is not a file of the tree. Errors that differ in notes or fix-its only are the same.
    """

    path: str
    line: int
    column: int
    message: str
    original_path: str | None = None
    original_line: int | None = None
    explanation: str = ""
    within: str = ""
    included: str = field(default="", compare=False)
    """The header outside of the tree that a file of the tree includes, and that led to `within`."""
    notes: tuple[Note, ...] = field(default=(), compare=False)
    fixits: tuple[FixIt, ...] = field(default=(), compare=False)
    """Those of the error and of its notes."""


@dataclass(frozen=True)
class KernelFinding:
    """What is wrong with a unit that compiles: a kernel is slow (`register-spill`), cannot be launched
    (`lds-over-limit`) or has no code (`kernel-without-code`), or code is undefined (`undefined-behaviour`, no kernel
    named, at `path`:`line`)."""

    code: str
    kernel: str
    message: str
    path: str = ""
    line: int = 0
    original_path: str | None = None
    original_line: int | None = None


@dataclass(frozen=True)
class UnitResult:
    """One translation unit compiled for one gfx target, or its host pass (`target` is then HOST)."""

    path: str
    target: str
    status: Status
    reason: str = ""
    """Why it was skipped, or failed without a compiler error."""
    errors: tuple[Diagnostic, ...] = ()
    kernels: tuple[KernelUse, ...] = ()
    findings: tuple[KernelFinding, ...] = ()
    seconds: float = 0.0
    cached: bool = False

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "status": self.status.value}


@dataclass(frozen=True)
class Cause:
    """One message of the compiler: a place where it stands, the units that have it, those that have no other."""

    message: str
    place: str
    units: int
    alone: int


@dataclass(frozen=True)
class Verification:
    """Result of one level. `how` says what the claim rests on, in words."""

    level: str
    root: str
    targets: tuple[str, ...]
    how: str
    units: tuple[UnitResult, ...]
    not_named: tuple[str, ...] = ()
    """Translation units that no build file of the project names; they were not compiled."""

    @property
    def failed(self) -> bool:
        return any(unit.status is Status.FAIL for unit in self.units)

    @property
    def passed(self) -> bool:
        """Every unit was compiled, for every target; a unit that could not be tried proves nothing."""
        return bool(self.units) and all(unit.status is Status.OK for unit in self.units)

    def paths(self) -> dict[str, Status]:
        """Translation unit -> worst status over the host pass and all targets."""
        worst: dict[str, Status] = {}
        order = [Status.OK, Status.SKIP, Status.FAIL]
        for unit in self.units:
            before = worst.get(unit.path, Status.OK)
            worst[unit.path] = max(before, unit.status, key=order.index)
        return worst

    def causes(self) -> list[Cause]:
        """Why units fail, by message and not by place: those first that stand alone before the most units."""
        of_unit: dict[str, set[str]] = {}
        first: dict[str, Diagnostic] = {}
        for unit in self.units:
            if unit.status is not Status.FAIL:
                continue
            messages = [error.message for error in unit.errors] or [unit.reason]
            of_unit.setdefault(unit.path, set()).update(messages)
            for error in unit.errors:
                first.setdefault(error.message, error)
        found = []
        for message in sorted(set().union(*of_unit.values())):
            units = [messages for messages in of_unit.values() if message in messages]
            place = f"{first[message].path}:{first[message].line}" if message in first else ""
            alone = sum(messages == {message} for messages in units)
            found.append(Cause(message, place, len(units), alone))
        return sorted(found, key=lambda cause: (-cause.alone, -cause.units))

    def summary(self) -> dict[str, Any]:
        """Counts: translation units by worst status, and (unit, target) pairs for each target."""
        paths = Counter(status.value for status in self.paths().values())
        by_target: dict[str, dict[str, int]] = {}
        for target in (HOST, *self.targets):
            counted = Counter(unit.status.value for unit in self.units if unit.target == target)
            by_target[target] = {status.value: counted[status.value] for status in Status}
        return {
            "units": sum(paths.values()),
            **{status.value: paths[status.value] for status in Status},
            "by_target": by_target,
            "kernels": sum(len(unit.kernels) for unit in self.units),
            "findings": sum(len(unit.findings) for unit in self.units),
            "cached": sum(unit.cached for unit in self.units),
            "not_named": len(self.not_named),
        }

    def to_json(self) -> dict[str, Any]:
        """The documented schema; see docs/verify.md."""
        return {
            "schema": VERIFICATION_SCHEMA,
            "level": self.level,
            "root": self.root,
            "targets": list(self.targets),
            "how": self.how,
            "units": [unit.to_json() for unit in self.units],
            "not_named": list(self.not_named),
            "summary": self.summary(),
        }
