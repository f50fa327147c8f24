"""Versions of one machine, parsed: what the checks compare."""

from __future__ import annotations

import re

from packaging.version import InvalidVersion, Version

from rocport.doctor.machine import Machine, VersionFact
from rocport.facts.hazards import hazard
from rocport.facts.packages import package
from rocport.facts.rocm import parse_hip, releases_of_hip
from rocport.model.versions import HipVersion, RocmVersion, TorchVersion, VersionError


def in_range(machine: Machine, identifier: str) -> bool:
    """Whether the machine's ROCm, torch and targets are known and in the range that a hazard holds for.

    What the hazard bounds has to be known of the machine: a guess is no finding.
    """
    where = hazard(identifier).where
    rocm, torch = parsed_rocm(machine), torch_version(machine)
    targets = [target for _, target in machine.targets()]
    if (where.rocm and rocm is None) or (where.torch and torch is None) or (where.target and not targets):
        return False
    release = ".".join(map(str, torch.release)) if torch is not None else None
    return where.covers(rocm=rocm, torch=release, targets=targets)


def bitsandbytes_library(machine: Machine, version: Version, hip: HipVersion) -> str:
    """The library (`rocm715`) that a version of bitsandbytes loads beside a HIP: of those that are installed where they
    were read, else of its wheel's. Empty when it has none for this HIP, or its wheel is not in the facts."""
    wheel = package("bitsandbytes").wheel_of(str(version))
    taken = wheel.library_for((hip.major, hip.minor), installed_builds(machine)) if wheel is not None else ""
    return f"rocm{taken.replace('.', '')}" if taken else ""


def installed_builds(machine: Machine) -> tuple[str, ...]:
    """The HIP versions (`7.15`) that the installed bitsandbytes has libraries for; empty when they were not read."""
    libraries = machine.setting("bnb_libraries")
    names = str(libraries.value).split() if libraries is not None else []
    return tuple(f"{name[4]}.{name[5:]}" for name in names if name.startswith("rocm") and name[5:])


def rocm_version(machine: Machine) -> VersionFact | None:
    """The ROCm release in use: torch's own statement, its +rocm tag, an install, and only then by HIP version when
    exactly one release carries it."""
    stated = machine.version("torch_rocm")
    if stated:
        return stated
    torch = machine.version("torch")
    if torch:
        try:
            tag = TorchVersion.parse(torch.value).rocm
        except VersionError:
            tag = None
        if tag:
            return VersionFact("rocm", str(tag), torch.evidence)
    installed = machine.version("rocm")
    if installed:
        return installed
    for name in ("torch_hip", "hip"):
        fact = machine.version(name)
        hip = parse_hip(fact.value) if fact else None
        if fact and hip:
            releases = releases_of_hip(hip)
            if len(releases) == 1:
                return VersionFact("rocm", releases[0], fact.evidence)
    return None


def parsed_rocm(machine: Machine) -> RocmVersion | None:
    """`rocm_version` as a version; None when nothing names it or it cannot be read."""
    fact = rocm_version(machine)
    if fact is None:
        return None
    try:
        return RocmVersion.parse(fact.value)
    except VersionError:
        return None


def torch_version(machine: Machine) -> TorchVersion | None:
    fact = machine.version("torch")
    try:
        return TorchVersion.parse(fact.value) if fact else None
    except VersionError:
        return None


def hip_version(machine: Machine) -> HipVersion | None:
    """The HIP that torch was built with, else the runtime's."""
    for name in ("torch_hip", "hip"):
        fact = machine.version(name)
        parsed = parse_hip(fact.value) if fact else None
        if parsed:
            return parsed
    return None


def package_version(machine: Machine, name: str) -> Version | None:
    """The public version of a version fact or package, local tag dropped; None when absent or not a version."""
    fact = machine.version(name) or machine.package(name)
    if fact is None:
        return None
    text = fact.value if isinstance(fact, VersionFact) else fact.version
    try:
        return Version(Version(text).public)
    except InvalidVersion:
        return None


def kernel_version(machine: Machine) -> tuple[int, int, int] | None:
    fact = machine.version("kernel")
    match = re.match(r"(\d+)\.(\d+)(?:\.(\d+))?", fact.value) if fact else None
    return (int(match[1]), int(match[2]), int(match[3] or 0)) if match else None
