"""Is the kernel new enough for a Ryzen AI APU (RDNA3.5), and is its firmware not the broken one?"""

from __future__ import annotations

from rocport.doctor.check import Check, Result, ok, problem, skipped
from rocport.doctor.machine import Machine
from rocport.doctor.versions import kernel_version

CHECK = Check("apu-kernel", "kernel for Ryzen AI APUs", ("H012", "H013"))


def run(machine: Machine) -> Result:
    target = next((target for _, target in machine.targets() if target.linux_since), None)
    if target is None:
        return skipped("no APU that needs a newer kernel than its distribution's")
    if machine.flag("wsl") or machine.flag("windows"):
        return skipped("the driver is Windows'")
    kernel, fact = kernel_version(machine), machine.version("kernel")
    faults = machine.symptoms("memory-fault")
    if kernel is None or fact is None:
        return skipped("the kernel's version is not known")
    if kernel < _release(target.linux_since):
        return problem(
            "fail",
            f"kernel {fact.value} is older than {target.linux_since}, the first that ROCm lists for {target.name}",
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
    better = target.linux_recommended
    if better and kernel < _release(better) and "-oem" not in fact.value:
        return problem(
            "warn",
            f"kernel {fact.value} is older than {better}, recommended for {target.name} unless it is the OEM kernel",
            [fact.evidence],
            "Hangs under load are reported with kernels that lack the fixes.",
            (f"# update to kernel {better} or later, or Ubuntu's OEM kernel",),
            "uname -r",
            sudo=True,
            reboot=True,
        )
    return ok(f"kernel {fact.value}", fact.evidence)


def _release(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))
