"""Text that a source includes inside a function or a class: `#include "steps.def"` between two statements.

What the port adds to such a file, an include of one of its headers, would stand inside the function. The headers are
included at the top of the file that includes the fragment instead, so that the lines in the fragment do nothing. SAFE.
"""

from __future__ import annotations

from collections.abc import Iterator

from rocport.binding.scopes import Kind, Scopes
from rocport.model import Applicability, Context, Example, Finding, Rule, Severity
from rocport.rules.cuda.common import finding
from rocport.rules.cuda.include_header import is_project_file, spelled
from rocport.syntax.cuda import CudaSource

_HEADERS = ("rocport_platform.h", "rocport_warp.h")

RULE = Rule(
    name="fragment-include",
    summary="include inside a function",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.SAFE,
    phase=2,
    triggers=frozenset({b"include"}),
    examples=(
        Example(
            '__device__ int f(int v) {\n#include "kernel.cu"\n  return v;\n}\n', contains=('#include "rocport_warp.h"',)
        ),
    ),
    clean=('#include "kernel.cu"\n__device__ int f(int v) { return v; }\n', "void f() {\n#include <vector>\n}\n"),
    sources=("https://en.cppreference.com/w/cpp/preprocessor/include",),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    scopes = Scopes(source)
    for directive in source.directives:
        if directive.name != b"include" or directive.first == 0:
            continue
        named = spelled(source, directive)
        if named is None or not is_project_file(named[0], source, context):
            continue
        inside = next(scopes.enclosing(directive.first), None)
        if inside is None or inside.kind in (Kind.NAMESPACE, Kind.INITIALIZER, Kind.ENUM):
            continue
        yield finding(
            RULE,
            source,
            directive.first,
            f"{named[0]} is included inside a function or class: the port's headers come before it",
            last=directive.last - 1,
            headers=_HEADERS,
        )
