# SPDX-License-Identifier: Apache-2.0
"""What every executor offers: a capability, a build, a run with limits. The CPU is one.

Real GPUs and emulators are others.

A verdict is only as good as what produced it, so each result names its executor, the wavefront width and the level at
which the instructions were those of the device.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Protocol

from rocport.executor.limits import Limits
from rocport.executor.program import Program


class Level(Enum):
    """How close a run is to the device."""

    SOURCE = "source"
    """HIP source compiled for another processor: the language and the wavefront, not the instructions."""
    ISA = "isa"
    """The device's own code, emulated."""
    HARDWARE = "hardware"


class Trust(Enum):
    """What an executor has shown about itself."""

    UNTESTED = "untested"
    SELF_TESTED = "self-tested"


@dataclass(frozen=True)
class Capability:
    """What an executor on this machine can do; `refusal` says why not, and what would help."""

    executor: str
    widths: tuple[int, ...] = ()
    targets: tuple[str, ...] = ()
    """gfx names whose behaviour it stands for; empty: any of the width."""
    level: Level = Level.SOURCE
    trust: Trust = Trust.UNTESTED
    detail: str = ""
    refusal: str = ""

    @property
    def usable(self) -> bool:
        """True when something can be run."""
        return not self.refusal


@dataclass(frozen=True)
class BuildOptions:
    """How to build."""

    width: int | None = None
    """A compile-time wavefront width; None leaves it to the run."""
    optimize: str = "-O2"
    sanitize: bool = False
    """Address and undefined-behaviour checks: slower, and out-of-bounds accesses get a file and line."""
    instrument: bool = False
    """Report each memory access to the runtime, for `Access.RACES` and `Access.LOCKSTEP`."""
    resume: bool = False
    """Take the objects that a build of the same sources left in the folder, as one that was cut short does."""


class Access(Enum):
    """What is done at each access to memory; anything but NONE needs a build with `instrument`."""

    NONE = ""
    RACES = "races"
    """Conflicting accesses to shared memory with no barrier between are hazards."""
    MEMORY = "memory"
    """So are reads of memory that nobody wrote, and accesses behind the end of an allocation or of shared memory."""
    ALL = "races,memory"
    LOCKSTEP = "lockstep"
    """Lanes meet at every access, for code that was written for a machine that runs a wavefront in step."""


@dataclass(frozen=True)
class RunOptions:
    """How to run."""

    width: int = 64
    order: str = "forward"
    """`forward`, `reverse`, or a number: the seed of a random order of blocks, wavefronts and lanes."""
    poison: int | None = None
    """The byte that fresh device and shared memory holds; None leaves it as it comes."""
    trace: Path | None = None
    """Where device-to-host copies are recorded."""
    quiet: tuple[str, ...] = ()
    """Hazards not to look for."""
    target: str | None = None
    access: Access = Access.NONE
    environment: Mapping[str, str] = field(default_factory=dict)
    limits: Limits = field(default_factory=Limits)


@dataclass(frozen=True)
class Frame:
    """One place in the program."""

    function: str
    path: str
    line: int

    def __str__(self) -> str:
        return f"{self.path}:{self.line} ({self.function})"


@dataclass(frozen=True)
class Hazard:
    """Something a run did that is wrong, or right only by luck."""

    kind: str
    message: str
    kernel: str
    count: int
    frames: tuple[Frame, ...] = ()
    grave: bool = True
    """False for what is worth knowing and usually harmless."""

    @property
    def place(self) -> str:
        """`file:line`, or the kernel when no line is known."""
        return f"{self.frames[0].path}:{self.frames[0].line}" if self.frames else f"kernel {self.kernel}"


@dataclass(frozen=True)
class KernelRun:
    """One kernel's launches: how many, the most dynamic shared memory in bytes, the most threads a block."""

    name: str
    """As the launch spells it."""
    launches: int
    lds: int
    threads: int

    def merged(self, other: KernelRun) -> KernelRun:
        """Both taken together."""
        return KernelRun(
            self.name,
            self.launches + other.launches,
            max(self.lds, other.lds),
            max(self.threads, other.threads),
        )


@dataclass(frozen=True)
class RunResult:
    """What a run gave."""

    status: int
    """Exit status; negative: the signal that ended it."""
    stdout: str
    stderr: str
    seconds: float
    timed_out: bool = False
    hazards: tuple[Hazard, ...] = ()
    statistics: Mapping[str, int] = field(default_factory=dict)
    kernels: tuple[KernelRun, ...] = ()

    @property
    def ok(self) -> bool:
        """It ended by itself, with status 0."""
        return self.status == 0 and not self.timed_out


class BuildError(Exception):
    """The program does not build for this executor. `log` holds the compiler's words, `missing` the names it lacked."""

    def __init__(self, message: str, *, log: str = "", missing: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.log = log
        self.missing = missing


class Executor(Protocol):
    """One way to run programs."""

    @property
    def name(self) -> str:
        """As in `--executor NAME`."""

    def probe(self) -> Capability:
        """What it can do on this machine; never raises."""

    def build(self, program: Program, folder: Path, options: BuildOptions) -> Path:
        """Builds the program below `folder` and returns the executable.

        Raises:
            BuildError: it does not build.
        """

    def run(self, executable: Path, arguments: Sequence[str], cwd: Path, options: RunOptions) -> RunResult:
        """Runs it. A crash or an overrun of the limits is a result, not an error."""
