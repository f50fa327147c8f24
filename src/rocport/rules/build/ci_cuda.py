"""A workflow that builds or tests for CUDA only: a matrix of CUDA versions, a CUDA toolkit action, NVIDIA's runners.
Nobody tries the package on ROCm, and no wheel for it is made: the next change breaks the port unseen. Right when a job
for ROCm stands beside it (a `rocm/dev` container builds without an AMD GPU; `rocport verify` runs without one too). A
workflow that names ROCm, or a repository whose workflows do, is left alone. One finding a file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rocport.model import Applicability, Confidence, Context, Example, Finding, Rule, Severity
from rocport.project.build import BuildSource
from rocport.rules.build.common import found, is_workflow
from rocport.syntax.amd import is_amd_path, names_amd

_CUDA = re.compile(
    r"^\s*-?\s*(?:cuda(?:[-_](?:version|versions|arch))?|CUDA_VERSION|CUDA)\s*:\s*[\[\"'\d]"
    r"|Jimver/cuda-toolkit|\bcuda-toolkit@|runs-on:.*(?i:nvidia|\bcuda|\ba10g?\b|\bt4\b|a100|h100|tesla)|with-cuda:\s*enable"
)

RULE = Rule(
    name="ci-cuda-only",
    summary="workflow for CUDA only",
    severity=Severity.COSMETIC,
    applicability=Applicability.MANUAL,
    languages=frozenset({"yaml"}),
    triggers=frozenset({b"cuda", b"CUDA", b"nvidia"}),
    phase=8,
    holds="every ROCm release",
    examples=(
        Example(
            "jobs:\n  b:\n    strategy:\n      matrix:\n        cuda: ['11.8', '12.1']\n",
            path=".github/workflows/b.yml",
        ),
        Example("jobs:\n  t:\n    runs-on: [self-hosted, nvidia, torch12]\n", path=".github/workflows/t.yml"),
    ),
    clean=(
        Example(
            "matrix:\n  cuda: ['12.1']\n  rocm: ['7.2']\n",
            path=".github/workflows/b.yml",
        ),
        Example("jobs:\n  t:\n    runs-on: ubuntu-latest\n", path=".github/workflows/t.yml"),
        Example("cuda: ['12.1']\n", path="configs/model.yaml"),
    ),
    sources=("https://rocm.docs.amd.com/projects/install-on-linux/en/latest/how-to/docker.html",),
)


def check(source: BuildSource, context: Context) -> Iterator[Finding]:
    if not is_workflow(source.path) or is_amd_path(source.path) or any(names_amd(line.text) for line in source.lines):
        return
    if any(".github/workflows/" in path and is_amd_path(path.rsplit("/", 1)[-1]) for path in context.project.files):
        return
    for line in source.lines:
        match = _CUDA.search(line.text)
        if match:
            yield found(
                RULE,
                source,
                line,
                f"{match[0].strip()[:50]}: built or tested for CUDA only",
                fix="a job beside it that builds in a rocm container",
                confidence=Confidence.LOW,
            )
            return
