"""Did the kernel log report a hang or a reset of the GPU?"""

from __future__ import annotations

from rocport.doctor.check import Check, Result, problem, skipped
from rocport.doctor.machine import Machine

CHECK = Check("gpu-hang", "GPU hangs in the log", ("H014", "H091", "H097"))


def run(machine: Machine) -> Result:
    hangs = machine.symptoms("mes-hang", "gpu-reset")
    faults = machine.symptoms("memory-fault")
    if hangs:
        return problem(
            "fail",
            "the GPU's scheduler hung or the GPU was reset",
            [s.evidence for s in hangs],
            "Work on the GPU is lost; with 'MES failed to respond' it does not come back without a reset.",
            (
                "# newer firmware and kernel first; a reported workaround: amdgpu.cwsr_enable=0 (kernel command line)",
                "sudo grep -i mes /sys/kernel/debug/dri/*/amdgpu_firmware_info",
            ),
            "sudo dmesg | grep -iE 'MES|GPU reset'",
            sudo=True,
            reboot=True,
        )
    if faults:
        return problem(
            "fail",
            "a kernel read or wrote memory that is not mapped",
            [s.evidence for s in faults],
            "The process is killed. Causes: a wrong pointer, an override to a foreign gfx, old APU kernel or firmware.",
            ("AMD_SERIALIZE_KERNEL=3 python your_program.py  # shows which kernel; slow, do not leave it on",),
            "dmesg | tail",
        )
    return skipped("no kernel log, or none of the known messages in it")
