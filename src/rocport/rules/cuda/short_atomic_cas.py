"""`atomicCAS` of 16 bits is not in HIP, which has it for 32 and 64.

A file that calls it and speaks of 16-bit types gets the port's overload beside HIP's. Right everywhere.
"""

from __future__ import annotations

from collections.abc import Iterator

from rocport.model import Applicability, Context, Example, Finding, Rule, Severity
from rocport.rules.cuda.common import finding
from rocport.syntax.cuda import CudaSource

_SHORT = frozenset({b"short", b"ushort", b"uint16_t"})

RULE = Rule(
    name="short-atomic-cas",
    summary="atomicCAS of 16 bits",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.SAFE,
    phase=2,
    triggers=frozenset({b"atomicCAS"}),
    examples=(
        Example(
            "__device__ void f(unsigned short *a) { while (atomicCAS(a, 0, 1) == 2) { } }\n",
            contains=("atomicCAS(a, 0, 1)", '#include "rocport_compat.h"'),
        ),
    ),
    clean=("__device__ int f(int *a) { return atomicCAS(a, 1, 2); }\n",),
    sources=("https://docs.nvidia.com/cuda/cuda-c-programming-guide/#atomic-functions",),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    if not source.names & _SHORT:
        return
    for position in source.find(b"atomicCAS"):
        if source.at(position + 1) != b"(" or source.at(position - 1) in (b".", b"->") or source.qualified(position):
            continue
        yield finding(
            RULE,
            source,
            position,
            "atomicCAS of 16 bits is not in HIP; rocport_compat.h has it beside HIP's of 32 and 64 bits",
            applicability=Applicability.SAFE,
            headers=["rocport_compat.h"],
        )
        return
