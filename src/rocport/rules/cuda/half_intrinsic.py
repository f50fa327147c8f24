"""Half and bfloat16 functions that HIP lacks (`__float2bfloat16_rn`, `__double2half`, `__hmax2`, `h2tanh`, ...).

HIP's fp16 and bf16 headers cover CUDA's types and most functions; these are missing in ROCm 6.4, for one type or for
both. The port calls functions that round as CUDA's do, once and in the direction of the name. Right everywhere; the
fused and packed forms may take more instructions than on NVIDIA.
"""

from __future__ import annotations

from collections.abc import Iterator

from rocport.model import Applicability, Context, Example, Finding, Rule, Severity
from rocport.rules.cuda.shims import Shim, carried, rename
from rocport.syntax.cuda import CudaSource

_TABLE = {
    **carried(
        "rocport_half.h",
        *(
            "__double2half",
            "__half2char_rz",
            "__half2uchar_rz",
            "__hadd_rn",
            "__hadd2_rn",
            "__hsub_rn",
            "__hsub2_rn",
            "__hmul_rn",
            "__hmul2_rn",
            "__hfma_relu",
            "__hfma2_relu",
            "__hcmadd",
            "__hmax2",
            "__hmin2",
            "__hmax_nan",
            "__hmin_nan",
            "__hmax2_nan",
            "__hmin2_nan",
            "htanh",
            "h2tanh",
            "htanh_approx",
            "h2tanh_approx",
            "__heq2_mask",
            "__hne2_mask",
            "__hlt2_mask",
            "__hle2_mask",
            "__hgt2_mask",
            "__hge2_mask",
            "__hequ2_mask",
            "__hneu2_mask",
            "__hltu2_mask",
            "__hleu2_mask",
            "__hgtu2_mask",
            "__hgeu2_mask",
        ),
        *(
            "__float2bfloat16_rn",
            "__float2bfloat16_rz",
            "__float2bfloat16_ru",
            "__float2bfloat16_rd",
            "__int2bfloat16_rn",
            "__int2bfloat16_rz",
            "__int2bfloat16_ru",
            "__int2bfloat16_rd",
            "__uint2bfloat16_rn",
            "__uint2bfloat16_rz",
            "__uint2bfloat16_ru",
            "__uint2bfloat16_rd",
            "__short2bfloat16_rn",
            "__short2bfloat16_rz",
            "__short2bfloat16_ru",
            "__short2bfloat16_rd",
            "__ushort2bfloat16_rn",
            "__ushort2bfloat16_rz",
            "__ushort2bfloat16_ru",
            "__ushort2bfloat16_rd",
            "__ll2bfloat16_rn",
            "__ll2bfloat16_rz",
            "__ll2bfloat16_ru",
            "__ll2bfloat16_rd",
            "__ull2bfloat16_rn",
            "__ull2bfloat16_rz",
            "__ull2bfloat16_ru",
            "__ull2bfloat16_rd",
            "__bfloat162int_rn",
            "__bfloat162int_rz",
            "__bfloat162int_ru",
            "__bfloat162int_rd",
            "__bfloat162uint_rn",
            "__bfloat162uint_rz",
            "__bfloat162uint_ru",
            "__bfloat162uint_rd",
            "__bfloat162short_rn",
            "__bfloat162short_rz",
            "__bfloat162short_ru",
            "__bfloat162short_rd",
            "__bfloat162ushort_rn",
            "__bfloat162ushort_rz",
            "__bfloat162ushort_ru",
            "__bfloat162ushort_rd",
            "__bfloat162ll_rn",
            "__bfloat162ll_rz",
            "__bfloat162ll_ru",
            "__bfloat162ll_rd",
            "__bfloat162ull_rn",
            "__bfloat162ull_rz",
            "__bfloat162ull_ru",
            "__bfloat162ull_rd",
            "__bfloat162char_rz",
            "__bfloat162uchar_rz",
            "__float2bfloat162_rn",
            "__floats2bfloat162_rn",
            "make_bfloat162",
        ),
    ),
    b"nv_half": Shim(b"__half", "<hip/hip_fp16.h>"),
    b"nv_half2": Shim(b"__half2", "<hip/hip_fp16.h>"),
    b"__nv_bfloat162_raw": Shim(b"__hip_bfloat162_raw", "<hip/hip_bf16.h>"),
    b"__nv_bfloat16_raw": Shim(b"__hip_bfloat16_raw", "<hip/hip_bf16.h>"),
}

RULE = Rule(
    name="half-intrinsic",
    summary="half or bfloat16 function that HIP lacks",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.SAFE,
    phase=2,
    triggers=frozenset(_TABLE),
    claims=frozenset(_TABLE),
    examples=(
        Example(
            "__device__ __nv_bfloat16 f(float x) { return __float2bfloat16_rn(x); }\n",
            contains=("rocport::float2bfloat16_rn(x)", '#include "rocport_half.h"'),
        ),
        Example("__device__ __half f(double x) { return __double2half(x); }\n", contains=("rocport::double2half(x)",)),
    ),
    clean=(
        "__device__ __half f(float x) { return __float2half_rn(x); }\n",
        "__device__ half2 h2tanh(half2 x);\n__device__ half2 f(half2 x) { return h2tanh(x); }\n",
    ),
    sources=("hip/amd_detail/amd_hip_fp16.h and amd_hip_bf16.h of ROCm 6.4",),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    yield from rename(RULE, source, context, _TABLE)
