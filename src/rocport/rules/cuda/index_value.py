"""`uint3 t = threadIdx;`, `f(blockDim)`, `dim3 g(size)`: CUDA's uint3 and dim3 become one another, HIP's do not.

In CUDA threadIdx and blockIdx are uint3, blockDim and gridDim dim3; in HIP they are of types of their own, which become
`dim3` and nothing else. A uint3 made of one, and a dim3 made of a variable that the file declares as a uint3 (and the
other way round), has its members written out; an argument and a returned value is handed on by an object of the port's
that becomes either. The values are the same everywhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from rocport.binding.scopes import Scopes
from rocport.model import Applicability, Context, Example, Finding, Rule, Severity
from rocport.rules.cuda.common import finding, insert, replace
from rocport.rules.cuda.definitions import returned_type
from rocport.syntax.cuda import CudaSource

INDICES = frozenset({b"threadIdx", b"blockIdx", b"blockDim", b"gridDim"})
_TYPES = {b"uint3": b"make_uint3", b"dim3": b"dim3"}
HEADER = "rocport_compat.h"

RULE = Rule(
    name="index-value",
    summary="threadIdx taken as a uint3",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.SAFE,
    phase=2,
    triggers=INDICES | _TYPES.keys() | set(_TYPES.values()),
    examples=(
        Example(
            "__device__ void f() { const uint3 t = threadIdx; }\n",
            contains=("t = make_uint3(threadIdx.x, threadIdx.y, threadIdx.z);",),
        ),
        Example("__device__ void f() { const uint3 &t = threadIdx; }\n", contains=("&t = make_uint3(threadIdx.x,",)),
        Example("__device__ void f() { uint3 b(blockIdx); }\n", contains=("b(make_uint3(blockIdx.x, blockIdx.y,",)),
        Example(
            "__device__ int g(uint3 i, dim3 d);\n__device__ int f() { return g(threadIdx, blockDim); }\n",
            contains=("g(rocport::coordinates(threadIdx), rocport::coordinates(blockDim))", '"rocport_compat.h"'),
        ),
        Example("__device__ uint3 f() { return blockIdx; }\n", contains=("return rocport::coordinates(blockIdx);",)),
        Example("__device__ void f() { uint3 b = blockDim; }\n", contains=("b = make_uint3(blockDim.x, blockDim.y,",)),
        Example(
            "void f(uint3 size) { dim3 g(size), h(1); dim3 i = size; k<<<size, 32>>>(); }\n",
            contains=("g(dim3(size.x, size.y, size.z)), h(1);", "i = dim3(size.x, size.y,", "k<<<dim3(size.x,"),
        ),
        Example("void f(dim3 d) { uint3 u = d; }\n", contains=("u = make_uint3(d.x, d.y, d.z);",)),
        Example(
            "__device__ uint3 f() { return dim3(1, 2); }\ndim3 g(uint3 u) { return u; }\n",
            contains=("return rocport::coordinates(dim3(1, 2));", "return dim3(u.x, u.y, u.z);"),
        ),
        Example("void f() { k<<<make_uint3(1, 2, 3), 32>>>(); }\n", contains=("<<<rocport::coordinates(make_uint3(",)),
        Example(
            "__device__ void f() { auto [x, y, z] = threadIdx; }\n", contains=("= rocport::coordinates(threadIdx);",)
        ),
    ),
    clean=(
        "__device__ void f() { dim3 t = threadIdx; auto u = blockIdx; }\n",
        "dim3 f(uint3 u) { dim3 d(1, 2); return dim3(u.x); }\nuint3 g() { uint3 u = make_uint3(1, 2, 3); return u; }\n",
        "__device__ int f() { return sizeof(threadIdx) + sizeof(decltype(blockIdx)); }\n",
        "void f(dim3 size) { dim3 g = size; uint3 u; k<<<size, 32>>>(); }\nvoid h(int size) { dim3 g(size); }\n",
        "__device__ int f(S s) { return g(s.threadIdx); }\n",
        "__device__ unsigned f() { return threadIdx.x; }\n",
    ),
    sources=("hip/amd_detail/amd_hip_runtime.h of ROCm 6.4: __hip_builtin_threadIdx_t",),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    for position in sorted(source.find(*INDICES)):
        if source.directive_of(position) is not None or source.at(position - 1) in (b".", b"->", b"::"):
            continue
        if source.at(position + 1) not in (b";", b",", b")", b"}"):
            continue
        name = source.at(position).decode()
        if _given_to(source, position, position + 1) == b"uint3":
            yield _written_out(source, position, b"make_uint3", f"{name} is no uint3 in HIP")
        elif _is_handed_on(source, position):
            yield finding(
                RULE,
                source,
                position,
                f"{name} is neither a uint3 nor a dim3 in HIP: an object of the port's becomes either",
                edits=[replace(source, position, b"rocport::coordinates(" + source.at(position) + b")")],
                headers=[HEADER],
            )
    yield from _of_the_other(source)


def _of_the_other(source: CudaSource) -> Iterator[Finding]:
    """`dim3 g(size)` and a launch's `<<<size, ...>>>` of a uint3, `uint3 u = d` of a dim3, what a function returns."""
    names = {source.at(at + 1) for type_ in _TYPES for at in source.find(type_) if source.is_ident(at + 1)}
    launched = {part for launch in source.launches for part in launch.config[:2]}
    for position in sorted(at for name in names for at in source.index.get(name, ())):
        wanted = _wanted(source, position, position + 1, launched)
        own = _declared_as(source, position) if wanted else b""
        if own and own != wanted:
            yield _written_out(source, position, _TYPES[wanted], f"{source.at(position).decode()} is a {own.decode()}")
    for own, maker in _TYPES.items():
        for position in source.find(maker):
            close = source.pairs.get(position + 1)
            if close is None or _wanted(source, position, close + 1, launched) in (b"", own):
                continue
            yield finding(
                RULE,
                source,
                position,
                f"a {own.decode()} becomes no other type in HIP: an object of the port's does",
                last=close,
                edits=[
                    insert(source.starts[position], b"rocport::coordinates("),
                    insert(source.end(close), b")"),
                ],
                headers=[HEADER],
            )


def _wanted(source: CudaSource, first: int, last: int, launched: set[tuple[int, int]]) -> bytes:
    """`uint3` or `dim3` where the tokens [first, last) are all that a value of that type is made of; else empty."""
    if (first, last) in launched:
        return b"dim3"
    if source.at(first - 1) == b"return" and source.at(last) == b";":
        type_ = returned_type(source, _scopes(source), first)
        return type_ if type_ in _TYPES else b""
    return _given_to(source, first, last)


def _given_to(source: CudaSource, first: int, last: int) -> bytes:
    """`uint3` or `dim3` for the tokens of `uint3 t = x;` and `uint3 t(x)`, of a later declarator too; else empty."""
    if source.at(first - 1) not in (b"=", b"(", b"{") or source.at(last) not in (b";", b",", b")", b"}"):
        return b""
    at = first - 2
    if not source.is_ident(at):
        return b""
    while source.at(at - 1) == b",":
        at = source.pairs.get(at - 2, at - 1) - 1 if source.at(at - 2) in (b")", b"}") else at - 2
    at -= 1
    while source.at(at) in (b"&", b"const"):
        at -= 1
    return source.at(at) if source.at(at) in _TYPES else b""


def _is_handed_on(source: CudaSource, position: int) -> bool:
    """True for an argument of a call, for what is returned, and for what a structured binding takes apart."""
    before = source.at(position - 1)
    if before == b"return" or (before == b"=" and source.at(position - 2) == b"]" and _binds(source, position - 2)):
        return source.at(position + 1) == b";"
    if before not in (b"(", b",") or source.at(position + 1) not in (b",", b")"):
        return False
    at = position - 1
    while source.at(at) not in (b"(", b";", b"{", b"}", b""):
        at = source.pairs.get(at, at) - 1 if source.at(at) in (b")", b"]", b"}") else at - 1
    called = source.at(at - 1)
    return source.at(at) == b"(" and source.is_ident(at - 1) and called not in _NO_CALLS


def _binds(source: CudaSource, close: int) -> bool:
    """True for the `]` of `auto [x, y, z]`."""
    before = source.pairs.get(close, 0) - 1
    return source.at(before) == b"auto" or (source.at(before) in (b"&", b"&&") and source.at(before - 1) == b"auto")


_NO_CALLS = frozenset({b"sizeof", b"decltype", b"if", b"while", b"switch", b"return", b"dim3", b"alignof", b"typeof"})


def _declared_as(source: CudaSource, position: int) -> bytes:
    """`uint3` or `dim3` where the innermost declaration of the name is of that type, as a parameter or a local."""
    seen = _scopes(source).visible(position)
    type_ = source.at(seen.position - 1) if seen is not None else b""
    return type_ if type_ in _TYPES else b""


@lru_cache(maxsize=2)
def _scopes(source: CudaSource) -> Scopes:
    return Scopes(source)


def _written_out(source: CudaSource, position: int, maker: bytes, what: str) -> Finding:
    name = source.at(position)
    members = b", ".join(name + b"." + member for member in (b"x", b"y", b"z"))
    return finding(
        RULE,
        source,
        position,
        f"{what}: its members are written out",
        edits=[replace(source, position, maker + b"(" + members + b")")],
    )
