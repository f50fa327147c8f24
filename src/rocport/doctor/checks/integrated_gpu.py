"""Is an integrated GPU listed beside the graphics card? Programs that take the first one take the wrong one."""

from __future__ import annotations

from rocport.doctor.check import Check, Result, ok, says, skipped
from rocport.doctor.machine import Machine

CHECK = Check("integrated-gpu", "integrated GPU beside a card", ("H018", "H069", "H076"))


def run(machine: Machine) -> Result:
    apus = [g for g in machine.gpus if g.kind == "apu"]
    names = {g.hardware or g.gfx for g in apus}
    cards = [g for g in machine.gpus if g.kind == "dgpu" and (g.hardware or g.gfx) not in names]
    if not machine.gpus:
        return skipped("no GPU")
    if not (apus and cards):
        return ok("one kind of GPU", *(g.evidence[0] for g in machine.gpus[:1]))
    chosen = next(
        (e for n in ("HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES") if (e := machine.env(n))),
        None,
    )
    if chosen is not None:
        return ok(f"{chosen.name}={chosen.value} chooses", chosen.evidence)
    indices = ",".join(str(g.index) for g in cards)
    return says(
        "integrated-gpu.listed-beside",
        [apus[0].evidence[0], cards[0].evidence[0]],
        apus_label=apus[0].label,
        cards_label=cards[0].label,
        apus_gfx=apus[0].gfx,
        indices=indices,
    )
