"""A name of the project's that HIP's headers leave defined as a macro: `MASK1`, `MASK2`, `HW_ID`.

`hip/amd_detail/amd_device_functions.h` defines them for itself and does not take them back, so that
`enum { MASK1 = 1 };` reads `enum { 0x00ff00ff = 1 };`, and `#ifndef MASK1` around a default of the project's leaves
HIP's value in its place, silently. The port takes the macro back before the file's first use: SAFE. Where the project's
own `#define` stands in front of the include, HIP's header would define the name again: it is included first. Any other
file that defines the name without asking is left alone, and one that uses a macro of another file of the project.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rocport.model import Applicability, Context, Example, Finding, Rule, Severity
from rocport.rules.cuda.common import finding, insert
from rocport.rules.cuda.definitions import outermost
from rocport.syntax.cuda import CudaSource, Directive

_NAMES = frozenset(
    b"MASK1 MASK2 HW_ID HW_ID_CU_ID_SIZE HW_ID_CU_ID_OFFSET HW_ID_SE_ID_SIZE HW_ID_SE_ID_OFFSET XCC_ID "
    b"XCC_ID_XCC_ID_SIZE XCC_ID_XCC_ID_OFFSET GETREG_IMMED MAYBE_UNDEF ADDRESS_SPACE_CONSTANT GENERIC_GRID_LAUNCH "
    b"USE_PEER_NON_UNIFIED".split()
)
_CUDA = re.compile(rb"\bcu(?:da|blas|fft|rand|sparse|solver|b/)|thrust/")
_ASKS = (b"ifndef", b"ifdef", b"if")

RULE = Rule(
    name="header-macro",
    summary="name that HIP's headers define as a macro",
    severity=Severity.WRONG_RESULT,
    applicability=Applicability.SAFE,
    phase=2,
    binds=True,
    triggers=_NAMES,
    examples=(
        Example(
            "#include <cuda_runtime.h>\nenum { MASK1 = 1, MASK2 = 2 };\n",
            contains=("#undef MASK1\n#undef MASK2\nenum { MASK1 = 1, MASK2 = 2 };",),
        ),
        Example(
            "#include <cuda_runtime.h>\n#ifndef MASK1\n#define MASK1 7\n#endif\n",
            contains=("#undef MASK1\n#ifndef MASK1\n",),
        ),
        Example(
            "#define MASK2 7\n#include <cuda_runtime.h>\nint f() { return MASK2; }\n",
            contains=("#include <hip/hip_runtime.h>\n#undef MASK2\n#define MASK2 7\n",),
        ),
        Example(
            "struct S {\n  int n;\n};\n__device__ int f(int HW_ID) {\n  return HW_ID;\n}\n",
            contains=("};\n#undef HW_ID\n__device__ int f(int HW_ID)",),
        ),
    ),
    clean=(
        "#define MASK1 7\nint f() { return MASK1; }\n",
        "// MASK1\nint f();\n",
    ),
    sources=("hip/amd_detail/amd_device_functions.h of ROCm 6.4",),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    taken_back: dict[int, list[int]] = {}
    for name in sorted(_NAMES & source.names):
        first = next(source.find(name), None)
        directive = None if first is None else source.directive_of(first)
        if directive is not None and directive.name == b"define" and _includes_cuda(source, directive):
            yield finding(
                RULE,
                source,
                directive.first + 2,
                f"HIP's headers, included below, define {name.decode()} again: they come first here",
                edits=[
                    insert(directive.start, b"#include <hip/hip_runtime.h>" + source.newline + _undef(source, name))
                ],
            )
        elif first is None or (directive is None and name in context.project.macros):
            continue
        elif directive is None:
            start = source.line_start(outermost(source, first))
            taken_back.setdefault(start, []).append(first)
        elif directive.name in _ASKS:
            taken_back.setdefault(directive.start, []).append(first)
    for start, positions in sorted(taken_back.items()):
        names = [source.texts[position] for position in positions]
        yield finding(
            RULE,
            source,
            positions[0],
            f"HIP's headers leave {b', '.join(names).decode()} defined as macros of their own: taken back here",
            edits=[insert(start, b"".join(_undef(source, name) for name in names))],
        )


def _undef(source: CudaSource, name: bytes) -> bytes:
    return b"#undef " + name + source.newline


def _includes_cuda(source: CudaSource, before: Directive) -> bool:
    """True where a header of CUDA is included behind a directive."""
    return any(
        item.name == b"include" and item.first > before.first and _CUDA.search(source.text(item.first, item.last))
        for item in source.directives
    )
