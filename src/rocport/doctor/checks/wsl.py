"""WSL: the GPU comes through /dev/dxg, needs the WSL build of the HSA runtime, and only some cards work."""

from __future__ import annotations

from collections.abc import Iterator

from rocport.doctor.check import Check, Result, ok, problem, skipped
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
        yield problem(
            "fail",
            f"{rdna2[0].label} ({rdna2[0].hardware or rdna2[0].gfx}) is not supported on WSL",
            [wsl.evidence, *rdna2[0].evidence],
            "Calls into the GPU hang without a message.",
            ("# run Linux itself, or Windows with native builds; WSL supports RDNA3, RDNA3.5 and RDNA4",),
            "python -c 'import torch; print(torch.ones(1, device=\"cuda\"))'",
        )
    bundled = machine.setting("torch_bundles_hsa")
    if bundled is not None and rocm is not None and rocm.release < (7, 2, 0):
        found = True
        yield problem(
            "fail",
            "torch carries the HSA runtime for Linux itself, which finds no GPU on WSL",
            [bundled.evidence, wsl.evidence],
            "torch.cuda.is_available() is False although rocminfo shows the GPU.",
            (
                "# WSL builds of ROCm up to 7.1: remove the copy in the wheel, so that /opt/rocm's is used",
                f"rm {bundled.value}*",
            ),
            "python -c 'import torch; print(torch.cuda.is_available())'",
        )
    seen = machine.setting("torch_sees_gpu")
    if seen is not None and not seen.value:
        found = True
        yield problem(
            "warn",
            "torch sees no GPU on WSL",
            [seen.evidence, wsl.evidence],
            "From ROCm 7.2 on, librocdxg.so must be where the wheel's runtime looks for it.",
            ("ldconfig -p | grep rocdxg", "# put librocdxg.so beside libhsa-runtime64.so of the wheel"),
            "python -c 'import torch; print(torch.cuda.is_available())'",
        )
    if not found:
        yield ok("no /dev/kfd is expected; amd-smi does not work here, take sizes from torch", wsl.evidence)
