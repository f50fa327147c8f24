"""`atomicCAS` of 16 bits, and `atomicAnd`, `atomicOr` and `atomicXor` of `long long`, are not in HIP.

A file that calls one of them and speaks of such integers gets the port's overload beside HIP's. Right everywhere.
"""

from __future__ import annotations

from collections.abc import Iterator

from rocport.model import Applicability, Context, Example, Finding, Rule, Severity
from rocport.rules.cuda.common import finding
from rocport.syntax.cuda import CudaSource

_SHORT = frozenset({b"short", b"ushort", b"uint16_t"})
_BITS = frozenset({b"atomicAnd", b"atomicOr", b"atomicXor"})

RULE = Rule(
    name="integer-atomic",
    summary="atomic on an integer that HIP lacks it for",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.SAFE,
    phase=2,
    triggers=_BITS | {b"atomicCAS"},
    examples=(
        Example(
            "__device__ void f(unsigned short *a) { while (atomicCAS(a, 0, 1) == 2) { } }\n",
            contains=("atomicCAS(a, 0, 1)", '#include "rocport_compat.h"'),
        ),
        Example(
            "__device__ void f(long long *a, long long m) { atomicAnd(a, m); }\n",
            contains=("atomicAnd(a, m)", '#include "rocport_compat.h"'),
        ),
    ),
    clean=(
        "__device__ int f(int *a) { return atomicCAS(a, 1, 2); }\n",
        "__device__ void f(unsigned long long *a, unsigned b) { atomicOr(a, 2ull); }\n",
    ),
    sources=("https://docs.nvidia.com/cuda/cuda-c-programming-guide/#atomic-functions",),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    for position in sorted(source.find(b"atomicCAS", *_BITS)):
        if source.at(position + 1) != b"(" or source.at(position - 1) in (b".", b"->") or source.qualified(position):
            continue
        of_long = source.texts[position] in _BITS
        if not (_has_long_long(source) if of_long else source.names & _SHORT):
            continue
        yield finding(
            RULE,
            source,
            position,
            f"{source.texts[position].decode()} of {'long long' if of_long else '16 bits'} is not in HIP; "
            "rocport_compat.h has it beside HIP's overloads",
            applicability=Applicability.SAFE,
            headers=["rocport_compat.h"],
        )
        return


def _has_long_long(source: CudaSource) -> bool:
    """True for a file that names the type with a sign."""
    longs = source.index.get(b"long", ())
    return any(source.at(at + 1) == b"long" and source.at(at - 1) not in (b"unsigned", b"long") for at in longs)
