"""A project's own macro decides whether GPU code is compiled: `HAVE_CUDA`, `WITH_CUDA`, `USE_CUDA`.
The build defines it where it finds CUDA. On ROCm nobody does, so the GPU code is left out in silence and the program
runs on the CPU. Right when the build defines the macro for HIP as well, or the conditional also asks for HIP's macro; a
conditional that does is left alone. Every conditional is named: which of them hold GPU code and which CUDA's own has
to be read. The port changes nothing here, as the macro is the build's to define.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rocport.model import Applicability, Confidence, Context, Example, Finding, Rule, Severity
from rocport.rules.cuda.common import finding
from rocport.syntax.amd import is_amd_macro
from rocport.syntax.cuda import CudaSource

_GUARD = re.compile(rb"^_*(?:[A-Z][A-Z0-9]*_)?(?:HAVE|WITH|USE|ENABLE|BUILD|HAS|ENABLED)_CUDA_*$")
_CONDITIONALS = (b"if", b"ifdef", b"elif")

RULE = Rule(
    name="own-cuda-guard",
    summary="the project's own macro for CUDA guards GPU code",
    severity=Severity.WRONG_RESULT,
    applicability=Applicability.REVIEW,
    phase=4,
    examples=(
        Example("#if HAVE_CUDA\nvoid f();\n#endif\n", contains=("#if HAVE_CUDA",)),
        Example("#ifdef WITH_CUDA\nvoid f();\n#endif\n", contains=("#ifdef WITH_CUDA",)),
    ),
    clean=(
        "#if defined(HAVE_CUDA) || defined(HAVE_ROCM)\nvoid f();\n#endif\n",
        "#ifndef USE_CUDA\nint cpu;\n#endif\n",
        "int HAVE_CUDA_DEVICES = 1;\n",
    ),
    sources=("https://rocm.docs.amd.com/projects/HIP/en/latest/how-to/hip_porting_guide.html",),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    if not any(_GUARD.match(name) for name in source.names):
        return
    for directive in source.directives:
        if directive.name not in _CONDITIONALS:
            continue
        words = source.texts[directive.first : directive.last]
        guard = next((word for word in words if _GUARD.match(word)), None)
        if guard is None or any(is_amd_macro(word) for word in words) or b"!" in words:
            continue
        yield finding(
            RULE,
            source,
            directive.first,
            f"{guard.decode()}: nothing defines it in a ROCm build, and this code is left out in silence",
            last=directive.last - 1,
            confidence=Confidence.MEDIUM,
            fix=f"define {guard.decode()} for the HIP build too",
        )
