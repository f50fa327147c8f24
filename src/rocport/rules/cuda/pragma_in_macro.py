"""`#define UNROLL #pragma unroll`: nvcc takes a directive that comes out of a macro, clang takes it for an expression.

`_Pragma("unroll")` in the macro means the same to both. SAFE, where the body of the macro is the pragma alone.
"""

from __future__ import annotations

from collections.abc import Iterator

from rocport.model import Applicability, Context, Example, Finding, Rule, Severity
from rocport.rules.cuda.common import finding, replace_range
from rocport.syntax.cuda import CudaSource

RULE = Rule(
    name="pragma-in-macro",
    summary="#pragma that comes out of a macro",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.SAFE,
    phase=2,
    triggers=frozenset({b"pragma"}),
    examples=(
        Example(
            "#define LOOP_UNROLL #pragma unroll\n__global__ void k(int *o) {\n  LOOP_UNROLL\n"
            "  for (int i = 0; i < 4; ++i) o[i] = i;\n}\n",
            contains=('#define LOOP_UNROLL _Pragma("unroll")\n',),
        ),
        Example("#define UNROLL_4 #pragma unroll 4\n", contains=('#define UNROLL_4 _Pragma("unroll 4")\n',)),
    ),
    clean=(
        "#pragma unroll\n#pragma once\nint x;\n",
        '#define UNROLL _Pragma("unroll")\n',
        "#define TEXT(pragma) #pragma\n",
    ),
    sources=(
        "https://en.cppreference.com/w/cpp/preprocessor/impl (the pragma operator)",
        "ISO C++ [cpp.rescan] 3: replacement makes no directive; the front end of nvcc takes #pragma all the same",
    ),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    for directive in source.directives:
        body = directive.first + 3
        if directive.name != b"define" or source.at(body) != b"#" or source.at(body + 1) != b"pragma":
            continue
        if body + 2 >= directive.last:
            continue
        text = b" ".join(source.texts[body + 2 : directive.last]).replace(b"\\", b"").replace(b'"', b'\\"')
        yield finding(
            RULE,
            source,
            directive.first,
            f"#pragma {text.decode('utf-8', 'replace')} out of a macro: clang takes _Pragma there",
            last=directive.last - 1,
            edits=[replace_range(source, body, directive.last, b'_Pragma("' + text + b'")')],
        )
