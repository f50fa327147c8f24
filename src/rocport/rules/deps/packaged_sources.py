"""A package that ships `*.cu` and nothing else: files written by hipify are not in it.
`MANIFEST.in` and `package_data` decide what an sdist and an installed package hold. A port that keeps translated
sources (`*.hip`, `*_hip.cpp`) beside the originals, or compiles at run time from them, finds them missing after
`pip install`. Right when the patterns name both, or hipify runs in the user's build: a port of a PyTorch extension in a
tree of its own keeps the names, and is not asked about. One finding a file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rocport.model import Applicability, Confidence, Context, Example, Finding, Rule, Severity
from rocport.project.build import BuildSource
from rocport.rules.build.common import found

_PATTERN = re.compile(r"[\w/*]\.cuh?\b")

RULE = Rule(
    name="packaged-cuda-sources",
    summary="package ships .cu and no translated sources",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.MANUAL,
    languages=frozenset({"manifest", "toml"}),
    triggers=frozenset({b".cu"}),
    phase=4,
    holds="every ROCm release; sources that hipify or port wrote",
    examples=(
        Example("recursive-include csrc *.cu *.cuh *.cpp *.h\n", path="MANIFEST.in"),
        Example('[tool.setuptools.package-data]\n"*" = ["csrc/*.cu"]\n', path="pyproject.toml"),
    ),
    clean=(
        Example("recursive-include csrc *.cu *.hip *.cpp *.h\n", path="MANIFEST.in"),
        Example("recursive-include csrc *.cpp *.h\n", path="MANIFEST.in"),
        Example('[tool.ruff]\nexclude = ["a.cu"]\n', path="pyproject.toml"),
    ),
    sources=("https://setuptools.pypa.io/en/latest/userguide/datafiles.html",),
)


def check(source: BuildSource, context: Context) -> Iterator[Finding]:
    if context.project.torch_extension and context.options.layout != "both":
        return  # PyTorch translates the sources, or compiles the port's, while the package is built
    if b"hip" in source.data or (source.language == "toml" and b"package-data" not in source.data):
        return
    for line in source.lines:
        if _PATTERN.search(line.text) and (source.language != "manifest" or "include" in line.text):
            yield found(
                RULE,
                source,
                line,
                "packs .cu files; translated sources are left out",
                fix="pack *.hip and *_hip.* too, or translate during the user's build",
                confidence=Confidence.LOW,
            )
            return
