"""A submodule that is NVIDIA's, or a source that CMake fetches: CUTLASS, CUB, Thrust or NVBench, compiled in the tree.
CUTLASS and CUTE are written for NVIDIA's instructions and do not compile with hipcc; copies of CUB and Thrust shadow
hipCUB and rocThrust, which ROCm brings. Right when the sources that include them are left out on ROCm (Composable
Kernel or Triton in their place), and the folder is no include path there. A submodule of AMD's is left alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from rocport.model import Applicability, Confidence, Context, Example, Finding, Rule, Severity
from rocport.project.build import BuildSource
from rocport.rules.build.common import found, namespace_cause

_NAMES = r"(cutlass|cub|thrust|nvbench|cccl|nvidia-docker|flashinfer|cuco\w*|nccl|libcudacxx)"
_MODULE = re.compile(rf"(?i)url\s*=\s*\S*[/:]{_NAMES}(?:\.git)?/?\s*$")
# GIT_REPOSITORY of FetchContent and ExternalProject, CPM's GITHUB_REPOSITORY and `gh:`.
_FETCHED = re.compile(
    rf"(?i)\b(?:(?:git|github)_repository|url)\s+[\"']?(?:\S*[/:])?nvidia(?:-\w+)?/{_NAMES}\b|\bgh:nvidia(?:-\w+)?/{_NAMES}\b"
)

RULE = Rule(
    name="cuda-submodule",
    summary="submodule, or fetched copy, of NVIDIA's sources",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.MANUAL,
    languages=frozenset({"gitmodules", "cmake"}),
    phase=5,
    holds="every ROCm release",
    examples=(
        Example(
            '[submodule "third_party/cutlass"]\n\tpath = third_party/cutlass\n'
            "\turl = https://github.com/NVIDIA/cutlass.git\n",
            path=".gitmodules",
        ),
        Example(
            "FetchContent_Declare(c\n  GIT_REPOSITORY https://github.com/NVIDIA/cutlass.git GIT_TAG v3)\n",
            path="CMakeLists.txt",
        ),
        Example('CPMAddPackage("gh:NVIDIA/cccl#v2.3.1")\n', path="cmake/get.cmake"),
    ),
    clean=(
        Example('[submodule "ck"]\n\turl = https://github.com/ROCm/composable_kernel.git\n', path=".gitmodules"),
        Example(
            "if(USE_ROCM)\n  find_package(ck)\nelse()\n  CPMAddPackage(gh:NVIDIA/cutlass@3)\nendif()\n",
            path="CMakeLists.txt",
        ),
        Example("FetchContent_Declare(f GIT_REPOSITORY https://github.com/fmtlib/fmt.git)\n", path="CMakeLists.txt"),
        Example('[submodule "pybind11"]\n\turl = https://github.com/pybind/pybind11.git\n', path=".gitmodules"),
    ),
    sources=("https://github.com/NVIDIA/cutlass", "https://github.com/ROCm/composable_kernel"),
)


def check(source: BuildSource, context: Context) -> Iterator[Finding]:
    asks = _FETCHED if source.language == "cmake" else _MODULE
    for line in source.lines:
        match = asks.search(line.text)
        if match and not line.gated:
            name = match[match.lastindex or 1]
            item = found(
                RULE,
                source,
                line,
                f"{name}: NVIDIA's sources, not for hipcc",
                fix="leave out what includes it on ROCm; Composable Kernel, hipCUB or rocThrust in its place",
                confidence=Confidence.MEDIUM,
            )
            yield replace(item, cause=namespace_cause(name.lower()))
