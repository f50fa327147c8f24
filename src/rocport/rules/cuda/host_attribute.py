"""Attributes of CUDA's headers in a source for the host's compiler: `__align__`, `__launch_bounds__`, `__managed__`.

`cuda_runtime.h` defines them for every compiler; HIP's headers do so for its own alone, so that
`struct __align__(16) S` of a header that a plain `.cpp` reaches is an error there. The port includes `rocport_host.h`,
which has them for such a compiler: the alignment is the same, the other words say nothing to a host. Right everywhere;
a file that only HIP's compiler reads is left alone.
"""

from __future__ import annotations

from collections.abc import Iterator

from rocport.binding.bind import Owner, binder
from rocport.model import Applicability, Context, Example, Finding, Rule, Severity
from rocport.rules.cuda.common import finding
from rocport.syntax.cuda import CudaSource

_NAMES = frozenset({b"__align__", b"__builtin_align__", b"__launch_bounds__", b"__managed__"})
_HOST_SOURCES = (".cpp", ".cc", ".cxx", ".c")

RULE = Rule(
    name="host-attribute",
    summary="attribute that HIP's headers have for its own compiler alone",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.SAFE,
    phase=2,
    triggers=_NAMES,
    examples=(
        Example(
            "#include <cuda_runtime.h>\nstruct __align__(16) S { int a; };\n",
            contains=('#include "rocport_host.h"', "struct __align__(16) S"),
            path="s.cpp",
        ),
        Example(
            "#include <cuda_runtime.h>\n__global__ void __launch_bounds__(64) k();\n",
            contains=('#include "rocport_host.h"',),
            path="k.cc",
        ),
    ),
    clean=(
        "struct __align__(16) S { int a; };\n",
        Example(
            "#define __align__(n) __attribute__((aligned(n)))\nstruct __align__(16) S { int a; };\n",
            path="own.cpp",
        ),
        Example("#ifdef __align__\n#endif\n", path="asks.cpp"),
        Example("struct __align__(16) S { int a; };\n", path="only_for_cu.h"),
    ),
    sources=("crt/host_defines.h of CUDA 13", "hip/amd_detail/host_defines.h and amd_hip_runtime.h of ROCm 6.4"),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    if not context.project.reached_by(source.path, _HOST_SOURCES):
        return
    for position in sorted(source.find(*(source.names & _NAMES))):
        directive = source.directive_of(position)
        if directive is not None and (directive.name != b"define" or position == directive.first + 2):
            continue
        if binder(source, context).bind(position).owner is not Owner.CUDA:
            continue
        yield finding(
            RULE,
            source,
            position,
            f"{source.texts[position].decode()} is not in HIP's headers for the host's compiler; the port's has it",
            headers=["rocport_host.h"],
            routine=True,
        )
        return
