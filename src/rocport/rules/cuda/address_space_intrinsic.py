"""Intrinsics over NVIDIA's address spaces (`__cvta_generic_to_shared`, `__isShared`, ...) are missing in HIP.

AMD GPUs have the same spaces: shared memory (LDS) with 32-bit addresses of its own, global memory whose addresses are
generic ones. The port converts with Clang's address spaces. `__isShared` is in newer HIP releases only.
"""

from __future__ import annotations

from collections.abc import Iterator

from rocport.model import Applicability, Context, Example, Finding, Rule, Severity
from rocport.rules.cuda.shims import Shim, carried, rename
from rocport.syntax.cuda import CudaSource

_TABLE = {
    **carried(
        "rocport_compat.h",
        *(
            "__cvta_generic_to_shared",
            "__cvta_shared_to_generic",
            "__cvta_generic_to_global",
            "__cvta_global_to_generic",
        ),
    ),
    b"__isShared": Shim(b"rocport::is_shared", "rocport_compat.h"),
    b"__isGlobal": Shim(b"rocport::is_global", "rocport_compat.h"),
    b"__isLocal": Shim(b"rocport::is_local", "rocport_compat.h"),
}

RULE = Rule(
    name="address-space-intrinsic",
    summary="intrinsic over address spaces",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.SAFE,
    phase=2,
    triggers=frozenset(_TABLE),
    claims=frozenset(_TABLE),
    examples=(
        Example(
            "__device__ unsigned f(void *p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }\n",
            contains=("rocport::cvta_generic_to_shared(p)",),
        ),
    ),
    clean=("__device__ bool __isShared(const void *p);\n",),
    sources=("https://docs.nvidia.com/cuda/cuda-c-programming-guide/#address-space-predicate-functions",),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    yield from rename(RULE, source, context, _TABLE)
