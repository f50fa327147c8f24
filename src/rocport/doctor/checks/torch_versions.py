"""torch's own version statements: which ROCm is it, and does HIP's number mislead?"""

from __future__ import annotations

from rocport.doctor.check import Check, Result, ok, says, skipped
from rocport.doctor.machine import Machine
from rocport.doctor.versions import hip_version, rocm_version, torch_version
from rocport.facts.rocm import releases_of_hip

CHECK = Check("torch-versions", "ROCm of torch", ("H045", "H054"))


def run(machine: Machine) -> Result:
    fact, version, hip = machine.version("torch"), torch_version(machine), hip_version(machine)
    if fact is None:
        return skipped("torch is not known")
    if version is None:
        return skipped(f"{fact.value!r} is no version rocport can read", fact.evidence)
    built = machine.version("torch_hip")
    if version.flavour == "rocm" and version.rocm is None:
        return skipped(
            f"the tag +{version.local} is not split by guess: rocm714 may be 7.14 or 71.4",
            fact.evidence,
            built.evidence if built else None,
        )
    if version.rocm is not None:
        text = f"ROCm {version.rocm} by the tag"
        if hip is not None and hip.release[:2] != version.rocm.release[:2]:
            text += f"; HIP {hip} is HIP's own number, no mismatch"
        return ok(text, fact.evidence, built.evidence if built else None)
    if hip is None:
        return skipped("torch has no ROCm", fact.evidence)
    releases = releases_of_hip(hip)
    resolved = rocm_version(machine)
    if releases:
        return ok(f"HIP {hip} is of ROCm {', '.join(releases[:4])}", built.evidence if built else fact.evidence)
    if resolved is None:
        return says("torch-versions.no-rocm-release-carries-hip", [built.evidence if built else fact.evidence], hip=hip)
    return ok(f"HIP {hip}", fact.evidence)
