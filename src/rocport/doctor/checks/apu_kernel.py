"""Is the kernel new enough for a Ryzen AI APU (gfx115x), and is its firmware not the broken one?"""

from __future__ import annotations

from rocport.doctor.check import Check, Result, ok, problem, skipped
from rocport.doctor.machine import Machine
from rocport.doctor.versions import kernel_version

CHECK = Check("apu-kernel", "kernel for Ryzen AI APUs", ("H012", "H013"))
NEEDED = (6, 14, 0)


def run(machine: Machine) -> Result:
    apus = [g for g in machine.gpus if (g.hardware or g.gfx) in ("gfx1150", "gfx1151", "gfx1152", "gfx1153")]
    if not apus:
        return skipped("no gfx115x APU")
    if machine.flag("wsl") or machine.flag("windows"):
        return skipped("the driver is Windows'")
    kernel, fact = kernel_version(machine), machine.version("kernel")
    faults = machine.symptoms("memory-fault")
    if kernel is None or fact is None:
        return skipped("the kernel's version is not known")
    if kernel < NEEDED:
        return problem(
            "fail",
            f"kernel {fact.value} is older than 6.14, the first that ROCm lists for {apus[0].gfx}",
            [fact.evidence, *(s.evidence for s in faults)],
            "Memory access faults and GPU hangs under load.",
            ("sudo apt install linux-oem-24.04d  # Ubuntu 24.04; elsewhere kernel 6.18.4 or later",),
            "uname -r",
            sudo=True,
            reboot=True,
        )
    if faults:
        return problem(
            "warn",
            "memory access faults: known with the MES firmware 0x83 of linux-firmware 20251125",
            [*(s.evidence for s in faults), fact.evidence],
            "Runs end with 'Memory access fault by GPU node'.",
            (
                "# use linux-firmware 20251111, or one after 20251125 that took the firmware back",
                "sudo grep -i mes /sys/kernel/debug/dri/*/amdgpu_firmware_info",
            ),
            "dmesg | grep -i 'memory access fault'",
            sudo=True,
            reboot=True,
        )
    if kernel < (6, 18, 4) and apus[0].gfx == "gfx1151" and "-oem" not in fact.value:
        return problem(
            "warn",
            f"kernel {fact.value} is older than 6.18.4, recommended for gfx1151 unless it is the OEM kernel",
            [fact.evidence],
            "Hangs under load are reported with kernels that lack the fixes.",
            ("# update to kernel 6.18.4 or later, or Ubuntu's OEM kernel",),
            "uname -r",
            sudo=True,
            reboot=True,
        )
    return ok(f"kernel {fact.value}", fact.evidence)
