"""Macros of HIP's first years that no ROCm release defines any more switch an existing AMD branch off, silently.
`__HIP_PLATFORM_HCC__` and `__HCC__` named the AMD compiler until ROCm 5; since ROCm 6 only `__HIP_PLATFORM_AMD__` and
`__HIPCC__` are defined (and `__HIP_PLATFORM_NVIDIA__` for `__HIP_PLATFORM_NVCC__`). A conditional that also asks for
the new name is right already and left alone. The edit is right wherever the name stands for "compiled for AMD".
"""

from __future__ import annotations

from collections.abc import Iterator

from rocport.model import Applicability, Context, Example, Finding, Rule, Severity
from rocport.rules.cuda.common import finding, replace
from rocport.syntax.cuda import CudaSource

_TODAY = {
    b"__HIP_PLATFORM_HCC__": b"__HIP_PLATFORM_AMD__",
    b"__HIP_PLATFORM_NVCC__": b"__HIP_PLATFORM_NVIDIA__",
    b"__HCC__": b"__HIPCC__",
}

RULE = Rule(
    name="hip-platform-macro",
    summary="HIP platform macro that is no longer defined",
    severity=Severity.WRONG_RESULT,
    applicability=Applicability.REVIEW,
    phase=2,
    triggers=frozenset(_TODAY),
    examples=(
        Example("#ifdef __HIP_PLATFORM_HCC__\nint wave = 64;\n#endif\n", contains=("#ifdef __HIP_PLATFORM_AMD__",)),
        Example(
            "#if defined(__HCC__) && __HIP__ > 0\nint wave = 64;\n#endif\n", contains=("#if defined(__HIPCC__) &&",)
        ),
    ),
    clean=(
        "#if defined(__HIP_PLATFORM_HCC__) || defined(__HIP_PLATFORM_AMD__)\nint wave = 64;\n#endif\n",
        "#ifdef __HIP_PLATFORM_AMD__\nint wave = 64;\n#endif\n",
        "#if defined(__CUDACC__) || __HCC__ == 1 || __HIP__ == 1\nint wave = 64;\n#endif\n",
    ),
    sources=("https://rocm.docs.amd.com/projects/HIP/en/docs-6.0.0/reference/deprecated_api_list.html",),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    for position in source.find(*_TODAY):
        name = source.texts[position]
        directive = source.directive_of(position)
        if directive is None or directive.name in (b"define", b"undef"):
            continue
        asked = source.texts[directive.first : directive.last]
        if _TODAY[name] in asked or (name == b"__HCC__" and b"__HIP__" in asked and b"&&" not in asked):
            continue
        yield finding(
            RULE,
            source,
            position,
            f"{name.decode()} is not defined since ROCm 6: this branch would be off; the port asks for "
            f"{_TODAY[name].decode()}",
            edits=[replace(source, position, _TODAY[name])],
        )
