"""Meson and Bazel files that ask for CUDA: `dependency('cuda')`, `add_languages('cuda')`, `cuda_library(...)`.
Neither has a CUDA toolkit to find on a ROCm machine, so configuring stops or the GPU targets are left out. Meson has no
HIP language: projects compile the GPU sources as C++ with hipcc, or call it in a custom target. Bazel projects such as
XLA put `if_rocm` beside `if_cuda`. Right when an option chooses between the two; a line in a branch that asks for HIP
or ROCm is left alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rocport.model import Applicability, Confidence, Context, Example, Finding, Rule, Severity
from rocport.rules.build.common import ARCH_FLAG, CUDA_LIBRARY, CUDA_PATH, NVCC_FLAG, found
from rocport.syntax.build import BuildSource
from rocport.syntax.python import is_amd_path, names_amd

_MESON = re.compile(
    r"(?:dependency|add_languages|project|import|find_program|has_language|compiler)\s*\([^#]*['\"](?:unstable-)?(?:cuda|nvcc|cudart|cublas|cudnn|nccl)['\"]"
    r"|\b(?:cuda_args|cuda_link_args|cuda_std)\b|^\s*['\"]cuda['\"]\s*[,\])]"
)
_BAZEL = re.compile(
    r"\bcuda_(?:library|binary|test|objects|configure|toolchain|archs?)\b|@(?:local_config_cuda|rules_cuda|cuda\w*|cudnn\w*|tensorrt)\b"
    r"|\bif_cuda(?:_is_configured)?\b|\brules_cuda\b|--config=cuda|TF_CUDA_\w+|TF_NEED_CUDA|\bNVCC\b"
)

RULE = Rule(
    name="other-build-cuda",
    summary="Meson or Bazel asks for the CUDA toolkit",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.MANUAL,
    languages=frozenset({"meson", "bazel"}),
    triggers=frozenset({b"cuda", b"CUDA", b"nvcc", b"NVCC", b"nccl"}),
    phase=4,
    holds="every ROCm release",
    examples=(
        Example("cuda = dependency('cuda', version : '>=11', modules : ['cublas'])\n", path="meson.build"),
        Example("project('x', ['cpp', 'cuda'])\n", path="meson.build"),
        Example("args = ['--expt-relaxed-constexpr', '-arch=sm_80']  # cuda\n", path="meson.build"),
        Example('load("@rules_cuda//cuda:defs.bzl", "cuda_library")\n', path="BUILD"),
        Example('cuda_library(\n    name = "k",\n    srcs = ["k.cu"],\n)\n', path="gpu/BUILD.bazel"),
    ),
    clean=(
        Example("# dependency('cuda')\nproject('x', 'cpp')\nsrc = 'cuda_helpers.cc'\n", path="meson.build"),
        Example(
            "if get_option('hip')\n  hip = dependency('hip')\nelse\n  c = dependency('cuda')\nendif\n",
            path="meson.build",
        ),
        Example('cc_library(\n    name = "cuda_helpers",\n    srcs = ["h.cc"],\n)\n', path="BUILD"),
    ),
    sources=(
        "https://mesonbuild.com/Cuda-module.html",
        "https://github.com/bazel-contrib/rules_cuda",
    ),
)


def check(source: BuildSource, context: Context) -> Iterator[Finding]:
    if is_amd_path(source.path):
        return
    pattern = _MESON if source.language == "meson" else _BAZEL
    for line in source.lines:
        if line.gated or names_amd(line.text):
            continue
        match = pattern.search(line.text)
        what = "needs a CUDA toolkit"
        if match is None:
            match = NVCC_FLAG.search(line.text) or ARCH_FLAG.search(line.text)
            what = "a flag only nvcc takes"
        if match is None and "-l" in line.text:
            match = CUDA_LIBRARY.search(line.text)
            what = "a CUDA library"
        if match is None:
            match = CUDA_PATH.search(line.text)
            what = "not there on ROCm"
        if match:
            yield found(
                RULE,
                source,
                line,
                f"{match[0].strip()[:60]}: {what}",
                fix="an option that chooses HIP: hipcc for the GPU sources, --offload-arch, the hip libraries",
                confidence=Confidence.MEDIUM,
            )
