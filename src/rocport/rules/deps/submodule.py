"""A submodule that is NVIDIA's: CUTLASS, CUB, Thrust or NVBench, checked out into the tree and compiled from there.
CUTLASS and CUTE are written for NVIDIA's instructions and do not compile with hipcc; copies of CUB and Thrust shadow
hipCUB and rocThrust, which ROCm brings. Right when the sources that include them are left out on ROCm (Composable
Kernel or Triton in their place), and the folder is no include path there. A submodule of AMD's is left alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rocport.model import Applicability, Confidence, Context, Example, Finding, Rule, Severity
from rocport.project.build import BuildSource
from rocport.rules.build.common import found

_MODULE = re.compile(
    r"(?i)url\s*=\s*\S*[/:](cutlass|cub|thrust|nvbench|cccl|nvidia-docker|flashinfer|cuco\w*|nccl)(?:\.git)?/?\s*$"
)

RULE = Rule(
    name="cuda-submodule",
    summary="submodule of NVIDIA's sources",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.MANUAL,
    languages=frozenset({"gitmodules"}),
    phase=5,
    holds="every ROCm release",
    examples=(
        Example(
            '[submodule "third_party/cutlass"]\n\tpath = third_party/cutlass\n'
            "\turl = https://github.com/NVIDIA/cutlass.git\n",
            path=".gitmodules",
        ),
    ),
    clean=(
        Example('[submodule "ck"]\n\turl = https://github.com/ROCm/composable_kernel.git\n', path=".gitmodules"),
        Example('[submodule "pybind11"]\n\turl = https://github.com/pybind/pybind11.git\n', path=".gitmodules"),
    ),
    sources=("https://github.com/NVIDIA/cutlass", "https://github.com/ROCm/composable_kernel"),
)


def check(source: BuildSource, context: Context) -> Iterator[Finding]:
    for line in source.lines:
        match = _MODULE.search(line.text)
        if match:
            yield found(
                RULE,
                source,
                line,
                f"{match[1]}: NVIDIA's sources, not for hipcc",
                fix="leave out what includes it on ROCm; Composable Kernel, hipCUB or rocThrust in its place",
                confidence=Confidence.MEDIUM,
            )
