"""`std::declval` in device code: a function of the host's to clang, although nothing calls it.

nvcc looks at the execution space of what is called, clang of every name it resolves, in `decltype`, `sizeof` and
`noexcept`, too. In a function that is `__device__` or `__global__` alone, its return type included, `std::declval` has
"no matching function", and a template that says it in its return type is left out of the overloads without a word. So
has an alias template that such a function names; a member of a class template has not. A generated header declares it
for the device: SAFE.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator

from rocport.model import Applicability, Context, Example, Finding, Rule, Severity
from rocport.rules.cuda.common import finding
from rocport.syntax.cuda import CudaSource
from rocport.syntax.declarations import behind_template_head, definition_start

HEADER = "rocport_declval.h"
_DEVICE = frozenset({b"__device__", b"__global__"})

RULE = Rule(
    name="declval-in-device",
    summary="std::declval in device code",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.SAFE,
    phase=2,
    triggers=frozenset({b"declval"}),
    examples=(
        Example(
            "#include <utility>\n"
            "template <class T> __device__ auto next(T v) -> decltype(std::declval<T>() + 1) { return v + 1; }\n"
            "__global__ void k(int *a) { a[0] = next(a[0]); }\n",
            contains=('#include "rocport_declval.h"',),
        ),
        Example(
            "#include <utility>\n"
            "template <class T> using sum = decltype(std::declval<T>() + std::declval<T>());\n"
            "template <class T> __device__ void f(T *v) { sum<T> s = v[0]; v[1] = s; }\n",
            contains=('#include "rocport_declval.h"',),
        ),
    ),
    clean=(
        "template <class T> auto next(T v) -> decltype(std::declval<T>() + 1) { return v; }\n__global__ void k();\n",
        "template <class T> __host__ __device__ auto next(T v) -> decltype(std::declval<T>() + 1) { return v + 1; }\n",
        "template <class T> struct S { typedef decltype(std::declval<T>() + 1) type; };\n__device__ S<int>::type x;\n",
        "__global__ void k(int *a) { a[0] = sizeof(mine::declval<int>()); }\n",
    ),
    sources=("SemaOverload.cpp and SemaCUDA.cpp of clang 19: ovl_fail_bad_target, CFP_Never",),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    starts, ends = _device_only(source)
    for position in sorted(source.find(b"declval")):
        if source.at(position + 1) != b"<" or not _of_std(source, position):
            continue
        at = bisect_right(starts, position) - 1
        if (at >= 0 and position <= ends[at]) or (
            _in_alias_template(source, position)
            and (source.functions or context.project.reached_by(source.path, ".cu"))
        ):
            yield finding(
                RULE,
                source,
                position,
                "std::declval reached from a function of the device's alone: clang takes the host's for no candidate, "
                "though nothing is called; the port declares it for the device",
                headers=[HEADER],
                routine=True,
            )
            return


def _of_std(source: CudaSource, position: int) -> bool:
    """True for `std::declval`, and for a plain `declval`, which a using-declaration brings."""
    if source.at(position - 1) != b"::":
        return source.at(position - 1) not in (b".", b"->")
    return source.at(position - 2) == b"std" and not source.qualified(position - 2)


def _device_only(source: CudaSource) -> tuple[list[int], list[int]]:
    """First and last tokens of the functions that the host has not, heads included; joined where they overlap."""
    starts: list[int] = []
    ends: list[int] = []
    spans = sorted(
        (definition_start(source, one.name), one.body[1] if one.body else _end(source, one.params[1]))
        for one in source.functions
        if one.specifiers & _DEVICE and b"__host__" not in one.specifiers
    )
    for first, last in spans:
        if ends and first <= ends[-1]:
            ends[-1] = max(ends[-1], last)
        else:
            starts.append(first)
            ends.append(last)
    return starts, ends


def _end(source: CudaSource, position: int) -> int:
    """The `;` that ends a declaration, from the end of its parameters on."""
    while position < len(source.texts) and source.at(position) not in (b";", b"{", b"}"):
        position = source.pairs.get(position, position) + 1 if source.at(position) == b"(" else position + 1
    return position


def _in_alias_template(source: CudaSource, position: int) -> bool:
    start = definition_start(source, position)
    return source.at(start) == b"template" and source.at(behind_template_head(source, start)) == b"using"
