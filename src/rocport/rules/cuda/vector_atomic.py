"""`atomicAdd` of `float2` and `float4` (sm_90) is not in HIP.

CUDA adds each element atomically, and not the vector as a whole; the port's overload does the same, element by element.
Right everywhere that CUDA's is. A file that calls it with a vector gets the overload beside HIP's, and so does one that
names vectors and calls it with what is of no scalar type by its declaration: an alias, a parameter of a template or a
macro, a list in braces. The overload takes nothing but `float2` and `float4`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from rocport.model import Applicability, Context, Example, Finding, Rule, Severity
from rocport.rules.cuda.common import finding
from rocport.rules.cuda.definitions import arguments, parameters
from rocport.syntax.cuda import NUMBER, CudaSource, Function, between, kind_of
from rocport.syntax.declarations import definition_start

_TYPES = frozenset({b"float2", b"float4"})
_MAKERS = frozenset({b"make_float2", b"make_float4"})
_SCALARS = frozenset(
    b"int unsigned long short char float double half __half __half2 half2 __nv_bfloat16 __nv_bfloat162 size_t uint "
    b"ulong int32_t uint32_t int64_t uint64_t bool uint8_t int8_t".split()
)
_NAMED_VECTOR = re.compile(rb"\w*[a-z](?:2|4)(?:_t)?\Z")

RULE = Rule(
    name="vector-atomic",
    summary="atomicAdd of a vector",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.SAFE,
    phase=2,
    triggers=frozenset({b"atomicAdd"}),
    examples=(
        Example(
            "__device__ void f(float2 *a) { atomicAdd(a, make_float2(1, 2)); }\n",
            contains=("atomicAdd(a, make_float2(1, 2))", '#include "rocport_compat.h"'),
        ),
        Example(
            "__device__ void f(float4 *a, float4 v) { atomicAdd(&a[1], v); }\n",
            contains=('#include "rocport_compat.h"',),
        ),
        Example(
            "using V = float2;\n__device__ void f(V *a, V v) { atomicAdd(a, v); }\n", contains=("rocport_compat.h",)
        ),
        Example("#define ADD(a, v) atomicAdd(a, v)\n__device__ float4 z;\n", contains=("rocport_compat.h",)),
        Example(
            "__device__ float2 z;\n__device__ void f() { atomicAdd(&z, {1, 2}); }\n", contains=("rocport_compat.h",)
        ),
        Example("__device__ void f(real4 *a, real4 v) { atomicAdd(a + 1, v); }\n", contains=("rocport_compat.h",)),
    ),
    clean=(
        "__device__ void f(float2 *a, float2 v) { atomicAdd(&a->x, v.x); atomicAdd(&a->y, v.y); }\n",
        "__device__ void atomicAdd(float4 *a, float4 v) { *a = v; }\n",
        "__device__ void atomicAdd(float2 *a, float2 v) { *a = v; }\n"
        "__device__ void f(float2 *a) { atomicAdd(a, make_float2(1, 2)); }\n",
        "__device__ float2 z;\n__device__ void f(int *a, int v, int *n) { atomicAdd(&a[1], v); atomicAdd(n, 1); }\n",
        "template <class T> __device__ void f(T *a, T v) { atomicAdd(a, v); }\n",
    ),
    sources=("https://docs.nvidia.com/cuda/cuda-c-programming-guide/#atomicadd",),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    if any(source.at(function.name) == b"atomicAdd" and _of_vectors(source, function) for function in source.functions):
        return
    vectors = not (_TYPES | _MAKERS).isdisjoint(source.names)
    for position in source.find(b"atomicAdd"):
        call = source.call(position)
        if call is None or source.at(position - 1) in (b".", b"->") or source.qualified(position):
            continue
        given = arguments(source, call.open, call.close)
        if len(given) != 2 or any(first >= last for first, last in given):
            continue
        kinds = [_kind(source, *one) for one in given]
        if b"vector" not in kinds and (b"scalar" in kinds or not (vectors or b"named" in kinds)):
            continue
        yield finding(
            RULE,
            source,
            position,
            "atomicAdd of a vector is not in HIP; rocport_compat.h adds each element atomically, as CUDA does"
            if b"vector" in kinds
            else "what is added may be a vector, for which HIP has no atomicAdd: rocport_compat.h has one",
            headers=["rocport_compat.h"],
        )
        return


def _of_vectors(source: CudaSource, function: Function) -> bool:
    """True for the program's own for vectors, and for one that takes any type."""
    types = {type_.rstrip(b"*") for type_, _ in parameters(source, *function.params)}
    start = definition_start(source, function.name)
    return not types.isdisjoint(_TYPES) or b"template" in source.texts[start : function.name]


def _kind(source: CudaSource, first: int, last: int) -> bytes:
    """`vector`, `scalar`, `named` (declared with a type that is named like a vector) or empty for an argument."""
    texts = source.texts[first:last]
    if len(texts) > 1 and texts[-2] in (b".", b"->") and texts[-1] in (b"x", b"y", b"z", b"w"):
        return b"scalar"
    if texts[0] in _MAKERS | _TYPES or (b"*" in texts and not _TYPES.isdisjoint(texts)):
        return b"vector"
    if (
        kind_of(texts[0]) == NUMBER
        or (texts[0] == b"(" and texts[1:2] and texts[1] in _SCALARS)
        or texts[0] in _SCALARS
    ):
        return b"scalar"
    at = first
    while source.at(at) in (b"&", b"*", b"("):
        at += 1
    while source.at(at + 1) in (b".", b"->") and at + 2 < last:
        at += 2
    return _declared(source, at) if at < last and source.is_ident(at) else b""


def _declared(source: CudaSource, at: int) -> bytes:
    """Of what kind the type is with which a name is declared, in the function where it declares the name at all."""
    function = source.enclosing(at)
    span = (function.params[0], function.body[1]) if function is not None and function.body is not None else (0, 0)
    return _declared_in(source, source.at(at), span)


@lru_cache(maxsize=16)
def _declared_in(source: CudaSource, name: bytes, span: tuple[int, int]) -> bytes:
    places, types, all_kinds = _types_of(source, name)
    kinds = {types[at] for at in between(places, span[0] + 1, span[1])} or all_kinds
    return next((kind for kind in (b"vector", b"named", b"scalar") if kind in kinds), b"")


@lru_cache(maxsize=16)
def _types_of(source: CudaSource, name: bytes) -> tuple[list[int], dict[int, bytes], set[bytes]]:
    """Where a name is declared, of what kind the type is at each of these places, and all kinds."""
    found = ((at, _type(source, at)) for at in source.index.get(name, ()))
    types = {at: kind for at, kind in found if kind is not None}
    return list(types), types, set(types.values())


def _type(source: CudaSource, at: int) -> bytes | None:
    """What the type before the name that it declares is; None where no type stands there."""
    before = at - 1
    while source.at(before) in (b"*", b"&", b"const", b"__restrict__", b"volatile"):
        before -= 1
    text = source.at(before)
    if not source.is_ident(before) or text in (b"return", b"else", b"case"):
        return None
    if text == b"auto" and source.at(at + 1) == b"=":
        text = source.at(at + 2)
    if text in _TYPES | _MAKERS:
        return b"vector"
    if text in _SCALARS:
        return b"scalar"
    return b"named" if _NAMED_VECTOR.match(text) else b""
