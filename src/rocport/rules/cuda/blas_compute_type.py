"""The compute type of `cublasGemmEx` given as a data type: `CUDA_R_32F` where hipBLAS wants `HIPBLAS_COMPUTE_32F`.
cuBLAS 11 and later take either, by an overload for old programs. hipBLAS has one function with an enumerator of its
own, so `cudaDataType_t compute_type = CUDA_R_16F;` does not convert and the call does not compile (tried with the
headers of 6.4). The port converts where the call is, as cuBLAS's overload does: `CUDA_R_16F` is `COMPUTE_16F`, and
so for 32F, 64F and 32I. Right everywhere; a value that cuBLAS refuses is refused by hipBLAS, too: SAFE. C has no
overloads and converts one enumeration to the other in silence, to a value that means something else: MANUAL.
"""

from __future__ import annotations

from collections.abc import Iterator

from rocport.model import Applicability, Context, Example, Finding, Rule, Severity
from rocport.rules.cuda.common import finding, insert
from rocport.syntax.cuda import CudaSource

# Place of the compute type among the arguments.
_CALLS = {b"cublasGemmEx": 17, b"cublasGemmBatchedEx": 18, b"cublasGemmStridedBatchedEx": 21}
_DATA_TYPES = frozenset({b"cudaDataType_t", b"cudaDataType"})

RULE = Rule(
    name="blas-compute-type",
    summary="compute type of a product given as a data type",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.MANUAL,
    phase=2,
    triggers=frozenset(_CALLS),
    examples=(
        Example(
            "void f() { cudaDataType_t compute = CUDA_R_32F;\n"
            "cublasGemmEx(h, a, b, m, n, k, &x, A, d, l, B, d, l, &y, C, d, l, compute, g); }\n",
            contains=("rocport::compute_type(compute), g)", "hipDataType compute = HIP_R_32F;"),
        ),
        Example(
            "void f() { cublasGemmEx(h, a, b, m, n, k, &x, A, d, l, B, d, l, &y, C, d, l, CUDA_R_32F, g); }\n",
            contains=("rocport::compute_type(HIP_R_32F), g)", '#include "rocport_hipblas.h"'),
        ),
        Example(
            "void f() { cublasGemmEx(h, a, b, m, n, k, &x, A, d, l, B, d, l, &y, C, d, l, CUDA_R_32F, g); }\n",
            absent=("rocport",),
            path="gemm.c",
        ),
    ),
    clean=(
        "void f() { cublasGemmEx(h, a, b, m, n, k, &x, A, d, l, B, d, l, &y, C, d, l, CUBLAS_COMPUTE_32F, g); }\n",
        "void f(cublasComputeType_t t) { cudaDataType_t d = CUDA_R_16F;\n"
        "cublasGemmEx(h, a, b, m, n, k, &x, A, d, l, B, d, l, &y, C, d, l, t, g); }\n",
    ),
    sources=("hipblas/hipblas.h of ROCm 6.4", "https://docs.nvidia.com/cuda/cublas/index.html#cublasgemmex"),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    texts = source.texts
    given = {
        texts[position + 1]
        for kind in _DATA_TYPES
        for position in source.positions(kind)
        if source.at(position + 2) in (b"=", b";", b",", b")")
    }
    for name, place in _CALLS.items():
        for position in source.find(name):
            if source.at(position + 1) != b"(" or position + 1 not in source.pairs:
                continue
            argument = _argument(source, position + 1, place)
            if argument is not None and (texts[argument].startswith(b"CUDA_R_") or texts[argument] in given):
                yield _finding(source, argument)


def _argument(source: CudaSource, open_: int, place: int) -> int | None:
    """Index of the only token of an argument; None where it is an expression or missing."""
    close = source.pairs[open_]
    at, count = open_ + 1, 0
    while at < close:
        text = source.texts[at]
        if text in (b"(", b"[", b"{"):
            at = source.pairs.get(at, close)
        elif text == b",":
            count += 1
            if count == place:
                return at + 1 if source.at(at + 2) in (b",", b")") else None
        at += 1
    return None


def _finding(source: CudaSource, position: int) -> Finding:
    if source.path.endswith(".c"):
        return finding(
            RULE,
            source,
            position,
            f"{source.texts[position].decode()} as compute type: hipBLAS takes its own, and C converts in silence",
            applicability=Applicability.MANUAL,
            severity=Severity.WRONG_RESULT,
            fix="give HIPBLAS_COMPUTE_16F, _32F, _64F or _32I",
        )
    return finding(
        RULE,
        source,
        position,
        f"{source.texts[position].decode()} as compute type: hipBLAS takes its own enumerator only, the port converts",
        applicability=Applicability.SAFE,
        edits=[insert(source.starts[position], b"rocport::compute_type("), insert(source.end(position), b")")],
        headers=["rocport_hipblas.h"],
    )
