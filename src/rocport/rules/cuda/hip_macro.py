"""A name that HIP's headers define as a macro and leave defined: `MASK1`, `MASK2`, `HW_ID`, `XCC_ID`, `GETREG_IMMED`.

CUDA's headers do not know them. In the port `#ifndef MASK1` finds HIP's number in place of the project's, a macro that
was defined before the include gets HIP's text without a warning, and a variable of the name does not compile. A file
that names one gets `rocport_macros.h` in front, which includes HIP's headers and takes these macros away again: SAFE.
"""

from __future__ import annotations

from collections.abc import Iterator

from rocport.model import Applicability, Context, Example, Finding, Rule, Severity
from rocport.rules.cuda.common import finding
from rocport.rules.cuda.warp_common import amd_only
from rocport.syntax.cuda import CudaSource

_NAMES = (b"MASK1", b"MASK2", b"HW_ID", b"XCC_ID", b"GETREG_IMMED")
_HEADER = "rocport_macros.h"

RULE = Rule(
    name="hip-macro",
    summary="name that HIP's headers leave defined as a macro",
    severity=Severity.WRONG_RESULT,
    applicability=Applicability.SAFE,
    phase=3,
    triggers=frozenset(_NAMES),
    binds=True,
    examples=(
        Example(
            "#include <cuda_runtime.h>\n#ifndef MASK1\n#define MASK1 0x1f\n#endif\n",
            contains=(f'#include "{_HEADER}"', "#define MASK1 0x1f"),
        ),
        Example(
            "enum { HW_ID = 7 };\n__global__ void k(int *p) { *p = HW_ID; }\n", contains=(f'#include "{_HEADER}"',)
        ),
    ),
    clean=("__global__ void k(int *p) { *p = MASK3; }\n", "#ifdef __HIP_PLATFORM_AMD__\nint a = HW_ID;\n#endif\n"),
    sources=("hip/amd_detail/amd_device_functions.h of ROCm 6.4",),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    for name in _NAMES:
        at = next((place for place in source.index.get(name, ()) if not amd_only(source, place)), None)
        if at is not None:
            shown = name.decode()
            yield finding(
                RULE,
                source,
                at,
                f"HIP's headers leave {shown} defined: taken away again, so that it is what this project says",
                headers=[_HEADER],
            )
