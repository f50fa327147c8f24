"""NVIDIA's wheels beside a ROCm torch: a sign that a CUDA torch was, or is, there."""

from __future__ import annotations

from rocport.doctor.check import Check, Result, ok, problem, skipped
from rocport.doctor.machine import Machine
from rocport.doctor.versions import torch_version

CHECK = Check("nvidia-packages", "NVIDIA wheels", ("H041",))


def run(machine: Machine) -> Result:
    if not machine.probed("packages"):
        return skipped("no package list")
    cuda = [p for p in machine.packages("nvidia-") if not p.name.startswith(("nvidia-ml-py", "nvidia-modelopt"))]
    version = torch_version(machine)
    rocm = (version is not None and version.flavour == "rocm") or machine.version("torch_hip") is not None
    if not cuda:
        return ok("none")
    if not rocm:
        return skipped(f"{len(cuda)} of them, and torch is no ROCm build: see torch-build", cuda[0].evidence)
    return problem(
        "warn",
        f"{len(cuda)} nvidia-* wheels are installed beside a ROCm torch",
        [p.evidence for p in cuda[:3]],
        "Gigabytes without use; a package that wanted a CUDA torch pulled them in and may replace torch next time.",
        (f"pip uninstall -y {' '.join(p.name for p in cuda[:8])}" + (" ..." if len(cuda) > 8 else ""),),
        "pip list | grep -c '^nvidia-'",
    )
