"""`atomicAdd` of `float2` and `float4` (sm_90) is not in HIP.

CUDA adds each element atomically, and not the vector as a whole; the port's overload does the same, element by element.
Right everywhere that CUDA's is. A file that calls it with a vector gets the overload beside HIP's.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from rocport.model import Applicability, Context, Example, Finding, Rule, Severity
from rocport.rules.cuda.common import finding
from rocport.rules.cuda.definitions import arguments, definition_start, parameters
from rocport.syntax.cuda import CudaSource, Function

_TYPES = frozenset({b"float2", b"float4"})
_MAKERS = frozenset({b"make_float2", b"make_float4"})

RULE = Rule(
    name="vector-atomic",
    summary="atomicAdd of a vector",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.SAFE,
    phase=2,
    triggers=_TYPES | _MAKERS,
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
    if any(source.at(function.name) == b"atomicAdd" and _of_vectors(source, function) for function in source.functions):
        return
    for position in source.find(b"atomicAdd"):
        call = source.call(position)
        if call is None or source.at(position - 1) in (b".", b"->") or source.qualified(position):
            continue
        given = arguments(source, call.open, call.close)
        if len(given) == 2 and (_is_vector(source, *given[1]) or _is_pointer(source, *given[0])):
            yield finding(
                RULE,
                source,
                position,
                "atomicAdd of a vector is not in HIP; rocport_compat.h adds each element atomically, as CUDA does",
                headers=["rocport_compat.h"],
            )
            return


def _of_vectors(source: CudaSource, function: Function) -> bool:
    """True for the program's own for vectors, and for one that takes any type."""
    types = {type_.rstrip(b"*") for type_, _ in parameters(source, *function.params)}
    start = definition_start(source, function.name)
    return not types.isdisjoint(_TYPES) or b"template" in source.texts[start : function.name]


def _is_vector(source: CudaSource, first: int, last: int) -> bool:
    """True for `make_float4(...)`, `float2{1, 2}`, a cast to a vector's pointer that is read, and for a variable, an
    element and a member that the file declares as a vector."""
    begins = source.at(first)
    if begins in _MAKERS | _TYPES:
        return True
    if source.is_ident(last - 1):
        return (last == first + 1 or source.at(last - 2) in (b".", b"->")) and _declared(source, last - 1, b"")
    element = source.at(last - 1) == b"]"
    if begins != b"*" and not element:
        return False
    if not _TYPES.isdisjoint(source.texts[first:last]):
        return True
    name = source.pairs.get(last - 1, last) - 1 if element else first + 1
    return source.is_ident(name) and (_declared(source, name, b"*") or (element and _declared(source, name, b"")))


def _is_pointer(source: CudaSource, first: int, last: int) -> bool:
    """True for `a`, `a + i` and `&a[i]` of a pointer to vectors or of an array of them."""
    if source.at(first) == b"&":
        return source.at(first + 1) != b"*" and _is_vector(source, first + 1, last)
    plain = last == first + 1 or source.at(first + 1) in (b"+", b"-")
    return plain and source.is_ident(first) and _declared(source, first, b"*")


def _declared(source: CudaSource, at: int, between: bytes) -> bool:
    """True for a name that is declared `float2 name` (`float2 *name` with a star between), or got a vector with `auto`:
    in the function, where it declares the name at all."""
    function = source.enclosing(at)
    span = (function.params[0], function.body[1]) if function is not None and function.body is not None else (0, 0)
    return _declared_in(source, source.at(at), between, span)


@lru_cache(maxsize=16)
def _declared_in(source: CudaSource, name: bytes, between: bytes, span: tuple[int, int]) -> bool:
    places = source.index.get(name, ())
    inside = [i for i in places if span[0] < i < span[1] and _types(source, i) is not None]
    return any(_types(source, i) == between or (not between and _gets(source, i)) for i in inside or places)


def _types(source: CudaSource, at: int) -> bytes | None:
    """What stands between a type and the name it declares; `other` where the type is no vector, None for no type."""
    before, between = at - 1, b""
    while source.at(before) in (b"*", b"&", b"const", b"__restrict__"):
        between += source.at(before) if source.at(before) == b"*" else b""
        before -= 1
    if not source.is_ident(before) or source.at(before) in (b"return", b"else", b"case"):
        return None
    return between if source.at(before) in _TYPES else b"other"


def _gets(source: CudaSource, at: int) -> bool:
    return source.at(at - 1) == b"auto" and source.at(at + 1) == b"=" and source.at(at + 2) in _MAKERS | _TYPES
