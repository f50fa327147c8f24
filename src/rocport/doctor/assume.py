"""A machine as it would be with another GPU, torch or ROCm: what `rocport doctor --target --torch --rocm` examines."""

from __future__ import annotations

import dataclasses

from rocport.doctor.gpus import resolve
from rocport.doctor.machine import Evidence, Machine, Sighting, VersionFact
from rocport.facts.errors import FactError
from rocport.facts.rocm import rocm_release
from rocport.facts.targets import load_target
from rocport.model.versions import RocmVersion, TorchVersion

_BUILD = ("torch", "torch_hip", "torch_rocm", "triton", "rocm", "hip")
"""Versions that belong to the torch and the ROCm that are there, not to those asked about."""


def assume(machine: Machine, targets: tuple[str, ...] = (), torch: str = "", rocm: str = "") -> Machine:
    """The machine with these GPUs in place of its own and this torch and ROCm; empty: as it is.

    What was read of the installed torch (code objects, its HIP) is dropped where another is asked. Raises VersionError
    and FactError for what is no version or no target.
    """
    facts = machine.facts
    asked: list[str] = []
    if targets:
        said = [Evidence("asked", "--target", name) for name in targets]
        sightings = [Sighting("stated", one, gfx=load_target(one.text).name, node=i) for i, one in enumerate(said)]
        facts = dataclasses.replace(facts, sightings=tuple(sightings))
        asked.append(f"GPUs {', '.join(targets)}")
    if torch or rocm:
        known = machine.version("torch")
        wanted = TorchVersion.parse(torch or (known.value if known else "")) if torch or known else None
        version = RocmVersion.parse(rocm) if rocm else wanted.rocm if wanted else None
        new = [VersionFact("rocm", str(version), Evidence("asked", "--rocm", str(version)))] if version else []
        if wanted is not None:
            release = ".".join(map(str, (*wanted.release, 0)[:3]))
            text = f"{release}+rocm{version}" if version else release
            new.append(VersionFact("torch", text, Evidence("asked", "--torch", text)))
        hip = _hip(version)
        if hip:
            new.append(VersionFact("torch_hip", hip, Evidence("asked", "--rocm", f"HIP {hip} of ROCm {version}")))
        facts = dataclasses.replace(
            facts,
            versions=(*new, *(fact for fact in facts.versions if fact.name not in _BUILD)),
            packages=tuple(p for p in facts.packages if p.name not in ("torch", "triton", "triton-rocm")),
            code_objects=tuple(c for c in facts.code_objects if c.package != "torch"),
        )
        asked.append(", ".join(f"{fact.name} {fact.value}" for fact in new))
    if not asked:
        return machine
    note = f"examined as if it had {'; '.join(asked)}"
    return dataclasses.replace(machine, facts=facts, gpus=resolve(facts), notes=(*machine.notes, note))


def _hip(version: RocmVersion | None) -> str:
    try:
        return rocm_release(version).hip if version else ""
    except FactError:
        return ""
