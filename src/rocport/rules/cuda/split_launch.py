"""nvcc takes a launch written `k << <grid, block >> >(...)`, with spaces or line breaks; clang wants `<<<` and `>>>`.
Formatters that know no CUDA write it so, and much code has it. The port joins the brackets and keeps what stood between
them, comments and line ends included, in front. A grid or block given as a list in braces, which clang does not take
either, gets its type, `dim3`. Right everywhere: to nvcc both are the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rocport.model import Applicability, Context, Edit, Example, Finding, Rule, Severity, Span
from rocport.rules.cuda.common import finding, insert
from rocport.syntax.cuda import CudaSource

# Cheap, and true of more than launches: most files have none of it.
_APART = re.compile(rb"<<(?:\s|\\|/[*/])+<|>(?:\s|\\|/[*/])+>")

RULE = Rule(
    name="split-launch",
    summary="launch as only nvcc reads it",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.SAFE,
    phase=2,
    triggers=frozenset(),
    examples=(
        Example("void f() { k << <1, 2 >> > (p); }\n", contains=("k <<<1, 2 >>> (p)",)),
        Example(
            "void f() {\n  k<T> <<\n    <grid, block, 0, s>>\n  >(p, q);\n}\n",
            contains=("k<T> \n    <<<grid, block, 0, s\n  >>>(p, q);",),
        ),
        Example("void f() { k<<<g, {1, n, 1}, 0, s>>>(p); }\n", contains=("k<<<g, dim3{1, n, 1}, 0, s>>>(p)",)),
        Example("#define GO(k) k << < 1, \\\n  2 >> > ()\n", contains=("k <<< 1, \\\n  2 >>> ()",)),
    ),
    clean=(
        "void f() { k<<<1, 2>>>(p); }\n",
        "void f() { k<<<g<h<i>>(), 2>>>(p); }\n",
        "int f(int a) { return a << 1 >> 2; }\n",
        "A<B<C> > d(e);\n",
    ),
    sources=("https://docs.nvidia.com/cuda/cuda-c-programming-guide/#execution-configuration",),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    braced = b"<<<" in source.data and b"{" in source.data
    if not braced and _APART.search(source.data) is None:
        return
    for launch in source.launches:
        edits = [
            edit
            for first, last, text in ((launch.open, launch.opened, b"<<<"), (launch.shut, launch.close, b">>>"))
            if (edit := _joined(source, first, last, text)) is not None
        ]
        braces = [first for first, _ in launch.config[:2] if source.at(first) == b"{"]
        edits += [insert(source.starts[first], b"dim3") for first in braces]
        if edits:
            yield finding(
                RULE,
                source,
                launch.kernel,
                "clang wants the brackets of a launch in one piece, and a type before braces in them",
                last=launch.close,
                edits=edits,
                routine=True,
            )


def _joined(source: CudaSource, first: int, last: int, text: bytes) -> Edit | None:
    """The bracket in one piece behind what stood between its parts; None where nothing did."""
    start, end = source.starts[first], source.end(last)
    if source.data[start:end] == text:
        return None
    between = b"".join(source.data[source.end(at) : source.starts[at + 1]] for at in range(first, last))
    return Edit(Span(start, end), (between if between.strip(b" \t") else b"") + text)
