"""nvcc includes its runtime header before every `.cu` file by itself; a HIP compiler does not.

A `.cu` file that includes no runtime header gets `<hip/hip_runtime.h>`, whether it names anything of the runtime or
not: the headers it includes may rely on nvcc's. A `.cuh` gets it when it uses kernels or the runtime. Right on every
platform: including it twice does nothing. A `.cu` that another file includes as a fragment and that uses nothing of
the runtime is left alone, since it may be included in the middle of a function.

CMake can have a `.cpp` compiled as CUDA, and nvcc serves it alike: a C++ source, or a header of one, that holds a
kernel or asks for its place in the grid gets the header where the compiler is one for HIP.
"""

from __future__ import annotations

from collections.abc import Iterator

from rocport.model import Applicability, Context, Example, Finding, Rule, Severity
from rocport.rules.cuda.common import finding, insert
from rocport.syntax.cuda import CudaSource
from rocport.syntax.includes import include_point, included

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
_PLACES = (b"threadIdx", b"blockIdx", b"blockDim", b"gridDim")
_NAMED = frozenset({b"define", b"undef", b"ifdef", b"ifndef", b"defined", b"("})
_HOST_SOURCES = (".cpp", ".cc", ".cxx")
# Not cuda_runtime_api.h: HIP's counterpart declares the calls, not threadIdx or the vector types' operators.
_RUNTIME = frozenset({"hip/hip_runtime.h", "cuda_runtime.h", "torch/extension.h"})

RULE = Rule(
    name="implicit-runtime",
    summary="runtime header nvcc includes by itself",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.SAFE,
    phase=2,
    examples=(
        Example("__global__ void k() {}\n", contains=("#include <hip/hip_runtime.h>\n__global__",)),
        Example(
            "#pragma once\n#include <cstdio>\nint f() {\n#ifdef __CUDA_ARCH__\n  return blockIdx.x;\n#endif\n}\n",
            contains=("#if defined(__HIPCC__)\n#include <hip/hip_runtime.h>\n#endif\n#include <cstdio>",),
            path="main.cpp",
        ),
        Example(
            "#include <cuda_runtime_api.h>\n__global__ void k(int *p) { *p = threadIdx.x; }\n",
            contains=("#include <hip/hip_runtime.h>\n",),
        ),
        Example('#include "common.h"\nint f() { return 1; }\n', contains=("#include <hip/hip_runtime.h>\n",)),
    ),
    clean=(
        "#include <cuda_runtime.h>\n__global__ void k() {}\n",
        Example("struct dim3 { int x; };\n", path="host.cpp"),
        Example("struct Cfg { int blockDim, gridDim; };\n", path="cfg.cpp"),
        Example("struct Cfg { dim3 gridDim; };\nint f(Cfg *c) { return c->gridDim.x; }\n", path="cfg.cpp"),
        Example("int f(Cfg c) { return c.gridDim.x; }\n", path="cfg.cpp"),
        Example("int f() { Size blockDim(4); return blockDim.x; }\n", path="cfg.cpp"),
        Example("#ifndef __global__\n#define __global__\n#endif\n", path="cfg.cpp"),
        Example("__global__ void k() {}\n", path="only_for_cu.h"),
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
        yield from _compiled_as_cuda(source, context)
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


def _holds_kernel_code(source: CudaSource) -> bool:
    """True for a kernel, or a place in the grid asked for (`blockDim.x`), not a member or variable of that name."""
    if any(source.at(at - 1) not in _NAMED for at in source.find(b"__global__")):
        return True
    for name in _PLACES:
        uses = list(source.positions(name)) if name in source.names else []
        if any(_declares(source, at) for at in uses):
            continue
        for at in uses:
            member = source.at(at - 1) in (b".", b"->", b"::") or source.texts[max(at - 2, 0) : at] == [b"-", b">"]
            if not member and source.at(at + 1) == b"." and source.at(at + 2) in (b"x", b"y", b"z"):
                return True
    return False


def _declares(source: CudaSource, at: int) -> bool:
    """True for `dim3 blockDim(4)`, `int a, blockDim;` and `int &blockDim`."""
    before, after = source.at(at - 1), source.at(at + 1)
    if after not in (b";", b",", b"=", b"(", b"{", b"[", b")"):
        return False
    word = at > 0 and source.is_ident(at - 1) and before not in (b"return", b"case", b"throw")
    return word or before in (b"*", b"&") or (before == b"," and after in (b";", b"="))


def _compiled_as_cuda(source: CudaSource, context: Context) -> Iterator[Finding]:
    """A header, or a C++ source, with code of a kernel that some C++ source reaches."""
    # Asked of the tokens: a kernel in a string is compiled elsewhere.
    if not _holds_kernel_code(source) or not _RUNTIME.isdisjoint(included(source)):
        return
    if not context.project.reached_by(source.path, _HOST_SOURCES):
        return
    lines = (b"#if defined(__HIPCC__)", b"#include <hip/hip_runtime.h>", b"#endif", b"")
    yield finding(
        RULE,
        source,
        0,
        "nvcc includes its runtime header before a C++ source that is compiled as CUDA, too",
        edits=[insert(include_point(source), source.newline.join(lines))],
        routine=True,
    )
