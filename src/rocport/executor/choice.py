# SPDX-License-Identifier: Apache-2.0
"""Which executor runs a program. The machine code of a target, where it can be made and run; else its source, and why.

The one place that decides it: `rocport run`, `verify --level functional`, and what stands on them ask here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from rocport.executor.base import Capability, Executor, RunResult
from rocport.executor.compiler import HostCompiler
from rocport.executor.cpu import CpuExecutor
from rocport.executor.isa.runtime.executor import CANNOT_RUN, IsaExecutor
from rocport.executor.registry import find_executor
from rocport.executor.selftest import remembered

SOURCE, MACHINE = CpuExecutor.name, IsaExecutor.name
_OTHER_NAMES = {"source": SOURCE}
_SAID = re.compile(r"^rocport: (.*)$", re.MULTILINE)
_UNSERVED = re.compile(r"^rocport: (.+? is not served by the ISA executor's runtime)", re.MULTILINE)


class ChoiceError(Exception):
    """No executor can run programs here, or the one that was asked for cannot; the message says why."""


@dataclass(frozen=True)
class Choice:
    """Who runs the programs of one request: the machine code first, where there is such an executor."""

    machine: tuple[Executor, Capability] | None
    source: tuple[CpuExecutor, Capability] | None
    reason: str = ""
    """Why no program runs as machine code; empty where it can, or was not asked for."""


def canonical(name: str) -> str:
    """The name of an executor, as the registry has it; `source` is the source-level one."""
    return _OTHER_NAMES.get(name, name)


def choose(asked: str = "", targets: Sequence[str] = (), compiler: HostCompiler | None = None) -> Choice:
    """Who runs: `asked` names one, and it alone then does; empty takes the machine code of `targets` (none: one of each
    wavefront width) before the source. Each has passed its self-test.

    Raises:
        ChoiceError: it cannot run programs here.
        KeyError: there is no executor of that name.
    """
    name = canonical(asked)
    machine: tuple[Executor, Capability] | None = None
    reason = ""
    if name != SOURCE:
        executor = (
            find_executor(name, targets[0] if targets else None) if name not in ("", MACHINE) else IsaExecutor(*targets)
        )
        capability, _ = remembered(executor)
        if capability.usable:
            machine = executor, capability
        elif name:
            raise ChoiceError(f"{name}: {capability.refusal}")
        else:
            reason = capability.refusal
    source: tuple[CpuExecutor, Capability] | None = None
    if name in ("", SOURCE):
        own = CpuExecutor(compiler)
        capability, _ = remembered(own)
        if capability.usable:
            source = own, capability
        elif machine is None:
            raise ChoiceError("; ".join(filter(None, (reason, capability.refusal))))
    return Choice(machine, source, reason)


def unserved(result: RunResult, right: bool = False) -> str:
    """Why a run as machine code says nothing about the program; empty where it does. A function of the runtime that
    is not served refuses: what a program makes of that is not known, unless its own check is `right`."""
    if result.status == CANNOT_RUN and (said := _SAID.findall(result.stderr)):
        return str(said[-1]).removesuffix(" The program ends here: what it would have done is not known.")
    missing = dict.fromkeys(_UNSERVED.findall(result.stderr))
    return "" if right else "; ".join(missing)
