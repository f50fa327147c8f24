"""4-bit block size against bitsandbytes' version and the wavefront width: checkpoints that load wrong or not at all."""

from __future__ import annotations

from packaging.version import Version

from rocport.doctor.check import Check, Result, ok, problem, says, skipped
from rocport.doctor.machine import Machine
from rocport.doctor.versions import package_version

CHECK = Check("bnb-blocksize", "4-bit block size", ("H070",), silent=True)


def run(machine: Machine) -> Result:
    version = package_version(machine, "bitsandbytes")
    fact = machine.version("bitsandbytes")
    told = machine.symptoms("bnb-blocksize")
    if version is None or fact is None:
        if told:
            return says("bnb-blocksize.checkpoint-block-size-refused", [s.evidence for s in told])
        return skipped("bitsandbytes is not known")
    widths = {g.wavefront for g in machine.gpus if g.wavefront}
    if version >= Version("0.49.2"):
        return ok("64 by default on every wavefront width since 0.49.2", fact.evidence)
    if version < Version("0.49.0") or 64 in widths:
        return problem(
            "warn",
            f"bitsandbytes {version} uses block size 128 on "
            + ("ROCm" if version < Version("0.49.0") else "64-wide wavefronts"),
            [fact.evidence, *(s.evidence for s in told)],
            "Prequantized checkpoints (block size 64) are refused, and checkpoints written here (128) do not match "
            "those of NVIDIA machines.",
            ("pip install -U 'bitsandbytes>=0.50'", "# checkpoints: rocport model convert"),
            "python -c 'import bitsandbytes as b; print(b.__version__)'",
        )
    if widths == {32}:
        return ok("64 is allowed on 32-wide wavefronts since 0.49.0", fact.evidence)
    return skipped("0.49.0 and 0.49.1 take 64 on 32-wide wavefronts only, and the width is not known", fact.evidence)
