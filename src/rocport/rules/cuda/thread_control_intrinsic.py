"""Intrinsics that put a thread to sleep or stop it (`__nanosleep`, `__trap`, `__brkpt`) are missing in HIP.

`__nanosleep` becomes a loop over the sleep instruction until the wall clock says so; `__trap` and `__brkpt` become
Clang's traps. `__prof_trigger` only feeds NVIDIA's profiler and is left out.
"""

from __future__ import annotations

from collections.abc import Iterator

from rocport.model import Applicability, Context, Example, Finding, Rule, Severity
from rocport.rules.cuda.shims import Shim, carried, rename
from rocport.syntax.cuda import CudaSource

_TABLE = {
    **carried("rocport_compat.h", "__nanosleep"),
    b"__trap": Shim(b"__builtin_trap"),
    b"__brkpt": Shim(b"__builtin_debugtrap"),
    b"__prof_trigger": Shim(b"(void)", note="an NVIDIA profiler event, left out"),
}

RULE = Rule(
    name="thread-control-intrinsic",
    summary="intrinsic that delays or stops a thread",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.REVIEW,
    phase=2,
    triggers=frozenset(_TABLE),
    claims=frozenset(_TABLE),
    examples=(
        Example("__device__ void f() { __nanosleep(100); }\n", contains=("rocport::nanosleep(100)",)),
        Example("__device__ void f() { __trap(); }\n", contains=("__builtin_trap()",)),
        Example("__device__ void f() { __prof_trigger(0); }\n", contains=("(void)(0);",)),
    ),
    clean=("void f() { __builtin_trap(); }\n",),
    sources=("https://docs.nvidia.com/cuda/cuda-c-programming-guide/#trap-function",),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    yield from rename(RULE, source, context, _TABLE)
