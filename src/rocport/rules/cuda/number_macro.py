"""A macro of the project's like `#define warp 32` in front of a library's header, which ROCm's uses as a name.

CUDA's CUB and Thrust use none of these names; rocPRIM has namespaces and variables called `warp`, `width`, `pi`. The
port takes macros of a lower-case word for a number back while such a header is read, and puts them into force behind
it: SAFE, for a header that does not use the name nothing changes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rocport.model import Applicability, Context, Example, Finding, Rule, Severity
from rocport.rules.cuda.common import finding, insert
from rocport.rules.cuda.include_header import is_project_file, spelled
from rocport.syntax.cuda import CudaSource, Directive

_LIBRARY = re.compile(r"(?:cub|thrust)/")
_NAME = re.compile(rb"[a-z]+\Z")
_NUMBER = re.compile(rb"\(?[+-]?\d[\w.]*\)?\Z")

RULE = Rule(
    name="number-macro",
    summary="macro of the project's that is a name of ROCm's headers",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.SAFE,
    phase=2,
    triggers=frozenset({b"cub", b"thrust"}),
    examples=(
        Example(
            "#define warp 32\n#include <thrust/sort.h>\n#include <thrust/scan.h>\nint f() { return warp; }\n",
            contains=(
                '#pragma push_macro("warp")\n#undef warp\n#include <thrust/sort.h>\n#include <thrust/scan.h>\n'
                '#pragma pop_macro("warp")\n',
            ),
        ),
    ),
    clean=(
        "#define WARP 32\n#include <thrust/sort.h>\n",
        "#define real float\n#include <thrust/sort.h>\n",
        "#define warp 32\n#include <vector>\nint f() { return warp; }\n",
    ),
    sources=("rocprim/warp of ROCm 6.4", "https://gcc.gnu.org/onlinedocs/gcc/Push_002fPop-Macro-Pragmas.html"),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    runs = list(_runs(source, context))
    names = sorted(name for name, value in context.project.macros.items() if _taken_back(name, value)) if runs else []
    for first, last in runs if names else ():
        before = b"".join(_pragma(source, b"push", name) + b"#undef " + name + source.newline for name in names)
        after = b"".join(source.newline + _pragma(source, b"pop", name).rstrip() for name in reversed(names))
        yield finding(
            RULE,
            source,
            first.first,
            f"ROCm's headers may use {b', '.join(names).decode()} as a name: no macro while they are read",
            last=first.last - 1,
            edits=[insert(first.start, before), insert(source.end(last.last - 1), after)],
        )


def _taken_back(name: bytes, value: bytes) -> bool:
    return _NAME.match(name) is not None and _NUMBER.match(value.strip()) is not None


def _pragma(source: CudaSource, what: bytes, name: bytes) -> bytes:
    return b"#pragma " + what + b'_macro("' + name + b'")' + source.newline


def _runs(source: CudaSource, context: Context) -> Iterator[tuple[Directive, Directive]]:
    """First and last of each run of directives that include a library's headers."""
    run: list[Directive] = []
    for directive in source.directives:
        found = spelled(source, directive) if directive.name == b"include" else None
        if found and _LIBRARY.match(found[0]) and not is_project_file(found[0], source, context):
            run.append(directive)
        elif run:
            yield run[0], run[-1]
            run = []
    if run:
        yield run[0], run[-1]
