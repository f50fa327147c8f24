"""A header of CUDA's included inside `extern "C" { ... }`.

CUDA's headers of the driver and the runtime hold C in the parts a C++ host compiler reads; HIP's hold templates, which
a compiler refuses with C linkage. The block is closed before the include and opened again behind it, for C++ alone.
SAFE.
"""

from __future__ import annotations

from collections.abc import Iterator

from rocport.facts.symbols import load
from rocport.model import Applicability, Context, Example, Finding, Rule, Severity
from rocport.rules.cuda.common import finding, insert
from rocport.rules.cuda.include_header import is_project_file, spelled
from rocport.syntax.cuda import CudaSource

RULE = Rule(
    name="include-in-extern-c",
    summary='CUDA header inside extern "C"',
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.SAFE,
    phase=2,
    triggers=frozenset({b"extern"}),
    examples=(
        Example(
            'extern "C" {\n#include <cuda.h>\n}\n',
            contains=("#ifdef __cplusplus\n}\n#endif\n#include <hip", '#ifdef __cplusplus\nextern "C" {\n#endif\n}'),
        ),
        Example(
            '#ifdef __cplusplus\nextern "C" {\n#endif\n#include <cuda_runtime.h>\nvoid f();\n'
            "#ifdef __cplusplus\n}\n#endif\n"
        ),
    ),
    clean=(
        '#include <cuda.h>\nextern "C" { void f(); }\n',
        'extern "C" {\n#include <stdio.h>\n}\n',
    ),
    sources=('hip/hip_runtime_api.h of ROCm 6.4: templates below its own extern "C"',),
)

_CLOSE, _OPEN = b"#ifdef __cplusplus\n}\n#endif\n", b'\n#ifdef __cplusplus\nextern "C" {\n#endif'


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    table = load()
    blocks = [
        (at + 2, source.pairs[at + 2])
        for at in source.index.get(b"extern", ())
        if source.at(at + 1) == b'"C"' and source.at(at + 2) == b"{" and at + 2 in source.pairs
    ]
    for directive in source.directives if blocks else ():
        if directive.name != b"include" or not any(first < directive.first < last for first, last in blocks):
            continue
        found = spelled(source, directive)
        if found is None or table.header(found[0]) is None or is_project_file(found[0], source, context):
            continue
        start = source.line_start(directive.first)
        end = source.data.find(b"\n", found[2])
        end = len(source.data) if end < 0 else end - (source.data[end - 1 : end] == b"\r")
        yield finding(
            RULE,
            source,
            directive.first,
            f'{found[0]} is included inside extern "C", where HIP\'s templates are refused',
            last=directive.last - 1,
            edits=[insert(start, _CLOSE), insert(end, _OPEN)],
        )
