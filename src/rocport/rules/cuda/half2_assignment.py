"""`x = {}` or `x = {a, b}` on a `half2` is ambiguous in HIP, whose `__half2` has more than one assignment operator.

Naming the type of the right side decides it: `x = __half2{}`. The value is the same. An initialization (`half2 x = {}`)
compiles and is left alone.
"""

from __future__ import annotations

from collections.abc import Iterator

from rocport.model import Applicability, Context, Example, Finding, Rule, Severity
from rocport.rules.cuda.common import finding, insert
from rocport.syntax.cuda import CudaSource

_TYPES = (b"half2", b"__half2")

RULE = Rule(
    name="half2-assignment",
    summary="half2 assigned from braces",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.SAFE,
    phase=2,
    triggers=frozenset(_TYPES),
    examples=(
        Example("__global__ void k() { half2 r; while (f()) { r = {}; } }\n", contains=("r = __half2{};",)),
        Example("__device__ void f() { half2 a, r[2]; r[0] = {x, y}; }\n", contains=("r[0] = __half2{x, y};",)),
    ),
    clean=(
        "__device__ void f() { half2 x = {}; half2 y[2] = {a, b}; }\n",
        "__device__ void f() { half2 x; float2 y; y = {1, 2}; }\n",
    ),
    sources=("hip/amd_detail/amd_hip_fp16.h of ROCm 6.4",),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    names = {name for position in source.find(*_TYPES) for name in _declared(source, position)}
    for name in names:
        for position in source.find(name):
            end = position + 1
            while source.at(end) == b"[" and end in source.pairs:
                end = source.pairs[end] + 1
            starts = source.at(position - 1) in (b";", b"{", b"}", b")", b":")
            if starts and source.at(end) == b"=" and source.at(end + 1) == b"{":
                yield finding(
                    RULE,
                    source,
                    position,
                    "half2 from braces is ambiguous in HIP; the port names the type",
                    last=end + 1,
                    edits=[insert(source.starts[end + 1], b"__half2")],
                    headers=["<hip/hip_fp16.h>"],
                )


def _declared(source: CudaSource, position: int) -> Iterator[bytes]:
    """Names declared after a type: `half2 a, b[2], c = x;`."""
    at = position + 1
    while source.is_ident(at):
        yield source.texts[at]
        at += 1
        while source.at(at) in (b"[", b"=") or (source.at(at) not in (b",", b";", b")", b"(", b"{", b"}", b"")):
            at = source.pairs.get(at, at) + 1
        if source.at(at) != b",":
            return
        at += 1
