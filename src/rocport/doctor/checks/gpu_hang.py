"""Did the kernel log report a hang or a reset of the GPU?"""

from __future__ import annotations

from rocport.doctor.check import Check, Result, says, skipped
from rocport.doctor.machine import Machine

CHECK = Check("gpu-hang", "GPU hangs in the log", ("H014", "H091", "H097"))


def run(machine: Machine) -> Result:
    hangs = machine.symptoms("mes-hang", "gpu-reset")
    faults = machine.symptoms("memory-fault")
    if hangs:
        return says("gpu-hang.gpu-scheduler-hung-or-gpu", [s.evidence for s in hangs])
    if faults:
        return says("gpu-hang.kernel-read-or-wrote-memory", [s.evidence for s in faults])
    return skipped("no kernel log, or none of the known messages in it")
