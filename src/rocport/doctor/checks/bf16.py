"""torch.cuda.is_bf16_supported() says True on every AMD GPU; the hardware differs."""

from __future__ import annotations

from rocport.doctor.check import Check, Result, ok, says, skipped
from rocport.doctor.machine import Machine
from rocport.doctor.versions import torch_version

CHECK = Check("bf16", "bf16 matrix instructions", ("H123", "H124"))


def run(machine: Machine) -> Result:
    targets = list(machine.targets())
    if not targets:
        return skipped("no GPU whose target is known")
    torch = torch_version(machine)
    without = [(g, t) for g, t in targets if not t.bf16_matrix]
    if without and (torch is None or torch.flavour != "rocm"):
        names = ", ".join(dict.fromkeys(t.name for _, t in without))
        return ok(f"{names} has none: fp16 is faster there than bf16, which is emulated", without[0][0].evidence[0])
    if without:
        gpu, target = without[0]
        return says("bf16.no-bf16-matrix-instructions-torch", [gpu.evidence[0]], target_name=target.name)
    return ok(f"{targets[0][1].name} has them", targets[0][0].evidence[0])
