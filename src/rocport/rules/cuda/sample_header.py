"""Programs written after CUDA's samples include their helper headers, which come neither with CUDA nor with ROCm.
Where the repository has no copy, the include becomes a header of the port's with what programs call: error checks, the
choice of a device, timers and the command line in `rocport_samples.h`, the functions of `helper_math.h` in
`rocport_samples_math.h`. Its operators are HIP's own. A copy in the repository is ported like any file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rocport.model import Applicability, Context, Edit, Example, Finding, Rule, Severity, Span
from rocport.rules.cuda.common import finding
from rocport.rules.cuda.include_header import is_project_file, spelled
from rocport.syntax.cuda import CudaSource

_NAME = re.compile(r"(?:.*/)?helper_(?:cuda|string|timer|functions|(?P<math>math))\.h")
_OF_NVIDIA = frozenset({b"checkCudaCapabilities", b"_ConvertSMVer2Cores", b"_ConvertSMVer2ArchName"})

RULE = Rule(
    name="sample-header",
    summary="helper header of CUDA's samples",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.REVIEW,
    phase=2,
    triggers=frozenset({b"helper_cuda", b"helper_string", b"helper_timer", b"helper_functions", b"helper_math"}),
    examples=(
        Example(
            "#include <helper_cuda.h>\nvoid f(void* p) { checkCudaErrors(cudaFree(p)); }\n",
            contains=('#include "rocport_samples.h"', "checkCudaErrors(hipFree(p))"),
            absent=("#include <helper_",),
        ),
        Example(
            '#include "../common/inc/helper_math.h"\n__device__ float3 f(float3 a) { return normalize(a) * 2.0f; }\n',
            contains=('#include "rocport_samples_math.h"',),
        ),
        Example(
            '#include "helper_cuda.h"\nint f(int a, int b) { return _ConvertSMVer2Cores(a, b); }\n',
            contains=('#include "rocport_samples.h"',),
        ),
    ),
    clean=('#include "my_helper_cuda.h"\n', "void f(int* p) { getLastError(p); }\n"),
    sources=("Common/ of github.com/NVIDIA/cuda-samples, whose headers a program expects on its include path",),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    asked = [source.at(position).decode() for position in sorted(source.find(*_OF_NVIDIA))]
    for directive in source.directives:
        found = spelled(source, directive) if directive.name == b"include" else None
        match = _NAME.fullmatch(found[0]) if found is not None else None
        if found is None or match is None or is_project_file(found[0].rsplit("/", 1)[-1], source, context):
            continue
        header = "rocport_samples_math.h" if match["math"] else "rocport_samples.h"
        name, _, end = found
        message = (
            f"{name} comes with CUDA's samples and is not in the repository: {header} has what programs call of it"
        )
        review = b"checkCudaCapabilities" in source.names and not match["math"]
        if asked and not match["math"]:
            message += f"; {asked[0]} asks for NVIDIA's compute capability: 64 lanes a compute unit, any capability met"
        yield finding(
            RULE,
            source,
            directive.first,
            message,
            last=directive.last - 1,
            applicability=Applicability.REVIEW if review else Applicability.SAFE,
            edits=[Edit(Span(directive.start, end), f"// {header} stands for {name}".encode())],
            headers=[header],
            cause="headers of CUDA's samples",
        )
