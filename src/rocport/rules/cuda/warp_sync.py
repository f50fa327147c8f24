"""`__syncwarp` orders the memory accesses of the lanes of a warp and lets them meet.

It is not declared before HIP 7. `rocport::syncwarp` orders the accesses; lanes that are on one branch are together
already. What an AMD wavefront does not do is let lanes meet that come to the call from different branches: a
`__syncwarp` with a mask of part of the warp, or one in each branch of an `if`, may count on that and is listed for
review.
"""

from __future__ import annotations

from collections.abc import Iterator

from rocport.model import Applicability, Context, Example, Finding, Rule, Severity
from rocport.rules.cuda.common import finding, replace
from rocport.rules.cuda.warp_common import HEADER, argument, is_full_mask, uses
from rocport.syntax.cuda import CudaSource

RULE = Rule(
    name="warp-sync",
    summary="warp barrier",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.REVIEW,
    phase=3,
    triggers=frozenset({b"__syncwarp"}),
    examples=(
        Example("__device__ void f() { __syncwarp(); }\n", contains=("rocport::syncwarp()",), absent=("__syncwarp",)),
        Example("__device__ void f(unsigned m) { __syncwarp(m); }\n", contains=("rocport::syncwarp(m)",)),
        Example("__device__ void f() {\n#ifdef DEBUG\n#endif\n  __syncwarp();\n}\n", absent=("__syncwarp",)),
        Example("#define SYNC __syncwarp()\n", contains=("#define SYNC rocport::syncwarp()",)),
    ),
    clean=("// __syncwarp();\n", "#ifdef USE_HIP\n__device__ void f() { __syncwarp(); }\n#endif\n"),
    sources=("https://docs.nvidia.com/cuda/cuda-c-programming-guide/ (synchronization functions)",),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    for use in uses(source, frozenset({b"__syncwarp"})):
        mask = argument(source, use, 0)
        whole = not mask or is_full_mask(mask) or _looks_full(source, mask, context)
        yield finding(
            RULE,
            source,
            use.position,
            "__syncwarp orders memory among the lanes that run together: rocport::syncwarp"
            if whole
            else "__syncwarp of some lanes: rocport::syncwarp orders memory; lanes on other branches do not meet here",
            applicability=Applicability.SAFE if whole else Applicability.REVIEW,
            edits=[replace(source, use.position, b"rocport::syncwarp")],
            headers=[HEADER],
            fix="" if whole else "check that every lane named in the mask reaches this call on the same branch",
        )


def _looks_full(source: CudaSource, mask: bytes, context: Context) -> bool:
    """True for a macro of the project whose body is a full mask."""
    body = context.project.macros_at(source.path).get(mask.strip())
    return body is not None and is_full_mask(body)
