"""Arithmetic rounded down, up or towards zero (`__fadd_rz`, `__dmul_ru`, `__fma_rd`, ...) is missing in HIP.
HIP has the `_rn` forms only: the functions for the other directions are compiled out of its headers. The port calls
functions that correct the nearest result by the sign of its exact error, which gives CUDA's result bit for bit;
interval arithmetic keeps its guarantees. They cost several instructions where CUDA has one.
"""

from __future__ import annotations

from collections.abc import Iterator

from rocport.model import Applicability, Context, Example, Finding, Rule, Severity
from rocport.rules.cuda.shims import carried, rename
from rocport.syntax.cuda import CudaSource

_TABLE = carried(
    "rocport_compat.h",
    *(
        "__fadd_rd",
        "__fadd_ru",
        "__fadd_rz",
        "__fsub_rd",
        "__fsub_ru",
        "__fsub_rz",
        "__fmul_rd",
        "__fmul_ru",
        "__fmul_rz",
        "__fdiv_rd",
        "__fdiv_ru",
        "__fdiv_rz",
        "__fmaf_rd",
        "__fmaf_ru",
        "__fmaf_rz",
        "__frcp_rd",
        "__frcp_ru",
        "__frcp_rz",
        "__fsqrt_rd",
        "__fsqrt_ru",
        "__fsqrt_rz",
        "__dadd_rd",
        "__dadd_ru",
        "__dadd_rz",
        "__dsub_rd",
        "__dsub_ru",
        "__dsub_rz",
        "__dmul_rd",
        "__dmul_ru",
        "__dmul_rz",
        "__ddiv_rd",
        "__ddiv_ru",
        "__ddiv_rz",
        "__fma_rd",
        "__fma_ru",
        "__fma_rz",
        "__drcp_rd",
        "__drcp_ru",
        "__drcp_rz",
        "__dsqrt_rd",
        "__dsqrt_ru",
        "__dsqrt_rz",
    ),
)

RULE = Rule(
    name="directed-rounding",
    summary="arithmetic in a rounding mode other than nearest",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.SAFE,
    phase=2,
    triggers=frozenset(_TABLE),
    claims=frozenset(_TABLE),
    examples=(
        Example(
            "__device__ float f(float a, float b) { return __fadd_rz(a, b); }\n",
            contains=("rocport::fadd_rz(a, b)",),
        ),
    ),
    clean=("__device__ float f(float a, float b) { return __fadd_rn(a, b); }\n",),
    sources=("hip/amd_detail/amd_device_functions.h and __clang_hip_math.h: OCML_BASIC_ROUNDED_OPERATIONS",),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    yield from rename(RULE, source, context, _TABLE)
