"""Attributes of kernels that HIP lacks: `__maxnreg__`, `__block_size__`.

`__maxnreg__(n)` bounds the registers of a thread. It is left out on AMD, where `__launch_bounds__` says what the
compiler may take; no result depends on it: REVIEW. `__block_size__` fixes the block of a kernel, with the cluster as
second argument, and is MANUAL.
"""

from __future__ import annotations

from collections.abc import Iterator

from rocport.model import Applicability, Context, Example, Finding, Rule, Severity
from rocport.rules.cuda.common import finding, replace_range
from rocport.rules.cuda.warp_common import amd_only
from rocport.syntax.cuda import CudaSource

RULE = Rule(
    name="kernel-attribute",
    summary="attribute of a kernel that HIP lacks",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.MANUAL,
    phase=2,
    triggers=frozenset({b"__maxnreg__", b"__block_size__"}),
    examples=(
        Example("__global__ void __maxnreg__(64) k(float *x) {}\n", contains=("__global__ void  k(float *x)",)),
        Example("__global__ void __block_size__((128), (2)) k(float *x) {}\n", contains=("__block_size__",)),
    ),
    clean=("__global__ void __launch_bounds__(64) k(float *x) {}\n",),
    sources=("https://docs.nvidia.com/cuda/cuda-c-programming-guide/ (maximum number of registers per thread)",),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    for position in source.find(b"__maxnreg__", b"__block_size__"):
        call = source.call(position)
        directive = source.directive_of(position)
        if call is None or amd_only(source, position):
            continue
        if directive is not None and directive.name == b"define" and position == directive.first + 2:
            continue
        bound = source.at(position) == b"__maxnreg__"
        yield finding(
            RULE,
            source,
            position,
            "__maxnreg__ is not in HIP: left out, __launch_bounds__ bounds the registers there"
            if bound
            else "__block_size__ is not in HIP, and AMD GPUs have no thread-block clusters",
            last=call.close,
            applicability=Applicability.REVIEW if bound else Applicability.MANUAL,
            edits=[replace_range(source, position, call.close + 1, b"")] if bound else [],
            fix="give the kernel __launch_bounds__ if its registers matter"
            if bound
            else "launch with the block's size",
        )
