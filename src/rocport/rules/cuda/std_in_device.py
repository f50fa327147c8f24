"""`std::printf`, `std::memcpy` and their like in device code: functions of the host's library for clang.

nvcc knows the functions of C's library that a kernel may call by either name. HIP declares them for the device in the
global namespace only ("reference to __host__ function 'printf' in __device__ function"): the qualifier is left out,
and the function stays the same on both sides.
"""

from __future__ import annotations

from collections.abc import Iterator

from rocport.model import Applicability, Context, Edit, Example, Finding, Rule, Severity, Span
from rocport.rules.cuda.common import finding
from rocport.syntax.cuda import CudaSource

_NAMES = frozenset({b"printf", b"memcpy", b"memset", b"malloc", b"free", b"clock"})

RULE = Rule(
    name="std-in-device",
    summary="C's library through std:: in device code",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.SAFE,
    phase=2,
    triggers=_NAMES,
    examples=(
        Example('__global__ void k() { std::printf("x"); }\n', contains=('{ printf("x"); }',)),
        Example(
            "__device__ void f(char *a, char *b) { ::std::memcpy(a, b, 4); }\n",
            contains=("{ ::memcpy(a, b, 4); }",),
        ),
    ),
    clean=(
        'void f() { std::printf("x"); }\n',
        '__global__ void k() { printf("x"); }\n',
        "__device__ void f(char *a) { mine::memcpy(a); }\n",
        "__device__ void f(char *a, char *b) { cuda::std::memcpy(a, b, 4); mine::std::printf(a); }\n",
    ),
    sources=("hip/amd_detail/amd_device_functions.h and amd_hip_runtime.h of ROCm 6.4",),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    for name in sorted(source.names & _NAMES):
        for position in source.find(name):
            of_std = source.at(position - 1) == b"::" and source.at(position - 2) == b"std"
            if (
                not of_std
                or source.qualified(position - 2)
                or source.at(position + 1) != b"("
                or not source.in_device(position)
            ):
                continue
            yield finding(
                RULE,
                source,
                position - 2,
                f"std::{name.decode()} in device code: HIP declares it for the device without std::",
                last=position,
                edits=[Edit(Span(source.starts[position - 2], source.starts[position]), b"")],
            )
