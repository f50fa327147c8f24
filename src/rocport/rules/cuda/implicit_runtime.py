"""nvcc includes its runtime header before every `.cu` file by itself; a HIP compiler does not.

A file that uses kernels, `threadIdx` or the runtime API without including a runtime header gets `<hip/hip_runtime.h>`.
Right on every platform: including it twice does nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from rocport.model import Applicability, Context, Example, Finding, Rule, Severity
from rocport.rules.cuda.common import finding
from rocport.syntax.cuda import CudaSource
from rocport.syntax.includes import included

_USES = frozenset(
    {
        b"__global__",
        b"__device__",
        b"__shared__",
        b"__constant__",
        b"threadIdx",
        b"blockIdx",
        b"blockDim",
        b"cudaMalloc",
        b"cudaFree",
        b"cudaMemcpy",
        b"cudaStream_t",
        b"cudaError_t",
        b"dim3",
    }
)

RULE = Rule(
    name="implicit-runtime",
    summary="runtime header nvcc includes by itself",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.SAFE,
    triggers=_USES,
    examples=(Example("__global__ void k() {}\n", contains=("#include <hip/hip_runtime.h>\n__global__",)),),
    clean=("int dim3_count;\n", Example("struct dim3 { int x; };\n", path="host.cpp")),
    sources=("https://docs.nvidia.com/cuda/cuda-compiler-driver-nvcc/ (the cudafe++ front end pre-includes it)",),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    if not source.path.lower().endswith((".cu", ".cuh", ".cup")):
        return
    names = included(source)
    if "hip/hip_runtime.h" in names or "cuda_runtime.h" in names:
        return
    positions = sorted(source.find(*_USES))
    if positions:
        yield finding(
            RULE,
            source,
            positions[0],
            "nvcc includes its runtime header before a .cu file by itself; the port includes hip/hip_runtime.h",
            headers=["<hip/hip_runtime.h>"],
        )
