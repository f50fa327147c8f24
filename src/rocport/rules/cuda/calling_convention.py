"""`CUDART_CB`, `CUDAAPI` and their like: calling conventions of Windows, empty on Linux, and not in HIP.

`void CUDART_CB done(cudaStream_t, cudaError_t, void *)` is how CUDA's own documentation declares a callback. On Linux
the word is an empty macro of CUDA's headers; left out, the declaration stays the same. One that the project defines
itself is left alone.
"""

from __future__ import annotations

from collections.abc import Iterator

from rocport.model import Applicability, Context, Edit, Example, Finding, Rule, Severity, Span
from rocport.rules.cuda.common import finding
from rocport.syntax.cuda import CudaSource

_NAMES = frozenset(
    b"CUDART_CB CUDARTAPI CUDARTAPI_CDECL CUDA_CB CUDAAPI CUBLASWINAPI CUBLASAPI CURANDAPI CUFFTAPI CUSPARSEAPI "
    b"CUSOLVERAPI CUDNNWINAPI".split()
)

RULE = Rule(
    name="calling-convention",
    summary="calling convention of CUDA's headers",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.SAFE,
    phase=2,
    triggers=_NAMES,
    claims=_NAMES,
    examples=(
        Example("void CUDART_CB done(void *p) {}\n", contains=("void done(void *p) {}",)),
        Example("typedef int (CUDAAPI *init)(unsigned);\n", contains=("typedef int (*init)(unsigned);",)),
        Example("#define CALL CUDAAPI\nint CALL f();\n", contains=("#define CALL \n", "\nint CALL f();")),
    ),
    clean=(
        "#define CUDAAPI\nint CUDAAPI f();\n",
        "#ifdef CUDART_CB\n#endif\n",
    ),
    sources=("driver_types.h and cuda.h of CUDA 13", "https://docs.nvidia.com/cuda/cuda-runtime-api/ (callbacks)"),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    for name in sorted(source.names & _NAMES):
        if name in context.project.macros:
            continue
        for position in source.find(name):
            directive = source.directive_of(position)
            if directive is not None and (directive.name != b"define" or position == directive.first + 2):
                continue
            end = source.end(position)
            end += source.data[end : end + 1] == b" "
            yield finding(
                RULE,
                source,
                position,
                f"{name.decode()} is empty on Linux and not in HIP: left out",
                edits=[Edit(Span(source.starts[position], end), b"")],
            )
