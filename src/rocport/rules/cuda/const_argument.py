"""An argument that CUDA takes as a pointer to const and HIP does not: `cuMemcpyHtoD(d, host, n)` with a `const float
*host`. `hipMemcpyHtoD` of ROCm 6 takes a `void *`, to which no pointer to const converts, though it only reads there;
the arrays of pointers of `hipblasGemmBatchedEx` lack a const of CUDA's, too. The port casts the argument where it
stands. Right everywhere, and on releases that declare it as CUDA does.
"""

from __future__ import annotations

from collections.abc import Iterator

from rocport.model import Applicability, Context, Example, Finding, Rule, Severity
from rocport.rules.cuda.common import finding, insert
from rocport.rules.cuda.definitions import arguments
from rocport.syntax.cuda import CudaSource

_FROM_HOST = {1: b"(void *)"}
# Place of the argument -> the type that HIP takes.
_CALLS = {
    b"cuMemcpyHtoD": _FROM_HOST,
    b"cuMemcpyHtoD_v2": _FROM_HOST,
    b"cuMemcpyHtoDAsync": _FROM_HOST,
    b"cuMemcpyHtoDAsync_v2": _FROM_HOST,
    b"cublasGemmBatchedEx": {7: b"(const void **)", 10: b"(const void **)", 14: b"(void **)"},
}

RULE = Rule(
    name="const-argument",
    summary="argument that is const in CUDA and not in HIP",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.SAFE,
    phase=2,
    triggers=frozenset(_CALLS),
    examples=(
        Example(
            "void f(CUdeviceptr d, const float *h, int n) { cuMemcpyHtoD(d, h + 1, n); }\n",
            contains=("hipMemcpyHtoD(d, (void *)(h + 1), n)",),
        ),
    ),
    clean=(
        "void f(CUdeviceptr d, void *h, int n) { cuMemcpyHtoD(d, (void *)h, n); }\n",
        "int g = use(cuMemcpyHtoD);\n",
    ),
    sources=("hip/hip_runtime_api.h and hipblas/hipblas.h of ROCm 6.4",),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    for name, places in _CALLS.items():
        for position in source.find(name):
            call = source.call(position)
            directive = source.directive_of(position)
            if call is None or call.open != position + 1 or directive is not None:
                continue
            given = arguments(source, call.open, call.close)
            for place, type_ in places.items():
                if place >= len(given):
                    continue
                first, last = given[place]
                if first >= last or (source.at(first) == b"(" and source.at(first + 1) in (b"void", b"const")):
                    continue
                yield finding(
                    RULE,
                    source,
                    position,
                    f"argument {place + 1} of {name.decode()} is const in CUDA; HIP's takes {type_.decode()[1:-1]}",
                    edits=[
                        insert(source.starts[first], type_ + b"("),
                        insert(source.end(last - 1), b")"),
                    ],
                )
