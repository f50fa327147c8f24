"""`__grid_constant__` marks a kernel parameter that is never written, so that its address can be taken without a copy.
HIP has no such specifier: it fails to compile. Kernel parameters lie in read-only memory on AMD GPUs too; taking the
address of one gives a private copy, which holds the same value. Leaving the word out keeps the meaning everywhere,
except for code that hands the address to TMA, which is named by other rules.
"""

from __future__ import annotations

from collections.abc import Iterator

from rocport.model import Applicability, Context, Edit, Example, Finding, Rule, Severity, Span
from rocport.rules.cuda.common import finding
from rocport.syntax.cuda import CudaSource

RULE = Rule(
    name="grid-constant",
    summary="__grid_constant__ parameter",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.SAFE,
    phase=2,
    triggers=frozenset({b"__grid_constant__"}),
    claims=frozenset({b"__grid_constant__"}),
    examples=(
        Example("__global__ void k(const __grid_constant__ Params p) {}\n", contains=("void k(const Params p)",)),
    ),
    clean=("__global__ void k(const Params p) {}\n",),
    sources=("https://docs.nvidia.com/cuda/cuda-c-programming-guide/#grid-constant",),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    for position in source.find(b"__grid_constant__"):
        directive = source.directive_of(position)
        if directive is not None and directive.name != b"define":
            continue
        if directive is not None and position == directive.first + 2:
            continue
        end = source.end(position)
        while source.data[end : end + 1] in (b" ", b"\t"):
            end += 1
        yield finding(
            RULE,
            source,
            position,
            "HIP has no __grid_constant__; the parameter keeps its value without it",
            edits=[Edit(Span(source.starts[position], end), b"")],
        )
