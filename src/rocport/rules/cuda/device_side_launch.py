"""A kernel launched from device code (dynamic parallelism) has no counterpart: HIP kernels are launched by the host.
The launch is left as it is, and does not compile. What to write instead depends on the program: return to the host
between the levels, keep a queue of work in memory that one grid drains, or loop inside the kernel.
"""

from __future__ import annotations

from collections.abc import Iterator

from rocport.binding.branches import branches
from rocport.model import Applicability, Context, Example, Finding, Rule, Severity
from rocport.rules.cuda.common import DYNAMIC_PARALLELISM, finding
from rocport.syntax.cuda import CudaSource

RULE = Rule(
    name="device-side-launch",
    summary="kernel launched from device code",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.MANUAL,
    phase=2,
    triggers=frozenset({b"__global__"}),
    examples=(Example("__global__ void k(int n) { if (n) k<<<1, 1>>>(n - 1); }\n"),),
    clean=(
        "__global__ void k() {}\nvoid f() { k<<<1, 1>>>(); }\n",
        "__global__ void k() {}\n__host__ __device__ void f() {\n#ifndef __CUDA_ARCH__\n  k<<<1, 1>>>();\n#endif\n}\n",
    ),
    sources=("https://rocm.docs.amd.com/projects/HIP/en/latest/how-to/hip_porting_guide.html",),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    if b"<<" not in source.data:
        return
    for launch in source.launches:
        function = source.enclosing(launch.open)
        if function is None or b"__host__" in function.specifiers:
            continue
        if branches(source, context.project.torch_extension).is_dead(source.starts[launch.open]):
            continue
        yield finding(
            RULE,
            source,
            launch.kernel,
            "a kernel is launched from device code: HIP has no dynamic parallelism",
            last=launch.end,
            fix="launch from the host between the steps, or loop over a work queue inside one kernel",
            cause=DYNAMIC_PARALLELISM,
        )
