"""`#define UNROLL #pragma unroll`: nvcc takes a directive that comes out of a macro, clang takes it for an expression.

`_Pragma("unroll")` in the macro means the same to both. SAFE for `unroll` and `nounroll` with at most a number or a
name behind it. MANUAL for the rest: another directive may mean nothing to clang, and what follows the count is code.
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
    applicability=Applicability.MANUAL,
    phase=2,
    triggers=frozenset({b"pragma"}),
    examples=(
        Example(
            "#define LOOP_UNROLL #pragma unroll\n__global__ void k(int *o) {\n  LOOP_UNROLL\n"
            "  for (int i = 0; i < 4; ++i) o[i] = i;\n}\n",
            contains=('#define LOOP_UNROLL _Pragma("unroll")\n',),
        ),
        Example("#define UNROLL_4 #pragma unroll 4\n", contains=('#define UNROLL_4 _Pragma("unroll 4")\n',)),
        Example("#define UNROLL_N #pragma unroll (N)\n", contains=('_Pragma("unroll ( N )")\n',)),
        Example(
            "#define LOOP #pragma unroll 4 for (int i = 0; i < 4; ++i)\n",
            contains=("#define LOOP #pragma unroll 4 for",),
            absent=("_Pragma",),
        ),
        Example("#define QUIET #pragma nv_diag_suppress 177\n", absent=("_Pragma",)),
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
        words = [word for word in source.texts[body + 2 : directive.last] if word != b"\\"]
        text = b" ".join(words)
        if not _is_unroll(words):
            yield finding(
                RULE,
                source,
                directive.first,
                f"#pragma {text.decode('utf-8', 'replace')} out of a macro: clang takes it for an expression",
                last=directive.last - 1,
                applicability=Applicability.MANUAL,
                fix="write what clang is to be told as _Pragma(...), and the code of the macro behind it",
            )
            continue
        yield finding(
            RULE,
            source,
            directive.first,
            f"#pragma {text.decode('utf-8', 'replace')} out of a macro: clang takes _Pragma there",
            last=directive.last - 1,
            applicability=Applicability.SAFE,
            edits=[replace_range(source, body, directive.last, b'_Pragma("' + text + b'")')],
        )


def _is_unroll(words: list[bytes]) -> bool:
    """True for `unroll` and `nounroll` with nothing, a number or a name behind it, also between parentheses."""
    count = words[1:]
    if len(count) == 3 and (count[0], count[2]) == (b"(", b")"):
        count = count[1:2]
    return (
        words[0] in (b"unroll", b"nounroll")
        and len(count) <= 1
        and all(word.isalnum() or _is_name(word) for word in count)
    )


def _is_name(word: bytes) -> bool:
    return word.replace(b"_", b"a").isalnum()
