"""Targets and libraries: TheRock's tables, the device packages PyTorch mirrors from AMD's index, AOTriton's build."""

from __future__ import annotations

import re
from collections.abc import Iterator

from fact_sources.claim import Claim, listed
from fact_sources.snapshot import Snapshot
from rocport.facts.platforms import windows_targets
from rocport.facts.rocm import wheel_channel
from rocport.facts.targets import all_targets

THEROCK = "ROCm/TheRock"
REF = "89553ce"
TARGETS, SUPPORTED = "cmake/therock_amdgpu_targets.cmake", "SUPPORTED_GPUS.md"
MIRROR = ("pytorch/test-infra", "s3_management/update_dependencies.py")
AOTRITON = ("ROCm/aotriton", "CMakeLists.txt", "30ae967")
LIBRARIES = {
    "hipBLASLt": "hipBLASLt",
    "hipSPARSELt": "hipSPARSELt",
    "composable_kernel": "composable_kernel",
    "rocWMMA": "rocWMMA",
    "RCCL": "rccl",
}
"""Names in the facts -> subprojects of TheRock."""


def excluded(text: str) -> dict[str, set[str]]:
    """target -> subprojects it is left out of, for every target TheRock knows."""
    found = {}
    for body in re.findall(r"^therock_add_amdgpu_target\((gfx.*?)\)[ \t]*$", text, re.DOTALL | re.MULTILINE):
        plain = re.sub(r"#[^\n]*", "", body)
        _, _, projects = plain.partition("EXCLUDE_TARGET_PROJECTS")
        found[plain.split()[0]] = set(projects.split())
    return found


def claims(snapshot: Snapshot) -> Iterator[Claim]:
    """What is built for each target."""
    table = excluded(snapshot.text(THEROCK, TARGETS, REF) or "")
    arch = re.search(r'AOTRITON_TARGET_ARCH "([\w;]+)"', snapshot.text(*AOTRITON) or "")
    triton = set(arch[1].split(";")) if arch else set()
    for target in all_targets():
        for library, project in LIBRARIES.items():
            records = target.library(library)
            if not records or TARGETS not in records[-1].source:
                continue
            built = target.name in table and project not in table[target.name]
            says = ("yes" if built else "no") if table else None
            yield Claim(f"{target.name}: {library}", "targets", records[-1].state, says, f"{THEROCK}:{TARGETS}")
        records = target.library("AOTriton")
        if records and "aotriton" in records[-1].source.lower():
            says = None if not triton else "yes" if target.name in triton else "no"
            yield Claim(f"{target.name}: AOTriton", "targets", records[-1].state, says, ":".join(AOTRITON[:2]))
    mirrored = re.findall(r'"rocm-sdk-device-(gfx\w+)": \[\{"project": "torch_rocm"', snapshot.text(*MIRROR) or "")
    channel = wheel_channel("multi-arch")
    says = listed(mirrored) if mirrored else None
    yield Claim("multi-arch: targets", "torch_wheels.toml", listed(channel.targets), says, ":".join(MIRROR))
    _, _, windows = (snapshot.text(THEROCK, SUPPORTED, REF) or "").partition("## ROCm on Windows")
    listed_there = re.findall(r"\|\s+\**(gfx\w+?)\**\s+\|\s+✅", windows)
    said = listed(windows_targets().targets)
    says = listed(listed_there) if listed_there else None
    yield Claim("Windows: targets", "platforms.toml", said, says, f"{THEROCK}:{SUPPORTED}")
