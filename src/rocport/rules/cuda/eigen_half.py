"""Eigen in a CUDA source: its half asks for `::hlog`, which HIP's bfloat16 hides.

HIP's functions of half lie in a namespace without a name. Where `hip_bf16.h` was read before, as PyTorch's headers do,
`::hlog(a)` of Eigen 3.4 finds that of bfloat16 alone: an error in every unit for the GPU that includes Eigen. The port
includes a header of its own first, which has the function for Eigen's half. Right everywhere: only HIP's compiler reads
it, and only a class made of HIP's half takes it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rocport.model import Applicability, Context, Example, Finding, Rule, Severity
from rocport.rules.cuda.common import finding
from rocport.rules.cuda.include_header import spelled
from rocport.syntax.cuda import CudaSource

_EIGEN = re.compile(r"(?:.*/)?Eigen/\w+")
_UNITS = (".cu", ".cup")

RULE = Rule(
    name="eigen-half",
    summary="Eigen's half beside HIP's bfloat16",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.SAFE,
    phase=2,
    triggers=frozenset({b"Eigen"}),
    examples=(
        Example(
            "#include <torch/extension.h>\n#include <eigen3/Eigen/Dense>\n__global__ void k() {}\n",
            contains=('#include "rocport_eigen.h"\n#include <torch/extension.h>\n',),
        ),
    ),
    clean=(
        Example("#include <Eigen/Core>\nint f();\n", path="host.cpp"),
        Example("#include <Eigen/Core>\nint f();\n", path="host.h"),
        "namespace Eigen { struct half; }\n__global__ void k() {}\n",
    ),
    sources=("Eigen/src/Core/arch/Default/Half.h of Eigen 3.4", "hip/amd_detail/amd_hip_bf16.h of ROCm 6.4"),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    if not source.path.endswith(".cuh") and not context.project.reached_by(source.path, _UNITS):
        return
    for directive in source.directives:
        found = spelled(source, directive) if directive.name == b"include" else None
        if found is not None and _EIGEN.fullmatch(found[0]):
            yield finding(
                RULE,
                source,
                directive.first,
                f"{found[0]} asks for half's ::hlog, which HIP's bfloat16 hides; the port's header has it for Eigen",
                last=directive.last - 1,
                headers=["rocport_eigen.h"],
                routine=True,
            )
            return
