"""NVTX marks ranges for NVIDIA's profilers; its headers are not in ROCm, and a program is lost for an annotation.
The include becomes a header of the port's that has NVTX's C and C++ interface and does nothing; the calls stay.
With `ROCPORT_USE_ROCTX` defined and roctx64 linked, marks and ranges reach ROCm's profilers. Right everywhere: an
annotation changes no result. NVTX's own headers, where the repository carries them, are left: they work on any machine.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rocport.facts.symbols import load
from rocport.model import Applicability, Context, Edit, Example, Finding, Rule, Severity, Span
from rocport.rules.cuda.common import finding
from rocport.rules.cuda.include_header import is_project_file, spelled
from rocport.syntax.cuda import CudaSource

HEADER = "rocport_nvtx.h"


_NAME = re.compile(r"(?:nvtx3/.*|nvToolsExt\w*\.h)")

RULE = Rule(
    name="annotation-header",
    summary="NVTX header",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.SAFE,
    phase=2,
    triggers=frozenset({b"nvToolsExt", b"nvToolsExtCuda", b"nvToolsExtCudaRt", b"nvToolsExtSync", b"nvtx3"}),
    claims=frozenset(name for name, symbol in load().identifiers.items() if symbol.library == "nvtx"),
    examples=(
        Example(
            '#include <nvtx3/nvToolsExt.h>\nvoid f() { nvtxRangePush("f"); nvtxRangePop(); }\n',
            contains=('#include "rocport_nvtx.h"', 'nvtxRangePush("f")'),
            absent=("#include <nvtx3/", "roctx"),
        ),
        Example("#include <nvtx3/nvtx3.hpp>\n", contains=('#include "rocport_nvtx.h"',)),
    ),
    clean=('#include "my_nvToolsExt_wrapper.h"\n', 'void f() { nvtxRangePushA("f"); }\n'),
    sources=("https://nvidia.github.io/NVTX/doxygen/index.html", "roctracer/roctx.h of ROCm 6.4"),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    for directive in source.directives:
        found = spelled(source, directive) if directive.name == b"include" else None
        if found is None or not _NAME.fullmatch(found[0]) or is_project_file(found[0], source, context):
            continue
        name, _, end = found
        yield finding(
            RULE,
            source,
            directive.first,
            f"<{name}> marks ranges for a profiler; the calls stay and do nothing "
            "(define ROCPORT_USE_ROCTX and link roctx64 for ROCm's profilers)",
            last=directive.last - 1,
            edits=[Edit(Span(directive.start, end), f"// {HEADER} stands for <{name}>".encode())],
            headers=[HEADER],
            routine=True,
        )
