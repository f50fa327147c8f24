"""The integer dot products `__dp4a`, `__dp2a_lo` and `__dp2a_hi` are missing in HIP.
The port calls plain C++ that computes the same; the compiler uses the dot-product instructions of targets that have
them.
"""

from __future__ import annotations

from collections.abc import Iterator

from rocport.model import Applicability, Context, Example, Finding, Rule, Severity
from rocport.rules.cuda.shims import carried, rename
from rocport.syntax.cuda import CudaSource

_TABLE = carried("rocport_compat.h", "__dp4a", "__dp2a_lo", "__dp2a_hi", "__fns")

RULE = Rule(
    name="dot-product-intrinsic",
    summary="integer dot product intrinsic",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.SAFE,
    phase=2,
    triggers=frozenset(_TABLE),
    claims=frozenset(_TABLE),
    examples=(
        Example(
            "__device__ int f(int a, int b, int c) { return __dp4a(a, b, c); }\n", contains=("rocport::dp4a(a, b, c)",)
        ),
    ),
    clean=("__device__ int __dp4a(int a, int b, int c) { return a * b + c; }\n",),
    sources=("https://docs.nvidia.com/cuda/cuda-math-api/cuda_math_api/group__CUDA__MATH__INTRINSIC__INT.html",),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    yield from rename(RULE, source, context, _TABLE)
