"""Which fp8 does the GPU's matrix hardware take: fnuz, OCP, or none?"""

from __future__ import annotations

from rocport.doctor.check import Check, Result, ok, problem, skipped
from rocport.doctor.machine import Machine

CHECK = Check("fp8-flavour", "fp8 flavour", ("H121", "H122"), silent=True)
_TEXT = {
    "fnuz": "fnuz: torch.float8_e4m3fnuz and float8_e5m2fnuz; weights in e4m3fn have to be converted (other bias)",
    "ocp": "OCP: torch.float8_e4m3fn and float8_e5m2",
    "none": "none in hardware: keep weights in 16 bit, Triton emulates fp8",
    "unknown": "not known",
}


def run(machine: Machine) -> Result:
    targets = list(machine.targets())
    if not targets:
        return skipped("no GPU whose target is known")
    flavours = {t.fp8 for _, t in targets}
    evidence = [g.evidence[0] for g, _ in targets]
    if len(flavours) > 1:
        return problem(
            "warn",
            "the GPUs take different fp8: " + ", ".join(f"{t.name} {t.fp8}" for _, t in targets),
            evidence,
            "An fp8 tensor of one GPU means other numbers on the other.",
            ("export HIP_VISIBLE_DEVICES=0  # one kind of GPU a process",),
            "python -c 'import torch; print(torch.cuda.get_device_properties(0).gcnArchName)'",
        )
    return ok(f"{targets[0][1].name}: {_TEXT[targets[0][1].fp8]}", *evidence)
