"""Versions of ROCm's libraries, from their own build files at the tag of each ROCm release."""

from __future__ import annotations

import re
from collections.abc import Iterator

from fact_sources.claim import Claim
from fact_sources.snapshot import Snapshot
from rocport.facts import rocm_libraries
from rocport.facts.rocm_libraries import LIBRARIES_CSV

REPOSITORIES = {"Composable Kernel": "composable_kernel", "RCCL": "rccl", "MIGraphX": "AMDMIGraphX", "RPP": "rpp"}
"""Libraries whose repository has another name."""
FILES = {"RCCL": "makefiles/version.mk"}
"""Libraries that keep their version elsewhere than in CMakeLists.txt."""
OTHERWISE = {("hipFFT", "6.0.0", "1.0.12"): "1.0.13", ("rocFFT", "6.1.0", "1.0.27"): "1.0.26"}
"""(library, ROCm, what the tag's build file sets) -> what AMD's matrix of releases says, which the facts follow."""
_SET = re.compile(
    r'^\s*set\s*\(\s*(?:\w*_)?VERSION(?:_STRING)?\s+"?(\d+\.\d+\.\d+)|'
    r'^\s*rocm_setup_version\s*\(\s*VERSION\s+"?(\d+\.\d+\.\d+)',
    re.MULTILINE | re.IGNORECASE,
)
_NUMBER = re.compile(r"^NCCL_(MAJOR|MINOR|PATCH)\s*:?=\s*(\d+)", re.MULTILINE)


def version_in(text: str) -> str | None:
    """The version a build file sets: of CMake's project, or NCCL's three numbers."""
    numbers = dict(_NUMBER.findall(text))
    if {"MAJOR", "MINOR", "PATCH"} <= set(numbers):
        return f"{numbers['MAJOR']}.{numbers['MINOR']}.{numbers['PATCH']}"
    found = _SET.search(text)
    if found is None:
        return None
    return ".".join(str(int(part)) for part in (found[1] or found[2]).split("."))  # MIOpen's 3.00.0 is 3.0.0


def claims(snapshot: Snapshot) -> Iterator[Claim]:
    """Each version of the facts whose repository and tag the snapshot has."""
    for record in rocm_libraries.library_versions():
        repository = f"ROCm/{REPOSITORIES.get(record.library, record.library)}"
        path = FILES.get(record.library, "CMakeLists.txt")
        text = snapshot.text_at(repository, path, f"rocm-{record.rocm}")
        if text is None:
            continue
        name = f"{record.library} in ROCm {record.rocm}, by its tag"
        says = version_in(text)
        says = OTHERWISE.get((record.library, record.rocm, says or ""), says)
        yield Claim(name, LIBRARIES_CSV.name, record.version, says, f"{repository}:{path}")
