"""A name of the C++ library that a file has from CUDA's headers only: `std::exchange`, `FLT_MAX`.

`cuda_runtime.h` includes `<utility>`, and CUB's headers do; `hip_runtime_api.h` and hipCUB do not in a host source.
CUB's and Thrust's headers, up to CUDA 12, include `<cfloat>`, and hipCUB's and rocThrust's do not. A file that forgot
the include compiles beside CUDA and not beside HIP. The port adds it: SAFE.
"""

from __future__ import annotations

from collections.abc import Iterator

from rocport.model import Applicability, Context, Example, Finding, Rule, Severity
from rocport.rules.cuda.common import finding, insert
from rocport.syntax.cuda import CudaSource
from rocport.syntax.includes import included

_HEADERS = {b"exchange": b"utility"}
_FLOATS = frozenset(
    kind + name for kind in (b"FLT", b"DBL") for name in b"_MAX _MIN _EPSILON _DIG _MANT_DIG _MAX_EXP _MIN_EXP".split()
)
_CFLOAT = frozenset({"cfloat", "float.h"})

RULE = Rule(
    name="standard-include",
    summary="header of the C++ library that CUDA's include",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.SAFE,
    phase=2,
    triggers=frozenset(_HEADERS) | _FLOATS,
    examples=(
        Example(
            "#pragma once\n#include <vector>\nint *f(int *&p) { return std::exchange(p, nullptr); }\n",
            contains=("#include <utility>\n#include <vector>",),
        ),
        Example(
            "#include <vector>\n#include <cub/cub.cuh>\nfloat f() { return FLT_MAX; }\n",
            contains=("#include <cfloat>\n#include <vector>",),
        ),
    ),
    clean=(
        "#include <cub/cub.cuh>\n#include <float.h>\nfloat f() { return FLT_MAX; }\n",
        "#include <vector>\nfloat f() { return FLT_MAX; }\n",
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
    names = included(source)
    if any(name.startswith(("cub/", "thrust/")) for name in names) and _CFLOAT.isdisjoint(names):
        for position in sorted(source.find(*_FLOATS & source.names))[:1]:
            constant = source.at(position).decode()
            yield finding(
                RULE,
                source,
                position,
                f"{constant} is of <cfloat>, which CUB's and Thrust's headers bring and ROCm's do not",
                edits=[insert(first.start, b"#include <cfloat>" + source.newline)],
            )


def _included(source: CudaSource, header: bytes) -> bool:
    return any(
        directive.name == b"include" and b"<" + header + b">" in source.text(directive.first, directive.last)
        for directive in source.directives
    )
