"""`#pragma unroll` in front of what is no loop: nvcc passes over it, clang stops.

Only a loop can follow it in clang ("expected a for, while, or do-while loop to follow '#pragma unroll'"). Where it
stands in front of another statement it does nothing in CUDA either, and is left out. A loop behind a label, and a
second pragma in between, are fine in both.
"""

from __future__ import annotations

from collections.abc import Iterator

from rocport.model import Applicability, Context, Edit, Example, Finding, Rule, Severity, Span
from rocport.rules.cuda.common import finding
from rocport.syntax.cuda import CudaSource

_LOOPS = (b"for", b"while", b"do")

RULE = Rule(
    name="unroll-pragma",
    summary="#pragma unroll without a loop",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.SAFE,
    phase=2,
    triggers=frozenset({b"unroll"}),
    examples=(
        Example(
            "__device__ void f(int n, int *p) {\n#pragma unroll\n  if (n) for (int i = 0; i < n; i++) p[i] = 0;\n}\n",
            absent=("#pragma",),
        ),
        Example(
            "__device__ void f(int *p) {\n  #pragma unroll 4\n  int s = 0;\n  p[0] = s;\n}\n",
            absent=("#pragma",),
        ),
        Example("__device__ void f(int *p) {\n  #pragma unroll\n  { p[0] = 1; }\n}\n", absent=("#pragma",)),
    ),
    clean=(
        "__device__ void f(int *p) {\n#pragma unroll\n  for (int i = 0; i < 4; i++) p[i] = 0;\n}\n",
        "__device__ void f(int *p) {\n#pragma unroll 2\n#pragma clang fp contract(off)\n  while (*p) --*p;\n}\n",
        "#define EACH(i) for (int i = 0; i < 4; i++)\nvoid f(int *p) {\n#pragma unroll\n  EACH(i) p[i] = 0;\n}\n",
        "#pragma unroll\n",
        "void f(int *p) {\n#pragma unroll\n#if N > 2\n  for (int i = 0; i < N; i++)\n#endif\n  p[0] = 0;\n}\n",
    ),
    sources=("https://clang.llvm.org/docs/AttributeReference.html#pragma-unroll-pragma-nounroll",),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    for directive in source.directives:
        if directive.name != b"pragma" or source.at(directive.first + 2) not in (b"unroll", b"nounroll"):
            continue
        following = directive.last
        if following >= len(source.texts) or source.directive_of(following) is not None:
            continue
        word = source.at(following)
        # A name may be a macro's that makes the loop, or a label in front of it.
        if word in _LOOPS or (source.is_ident(following) and not _begins_something_else(source, following)):
            continue
        start = source.starts[directive.first]
        yield finding(
            RULE,
            source,
            directive.first,
            "#pragma unroll stands in front of no loop: without effect in CUDA, an error of clang, left out",
            last=directive.last - 1,
            edits=[Edit(Span(start, directive.end), b"")],
        )


# Words with which a statement begins that is no loop.
_OTHERS = frozenset(
    b"if else switch return break continue const constexpr static auto int unsigned float double bool char short long "
    b"half __half __half2 half2 float2 float3 float4 int2 int3 int4 uint size_t typename typedef using struct "
    b"__shared__ asm".split()
)


def _begins_something_else(source: CudaSource, position: int) -> bool:
    return source.at(position) in _OTHERS
