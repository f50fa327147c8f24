"""A warp size of 32 handed to the compiler by the build: `-DWARP_SIZE=32`, `add_definitions(-DTHREADS_PER_WARP=32)`.
The kernels never ask, so they run with 32 on wavefronts of 64 lanes too. Right when the value is chosen by the target
(gfx9 has 64 lanes, RDNA and gfx1250 32), or the kernels keep CUDA's logical warps of 32 lanes, as `port` does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rocport.facts.targets import families, listed, wave64
from rocport.model import Applicability, Confidence, Context, Example, Finding, Rule, Severity
from rocport.model.holds import Range
from rocport.project.build import BuildSource
from rocport.rules.build.common import found

WARP_DEFINE = re.compile(
    r"(?:-D|^\s*#\s*define\s+|\b)(\w*(?:WARP_?SIZE|THREADS_PER_WARP|LANES_PER_WARP)\w*)\s*[= ]\s*32\b"
)

RULE = Rule(
    name="warp-size-define",
    summary="warp size of 32 set by the build",
    severity=Severity.WRONG_RESULT,
    applicability=Applicability.MANUAL,
    languages=frozenset({"cmake", "make", "shell", "meson", "bazel", "docker", "yaml"}),
    triggers=frozenset({b"WARP", b"Warp"}),
    phase=3,
    where=Range(target={"wavefront": (64,)}),
    examples=(
        Example("add_definitions(-DWARP_SIZE=32)\n", path="CMakeLists.txt"),
        Example("NVFLAGS += -DTHREADS_PER_WARP=32\n", path="Makefile"),
    ),
    clean=(
        Example(
            "if(USE_ROCM)\n  add_definitions(-DWARP_SIZE=64)\nelse()\n  add_definitions(-DWARP_SIZE=32)\nendif()\n",
            path="CMakeLists.txt",
        ),
        Example("NVFLAGS += -DWARP_SIZE=$(WARP)\n", path="Makefile"),
    ),
    sources=("facts/targets: wavefront sizes",),
)


def check(source: BuildSource, context: Context) -> Iterator[Finding]:
    for line in source.lines:
        match = WARP_DEFINE.search(line.text)
        if match and not line.gated:
            yield found(
                RULE,
                source,
                line,
                f"{match[1]} is 32: wavefronts have 64 lanes on {families(wave64)}",
                fix="choose it by target, or keep 32 where the kernels keep logical warps",
                confidence=Confidence.MEDIUM,
                holds=listed(wave64),
            )
