"""Two distributions that both install `triton`, or one for the wrong torch."""

from __future__ import annotations

from rocport.doctor.check import Check, Result, ok, says, skipped
from rocport.doctor.machine import Machine

CHECK = Check("triton-packages", "one Triton only", ("H047",))
NAMES = ("triton", "triton-rocm", "pytorch-triton-rocm", "pytorch-triton")


def run(machine: Machine) -> Result:
    found = [p for n in NAMES if (p := machine.package(n))]
    if not found:
        return skipped("no Triton is known")
    if len(found) == 1:
        return ok(f"{found[0].name} {found[0].version}", found[0].evidence)
    names = " ".join(p.name for p in found)
    keep = "triton-rocm" if machine.package("triton-rocm") else "pytorch-triton-rocm"
    if keep not in names:
        keep = "triton"
    return says(
        "triton-packages.installed-together",
        [p.evidence for p in found],
        found=" and ".join(f"{p.name} {p.version}" for p in found),
        names=names,
        keep=keep,
    )
