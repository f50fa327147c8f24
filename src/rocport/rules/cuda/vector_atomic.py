"""`atomicAdd` of `float2` and `float4` (sm_90) is not in HIP.

CUDA adds each element atomically, and not the vector as a whole; the port's overload does the same, element by element.
Right everywhere that CUDA's is. A file that calls it with a vector gets the overload beside HIP's.
"""

from __future__ import annotations

from collections.abc import Iterator

from rocport.model import Applicability, Context, Example, Finding, Rule, Severity
from rocport.rules.cuda.common import finding
from rocport.rules.cuda.definitions import arguments
from rocport.syntax.cuda import CudaSource

_TYPES = frozenset({b"float2", b"float4"})
_MAKERS = frozenset({b"make_float2", b"make_float4"})

RULE = Rule(
    name="vector-atomic",
    summary="atomicAdd of a vector",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.SAFE,
    phase=2,
    triggers=_TYPES,
    examples=(
        Example(
            "__device__ void f(float2 *a) { atomicAdd(a, make_float2(1, 2)); }\n",
            contains=("atomicAdd(a, make_float2(1, 2))", '#include "rocport_compat.h"'),
        ),
        Example(
            "__device__ void f(float4 *a, float4 v) { atomicAdd(&a[1], v); }\n",
            contains=('#include "rocport_compat.h"',),
        ),
    ),
    clean=(
        "__device__ void f(float2 *a, float2 v) { atomicAdd(&a->x, v.x); atomicAdd(&a->y, v.y); }\n",
        "__device__ void atomicAdd(float4 *a, float4 v) { *a = v; }\n",
        "__device__ void atomicAdd(float2 *a, float2 v) { *a = v; }\n"
        "__device__ void f(float2 *a) { atomicAdd(a, make_float2(1, 2)); }\n",
    ),
    sources=("https://docs.nvidia.com/cuda/cuda-c-programming-guide/#atomicadd",),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    if any(source.at(function.name) == b"atomicAdd" for function in source.functions):
        return
    for position in source.find(b"atomicAdd"):
        call = source.call(position)
        if call is None or source.at(position - 1) in (b".", b"->") or source.qualified(position):
            continue
        given = arguments(source, call.open, call.close)
        if len(given) == 2 and _is_vector(source, *given[1]):
            yield finding(
                RULE,
                source,
                position,
                "atomicAdd of a vector is not in HIP; rocport_compat.h adds each element atomically, as CUDA does",
                headers=["rocport_compat.h"],
            )
            return


def _is_vector(source: CudaSource, first: int, last: int) -> bool:
    """True for `make_float4(...)` and for the name of a vector that the file declares."""
    if source.at(first) in _MAKERS:
        return True
    if last != first + 1:
        return False
    return any(source.at(at - 1) in _TYPES for at in source.index.get(source.at(first), ()))
