"""The amdsmi Python package must be of the ROCm in use; vLLM finds no platform without it."""

from __future__ import annotations

import re

from rocport.doctor.check import Check, Result, ok, says, skipped
from rocport.doctor.machine import Machine
from rocport.doctor.versions import parsed_rocm

CHECK = Check("amdsmi-package", "amdsmi", ("H051", "H126", "H127"))


def run(machine: Machine) -> Result:
    told = machine.symptoms("vllm-unspecified")
    package = machine.package("amdsmi") or machine.package("amd-smi")
    rocm = parsed_rocm(machine)
    vllm = machine.package("vllm")
    if told or (vllm is not None and package is None and machine.probed("packages-complete") and machine.gpus):
        return says(
            "amdsmi-package.vllm-finds-no-platform-amdsmi",
            [*(s.evidence for s in told), vllm.evidence if vllm else None],
        )
    if package is None:
        return skipped("amdsmi is not installed, or not in the list")
    match = re.match(r"(\d+)\.(\d+)", package.version)
    mine = (int(match[1]), int(match[2])) if match else None
    # its own numbers before ROCm 7 (24.7.1, 25.x); ROCm's since
    if rocm is not None and mine is not None and mine < (20, 0) and mine != rocm.release[:2]:
        return says(
            "amdsmi-package.beside-rocm",
            [package.evidence],
            package_name=package.name,
            package_version=package.version,
            rocm=rocm,
        )
    return ok(f"{package.name} {package.version}", package.evidence)
