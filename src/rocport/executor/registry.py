# SPDX-License-Identifier: Apache-2.0
"""All executors, in the order in which they are tried."""

from __future__ import annotations

from rocport.executor.amd import AmdExecutor
from rocport.executor.base import Executor
from rocport.executor.cpu import CpuExecutor
from rocport.executor.isa.runtime.executor import IsaExecutor
from rocport.executor.nvidia import NvidiaExecutor
from rocport.executor.rocjitsu import RocjitsuExecutor
from rocport.executor.triton_interpreter import TritonInterpreter


def executors(target: str | None = None) -> tuple[Executor, ...]:
    """One of each; `target` chooses the GPU, or what an emulator emulates."""
    return (
        CpuExecutor(),
        IsaExecutor(*([target] if target else [])),
        AmdExecutor(target=target),
        RocjitsuExecutor(target),
        NvidiaExecutor(),
        TritonInterpreter(),
    )


def find_executor(name: str, target: str | None = None) -> Executor:
    """The executor of that name.

    Raises:
        KeyError: there is none; the message names those there are.
    """
    known = {executor.name: executor for executor in executors(target)}
    if name not in known:
        raise KeyError(f"{name}: no such executor; one of {', '.join(known)}")
    return known[name]
