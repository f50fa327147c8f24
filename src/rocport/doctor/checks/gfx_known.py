"""Is the target one that AMD's LLVM and ROCm know? Forks and very old chips are not."""

from __future__ import annotations

from collections.abc import Iterator

from rocport.doctor.check import Check, Result, ok, says, skipped
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
            yield says("gfx-known.gcn-1-4-not-supported", gpu.evidence, gpu_label=gpu.label)
        elif early_name_of(gpu.gfx):
            yield says(
                "gfx-known.early-name",
                gpu.evidence,
                gpu_label=gpu.label,
                gpu_gfx=gpu.gfx,
                earlier=early_name_of(gpu.gfx),
            )
        elif target is None:
            yield says(
                "gfx-known.not-target-amd-rocm", gpu.evidence, gpu_label=gpu.label, gpu_gfx=gpu.gfx, forks=forks()
            )
        elif not target.released:
            yield says("gfx-known.not-released-product", gpu.evidence, gpu_label=gpu.label, gpu_gfx=gpu.gfx)
    if all(g.target is not None and g.target.released and not early_name_of(g.gfx) for g in named):
        yield ok(
            "; ".join(f"{t.name} is {t.family}" for t in dict.fromkeys(g.target for g in named) if t is not None),
            *(g.evidence[0] for g in named),
        )
