"""Atomics over a block (`atomicAdd_block`) are missing in HIP, and those over the system for some types and operations.
The port calls Clang's scoped atomics with the same scope and relaxed order, as CUDA's are. System-wide atomics on
memory that is not fine-grained (plain `hipMalloc`) are only atomic for one GPU, on CUDA as on AMD with the same
allocation: use `hipHostMalloc` or managed memory for memory that the host or another GPU updates too.

`atomicCAS` of 16 bits is not in HIP either: a file that calls it and speaks of 16-bit types gets the header's.
"""

from __future__ import annotations

from collections.abc import Iterator

from rocport.model import Applicability, Context, Example, Finding, Rule, Severity
from rocport.rules.cuda.common import finding
from rocport.rules.cuda.shims import carried, rename
from rocport.syntax.cuda import CudaSource

_OPERATIONS = ("Add", "Sub", "Exch", "Min", "Max", "Inc", "Dec", "CAS", "And", "Or", "Xor")
_TABLE = carried(
    "rocport_compat.h",
    *(f"atomic{operation}_{scope}" for operation in _OPERATIONS for scope in ("block", "system")),
)
_SHORT = frozenset({b"short", b"ushort", b"uint16_t"})

RULE = Rule(
    name="scoped-atomic",
    summary="atomic over a block or over the system",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.SAFE,
    phase=2,
    triggers=frozenset({*_TABLE, b"atomicCAS"}),
    claims=frozenset(_TABLE),
    examples=(
        Example(
            "__device__ int f(int *a) { return atomicAdd_block(a, 1); }\n", contains=("rocport::atomicAdd_block(a, 1)",)
        ),
        Example(
            "__device__ void f(unsigned short *a) { while (atomicCAS(a, 0, 1) == 2) { } }\n",
            contains=("atomicCAS(a, 0, 1)", '#include "rocport_compat.h"'),
        ),
    ),
    clean=(
        "__device__ int f(int *a) { return atomicAdd(a, 1); }\n",
        "__device__ int f(int *a) { return atomicCAS(a, 1, 2); }\n",
    ),
    sources=("https://docs.nvidia.com/cuda/cuda-c-programming-guide/#atomic-functions",),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    yield from rename(RULE, source, context, _TABLE)
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
