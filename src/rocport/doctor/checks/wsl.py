"""WSL: the GPU comes through /dev/dxg, needs the WSL build of the HSA runtime, and only some cards work."""

from __future__ import annotations

from collections.abc import Iterator

from rocport.doctor.check import Check, Result, ok, says, skipped
from rocport.doctor.machine import Machine
from rocport.doctor.versions import parsed_rocm

CHECK = Check("wsl", "WSL", ("H031", "H032", "H033", "H034", "H035", "H036", "H037"))


def run(machine: Machine) -> Iterator[Result]:
    wsl = machine.setting("wsl")
    if wsl is None or not wsl.value:
        yield skipped("not WSL")
        return
    rocm = parsed_rocm(machine)
    found = False
    rdna2 = [
        g for g, target in machine.targets() if target.wavefront == 64 or target.family.startswith(("RDNA1", "RDNA2"))
    ]
    if rdna2:
        found = True
        yield says(
            "wsl.not-supported-wsl",
            [wsl.evidence, *rdna2[0].evidence],
            rdna2_label=rdna2[0].label,
            target=rdna2[0].hardware or rdna2[0].gfx,
        )
    bundled = machine.setting("torch_bundles_hsa")
    if bundled is not None and rocm is not None and rocm.release < (7, 2, 0):
        found = True
        yield says("wsl.torch-carries-hsa-runtime-linux", [bundled.evidence, wsl.evidence], bundled=bundled.value)
    seen = machine.setting("torch_sees_gpu")
    if seen is not None and not seen.value:
        found = True
        yield says("wsl.torch-sees-no-gpu-wsl", [seen.evidence, wsl.evidence])
    if not found:
        yield ok("no /dev/kfd is expected; amd-smi does not work here, take sizes from torch", wsl.evidence)
