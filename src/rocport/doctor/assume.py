"""A machine as it would be with another GPU, torch or ROCm: what `rocport doctor --target --torch --rocm` examines."""

from __future__ import annotations

import dataclasses

from rocport.doctor.gpus import resolve
from rocport.doctor.machine import Evidence, Machine, Sighting, VersionFact
from rocport.doctor.versions import parsed_rocm
from rocport.facts.errors import FactError
from rocport.facts.rocm import rocm_release
from rocport.facts.targets import load_target
from rocport.model.versions import RocmVersion, TorchVersion, VersionError

_BUILD = ("torch", "torch_hip", "torch_rocm", "triton", "rocm", "hip")
"""Versions that belong to the torch and the ROCm that are there, not to those asked about."""


def assume(machine: Machine, targets: tuple[str, ...] = (), torch: str = "", rocm: str = "") -> Machine:
    """The machine with these GPUs in place of its own and this torch and ROCm; empty: as it is.

    A torch without a tag is taken as built for the machine's ROCm where that is known, which the note says. What was
    read of the installed torch (code objects, its HIP) is dropped where another is asked; an installed torch whose
    version cannot be read counts as not known. Raises VersionError and FactError for what is asked and is no version
    or no target.
    """
    facts = machine.facts
    asked: list[str] = []
    if targets:
        said = [Evidence("asked", "--target", name) for name in targets]
        sightings = [Sighting("stated", one, gfx=load_target(one.text).name, node=i) for i, one in enumerate(said)]
        facts = dataclasses.replace(facts, sightings=tuple(sightings))
        asked.append(f"GPUs {', '.join(targets)}")
    if torch or rocm:
        wanted = TorchVersion.parse(torch) if torch else _known_torch(machine)
        version = RocmVersion.parse(rocm) if rocm else wanted.rocm if wanted else None
        kept = version is None and wanted is not None and not wanted.local
        if kept:
            version = parsed_rocm(machine)
        option = "the machine's" if kept else "--rocm" if rocm else "--torch"
        new = [VersionFact("rocm", str(version), Evidence("asked", option, str(version)))] if version else []
        if wanted is not None:
            release = ".".join(map(str, (*wanted.release, 0)[:3]))
            text = f"{release}+rocm{version}" if version else release
            new.append(VersionFact("torch", text, Evidence("asked", "--torch", text)))
        hip = _hip(version)
        if hip:
            new.append(VersionFact("torch_hip", hip, Evidence("asked", option, f"HIP {hip} of ROCm {version}")))
        facts = dataclasses.replace(
            facts,
            versions=(*new, *(fact for fact in facts.versions if fact.name not in _BUILD)),
            packages=tuple(p for p in facts.packages if p.name not in ("torch", "triton", "triton-rocm")),
            code_objects=tuple(c for c in facts.code_objects if c.package != "torch"),
        )
        asked.append(", ".join(f"{fact.name} {fact.value}" for fact in new))
        if kept and version:
            asked.append(f"its own ROCm {version}, as no other is asked")
        known = machine.version("torch")
        if wanted is None and known:
            asked.append(f"no known torch, as {known.value!r} is no version")
    if not asked:
        return machine
    note = f"examined as if it had {'; '.join(asked)}"
    return dataclasses.replace(machine, facts=facts, gpus=resolve(facts), notes=(*machine.notes, note))


def _known_torch(machine: Machine) -> TorchVersion | None:
    """The torch the machine shows; None where it shows none, or one that is no version (`unknown-build`)."""
    known = machine.version("torch")
    try:
        return TorchVersion.parse(known.value) if known else None
    except VersionError:
        return None


def _hip(version: RocmVersion | None) -> str:
    try:
        return rocm_release(version).hip if version else ""
    except FactError:
        return ""
