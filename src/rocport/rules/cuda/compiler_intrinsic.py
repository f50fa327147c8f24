"""NVIDIA's compiler intrinsics: `__nvvm_*`, `__nv_*` of libdevice, `__nvvm_get_smem_pointer`, `__pgm_*`.

They are functions of NVVM, not of CUDA: no header declares them and HIP has none of them. Nothing is edited: call the
CUDA function that does the same (`__shfl_xor_sync`, `expf`, `__cvta_generic_to_shared`), which is translated.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from rocport.binding.branches import branches
from rocport.facts.intrinsics import intrinsics
from rocport.model import Applicability, Context, Example, Finding, Rule, Severity
from rocport.rules.cuda.common import finding
from rocport.rules.cuda.warp_common import amd_only
from rocport.syntax.cuda import CudaSource

_NAME = re.compile(rb"__nvvm_\w+|__nv_(?!bfloat16|fp8|fp4|fp6|tex|bool|half|isV)[a-z0-9_]+f?\Z|__nv_isClosure\w*")

RULE = Rule(
    name="compiler-intrinsic",
    summary="intrinsic of NVIDIA's compiler",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.MANUAL,
    phase=2,
    examples=(
        Example("__device__ int f(int v) { return __nvvm_shfl_sync_bfly_i32(-1, v, 1, 31); }\n"),
        Example(
            'extern "C" __device__ float __nv_expf(float);\n__device__ float f(float x) { return __nv_expf(x); }\n'
        ),
    ),
    clean=(
        "__device__ __nv_bfloat16 f(__nv_bfloat16 x) { return x; }\n",
        "__device__ int my__nvvm_x(int v);\n",
        "__device__ int f(float v) { return __nv_cvt_float_to_fp8(v, __NV_SATFINITE, __NV_E4M3); }\n",
    ),
    sources=("https://llvm.org/docs/NVPTXUsage.html", "https://docs.nvidia.com/cuda/libdevice-users-guide/"),
)


@cache
def _carried() -> frozenset[bytes]:
    """Names that CUDA's headers declare and a header of the port has: conversions of fp8."""
    return frozenset(name for group in intrinsics() for name in group.names)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    named = (name for name in source.names if name.startswith((b"__nvvm_", b"__nv_")))
    names = [name for name in named if _NAME.fullmatch(name) and name not in _carried()]
    for position in sorted(source.find(*names)):
        if source.at(position + 1) != b"(" or amd_only(source, position):
            continue
        if branches(source, context.project.torch_extension).is_dead(source.starts[position]):
            continue
        yield finding(
            RULE,
            source,
            position,
            f"{source.at(position).decode()} is an intrinsic of NVIDIA's compiler, which no AMD compiler has",
            fix="call the CUDA function that does the same, and port again",
            cause="intrinsics of NVIDIA's compiler",
        )
