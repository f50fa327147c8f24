"""Is there an AMD GPU at all, and does the runtime see it?"""

from __future__ import annotations

from rocport.doctor.check import Check, Result, ok, problem, says, skipped
from rocport.doctor.machine import Evidence, Machine

CHECK = Check("gpu-found", "AMD GPU", ("H028", "H128"))


def run(machine: Machine) -> Result:
    found = [g for g in machine.gpus if g.gfx or g.chip_targets]
    none = machine.symptoms("no-gpu-agent", "no-hip-device")
    if none and not any(s.source in ("kfd", "rocminfo", "torch") for g in found for s in g.sightings):
        contained = machine.flag("container") or machine.flag("amdgpu_loaded")
        return problem(
            "fail",
            "the HSA runtime lists no GPU",
            [s.evidence for s in none],
            "HIP programs end with hipErrorNoDevice and torch.cuda.is_available() is False.",
            (
                "# in a container: hand in every render node, not a subset of them",
                'docker run --device=/dev/kfd --device=/dev/dri --group-add "$(stat -c %g /dev/kfd)" ...',
                "# choose GPUs inside with ROCR_VISIBLE_DEVICES or HIP_VISIBLE_DEVICES",
            )
            if contained
            else ("ls -l /dev/kfd /dev/dri", "rocminfo | head -3"),
            "rocminfo | grep -A3 'Device Type: *GPU'",
        )
    if found:
        return ok("; ".join(g.label for g in machine.gpus), *(g.evidence[0] for g in machine.gpus))
    if machine.gpus:
        unknown = machine.gpus[0]
        return skipped(
            f"{unknown.label}: shown without a gfx target or PCI id; add rocminfo's output", *unknown.evidence
        )
    if machine.symptoms("module-not-loaded", "kfd-permission", "kfd-invalid", "kfd-memory", "kfd-missing"):
        return skipped("the driver could not be opened: see the checks on it")
    if machine.live:
        return says(
            "gpu-found.no-amd-gpu-machine",
            [
                Evidence("pci", "/sys/bus/pci/devices", "no AMD display or accelerator function"),
                *(s.evidence for s in machine.facts.settings if s.name in ("amdgpu_loaded", "nvidia_gpu", "wsl")),
            ],
        )
    return skipped("the captured text shows no GPU")
