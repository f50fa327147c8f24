"""hipBLAS of ROCm 6 shows cuBLAS's interface only to programs that ask for it, before they include it.
Without `HIPBLAS_V2` its `Ex` functions take `hipblasDatatype_t` and complex types of their own, and without
`HIPBLAS_USE_HIP_HALF` half is an integer: `cublasGemmEx(..., CUDA_R_16F, ...)` and `cublasHgemm` do not compile after
the names are translated. The port includes hipBLAS through a header that asks for it, first thing in every file that
includes cuBLAS, or gets it from PyTorch's headers and calls one of those functions. Right everywhere: since ROCm 7
there is no other interface.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from rocport.facts.symbols import load
from rocport.model import Applicability, Context, Example, Finding, Rule, Severity
from rocport.rules.cuda.common import finding
from rocport.syntax.cuda import IDENTIFIER, CudaSource


@cache
def _headers() -> frozenset[str]:
    """The CUDA headers whose counterpart is hipblas.h."""
    return frozenset(name for name, symbol in load().headers.items() if symbol.hip == "hipblas/hipblas.h")


@cache
def _calls() -> frozenset[bytes]:
    """Functions of cuBLAS whose parameters have other types in hipBLAS's old interface: half, complex, `Ex`."""
    return frozenset(
        name
        for name, symbol in load().identifiers.items()
        if symbol.library == "cublas" and re.match(rb"cublas(?:[HCZ][a-z]|\w*Ex\b)", name)
    )


_TORCH = re.compile(rb"^[ \t]*#[ \t]*include[ \t]*[<\"](?:torch|ATen|c10)/", re.M)

RULE = Rule(
    name="blas-interface",
    summary="cuBLAS include",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.SAFE,
    phase=2,
    triggers=frozenset(word for name in _headers() for word in IDENTIFIER.findall(name.encode()) if word != b"h")
    | _calls(),
    examples=(
        Example(
            "#include <vector>\n#include <cublas_v2.h>\n",
            contains=('#include "rocport_hipblas.h"\n#include <vector>',),
        ),
        Example(
            "#include <ATen/cuda/CUDAContext.h>\nvoid f() { cublasHgemm(h, a, b, 1, 1, 1, p, q, 1, r, 1, s, t, 1); }\n",
            contains=('#include "rocport_hipblas.h"\n#if __has_include(<ATen',),
        ),
    ),
    clean=('#include "my_cublas_v2.h"\n', "// cublas_v2 is not used\nint x;\n"),
    sources=("hipblas/hipblas.h of ROCm 6.4",),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    for directive in source.directives:
        if directive.name != b"include":
            continue
        name = source.text(directive.first + 2, directive.last).strip(b' <>"').decode("utf-8", "replace")
        if name in _headers() and name not in context.project.files:
            yield finding(
                RULE,
                source,
                directive.first,
                f"{name}: hipBLAS is asked for the interface that cuBLAS has",
                last=directive.last - 1,
                headers=["rocport_hipblas.h"],
            )
            return
    call = next(iter(sorted(source.find(*_calls()))), None) if _TORCH.search(source.data) else None
    if call is not None:
        yield finding(
            RULE,
            source,
            call,
            f"{source.texts[call].decode()}: hipBLAS is asked for cuBLAS's interface before PyTorch includes it",
            headers=["rocport_hipblas.h"],
        )
