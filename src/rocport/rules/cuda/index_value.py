"""`uint3 t = threadIdx;`: in CUDA threadIdx and blockIdx are of type uint3, in HIP of types of their own.

HIP's convert to `dim3` and to nothing else. The port writes the three members out; the value is the same everywhere.
"""

from __future__ import annotations

from collections.abc import Iterator

from rocport.model import Applicability, Context, Example, Finding, Rule, Severity
from rocport.rules.cuda.common import finding, replace
from rocport.syntax.cuda import CudaSource

_NAMES = frozenset({b"threadIdx", b"blockIdx"})

RULE = Rule(
    name="index-value",
    summary="threadIdx taken as a uint3",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.SAFE,
    phase=2,
    triggers=_NAMES,
    examples=(
        Example(
            "__device__ void f() { const uint3 t = threadIdx; }\n",
            contains=("t = make_uint3(threadIdx.x, threadIdx.y, threadIdx.z);",),
        ),
        Example("__device__ void f() { uint3 b(blockIdx); }\n", contains=("b(make_uint3(blockIdx.x, blockIdx.y,",)),
    ),
    clean=(
        "__device__ void f() { dim3 t = threadIdx; auto u = blockIdx; }\n",
        "__device__ unsigned f() { return threadIdx.x; }\n",
    ),
    sources=("hip/amd_detail/amd_hip_runtime.h of ROCm 6.4: __hip_builtin_threadIdx_t",),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    for position in source.find(*_NAMES):
        begins = source.at(position - 1) in (b"=", b"(", b"{") and source.at(position + 1) in (b";", b",", b")", b"}")
        if not begins or source.at(position - 3) != b"uint3" or not source.is_ident(position - 2):
            continue
        name = source.at(position)
        members = b", ".join(name + b"." + member for member in (b"x", b"y", b"z"))
        yield finding(
            RULE,
            source,
            position,
            f"{name.decode()} is no uint3 in HIP: its members are written out",
            edits=[replace(source, position, b"make_uint3(" + members + b")")],
        )
