"""nvcc includes its runtime header before every `.cu` file by itself; a HIP compiler does not.

A `.cu` file that includes no runtime header gets `<hip/hip_runtime.h>`, whether it names anything of the runtime or
not: the headers it includes may rely on nvcc's. A `.cuh` gets it when it uses kernels or the runtime. Right on every
platform: including it twice does nothing. A `.cu` that another file includes as a fragment and that uses nothing of
the runtime is left alone, since it may be included in the middle of a function.
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
        b"__host__",
        b"threadIdx",
        b"blockIdx",
        b"blockDim",
        b"cudaMalloc",
        b"cudaFree",
        b"cudaMemcpy",
        b"cudaStream_t",
        b"cudaError_t",
        b"cudaSuccess",
        b"dim3",
        b"float2",
        b"float3",
        b"float4",
        b"int2",
        b"int4",
        b"uint2",
        b"uint4",
        b"double2",
    }
)
_RUNTIME = frozenset({"hip/hip_runtime.h", "cuda_runtime.h", "cuda_runtime_api.h", "torch/extension.h"})

RULE = Rule(
    name="implicit-runtime",
    summary="runtime header nvcc includes by itself",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.SAFE,
    phase=2,
    examples=(
        Example("__global__ void k() {}\n", contains=("#include <hip/hip_runtime.h>\n__global__",)),
        Example('#include "common.h"\nint f() { return 1; }\n', contains=("#include <hip/hip_runtime.h>\n",)),
    ),
    clean=(
        "#include <cuda_runtime.h>\n__global__ void k() {}\n",
        Example("struct dim3 { int x; };\n", path="host.cpp"),
        Example("// a table\n1, 2, 3\n", path="table.cuh"),
    ),
    sources=("https://docs.nvidia.com/cuda/cuda-compiler-driver-nvcc/ (the cudafe++ front end pre-includes it)",),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    path = source.path.lower()
    uses = not _USES.isdisjoint(source.names)
    if path.endswith((".cuh", ".cup")):
        if not uses:
            return
    elif not path.endswith(".cu"):
        return
    if not uses and source.path.rsplit("/", 1)[-1] in context.project.included:
        return
    if not source.texts or not _RUNTIME.isdisjoint(included(source)):
        return
    yield finding(
        RULE,
        source,
        0,
        "nvcc includes its runtime header before a .cu file by itself; the port includes hip/hip_runtime.h",
        headers=["<hip/hip_runtime.h>"],
        routine=True,
    )
