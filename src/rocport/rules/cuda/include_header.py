"""CUDA headers become the HIP headers that declare the same names.

HIP's library headers live in a folder of their own (`hipblas/hipblas.h`, not `hipblas.h`). A header without a
counterpart (`mma.h`, `cuda/std/...`) stays and is a MANUAL finding. An include of a header of the project is left
alone: the port keeps file names.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from rocport.facts.symbols import Symbol, load
from rocport.model import Applicability, Context, Edit, Example, Finding, Rule, Severity, Span
from rocport.rules.cuda.common import finding
from rocport.syntax.cuda import CudaSource, Directive
from rocport.syntax.includes import include_names

# Headers that hipify maps in part or not at all, or whose HIP header holds other names: these stay listed.
_LISTED = ("cub/", "curand", "cuda_bf16", "device_launch_parameters", "vector_functions")

# Libraries whose headers a rule of their own replaces.
_ELSEWHERE = frozenset({"nvtx"})

RULE = Rule(
    name="include-header",
    summary="CUDA header",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.MANUAL,
    phase=2,
    triggers=frozenset({b"include"}),
    examples=(
        Example("#include <cublas_v2.h>\n", contains=("#include <hipblas/hipblas.h>",)),
        Example('#include "cuda_runtime.h"\n', contains=("<hip/hip_runtime.h>",)),
    ),
    clean=(
        "#include <vector>\n",
        '#include "my_cuda_runtime.h"\n',
    ),
    sources=("header folders of the ROCm 6.4 packages",),
)


def spelled(source: CudaSource, directive: Directive) -> tuple[str, int, int] | None:
    """Header name of an include and the byte range of `<...>` or `"..."`; None for a computed include."""
    data = source.data
    start = source.end(directive.first + 1)
    rest = data[start : directive.end]
    stripped = rest.lstrip()
    start += len(rest) - len(stripped)
    closing = {b"<": b">", b'"': b'"'}.get(stripped[:1])
    if closing is None:
        return None
    end = data.find(closing, start + 1, directive.end)
    if end < 0:
        return None
    return data[start + 1 : end].decode("utf-8", "surrogateescape").strip(), start, end + 1


def is_project_file(name: str, source: CudaSource, context: Context) -> bool:
    """True when the include names a file of the tree itself."""
    near = posixpath.normpath(posixpath.join(posixpath.dirname(source.path), name))
    if near in context.project.files:
        return True
    if posixpath.basename(name) not in context.project.basenames:
        return False
    return any(path.endswith("/" + name) or path == name for path in context.project.files)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    table = load()
    if not any(table.header(name) for name in set(include_names(source.data))):
        return
    for directive in source.directives:
        if directive.name not in (b"include", b"import"):
            continue
        found = spelled(source, directive)
        if found is None:
            continue
        name, start, end = found
        symbol = table.header(name)
        if symbol is None or symbol.library in _ELSEWHERE or is_project_file(name, source, context):
            continue
        yield _finding(source, directive, symbol, start, end)


def _finding(source: CudaSource, directive: Directive, symbol: Symbol, start: int, end: int) -> Finding:
    if not symbol.hip:
        return finding(
            RULE,
            source,
            directive.first,
            f"<{symbol.cuda}> has no HIP counterpart" + (f": {symbol.note}" if symbol.note else ""),
            last=directive.last - 1,
            fix="replace what the file takes from it, then drop the include",
        )
    return finding(
        RULE,
        source,
        directive.first,
        f"<{symbol.cuda}> is <{symbol.hip}>" + (f"; {symbol.note}" if symbol.note else ""),
        last=directive.last - 1,
        applicability=Applicability.REVIEW if symbol.note else Applicability.SAFE,
        routine=not symbol.note and not symbol.cuda.startswith(_LISTED),
        edits=[Edit(Span(start, end), f"<{symbol.hip}>".encode())],
    )
