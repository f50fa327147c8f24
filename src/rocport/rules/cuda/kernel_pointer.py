"""CUDA's runtime takes a kernel by its type where HIP's takes a `const void *`, so the call does not compile.
`cudaFuncSetAttribute(kernel, ...)`, `cudaFuncSetCacheConfig` and others are templates over the kernel's type in CUDA.
In HIP the argument is cast. Right everywhere: the cast only names the address, which CUDA takes as well.
"""

from __future__ import annotations

from collections.abc import Iterator

from rocport.model import Applicability, Context, Example, Finding, Rule, Severity
from rocport.rules.cuda.common import finding, insert
from rocport.rules.cuda.definitions import arguments
from rocport.syntax.cuda import CudaSource

_ARGUMENT = {
    b"cudaFuncSetAttribute": 0,
    b"cudaFuncSetCacheConfig": 0,
    b"cudaFuncSetSharedMemConfig": 0,
    b"cudaFuncGetAttributes": 1,
    b"cudaLaunchKernel": 0,
    b"cudaLaunchCooperativeKernel": 0,
}

RULE = Rule(
    name="kernel-pointer",
    summary="kernel passed to the runtime by its type",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.SAFE,
    phase=2,
    triggers=frozenset(_ARGUMENT),
    examples=(
        Example(
            "void f() { cudaFuncSetAttribute(kernel<float, 4>, cudaFuncAttributeMaxDynamicSharedMemorySize, 9); }\n",
            contains=("((const void *)(kernel<float, 4>), ",),
        ),
        Example("void f() { cudaFuncGetAttributes(&a, kernel); }\n", contains=("(&a, (const void *)(kernel))",)),
    ),
    clean=(
        "void f() { cudaFuncSetAttribute((const void *)kernel, a, 9); }\n",
        "void f() { cudaLaunchKernel(reinterpret_cast<void *>(kernel), g, b, args, 0, s); }\n",
    ),
    sources=("hip/hip_runtime_api.h of ROCm 6.4: the template overloads it has, and those it lacks",),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    for position in source.find(*_ARGUMENT):
        name = source.texts[position]
        if source.at(position + 1) != b"(" or position + 1 not in source.pairs:
            continue
        given = arguments(source, position + 1, source.pairs[position + 1])
        index = _ARGUMENT[name]
        if len(given) <= index:
            continue
        first, last = given[index]
        if first >= last or _is_cast(source, first, last):
            continue
        yield finding(
            RULE,
            source,
            first,
            f"{name.decode()}: HIP takes the kernel as a const void *",
            last=last - 1,
            edits=[insert(source.starts[first], b"(const void *)("), insert(source.end(last - 1), b")")],
        )


def _is_cast(source: CudaSource, first: int, last: int) -> bool:
    words = source.texts[first:last]
    return b"void" in words or words[0] in (b"reinterpret_cast", b"static_cast")
