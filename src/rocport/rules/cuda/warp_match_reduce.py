"""Match and reduce over a 32-lane CUDA warp.

HIP has no `__reduce_*_sync` before ROCm 7, its `__match_*_sync` want 64-bit masks, loop over the wavefront's lanes
and return 64 bits. In the default mode each call goes to `rocport_warp.h`, which has CUDA's results for the lanes
that the mask names. With `--warp=native` there is no counterpart over all ROCm releases: the site is for the user.
"""

from __future__ import annotations

from collections.abc import Iterator

from rocport.model import Applicability, Context, Example, Finding, Rule, Severity
from rocport.rules.cuda.common import finding
from rocport.rules.cuda.warp_common import HEADER, MATCHES, rename, uses
from rocport.syntax.cuda import CudaSource

RULE = Rule(
    name="warp-match-reduce",
    summary="warp match or reduce",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.MANUAL,
    phase=3,
    triggers=frozenset(MATCHES),
    examples=(
        Example(
            "__device__ unsigned f(unsigned v) { return __reduce_add_sync(-1, v); }\n",
            contains=("rocport::reduce_add_sync(rocport::full_warp_mask, v)",),
            absent=("__reduce",),
        ),
        Example(
            "__device__ unsigned f(unsigned m, int v) { int p; return __match_all_sync(m, v, &p)\n"
            "  & __match_any_sync(m, v); }\n",
            contains=("rocport::match_all_sync(m, v, &p)", "rocport::match_any_sync(m, v)"),
        ),
        Example(
            "__device__ unsigned f(unsigned m, int v) { return __match_any_sync(m, v); }\n",
            contains=("__match_any_sync",),
            options={"warp": "native"},
        ),
    ),
    clean=("// __match_any_sync\n", "#ifdef __HIPCC__\nauto m = __match_any_sync(a, b);\n#endif\n"),
    sources=(
        "https://docs.nvidia.com/cuda/cuda-c-programming-guide/ (warp match and warp reduce functions)",
        "HIP 6.4 amd_warp_sync_functions.h",
    ),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    native = context.options.warp == "native"
    for use in uses(source, MATCHES):
        name = use.name.decode()
        if native:
            yield finding(
                RULE,
                source,
                use.position,
                f"{name} has no form of the wavefront's own width in every ROCm",
                fix="use the default --warp=logical32 for this file, or write the operation with __ballot and __shfl",
            )
            continue
        yield finding(
            RULE,
            source,
            use.position,
            f"{name} covers the 32 lanes of a CUDA warp on any wavefront: rocport::{name[2:]}",
            applicability=Applicability.SAFE,
            edits=rename(source, use),
            headers=[HEADER],
        )
