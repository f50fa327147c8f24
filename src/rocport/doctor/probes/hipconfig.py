"""hipconfig and hipcc --version: the HIP version, the platform, the trees in use."""

from __future__ import annotations

import re

from rocport.doctor.host import Host
from rocport.doctor.machine import Evidence, Facts, Setting, VersionFact
from rocport.doctor.text import Line, clean, holds

_VERSION = re.compile(r"^HIP version\s*:\s*(\d+\.\d+[\w.-]*)")
_PLATFORM = re.compile(r"^HIP_PLATFORM\s*:\s*(amd|nvidia)\b")
_CLANG = re.compile(r"\broc-(\d+\.\d+\.\d+)\b")


def parse(lines: list[Line], where: str) -> Facts:
    """HIP's version (not ROCm's), HIP_PLATFORM, and the ROCm release in the compiler's name up to ROCm 7."""
    if not holds(lines, ("HIP version", "HIP_PLATFORM", "AMD clang version")):
        return Facts()
    versions: list[VersionFact] = []
    settings: list[Setting] = []
    for line in lines:
        text = line.stripped
        evidence = Evidence("hipconfig", f"{where}:{line.number}", text[:300])
        match = _VERSION.match(text)
        if match:
            versions.append(VersionFact("hip", match.group(1), evidence))
        match = _PLATFORM.match(text)
        if match:
            settings.append(Setting("hip_platform", match.group(1), evidence))
        if text.startswith("AMD clang version"):
            match = _CLANG.search(text)
            if match:
                versions.append(VersionFact("rocm", match.group(1), evidence))
    probed = frozenset({"hipconfig"}) if versions or settings else frozenset()
    return Facts(probed=probed, versions=tuple(versions), settings=tuple(settings))


def probe(host: Host) -> Facts:
    """Run hipconfig when it is installed; only for `--deep`, it starts a compiler."""
    text = host.run(["hipconfig", "--full"], 20.0)
    return parse(clean(text), "hipconfig --full") if text else Facts()
