"""`__restrict__` behind the type of a value: `uint32_t __restrict__ address`, `float __restrict__ *x`.

The word says of a pointer that nothing else points there, and stands behind its `*`. nvcc takes it behind a number's
type, too, where it says nothing; clang refuses it. Leaving it out keeps the meaning: SAFE. Behind a name that may stand
for a pointer, it is left.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rocport.model import Applicability, Context, Edit, Example, Finding, Rule, Severity, Span
from rocport.rules.cuda.common import finding
from rocport.syntax.cuda import CudaSource
from rocport.syntax.vectors import HALVES, VECTORS

_WORDS = (b"__restrict__", b"__restrict")
_QUALIFIERS = frozenset({b"const", b"volatile"})
_VALUES = (
    HALVES
    | VECTORS
    | {
        *b"bool char short int long unsigned signed float double size_t ssize_t ptrdiff_t".split(),
        *b"cuComplex cuFloatComplex cuDoubleComplex".split(),
        *(sign + b"int" + bits + b"_t" for sign in (b"", b"u") for bits in (b"8", b"16", b"32", b"64")),
    }
)

RULE = Rule(
    name="restrict-value",
    summary="__restrict__ on a value",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.SAFE,
    phase=2,
    triggers=frozenset(_WORDS),
    examples=(
        Example(
            "__device__ void f(uint32_t __restrict__ r[][4], half *__restrict__ p) { unsigned __restrict__ a = 0; }\n",
            contains=("(uint32_t r[][4], half *__restrict__ p)", "unsigned a = 0;"),
        ),
        Example("__global__ void k(const float __restrict__ *x);\n", contains=("k(const float *x);",)),
        Example("__global__ void k(int4 const __restrict &x);\n", contains=("k(int4 const &x);",)),
        Example(
            "#define VALUE float __restrict__\nint n;\n"
            "__global__ void k(VALUE x, int __restrict__\n#ifdef A\n a\n#endif\n);\n",
            contains=("#define VALUE float \n", "\nint n;\n", "VALUE x, int \n#ifdef A\n"),
        ),
    ),
    clean=(
        "__global__ void k(const float *__restrict__ x, Pointer __restrict__ y, float &__restrict__ z);\n",
        "#define RESTRICT __restrict__\n",
    ),
    sources=(
        "https://clang.llvm.org/docs/DiagnosticsReference.html",
        "https://en.cppreference.com/w/c/language/restrict",
    ),
)

_BLANKS = re.compile(rb"[ \t]*")


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    for position in source.find(*_WORDS):
        before = position - 1
        while source.at(before) in _QUALIFIERS:
            before -= 1
        if source.at(before) in _VALUES:
            # To the next token of its line only: the line's end may end a directive.
            blanks = _BLANKS.match(source.data, source.end(position))
            yield finding(
                RULE,
                source,
                position,
                "restrict on a value, not on a pointer: nvcc takes it, and clang refuses it; it is left out",
                edits=[Edit(Span(source.starts[position], blanks.end() if blanks else source.end(position)), b"")],
            )
