"""Is the target one that AMD's LLVM and ROCm know? Forks and very old chips are not."""

from __future__ import annotations

from collections.abc import Iterator

from rocport.doctor.check import Check, Result, ok, problem, skipped
from rocport.doctor.machine import Machine
from rocport.facts.targets import early_name_of, forks, is_older_than_rocm

CHECK = Check("gfx-known", "known gfx target", ("H021",))


def run(machine: Machine) -> Iterator[Result]:
    named = [g for g in machine.gpus if g.gfx]
    if not named:
        yield skipped("no GPU whose gfx is known")
        return
    for gpu in named:
        target = gpu.target
        if target is None and is_older_than_rocm(gpu.gfx):
            yield problem(
                "fail",
                f"{gpu.label}: GCN 1 to 4 are not supported by current ROCm",
                gpu.evidence,
                "No library or wheel carries code for it.",
                ("# use Vulkan or OpenCL programs on this card",),
                "rocminfo | grep -m1 'Name: *gfx'",
            )
        elif early_name_of(gpu.gfx):
            yield problem(
                "warn",
                f"{gpu.label}: {gpu.gfx} is an early name of {early_name_of(gpu.gfx)}",
                gpu.evidence,
                f"Builds for {early_name_of(gpu.gfx)} do not run on early silicon; LLVM dropped the name in 2025.",
                ("# a driver and ROCm of the released product report the final name",),
                "rocminfo | grep -m1 'Name: *gfx'",
            )
        elif target is None:
            yield problem(
                "fail",
                f"{gpu.label}: {gpu.gfx} is not a target of AMD's ROCm",
                gpu.evidence,
                f"It belongs to a fork ({forks()}) or to a chip newer than these facts. AMD's "
                "wheels and libraries carry no code for it; rocport's advice on versions does not hold.",
                ("# use the vendor's own builds of torch, Triton and bitsandbytes",),
                "python -c 'import torch; print(torch.cuda.get_arch_list())'",
            )
        elif not target.released:
            yield problem(
                "warn",
                f"{gpu.label}: {gpu.gfx} is not a released product",
                gpu.evidence,
                "Only compilers know the name so far.",
            )
    if all(g.target is not None and g.target.released and not early_name_of(g.gfx) for g in named):
        yield ok(
            "; ".join(f"{t.name} is {t.family}" for t in dict.fromkeys(g.target for g in named) if t is not None),
            *(g.evidence[0] for g in named),
        )
