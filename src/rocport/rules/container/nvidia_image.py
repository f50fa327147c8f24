"""Images and launches made for NVIDIA: `FROM nvidia/cuda`, `--gpus all`, compose's `driver: nvidia`.
An AMD GPU reaches a container as `/dev/kfd` and `/dev/dri` with the groups video and render; NVIDIA's runtime is not
there, and CUDA's base image has no ROCm libraries. Right when the file for AMD stands beside it (`Dockerfile.rocm`) or
the base image is an argument with both. A workflow that names one image in ten jobs is one finding.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from rocport.model import Applicability, Context, Example, Finding, Rule, Severity
from rocport.project.build import BuildSource
from rocport.rules.build.common import found
from rocport.syntax.amd import is_amd_path, names_amd

_IMAGE = re.compile(
    r"(?i)^\s*(?:FROM|ARG\s+\w+\s*=|image:)\s*(?:--platform=\S+\s+)?[\"']?(?:\S*nvidia/cuda|nvcr\.io/|\S*pytorch/pytorch:\S*cuda|\S*/cuda:|\S*[:_-]cu\d{2,3}\b|\S*cuda\d)"
)
_SHELL_IMAGE = re.compile(r"nvidia/cuda:|nvcr\.io/nvidia|\b(?:ubuntu|debian|rocky|ubi|centos)[\d.]*-cuda\d")
_GPUS = re.compile(
    r"(?:docker|podman)\b.*(?:--gpus\b|--runtime[= ]nvidia)|^\s*-{0,2}\s*(?:--gpus[= ]\S+|runtime:\s*nvidia)"
)
_DRIVER = re.compile(
    r"^\s*-?\s*(?:driver:\s*[\"']?nvidia|NVIDIA_VISIBLE_DEVICES|NVIDIA_DRIVER_CAPABILITIES)|^\s*ENV\s+NVIDIA_"
)
_PACKAGES = re.compile(
    r"\bcuda-(?:toolkit|libraries|nvcc|compiler|cudart|command-line-tools)\S*|\blibcu(?:blas|sparse|solver|dnn|rand|fft)[\w-]*"
    r"|\blibnccl\S*|developer\.download\.nvidia\.com|nvidia-container|cuda_[\d.]+_linux\.run"
    r"|conda\S* install.*\b(?:cuda|pytorch-cuda|cudatoolkit)\b"
)
_CAUSE = "containers made for NVIDIA"
"""An image for AMD, and how it is run, settle what is said of images and of launches."""
_RUNTIME = "NVIDIA's container runtime passes the GPU"
_KUBERNETES = re.compile(r"nvidia\.com/gpu|nvidia\.com/mig")

RULE = Rule(
    name="nvidia-container",
    summary="container made for NVIDIA",
    severity=Severity.BREAKS_RUN,
    applicability=Applicability.MANUAL,
    languages=frozenset({"docker", "yaml", "shell", "make"}),
    triggers=frozenset({b"nvidia", b"NVIDIA", b"--gpus", b"cuda", b"nvcr.io"}),
    phase=0,
    holds="every ROCm release",
    examples=(
        Example("FROM nvidia/cuda:12.4.1-devel-ubuntu22.04\n", path="Dockerfile"),
        Example("docker run --gpus all image\n", path="run.sh"),
        Example("devices:\n  - driver: nvidia\n", path="docker-compose.yml"),
        Example("RUN apt-get install -y cuda-toolkit-12-4\n", path="Dockerfile"),
        Example("build Dockerfile ubuntu22.04-cuda12.2\n", path="docker/build_all.sh"),
    ),
    clean=(
        Example("FROM rocm/pytorch:latest\n", path="Dockerfile"),
        Example("FROM nvidia/cuda:12.4.1\n", path="Dockerfile.rocm"),
        Example("# docker run --gpus all\ndocker run image\n", path="run.sh"),
    ),
    sources=("https://rocm.docs.amd.com/projects/install-on-linux/en/latest/how-to/docker.html",),
)


def check(source: BuildSource, context: Context) -> Iterator[Finding]:
    if is_amd_path(source.path):
        return
    patterns = [
        (_IMAGE, "an image of CUDA"),
        (_GPUS, _RUNTIME),
        (_DRIVER, _RUNTIME),
        (_KUBERNETES, "NVIDIA's device plugin"),
    ]
    if source.language == "docker":
        patterns.append((_PACKAGES, "a package of CUDA"))
    else:
        patterns.append((_SHELL_IMAGE, "an image of CUDA"))
    if source.language == "docker" and any(_IMAGE.search(line.text) for line in source.lines):
        # The whole file is for CUDA: its base image says so once, not every package it adds.
        patterns = patterns[:1]
    said: set[str] = set()
    for line in source.lines:
        if line.gated or names_amd(line.text):
            continue
        for pattern, what in patterns:
            match = pattern.search(line.text)
            if match and source.language == "yaml" and line.text.strip() in said:
                break
            if match:
                said.add(line.text.strip())
                item = found(
                    RULE,
                    source,
                    line,
                    f"{match[0].strip()[:70]}: {what}",
                    fix="a rocm base image beside it; pass --device /dev/kfd --device /dev/dri --group-add video",
                )
                yield replace(item, cause=_CAUSE)
                break
