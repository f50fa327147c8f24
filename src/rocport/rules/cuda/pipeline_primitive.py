"""The primitives of `cuda_pipeline.h` copy from global to shared memory while the thread goes on.

`rocport_pipeline.h` has them under their names: a copy is done at once, a commit and a wait have nothing left to do.
Right everywhere, as a program may not read the copy before the wait; the overlap with computing is lost.
`__pipeline_arrive_on` signals a barrier of libcu++ and is MANUAL.
"""

from __future__ import annotations

from collections.abc import Iterator

from rocport.model import Applicability, Context, Example, Finding, Rule, Severity
from rocport.rules.cuda.shims import Shim, rename
from rocport.syntax.cuda import CudaSource

_TABLE = {
    name: Shim(name, "rocport_pipeline.h")
    for name in (b"__pipeline_memcpy_async", b"__pipeline_commit", b"__pipeline_wait_prior")
}

RULE = Rule(
    name="pipeline-primitive",
    summary="asynchronous copy to shared memory",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.SAFE,
    phase=2,
    triggers=frozenset(_TABLE),
    claims=frozenset(_TABLE),
    examples=(
        Example(
            "#include <cuda_pipeline.h>\n__device__ void f(int4 *s, const int4 *g) {\n"
            "  __pipeline_memcpy_async(s, g, sizeof(int4));\n  __pipeline_commit();\n  __pipeline_wait_prior(0);\n}\n",
            contains=('#include "rocport_pipeline.h"', "__pipeline_memcpy_async(s, g, sizeof(int4))"),
            absent=("<cuda_pipeline.h>",),
        ),
    ),
    clean=("__device__ void __pipeline_commit() {}\n__device__ void f() { __pipeline_commit(); }\n",),
    sources=("https://docs.nvidia.com/cuda/cuda-c-programming-guide/#pipeline-primitives-interface",),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    yield from rename(RULE, source, context, _TABLE)
