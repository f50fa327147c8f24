"""rocBLAS reads a file for each gfx; a missing one ends the program."""

from __future__ import annotations

from rocport.doctor.check import Check, Result, says, skipped
from rocport.doctor.machine import Machine

CHECK = Check("rocblas-library", "rocBLAS kernels", ("H018", "H076"))


def run(machine: Machine) -> Result:
    told = machine.symptoms("tensile-missing")
    if told:
        return says("rocblas-library.rocblas-no-kernel-library-gpu", [s.evidence for s in told])
    return skipped("none of its messages in what was read")
