"""rocBLAS reads a file for each gfx; a missing one ends the program."""

from __future__ import annotations

from rocport.doctor.check import Check, Result, problem, skipped
from rocport.doctor.machine import Machine

CHECK = Check("rocblas-library", "rocBLAS kernels", ("H018", "H076"))


def run(machine: Machine) -> Result:
    told = machine.symptoms("tensile-missing")
    if told:
        return problem(
            "fail",
            "rocBLAS has no kernel library for this GPU's gfx",
            [s.evidence for s in told],
            "The first matrix product ends the process. Often the gfx is an integrated GPU's, or a disguise.",
            ("export HIP_VISIBLE_DEVICES=0  # the discrete GPU", "# or a wheel built for this gfx: see torch-arch"),
            "ls /opt/rocm/lib/rocblas/library | grep gfx",
        )
    return skipped("none of its messages in what was read")
