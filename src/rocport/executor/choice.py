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
from rocport.executor.selftest import remembered

SOURCE, MACHINE = CpuExecutor.name, IsaExecutor.name
_OTHER_NAMES = {"source": SOURCE}
_SAID = re.compile(r"^rocport: (.*)$", re.MULTILINE)
_UNSERVED = re.compile(r"^rocport: (.+? is not served by the ISA executor's runtime)", re.MULTILINE)
_WRONG = re.compile(r"\b(?:FAIL(?:ED|S|URE)?|MISMATCH(?:ES|ED)?|INCORRECT|WRONG)\b", re.IGNORECASE)
_NO_FAULT = re.compile(
    r"\b(?:0|no|none|without)\s+(?:\w+\s+){0,2}(?:fail|mismatch|incorrect|wrong)|(?:fail\w*|mismatch\w*)\s*[:=]\s*0\b",
    re.IGNORECASE,
)
_RIGHT = re.compile(r"\b(?:PASS(?:ED|ES)?|SUCCESS(?:FUL|FULLY)?|CORRECT|VERIFIED|OK)\b", re.IGNORECASE)
RAN_ONCE = "it has already run once as machine code, and what that wrote is still there"
"""Of a program that runs at source level after all, in the same folder."""


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
        ChoiceError: it cannot run programs here, or is neither of the two.
    """
    name = canonical(asked)
    machine: tuple[Executor, Capability] | None = None
    reason = ""
    if name not in ("", SOURCE, MACHINE):
        raise ChoiceError(f"{name}: this chooses between {MACHINE} and source; it takes no other executor")
    if name != SOURCE:
        executor = IsaExecutor(*targets)
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


def check_output(outcome: RunResult) -> tuple[str, bool]:
    """(what is wrong, or empty; whether the program said that it is right)."""
    if outcome.status:
        how = f"ended by signal {-outcome.status}" if outcome.status < 0 else f"exit status {outcome.status}"
        last = (outcome.stderr.strip() or outcome.stdout.strip()).splitlines()
        return how + (f": {last[-1].strip()[:200]}" if last else ""), False
    for line in (outcome.stdout + "\n" + outcome.stderr).splitlines():
        if _WRONG.search(line) and not _NO_FAULT.search(line):
            return f"its check says: {line.strip()[:200]}", False
    return "", bool(_RIGHT.search(f"{outcome.stdout}\n{outcome.stderr}"))


def unserved(result: RunResult) -> str:
    """Why a run as machine code says nothing about the program; empty where it does. A function of the runtime that
    is not served refuses: what a program makes of that is not known, unless its own check says that it is right."""
    if result.status == CANNOT_RUN and (said := _SAID.findall(result.stderr)):
        return str(said[-1]).removesuffix(" The program ends here: what it would have done is not known.")
    missing = dict.fromkeys(_UNSERVED.findall(result.stderr))
    return "" if check_output(result)[1] else "; ".join(missing)
