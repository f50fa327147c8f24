"""Is the amdgpu kernel module loaded and alive?"""

from __future__ import annotations

from rocport.doctor.check import Check, Result, ok, says, skipped
from rocport.doctor.machine import Machine

CHECK = Check("amdgpu-module", "amdgpu kernel module", ("H001", "H002", "H010"))


def run(machine: Machine) -> Result:
    if machine.flag("wsl") or machine.flag("windows"):
        return skipped("WSL and Windows have no amdgpu module")
    rejected = machine.symptoms("key-rejected")
    loaded, state = machine.setting("amdgpu_loaded"), machine.setting("amdgpu_initstate")
    secure = machine.setting("secure_boot")
    if rejected:
        return says(
            "amdgpu-module.kernel-refused-amdgpu-module-signature",
            [rejected[0].evidence, secure.evidence if secure else None],
        )
    symptom = machine.symptoms("module-not-loaded")
    missing = symptom or (loaded is not None and not loaded.value)
    if missing:
        amd = any(s.source == "pci" for g in machine.gpus for s in g.sightings)
        if not symptom and not amd:
            return skipped("no AMD GPU on the PCI bus, so no module is expected", loaded.evidence if loaded else None)
        return says(
            "amdgpu-module.amdgpu-module-not-loaded",
            [symptom[0].evidence if symptom else None, loaded.evidence if loaded else None],
        )
    dead = machine.symptoms("module-not-live")
    if dead or (state is not None and state.value != "live"):
        return says(
            "amdgpu-module.amdgpu-module-loaded-but-initialisation",
            [dead[0].evidence if dead else None, state.evidence if state else None],
        )
    if loaded is not None and loaded.value:
        return ok("loaded", loaded.evidence)
    return skipped("the captured text says nothing of the module")
