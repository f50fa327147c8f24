"""Is the kernel new enough for a Ryzen AI APU (RDNA3.5), and is its firmware not the broken one?"""

from __future__ import annotations

from rocport.doctor.check import Check, Result, ok, says, skipped
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
        return says(
            "apu-kernel.kernel-older-first-rocm-lists",
            [fact.evidence, *(s.evidence for s in faults)],
            fact=fact.value,
            target_linux_since=target.linux_since,
            target_name=target.name,
        )
    if faults:
        return says("apu-kernel.memory-access-faults-known-mes", [*(s.evidence for s in faults), fact.evidence])
    better = target.linux_recommended
    if better and kernel < _release(better) and "-oem" not in fact.value:
        return says(
            "apu-kernel.kernel-older-recommended-unless-oem",
            [fact.evidence],
            fact=fact.value,
            better=better,
            target_name=target.name,
        )
    return ok(f"kernel {fact.value}", fact.evidence)


def _release(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))
