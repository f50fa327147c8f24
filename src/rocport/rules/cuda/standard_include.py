"""A name of the C++ library that a file has from CUDA's headers only: `std::exchange`.

`cuda_runtime.h` includes `<utility>`, and CUB's headers do; `hip_runtime_api.h` and hipCUB do not in a host source. A
file that forgot the include compiles beside CUDA and not beside HIP. The port adds it: SAFE.
"""

from __future__ import annotations

from collections.abc import Iterator

from rocport.model import Applicability, Context, Example, Finding, Rule, Severity
from rocport.rules.cuda.common import finding, insert
from rocport.syntax.cuda import CudaSource

_HEADERS = {b"exchange": b"utility"}

RULE = Rule(
    name="standard-include",
    summary="header of the C++ library that CUDA's include",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.SAFE,
    phase=2,
    triggers=frozenset(_HEADERS),
    examples=(
        Example(
            "#pragma once\n#include <vector>\nint *f(int *&p) { return std::exchange(p, nullptr); }\n",
            contains=("#include <utility>\n#include <vector>",),
        ),
    ),
    clean=(
        "#include <utility>\nint *f(int *&p) { return std::exchange(p, nullptr); }\n",
        "#include <vector>\nint f(int p) { return my::exchange(p, 0); }\n",
        "int *f(int *&p) { return std::exchange(p, nullptr); }\n",
    ),
    sources=("cuda_runtime.h of CUDA 13.0, hip/hip_runtime_api.h of ROCm 6.4",),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    first = next((directive for directive in source.directives if directive.name == b"include"), None)
    if first is None:
        return
    for name, header in _HEADERS.items():
        used = (at for at in source.find(name) if source.texts[max(0, at - 2) : at] == [b"std", b"::"])
        position = next(used, None)
        if position is not None and not _included(source, header):
            yield finding(
                RULE,
                source,
                position,
                f"std::{name.decode()} is of <{header.decode()}>, which CUDA's headers bring and HIP's do not",
                edits=[insert(first.start, b"#include <" + header + b">" + source.newline)],
            )


def _included(source: CudaSource, header: bytes) -> bool:
    return any(
        directive.name == b"include" and b"<" + header + b">" in source.text(directive.first, directive.last)
        for directive in source.directives
    )
