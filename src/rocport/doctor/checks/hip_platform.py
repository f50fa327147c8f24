"""Does hipcc compile for AMD here?"""

from __future__ import annotations

from rocport.doctor.check import Check, Result, ok, says, skipped
from rocport.doctor.machine import Machine

CHECK = Check("hip-platform", "HIP platform", ("H111",))


def run(machine: Machine) -> Result:
    env, told = machine.env("HIP_PLATFORM"), machine.setting("hip_platform")
    value = str(env.value if env else told.value if told else "")
    evidence = env.evidence if env else told.evidence if told else None
    amd = any(g.gfx or g.chip_targets for g in machine.gpus)
    if value.startswith("nvidia") and amd:
        return says("hip-platform.hip-platform-nvidia-machine-amd-gpu", [evidence])
    nvcc, home = machine.setting("nvcc"), machine.env("CUDA_HOME") or machine.env("CUDA_PATH")
    if not value and amd and (nvcc is not None or home is not None) and not machine.flag("nvidia_gpu"):
        return says(
            "hip-platform.cuda-toolkit-path-or-cuda-home",
            [nvcc.evidence if nvcc else None, home.evidence if home else None],
        )
    if value:
        return ok(f"HIP_PLATFORM is {value}", evidence)
    return ok("nothing points at NVIDIA") if machine.probed("env-complete") else skipped("not in what was read")
