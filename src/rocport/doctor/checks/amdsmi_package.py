"""The amdsmi Python package must be of the ROCm in use; vLLM finds no platform without it."""

from __future__ import annotations

import re

from rocport.doctor.check import Check, Result, ok, problem, skipped
from rocport.doctor.machine import Machine
from rocport.doctor.versions import parsed_rocm

CHECK = Check("amdsmi-package", "amdsmi", ("H051", "H126", "H127"))


def run(machine: Machine) -> Result:
    told = machine.symptoms("vllm-unspecified")
    package = machine.package("amdsmi") or machine.package("amd-smi")
    rocm = parsed_rocm(machine)
    vllm = machine.package("vllm")
    if told or (vllm is not None and package is None and machine.probed("packages-complete") and machine.gpus):
        return problem(
            "fail",
            "vLLM finds no platform: the amdsmi package is missing or of another release",
            [*(s.evidence for s in told), vllm.evidence if vllm else None],
            "vLLM runs on 'UnspecifiedPlatform' and cannot start an engine.",
            (
                "pip install /opt/rocm/share/amd_smi  # ROCm up to 10.0, in an install that has it",
                "pip install amd-smi  # ROCm 10.1 and later",
            ),
            "python -c 'import amdsmi; amdsmi.amdsmi_init()'",
        )
    if package is None:
        return skipped("amdsmi is not installed, or not in the list")
    match = re.match(r"(\d+)\.(\d+)", package.version)
    mine = (int(match[1]), int(match[2])) if match else None
    # its own numbers before ROCm 7 (24.7.1, 25.x); ROCm's since
    if rocm is not None and mine is not None and mine < (20, 0) and mine != rocm.release[:2]:
        return problem(
            "warn",
            f"{package.name} {package.version} beside ROCm {rocm}",
            [package.evidence],
            "Its wrapper looks for functions that this release's library does not have (AttributeError, KeyError).",
            ("pip uninstall -y amdsmi", "pip install /opt/rocm/share/amd_smi"),
            "python -c 'import amdsmi; amdsmi.amdsmi_init()'",
        )
    return ok(f"{package.name} {package.version}", package.evidence)
