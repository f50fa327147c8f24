"""`__barrier_sync(id)` and `__barrier_sync_count(id, n)`: the numbered barriers of a CUDA block as functions.

Barrier 0 of the whole block is `__syncthreads()`. AMD GPUs before gfx12.5 have one barrier a block, which all of its
wavefronts take part in: a barrier of some threads, or a second one beside it, has no counterpart, and
`__syncthreads()` in its place would hang or pair up with other barriers.
"""

from __future__ import annotations

from collections.abc import Iterator

from rocport.model import Applicability, Context, Example, Finding, Rule, Severity
from rocport.rules.cuda.common import finding, replace_range
from rocport.rules.cuda.warp_common import uses
from rocport.syntax.cuda import CudaSource

_NAMES = frozenset({b"__barrier_sync", b"__barrier_sync_count", b"__nvvm_barrier_sync", b"__nvvm_barrier_sync_cnt"})

RULE = Rule(
    name="named-barrier",
    summary="numbered barrier, or barrier of part of a block",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.MANUAL,
    phase=3,
    triggers=_NAMES,
    examples=(
        Example("__device__ void f() { __barrier_sync(0); }\n", contains=("__syncthreads();",), absent=("_sync(0)",)),
        Example("__device__ void f() { __barrier_sync_count(1, 64); }\n", contains=("__barrier_sync_count(1, 64)",)),
        Example("__device__ void f(int id) { __barrier_sync(id); }\n"),
    ),
    clean=("struct T { void __barrier_sync(int); };\nvoid f(T t) { t.__barrier_sync(1); }\n",),
    sources=(
        "CUDA 12.9 crt/sm_70_rt.h: __barrier_sync, __barrier_sync_count",
        "AMD CDNA3 ISA, S_BARRIER: one barrier of all waves of a workgroup",
    ),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    for use in uses(source, _NAMES):
        call = use.call
        arguments = [source.text(*part).strip() for part in call.args] if call is not None else []
        if call is not None and arguments == [b"0"]:
            yield finding(
                RULE,
                source,
                use.position,
                f"{use.name.decode()}(0) is the barrier of the whole block: __syncthreads()",
                applicability=Applicability.SAFE,
                edits=[replace_range(source, use.position, call.close + 1, b"__syncthreads()")],
            )
            continue
        yield finding(
            RULE,
            source,
            use.position,
            f"{use.name.decode()}: AMD GPUs have one barrier for the whole block, and none for part of it",
            last=call.close if call is not None else None,
            fix="let all threads of the block meet at __syncthreads(), or wait on a counter in shared memory with one "
            "lane of each wavefront",
        )
