"""The storage class `register` is an error in C++17, the default of HIP's compiler; nvcc only warns.

The word has had no effect on code since long before: leaving it out keeps the meaning. C files, where it is legal, are
left alone, and so is a register variable with an `asm` name.
"""

from __future__ import annotations

from collections.abc import Iterator

from rocport.model import Applicability, Context, Edit, Example, Finding, Rule, Severity, Span
from rocport.rules.cuda.common import finding
from rocport.syntax.cuda import CudaSource

RULE = Rule(
    name="register-keyword",
    summary="storage class register",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.SAFE,
    phase=2,
    triggers=frozenset({b"register"}),
    examples=(
        Example("__global__ void k() { register int i = 0; }\n", contains=("{ int i = 0; }",)),
        Example("void f(register const float *x);\n", contains=("void f(const float *x);",)),
    ),
    clean=(
        Example("int f(register int x) { return x; }\n", path="plain.c"),
        "// register int x\nint y;\n",
        'void f() { register int x asm("r0"); }\n',
    ),
    sources=("https://eel.is/c++draft/diff.cpp14.dcl.dcl",),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    if source.path.endswith(".c"):
        return
    for position in source.find(b"register"):
        directive = source.directive_of(position)
        if not source.is_ident(position + 1) or (directive is not None and directive.name not in (b"define",)):
            continue
        if directive is not None and position == directive.first + 2:
            continue
        if source.at(position + 3) in (b"asm", b"__asm__"):
            continue
        yield finding(
            RULE,
            source,
            position,
            "register is an error in C++17; it has no effect and is left out",
            edits=[Edit(Span(source.starts[position], source.starts[position + 1]), b"")],
        )
