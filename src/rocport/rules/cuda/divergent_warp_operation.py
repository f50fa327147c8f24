"""`__syncwarp`, shuffles and votes of a whole warp on both sides of a branch that differs between its lanes.

Since Volta, lanes of a CUDA warp that come to a `_sync` call from different branches wait for each other there: what
one side stores before its `__syncwarp()` the other reads after its own, and a shuffle takes values from lanes in the
other branch. An AMD wavefront runs one branch to its end before the other. A lane reads shared memory before it is
written, and a shuffle reads from lanes that are switched off. The compiler says nothing.

Where each side has the same number of `__syncwarp()` statements, the sides become phases with the barrier between them,
outside of the branch: REVIEW. A shuffle or vote on both sides is MANUAL. Sides that name disjoint parts of the warp in
their masks, and conditions that are the same for the whole warp, are no finding.
"""

from __future__ import annotations

from collections.abc import Iterator

from rocport.binding.branches import branches
from rocport.convergence import LANE, Body, Operation, Place, Rest, Unit, Value, unit_of
from rocport.model import Applicability, Confidence, Context, Example, Finding, Rule, Severity
from rocport.rules.cuda.common import finding
from rocport.rules.cuda.divergent_barrier import sides
from rocport.rules.cuda.phases import phases
from rocport.rules.cuda.warp_common import HEADER, amd_only, is_full_mask
from rocport.syntax.cuda import CudaSource

_SYNC = b"__syncwarp"

RULE = Rule(
    name="divergent-warp-operation",
    summary="warp operation that lanes reach on different branches",
    severity=Severity.WRONG_RESULT,
    applicability=Applicability.MANUAL,
    phase=3,
    triggers=frozenset({b"__global__", b"__device__"}),
    examples=(
        Example(
            "__global__ void k(const float *in, float *out) {\n  __shared__ float s[32]; int lane = threadIdx.x & 31;\n"
            "  if (lane == 0) { for (int i = 0; i < 32; ++i) s[i] = in[i]; __syncwarp(); }\n"
            "  else { __syncwarp(); out[lane] = s[lane]; }\n}\n",
            contains=("if (rocport_phase < 1) rocport::syncwarp();",),
            absent=("__syncwarp",),
        ),
        Example(
            "__device__ int f(int v) {\n  if (threadIdx.x % 2) v += __shfl_sync(0xffffffff, v, 0);\n"
            "  else v -= __shfl_sync(0xffffffff, v, 1);\n  return v;\n}\n"
        ),
        Example(
            "__device__ int f(int v) {\n  int lane = threadIdx.x & 31;\n"
            "  return lane < 16 ? __shfl_sync(0xffffffff, v, 31) : __shfl_sync(0xffffffff, v, 0);\n}\n"
        ),
    ),
    clean=(
        "__device__ int shflSync(int v, int lane);\n__device__ int f(int v) {\n  int left = shflSync(v, 31);\n"
        "  if (left > 31) v = __shfl_sync(~0u, v, 0); else v = __shfl_sync(~0u, v, 1);\n  return v;\n}\n",
        "__device__ int f(int v) {\n  if (threadIdx.x / 32 == 0) { v = __shfl_sync(~0u, v, 0); }\n"
        "  else { v = __shfl_sync(~0u, v, 1); }\n  return v;\n}\n",
        "__device__ int f(int v) {\n  int lane = threadIdx.x & 31;\n"
        "  if (lane < 16) v = __shfl_sync(0xffff, v, 0); else v = __shfl_sync(0xffff0000, v, 16);\n  return v;\n}\n",
        "__device__ int f(int v, int n) {\n  if (n > 2) v = __shfl_sync(~0u, v, 0); else v = __shfl_sync(~0u, v, 1);\n"
        "  return v;\n}\n",
        "__device__ void f(int *s) { if (threadIdx.x == 0) s[0] = 1; __syncwarp(); }\n",
    ),
    sources=(
        "https://docs.nvidia.com/cuda/cuda-c-programming-guide/ (independent thread scheduling)",
        "https://developer.nvidia.com/blog/using-cuda-warp-level-primitives/",
    ),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    unit = unit_of(source, context.project)
    view = branches(source, context.project.torch_extension)
    for body in unit.bodies:
        if amd_only(source, body.name_at):
            continue
        for place, value, rest in body.branches:
            if value.level == LANE and not view.is_dead(source.starts[place.statement.first], device_only=True):
                yield from _branch(unit, body, place, value, rest, context)


def _branch(unit: Unit, body: Body, place: Place, value: Value, rest: Rest, context: Context) -> Iterator[Finding]:
    source, statement = unit.source, place.statement
    holding = [side for side in sides(unit, place, rest) if any(unit.within(side, "warp"))]
    if len(holding) < 2:
        return
    found = [list(unit.within(side, "warp")) for side in holding]
    meeting = [
        operations for operations in found if any(_may_meet(source, item, found, context) for item in operations)
    ]
    if len(meeting) < 2:
        return
    names = sorted({_named(source, item) for operations in meeting for item in operations})
    edits = None
    if all(source.at(item.at) == _SYNC for operations in meeting for item in operations):
        edits = phases(unit, statement, "warp", b"rocport::syncwarp()")
    assert statement.condition is not None, "if and switch have a condition"
    condition = " ".join(source.text(*statement.condition).decode("utf-8", "replace").split())[:60]
    yield finding(
        RULE,
        source,
        statement.first,
        f"{', '.join(names[:3])} on more than one side of `{condition}`, which differs between lanes: lanes on "
        "different branches do not meet on AMD"
        + ("; written as phases with one barrier between them" if edits else ""),
        last=statement.last - 1,
        applicability=Applicability.REVIEW if edits else Applicability.MANUAL,
        confidence=Confidence.HIGH if value.exact else Confidence.MEDIUM,
        edits=edits or (),
        headers=[HEADER] if edits else (),
        fix="check that the sides' barriers pair up in their order"
        if edits
        else "let each side compute what it passes on, do one warp operation behind the branch, and branch again",
    )


def _named(source: CudaSource, item: Operation) -> str:
    return source.at(item.at).decode("utf-8", "replace")


def _may_meet(source: CudaSource, item: Operation, found: list[list[Operation]], context: Context) -> bool:
    """True for the whole warp, and for a mask that another side names as well."""
    mask = item.mask.strip()
    if not mask or is_full_mask(mask) or is_full_mask(context.project.macros_at(source.path).get(mask, b"")):
        return True
    return sum(any(other.mask.strip() == mask for other in operations) for operations in found) > 1
