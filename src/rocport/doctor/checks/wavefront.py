"""How wide is a wavefront here? Code that takes 64 (or 32) for granted computes something else on the other."""

from __future__ import annotations

from rocport.doctor.check import Check, Result, ok, problem, says, skipped
from rocport.doctor.machine import Machine

CHECK = Check("wavefront", "wavefront width", ("H125",), silent=True)


def run(machine: Machine) -> Result:
    told = [g for g in machine.gpus if g.wavefront]
    if not told:
        return skipped("no GPU whose wavefront width is known")
    for gpu in told:
        target = gpu.target
        if target is not None and gpu.wavefront not in target.wavefronts:
            return says(
                "wavefront.gpu-reports-wavefront",
                gpu.evidence,
                gpu_index=gpu.index,
                gpu_wavefront=gpu.wavefront,
                target_name=target.name,
                target_wavefronts=target.wavefronts,
            )
    widths = sorted({g.wavefront for g in told if g.wavefront})
    if len(widths) > 1:
        return problem(
            "warn",
            "GPUs of both widths are in this machine: "
            + ", ".join(f"{g.gfx or g.hardware} {g.wavefront}" for g in told),
            [g.evidence[0] for g in told],
            "Kernels built for one width compute wrong lane masks on the other; ask warpSize at run time.",
            ("export HIP_VISIBLE_DEVICES=0  # one kind of GPU a process",),
            "python -c 'import torch; print(torch.cuda.get_device_properties(0).warp_size)'",
        )
    return ok(f"{widths[0]} lanes", *(g.evidence[0] for g in told))
