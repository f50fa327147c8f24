"""Windows: what its wheels cannot do."""

from __future__ import annotations

from rocport.doctor.check import Check, Result, ok, skipped
from rocport.doctor.machine import Machine

CHECK = Check("windows", "Windows", ("H038", "H039"))


def run(machine: Machine) -> Result:
    windows = machine.setting("windows")
    if windows is None or not windows.value:
        return skipped("not Windows")
    return ok(
        "Windows wheels have no torch.distributed, and max-autotune may divide by zero there; a recent Adrenalin "
        "driver is needed",
        windows.evidence,
    )
