"""Does the driver know the product's name? A generic or empty name is harmless, unless a program matches on it."""

from __future__ import annotations

from rocport.doctor.check import Check, Result, ok, skipped
from rocport.doctor.machine import Machine

CHECK = Check("product-name", "product name", ("H015",))


def run(machine: Machine) -> Result:
    if not machine.gpus:
        return skipped("no GPU")
    generic = [g for g in machine.gpus if g.product.lower() in ("", "amd radeon graphics", "amd radeon(tm) graphics")]
    if generic:
        return ok(
            f"GPU {generic[0].index} has no name of its own: choose by gfx, never by name "
            "(a newer libdrm-amdgpu-common knows more names)",
            *generic[0].evidence,
        )
    return ok(", ".join(dict.fromkeys(g.product for g in machine.gpus)))
