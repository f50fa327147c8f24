"""CUDA's `min` and `max` of a signed and an unsigned integer compare as unsigned; HIP's compare as double.
`min(-1, 5u)` is 5u on CUDA and -1.0 on HIP, whose template also gives a type that is no array index (llm.c's softmax)
and loses digits of 64-bit integers. A generated header has CUDA's overloads; it is included where device code calls
`min` or `max`, because the types of the arguments are not known without a compiler. Right everywhere: calls whose
arguments have one type find the functions they found before.
"""

from __future__ import annotations

from collections.abc import Iterator

from rocport.binding import binder
from rocport.model import Applicability, Context, Example, Finding, Rule, Severity
from rocport.rules.cuda.common import finding
from rocport.syntax.cuda import CudaSource

HEADER = "rocport_minmax.h"
_NAMES = (b"min", b"max")

RULE = Rule(
    name="mixed-min-max",
    summary="min or max in device code",
    severity=Severity.WRONG_RESULT,
    applicability=Applicability.SAFE,
    phase=2,
    triggers=frozenset(_NAMES),
    examples=(
        Example(
            "__global__ void k(float *x, int n) { x[min(n - 1, threadIdx.x * 4)] = 0; }\n",
            contains=('#include "rocport_minmax.h"', "x[min(n - 1, threadIdx.x * 4)]"),
        ),
    ),
    clean=(
        "__global__ void k(int *x, int n) { x[0] = std::min(n, 1); }\n",
        "__global__ void k(S *x) { x[0].min(1, 2); }\n",
        "__global__ void k(int *x, int n) { x[0] = min(n, 1.f); }\n",
        "void f(int n) { n = min(n, 1); }\n",
        "#define min(a, b) ((a) < (b) ? (a) : (b))\n__global__ void k(int *x, int n) { x[0] = min(n, x[1]); }\n",
    ),
    sources=("crt/math_functions.hpp of CUDA 12.4", "__clang_hip_cmath.h of clang 19: __HIP_OVERLOAD2(double, min)"),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    bound = binder(source, context)
    if any(bound.definitions(name, "macro") for name in _NAMES) or not set(_NAMES).isdisjoint(context.project.macros):
        return
    for position in sorted(source.find(*_NAMES)):
        if source.at(position - 1) in (b".", b"->", b"::") or not source.in_device(position):
            continue
        call = source.call(position)
        if call is None or len(call.args) != 2 or any(_is_plain(source, *argument) for argument in call.args):
            continue
        yield finding(
            RULE,
            source,
            position,
            f"{source.texts[position].decode()} of a signed and an unsigned integer compares as unsigned on CUDA, as "
            "double on HIP: CUDA's overloads are included",
            headers=[HEADER],
            routine=True,
        )
        return


def _is_plain(source: CudaSource, first: int, last: int) -> bool:
    """True for a floating point literal: such a call is over float or double."""
    if last - first != 1:
        return False
    text = source.texts[first]
    return text[:1].isdigit() and (b"." in text or text[-1:] in b"fF")
