"""A macro of the project's like `#define warp 32`, which ROCm's headers use as a name.

CUDA's CUB and Thrust use none of these names; rocPRIM, on which ROCm's stand, has namespaces and variables called
`warp`, `width`, `pi`. Where a header of CUB or Thrust comes after such a macro, in whatever file, it does not compile.
The port includes rocPRIM's header before a macro of a lower-case word for a number, in projects that include CUB or
Thrust: SAFE, as it declares nothing in the project's namespaces.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rocport.model import Applicability, Context, Example, Finding, Rule, Severity
from rocport.rules.cuda.common import finding, insert
from rocport.syntax.cuda import CudaSource, Directive
from rocport.syntax.includes import include_names

_NAME = re.compile(rb"[a-z]+\Z")
_NUMBER = re.compile(rb"\d[\w.]*\Z")
_FIRST = b"#if defined(__HIPCC__)", b"#include <rocprim/rocprim.hpp>", b"#endif", b""

RULE = Rule(
    name="number-macro",
    summary="macro of the project's that is a name of ROCm's headers",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.SAFE,
    phase=2,
    triggers=frozenset({b"define"}),
    examples=(
        Example(
            "#define warp 32\n#include <thrust/sort.h>\nint f() { return warp; }\n",
            contains=("#if defined(__HIPCC__)\n#include <rocprim/rocprim.hpp>\n#endif\n#define warp 32\n",),
        ),
    ),
    clean=(
        "#define WARP 32\n#include <thrust/sort.h>\n",
        "#define real float\n#include <thrust/sort.h>\n",
        "#define warp 32\n#include <vector>\nint f() { return warp; }\n",
    ),
    sources=("rocprim/warp of ROCm 6.4",),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    macro = next((item for item in source.directives if _is_number(source, item)), None)
    if macro is None or not _uses_libraries(source, context):
        return
    name = source.at(macro.first + 2)
    yield finding(
        RULE,
        source,
        macro.first + 2,
        f"ROCm's CUB and Thrust may use {name.decode()} as a name: rocPRIM is read before it is a macro",
        edits=[insert(macro.start, source.newline.join(_FIRST))],
    )


def _is_number(source: CudaSource, macro: Directive) -> bool:
    """True for `#define warp 32`."""
    words = source.texts[macro.first + 2 : macro.last]
    return (
        macro.name == b"define"
        and len(words) == 2
        and _NAME.match(words[0]) is not None
        and _NUMBER.match(words[1]) is not None
    )


def _uses_libraries(source: CudaSource, context: Context) -> bool:
    every = (include_names(source.data), *context.project.includes.values())
    return any(name.startswith(("cub/", "thrust/")) for names in every for name in names)
