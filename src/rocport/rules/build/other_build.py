"""Meson and Bazel files that ask for CUDA: `dependency('cuda')`, `add_languages('cuda')`, `cuda_library(...)`.
Neither has a CUDA toolkit to find on a ROCm machine, so configuring stops or the GPU targets are left out. Meson has no
HIP language: projects compile the GPU sources as C++ with hipcc, or call it in a custom target. Bazel projects such as
XLA put `if_rocm` beside `if_cuda`. Right when an option chooses between the two; a line in a branch that asks for HIP
or ROCm is left alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from rocport.facts.lookup import link_triggers
from rocport.model import Applicability, Confidence, Context, Example, Finding, Rule, Severity
from rocport.project.build import BuildSource
from rocport.rules.build.common import ARCH_FLAG, CUDA_PATH, cuda_library, found, nvcc_flag
from rocport.syntax.amd import is_amd_path, names_amd

_MESON = re.compile(
    r"(?:dependency|add_languages|project|import|find_program|has_language|compiler)\s*\([^#]*['\"](?:unstable-)?(?:cuda|nvcc)['\"]"
    r"|\b(?:cuda_args|cuda_link_args|cuda_std)\b|^\s*['\"]cuda['\"]\s*[,\])]"
)
_ASKS = re.compile(r"\b(?:dependency|find_library)\s*\(")
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
    triggers=link_triggers() | {b"cuda", b"CUDA", b"nvcc", b"NVCC"},
    phase=4,
    holds="every ROCm release",
    examples=(
        Example("cuda = dependency('cuda', version : '>=11', modules : ['cublas'])\n", path="meson.build"),
        Example("project('x', ['cpp', 'cuda'])\n", path="meson.build"),
        Example("nccl = cc.find_library('nccl', required : true)\n", path="meson.build"),
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
    for line in source.lines:
        if line.gated or names_amd(line.text):
            continue
        named, what, fix = _found(source.language, line.text)
        if named:
            item = found(RULE, source, line, f"{named[:60]}: {what}", fix=fix, confidence=Confidence.MEDIUM)
            yield replace(item, cause=f"CUDA in {source.language}")


def _found(language: str, text: str) -> tuple[str, str, str]:
    """(what a line names, why it breaks, what to do); empty where it does not."""
    fix = "an option that chooses HIP: hipcc for the GPU sources, --offload-arch, the hip libraries"
    for search, what in (
        ((_MESON if language == "meson" else _BAZEL).search, "needs a CUDA toolkit"),
        (nvcc_flag, "a flag only nvcc takes"),
        (ARCH_FLAG.search, "a flag only nvcc takes"),
        (CUDA_PATH.search, "not there on ROCm"),
    ):
        if match := search(text):
            return match[0].strip(), what, fix
    # A dependency of Meson's is named as the library is; elsewhere a bare word may be anything.
    if "-l" in text or (language == "meson" and _ASKS.search(text)):
        library, advice = cuda_library(text)
        return library, "a CUDA library", advice
    return "", "", ""
