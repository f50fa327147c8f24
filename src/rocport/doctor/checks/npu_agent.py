"""An NPU is listed by rocminfo too; it is no GPU."""

from __future__ import annotations

from rocport.doctor.check import Check, Result, ok, skipped
from rocport.doctor.machine import Machine

CHECK = Check("npu-agent", "NPU", ("H019",))


def run(machine: Machine) -> Result:
    npu = machine.setting("npu")
    if npu is None:
        return skipped("no NPU agent is listed")
    return ok(f"{npu.value} is an NPU and is not counted as a GPU", npu.evidence)
