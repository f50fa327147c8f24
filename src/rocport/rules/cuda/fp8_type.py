"""CUDA's fp8 types have OCP encodings; HIP's OCP functions fail, or give other bits, in device code for gfx942.
The matrix units of gfx942 use fnuz encodings: the same byte stands for another number, and the largest E4M3 number is
240, not 448. HIP 6.4 marks the OCP types host-only there, and its OCP conversion functions use the fnuz instruction
once assertions are off. The port takes CUDA's types and conversions from a header of its own that has CUDA's encodings
on every target; data stays exchangeable with CUDA. They are integer code: REVIEW where their speed matters, and where a
matrix instruction is fed, which needs fnuz data on gfx942 and OCP data on gfx950 and gfx12.
"""

from __future__ import annotations

from collections.abc import Iterator

from rocport.model import Applicability, Context, Example, Finding, Rule, Severity
from rocport.rules.cuda.shims import Shim, rename
from rocport.syntax.cuda import CudaSource

_HEADER = "rocport_fp8.h"
_NOTE = "OCP encodings in software on every target; matrix instructions of CDNA3 take fnuz data"
_TABLE = {
    **{
        f"__nv_{name}".encode(): Shim(f"rocport::{name}".encode(), _HEADER, _NOTE)
        for name in (
            *("fp8_e4m3", "fp8_e5m2", "fp8x2_e4m3", "fp8x2_e5m2", "fp8x4_e4m3", "fp8x4_e5m2"),
            *("cvt_float_to_fp8", "cvt_double_to_fp8", "cvt_float2_to_fp8x2", "cvt_double2_to_fp8x2"),
            *("cvt_halfraw_to_fp8", "cvt_halfraw2_to_fp8x2", "cvt_bfloat16raw_to_fp8", "cvt_bfloat16raw2_to_fp8x2"),
            *("cvt_fp8_to_halfraw", "cvt_fp8x2_to_halfraw2"),
        )
    },
    **{
        cuda: Shim(b"rocport::" + ours, _HEADER)
        for cuda, ours in (
            (b"__nv_fp8_storage_t", b"fp8_storage_t"),
            (b"__nv_fp8x2_storage_t", b"fp8x2_storage_t"),
            (b"__nv_fp8x4_storage_t", b"fp8x4_storage_t"),
            (b"__nv_fp8_interpretation_t", b"fp8_interpretation_t"),
            (b"__nv_saturation_t", b"saturation_t"),
            (b"__NV_E4M3", b"E4M3"),
            (b"__NV_E5M2", b"E5M2"),
            (b"__NV_NOSAT", b"NOSAT"),
            (b"__NV_SATFINITE", b"SATFINITE"),
        )
    },
}

RULE = Rule(
    name="fp8-type",
    summary="CUDA fp8 type or conversion",
    severity=Severity.WRONG_RESULT,
    applicability=Applicability.REVIEW,
    phase=2,
    triggers=frozenset(_TABLE),
    claims=frozenset(_TABLE),
    examples=(
        Example(
            "#include <cuda_fp8.h>\n__device__ __nv_fp8_e4m3 f(float x) { return __nv_fp8_e4m3(x); }\n",
            contains=("rocport::fp8_e4m3 f(float x) { return rocport::fp8_e4m3(x); }", '#include "rocport_fp8.h"'),
        ),
        Example(
            "__device__ unsigned char f(float x) { return __nv_cvt_float_to_fp8(x, __NV_SATFINITE, __NV_E5M2); }\n",
            contains=("rocport::cvt_float_to_fp8(x, rocport::SATFINITE, rocport::E5M2)",),
        ),
    ),
    clean=("at::Float8_e4m3fn x;\n", "__hip_fp8_e4m3 x;\n"),
    sources=(
        "https://www.opencompute.org/documents/ocp-8-bit-floating-point-specification-ofp8-revision-1-0-2023-12-01-pdf-1",
        "hip/amd_detail/amd_hip_fp8.h of ROCm 6.4: HIP_FP8_TYPE_OCP, HIP_FP8_CVT_FAST_PATH",
    ),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    yield from rename(RULE, source, context, _TABLE)
