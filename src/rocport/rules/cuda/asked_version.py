"""A version asked at run time and compared with CUDA's: `cudaRuntimeGetVersion(&v); if (v >= 11020)`.

HIP answers with its own number (60443483 for 6.4.43483), its libraries with theirs, so that a test for a release of
CUDA is true for ever, or never. REVIEW at each comparison with a number, and where the number is taken apart
(`v / 1000`); a version that is only printed is left alone. Right when the question is what HIP can do.
"""

from __future__ import annotations

from collections.abc import Iterator

from rocport.binding.scopes import Scopes
from rocport.convergence.values import integer
from rocport.model import Applicability, Context, Example, Finding, Rule, Severity
from rocport.rules.cuda.common import finding
from rocport.rules.cuda.warp_common import amd_only
from rocport.syntax.cuda import CudaSource

_INTO = frozenset(
    b"cudaRuntimeGetVersion cudaDriverGetVersion cuDriverGetVersion cublasGetVersion cublasGetVersion_v2 "
    b"cufftGetVersion cusparseGetVersion curandGetVersion cusolverGetVersion nvrtcVersion".split()
)
_RETURNED = frozenset({b"cudnnGetVersion", b"cublasLtGetVersion", b"cudnnGetCudartVersion"})
_RELATIONS = frozenset({b"<", b"<=", b">", b">=", b"==", b"!="})

RULE = Rule(
    name="asked-version",
    summary="version asked at run time and compared with CUDA's",
    severity=Severity.WRONG_RESULT,
    applicability=Applicability.REVIEW,
    phase=5,
    triggers=_INTO | _RETURNED,
    examples=(
        Example("bool f() { int v = 0; cudaRuntimeGetVersion(&v); return v >= 11020; }\n", contains=("v >= 11020",)),
        Example("int f(int d) { cuDriverGetVersion(&d); int major = d / 1000; return major; }\n"),
        Example("bool f() { return cudnnGetVersion() >= 8000; }\n"),
        Example("struct S { int rt; bool f() { cudaRuntimeGetVersion(&rt); return 12000 > rt; } };\n"),
    ),
    clean=(
        'void f() { int v; cudaRuntimeGetVersion(&v); printf("%d.%d", v / 1000, v % 100 / 10); }\n',
        "bool f(int d, int r) { cudaDriverGetVersion(&d); cudaRuntimeGetVersion(&r); return d < r || r == 0; }\n",
        "bool f(int v) { return v >= 11020; }\nvoid g() { int w; cudaRuntimeGetVersion(&w); }\n",
    ),
    sources=(
        "hip/hip_version.h of ROCm 6.4: HIP_VERSION is HIP_VERSION_MAJOR * 10000000 + HIP_VERSION_MINOR * 100000 + "
        "HIP_VERSION_PATCH",
    ),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    scopes = Scopes(source)
    lines: set[int] = set()
    for position in sorted(_versions(source, scopes)):
        line = source.line(source.starts[position])
        if line not in lines and _decides(source, position) and not amd_only(source, position):
            lines.add(line)
            yield finding(
                RULE,
                source,
                position,
                "a version asked at run time: HIP answers with its own number, 60443483 for 6.4, and a test for a "
                "release of CUDA means nothing",
                fix="ask for the feature, or compare with HIP_VERSION on AMD",
            )


def _versions(source: CudaSource, scopes: Scopes) -> Iterator[int]:
    """The last tokens of expressions that hold a version."""
    for position in source.find(*_RETURNED):
        if source.at(position + 1) == b"(":
            yield source.pairs.get(position + 1, position)
    for position in source.find(*_INTO):
        close = source.pairs.get(position + 1, position)
        for at in range(position + 2, close):
            if source.at(at - 1) != b"&" or not source.is_ident(at) or source.at(at + 1) not in (b",", b")"):
                continue
            declared = scopes.visible(at)
            for use in source.index[source.at(at)]:
                seen = scopes.visible(use)
                if use > close and (seen.position if seen else 0) == (declared.position if declared else 0):
                    yield use


def _decides(source: CudaSource, last: int) -> bool:
    """True for `v >= 11020`, `11020 <= v`, and `= v / 1000`."""
    after = source.operator(last + 1)
    if after in (b"/", b"%"):
        return source.at(last - 1) in (b"=", b"return") or _taken_apart(source, last)
    if after in _RELATIONS:
        number = source.at(last + 2 + (after == b">="))
    elif source.operator_before(last) in _RELATIONS:
        number = source.at(last - 2 - (source.operator_before(last) == b">="))
    else:
        return False
    return (integer(number) or 0) >= 1000


def _taken_apart(source: CudaSource, last: int) -> bool:
    """True for `v / 1000 >= 11`."""
    return integer(source.at(last + 2)) is not None and source.operator(last + 3) in _RELATIONS
