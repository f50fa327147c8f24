"""Atomics over a block (`atomicAdd_block`) are missing in HIP, and those over the system for some types and operations.
The port calls Clang's scoped atomics with the same scope and relaxed order, as CUDA's are. System-wide atomics on
memory that is not fine-grained (plain `hipMalloc`) are only atomic for one GPU, on CUDA as on AMD with the same
allocation: use `hipHostMalloc` or managed memory for memory that the host or another GPU updates too.
"""

from __future__ import annotations

from collections.abc import Iterator

from rocport.model import Applicability, Context, Example, Finding, Rule, Severity
from rocport.rules.cuda.shims import carried, rename
from rocport.syntax.cuda import CudaSource

_OPERATIONS = ("Add", "Sub", "Exch", "Min", "Max", "Inc", "Dec", "CAS", "And", "Or", "Xor")
_TABLE = carried(
    "rocport_compat.h",
    *(f"atomic{operation}_{scope}" for operation in _OPERATIONS for scope in ("block", "system")),
)

RULE = Rule(
    name="scoped-atomic",
    summary="atomic over a block or over the system",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.SAFE,
    phase=2,
    triggers=frozenset(_TABLE),
    claims=frozenset(_TABLE),
    examples=(
        Example(
            "__device__ int f(int *a) { return atomicAdd_block(a, 1); }\n", contains=("rocport::atomicAdd_block(a, 1)",)
        ),
    ),
    clean=("__device__ int f(int *a) { return atomicAdd(a, 1); }\n",),
    sources=("https://docs.nvidia.com/cuda/cuda-c-programming-guide/#atomic-functions",),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    yield from rename(RULE, source, context, _TABLE)
