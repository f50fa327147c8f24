"""`dim3{blocks, 2}` with an `int blocks`: nvcc warns of the narrowing conversion, clang refuses it.

Sizes of grids and elements of vector types are often written in braces with values of another type. The C++ standard
forbids what may lose bits there; nvcc and gcc only warn where the value is no constant. The port tells clang not to
refuse it, from the file's first such place on: SAFE, the value is the one that nvcc takes.
"""

from __future__ import annotations

from collections.abc import Iterator

from rocport.model import Applicability, Context, Example, Finding, Rule, Severity
from rocport.rules.cuda.common import finding, insert
from rocport.rules.cuda.definitions import outermost
from rocport.syntax.cuda import CudaSource
from rocport.syntax.vectors import VECTORS

_TYPES = VECTORS | {b"dim3"}
_IGNORED = b'#pragma clang diagnostic ignored "-Wc++11-narrowing"'

RULE = Rule(
    name="narrowing",
    summary="value of another type in braces",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.SAFE,
    phase=2,
    examples=(
        Example(
            "int g;\ntemplate <class T>\nvoid f(int n) {\n  k<<<dim3{n / 32, 2}, dim3{32, 2}>>>(n);\n}\n",
            contains=("int g;\n" + _IGNORED.decode() + "\ntemplate <class T>\nvoid f(int n)",),
        ),
        Example("void f(int n) { const dim3 grid{n}; dim3 other = {n, n}; }\n", contains=(_IGNORED.decode(),)),
        Example("void f(int n) { k<<<{n, 2}, 32>>>(n); }\n", contains=(_IGNORED.decode(), "<<<dim3{n, 2}, 32>>>")),
        Example("__device__ uint2 f(int n) { return uint2{n, 2}; }\n", contains=(_IGNORED.decode(),)),
    ),
    clean=(
        "void f() { k<<<dim3{32, 2}, 0x20>>>(); int2 a = {1, -1}; }\n",
        "dim3 f(int n) { return dim3(n, 2); }\n",
        "struct int2 { int x, y; };\n",
        '#pragma clang diagnostic ignored "-Wc++11-narrowing"\nvoid f(int n) { dim3 grid{n}; }\n',
    ),
    sources=("warning 2361-D of nvcc 13", "https://clang.llvm.org/docs/DiagnosticsReference.html#wc-11-narrowing"),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    if b"c++11-narrowing" in source.data:
        return
    opened = {position: _braces(source, position) for position in source.find(*_TYPES & source.names)}
    sizes = (first for launch in source.launches for first, _ in launch.config if source.at(first) == b"{")
    for position, open_ in sorted((opened | {first: first for first in sizes}).items()):
        if open_ is None or source.directive_of(position) is not None:
            continue
        close = source.pairs.get(open_)
        if close is not None and any(source.is_ident(at) for at in range(open_ + 1, close)):
            start = source.line_start(outermost(source, position))
            message = "nvcc takes a value of another type in braces with a warning, and clang refuses it"
            yield finding(RULE, source, position, message, edits=[insert(start, _IGNORED + source.newline)])
            return


def _braces(source: CudaSource, position: int) -> int | None:
    """The brace that opens an initializer: `T{`, `T name{`, `T name = {`."""
    if source.at(position - 1) in (b"struct", b"class", b"enum", b"union"):
        return None
    at = position + 1
    if source.is_ident(at):
        at += 1 + (source.at(at + 1) == b"=")
    return at if source.at(at) == b"{" else None
