"""Versions of ROCm's libraries, from their own build files at the tag of each ROCm release."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import astuple

from fact_sources.claim import Claim
from fact_sources.documentation import library_versions
from fact_sources.snapshot import Snapshot
from rocport.facts.rocm_libraries import LIBRARIES_CSV
from rocport.facts.rocm_libraries import library_versions as versions

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


def tagged(snapshot: Snapshot, library: str, rocm: str) -> tuple[str | None, str]:
    """(version, text) of a library's own build file at the tag of a ROCm release; no version where it is not there."""
    repository = f"ROCm/{REPOSITORIES.get(library, library)}"
    path = FILES.get(library, "CMakeLists.txt")
    says = version_in(snapshot.text_at(repository, path, f"rocm-{rocm}") or "")
    return OTHERWISE.get((library, rocm, says or ""), says), f"{repository}:{path}"


def claims(snapshot: Snapshot) -> Iterator[Claim]:
    """Each version of the facts: by its library's tag, where the snapshot has that, else by the table it cites."""
    tables = library_versions(snapshot)
    for library, rocm, version, source in map(astuple, versions()):
        name, where = f"{library} in ROCm {rocm}", LIBRARIES_CSV.name
        by_tag, file = tagged(snapshot, library, rocm)
        by_table, text = tables.get((library, rocm), (None, source))
        if by_tag:
            yield Claim(f"{name}, by its tag", where, version, by_tag, file)
        if by_table or not by_tag:
            yield Claim(name, where, version, by_table, text)
