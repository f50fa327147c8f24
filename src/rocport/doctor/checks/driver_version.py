"""Is the amdgpu driver one that this ROCm release lists?"""

from __future__ import annotations

import re

from rocport.doctor.check import Check, Result, ok, says, skipped
from rocport.doctor.machine import Machine
from rocport.doctor.versions import parsed_rocm

CHECK = Check("driver-version", "amdgpu driver version", ("H011",))
SOURCE = "https://rocm.docs.amd.com/en/docs-10.1.0/compatibility/compatibility-matrix.html"


def run(machine: Machine) -> Result:
    rocm, driver = parsed_rocm(machine), machine.version("driver")
    if machine.flag("wsl") or machine.flag("windows"):
        return skipped("the driver is Windows'")
    if driver is None:
        tree = machine.setting("amdgpu_in_tree")
        if tree is not None:
            return skipped("the kernel's own driver has no version; see the kernel's", tree.evidence)
        return skipped("the driver's version is not known")
    match = re.match(r"(\d+)\.(\d+)(?:\.(\d+))?", driver.value)
    if match is None or rocm is None:
        return skipped("the ROCm release is not known", driver.evidence)
    # from 30.10 on the driver has its own numbers; before, it carried the kernel's (6.8.5, 6.10.5, 6.12.12, 6.14.14)
    number = tuple(int(n or 0) for n in match.groups())
    if number[0] < 30 and rocm.major >= 10:
        return says("driver-version.amdgpu-older-drivers-rocm-lists", [driver.evidence], driver=driver.value, rocm=rocm)
    return ok(f"amdgpu {driver.value}", driver.evidence)
