"""lspci and the kernel log: which AMD GPUs are in the machine, also when no driver took them."""

from __future__ import annotations

import re

from rocport.doctor.machine import Evidence, Facts, Setting, Sighting
from rocport.doctor.text import Line

_GPU = re.compile(
    r"^(?:([0-9a-f]{4}):)?([0-9a-f]{2}:[0-9a-f]{2}\.[0-9a-f])\s+"
    r"(?:VGA compatible controller|3D controller|Display controller|Processing accelerators)(?: \[\w{4}\])?:\s+(.*)$",
    re.IGNORECASE,
)
_ID = re.compile(r"\[1002:([0-9a-f]{4})\]|\] Device ([0-9a-f]{4})\b", re.IGNORECASE)
_KFD_ADDED = re.compile(r"kfd kfd: amdgpu: added device 1002:([0-9a-f]{4})", re.IGNORECASE)


def parse(lines: list[Line], where: str) -> Facts:
    """AMD display and accelerator functions; `nvidia_gpu` is set when there is one of NVIDIA's."""
    seen: list[Sighting] = []
    settings: list[Setting] = []
    for line in lines:
        added = _KFD_ADDED.search(line.text)
        if added:
            evidence = Evidence("pci", f"{where}:{line.number}", line.stripped[:200])
            seen.append(Sighting("pci", evidence, chip_id=int(added.group(1), 16)))
            continue
        match = _GPU.match(line.stripped)
        if match is None:
            continue
        evidence = Evidence("pci", f"{where}:{line.number}", line.stripped[:200])
        rest = match.group(3)
        if "NVIDIA" in rest:
            settings.append(Setting("nvidia_gpu", True, evidence))
        if "AMD" not in rest and "ATI" not in rest:
            continue
        ids = _ID.search(rest)
        names = re.findall(r"\[([^\]]*[A-Za-z]{3}[^\]]*)\]", rest)
        product = next((n for n in reversed(names) if "AMD/ATI" not in n and not _is_id(n)), "")
        seen.append(
            Sighting(
                source="pci",
                evidence=evidence,
                chip_id=int(ids.group(1) or ids.group(2), 16) if ids else None,
                product=product,
                pci=f"{match.group(1) or '0000'}:{match.group(2)}".lower(),
            )
        )
    probed = frozenset({"pci"}) if seen or settings else frozenset()
    return Facts(probed=probed, sightings=tuple(seen), settings=tuple(settings))


def _is_id(text: str) -> bool:
    return re.fullmatch(r"[0-9a-f]{4}:[0-9a-f]{4}", text, re.IGNORECASE) is not None
