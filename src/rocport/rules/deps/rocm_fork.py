"""A fork for ROCm, pinned: it stands still while the project it was made from has taken its changes in.
flash-attention, bitsandbytes, vLLM, xFormers and DeepSpeed build for ROCm from their own repositories now; a clone of
`flash-attention-rocm`, `bitsandbytes-rocm` or somebody's branch keeps an old version, an old list of gfx targets and
old APIs. Right where the fork is still ahead. AMD's own forks are left alone; clones of the original are left to the
rule for requirements.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rocport.model import Applicability, Confidence, Context, Example, Finding, Rule, Severity
from rocport.project.build import BuildSource
from rocport.rules.build.common import found

_FORK = re.compile(
    r"github\.com[/:](?P<owner>[\w.-]+)/(?P<name>[\w.]*(?:flash-attention|flash_attention|bitsandbytes|vllm|xformers|deepspeed|exllama\w*"
    r"|GPTQ[\w-]*|AutoGPTQ|causal-conv1d|mamba|triton)[\w.-]*)",
    re.IGNORECASE,
)
_UPSTREAM = frozenset(
    """
    dao-ailab hazyresearch timdettmers bitsandbytes-foundation vllm-project facebookresearch microsoft deepspeedai
    rocm rocmsoftwareplatform amd-aiml turboderp turboderp-org autogptq panqiwei state-spaces nvidia triton-lang openai
    pytorch huggingface
    """.split()  # noqa: SIM905 - a table to read
)
_CHECKOUT = re.compile(r"\bgit checkout\s+(?:[0-9a-f]{7,40}\b|\$[({]\w*commit\w*)")
_ROCM = re.compile(r"(?i)rocm|[-_.@/]hip\b|\bamd\b|mi\d00|navi|gfx")

RULE = Rule(
    name="rocm-fork-pin",
    summary="pinned fork for ROCm",
    severity=Severity.SLOW,
    applicability=Applicability.MANUAL,
    languages=frozenset({"make", "shell", "docker", "requirements", "yaml"}),
    triggers=frozenset({b"rocm", b"ROCm", b"hip", b"amd", b"gfx"}),
    phase=5,
    holds="commits and forks as they were in November 2026",
    examples=(
        Example("flash-rocm:\n\tgit clone https://github.com/someone/flash-attention-rocm flash\n", path="Makefile"),
        Example("RUN git clone https://github.com/someone/bitsandbytes-rocm\n", path="Dockerfile_amd"),
        Example("vllm-rocm:\n\tgit clone https://github.com/someone/vllm-public.git vllm\n", path="Makefile"),
        Example(
            "build-vllm-rocm:\n\tcd vllm && git checkout ad9b7c4095ef54419a0533d254f2ad84bd2dfcae\n", path="Makefile"
        ),
    ),
    clean=(
        Example("git clone https://github.com/Dao-AILab/flash-attention.git\n", path="Makefile"),
        Example("RUN git clone https://github.com/ROCm/rocBLAS\n", path="Dockerfile_amd"),
        Example("RUN git clone https://github.com/ROCm/flash-attention\n", path="Dockerfile_amd"),
        Example("cuda:\n\tgit clone https://github.com/someone/vllm-public.git vllm\n", path="Makefile"),
    ),
    sources=(
        "https://github.com/Dao-AILab/flash-attention/pull/1010",
        "https://github.com/bitsandbytes-foundation/bitsandbytes/pull/1683",
    ),
)


def check(source: BuildSource, context: Context) -> Iterator[Finding]:
    target = ""
    for line in source.lines:
        if source.language == "make" and re.match(r"[\w.-]+\s*:(?!=)", line.text):
            target = line.text.split(":")[0]
        if _CHECKOUT.search(line.text) and _ROCM.search(target):
            yield found(
                RULE,
                source,
                line,
                f"{target}: a commit pinned for ROCm",
                fix="take the commit the other platform takes, or see that this one is still needed",
                confidence=Confidence.LOW,
            )
            continue
        match = _FORK.search(line.text)
        if match is None or match["owner"].lower() in _UPSTREAM:
            continue
        if _ROCM.search(match[0]) or _ROCM.search(line.text[match.end() :]) or _ROCM.search(target):
            yield found(
                RULE,
                source,
                line,
                f"{match['owner']}/{match['name'].removesuffix('.git')}: a fork for ROCm, pinned",
                fix="build the project itself, or see that the fork is still ahead of it",
                confidence=Confidence.LOW,
                holds="flash-attention >= 2.6.2 builds for ROCm itself, bitsandbytes since June 2025",
            )
