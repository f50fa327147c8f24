"""An AMD target list with one GPU in it: `PYTORCH_ROCM_ARCH=gfx90a`, `--offload-arch=gfx90a`, `GPU_ARCHS="gfx90a"`.
Code objects for one gfx target run on that target only: everything else answers "no kernel image" or falls back. Right
when the list is a parameter, or holds every target the project says it supports. What CMake sets only where nobody gave
the list is its default, and left alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rocport.model import Applicability, Confidence, Context, Example, Finding, Rule, Severity
from rocport.project.build import BuildSource
from rocport.rules.build.cmake_reach import branches
from rocport.rules.build.common import found

_ONE = re.compile(
    r"(?:ROCM_ARCH|GPU_ARCHS?|GPU_TARGETS?|AMDGPU_TARGETS|HIP_ARCHITECTURES|offload-arch)\w*\s*[:?]?[=\s]\s*[\"']?(gfx[0-9a-f]{3,5})[\"']?(?![;,0-9a-f])"
)

RULE = Rule(
    name="single-gfx-target",
    summary="AMD target list with one GPU",
    severity=Severity.BREAKS_RUN,
    applicability=Applicability.MANUAL,
    languages=frozenset({"make", "docker", "shell", "cmake", "yaml"}),
    triggers=frozenset({b"gfx"}),
    phase=4,
    holds="every ROCm release: a code object runs on its own gfx target",
    examples=(
        Example('RUN PYTORCH_ROCM_ARCH="gfx90a" python setup.py install\n', path="Dockerfile_amd"),
        Example("if(USE_HIP)\n  set(GPU_TARGETS gfx90a)\nendif()\n", path="CMakeLists.txt"),
    ),
    clean=(
        Example('ENV PYTORCH_ROCM_ARCH="gfx90a;gfx942"\n', path="Dockerfile"),
        Example("if(NOT GPU_TARGETS)\n  set(GPU_TARGETS gfx90a)\nendif()\n", path="CMakeLists.txt"),
        Example("ARG GPU_ARCHS\nRUN make ${GPU_ARCHS}\n", path="Dockerfile"),
    ),
    sources=("https://rocm.docs.amd.com/en/latest/reference/gpu-specs.html",),
)


def check(source: BuildSource, context: Context) -> Iterator[Finding]:
    defaults = {
        item.line
        for condition, body in branches(source.commands)
        for item in body
        if item.name == "set" and item.words and item.words[0] in condition.arguments
    }
    for line in source.lines:
        match = _ONE.search(line.text)
        if match and line.number not in defaults:
            yield found(
                RULE,
                source,
                line,
                f"builds for {match[1]} only",
                fix="list every gfx target the project supports, or take the list as a parameter",
                confidence=Confidence.MEDIUM,
            )
