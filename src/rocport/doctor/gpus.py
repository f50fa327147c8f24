"""From sightings to GPUs: which sightings are the same GPU, which gfx it is, and where the sources contradict.

The evidence order is KFD, torch's gcnArchName, rocminfo, the smi tools. rocminfo and torch show what
HSA_OVERRIDE_GFX_VERSION makes of the GPU; KFD and the PCI id show the chip.
"""

from __future__ import annotations

from rocport.doctor.machine import Contradiction, Evidence, Facts, Gpu, Sighting
from rocport.facts.errors import FactError
from rocport.facts.targets import load_target, targets_of_chip, targets_of_product

ORDER = ("kfd", "torch", "rocminfo", "amd-smi", "rocm-smi", "pci")


def resolve(facts: Facts) -> tuple[Gpu, ...]:
    """The GPUs of a machine, in KFD or rocminfo order. Sightings without gfx, PCI id and product are dropped."""
    groups: list[list[Sighting]] = []
    for source in ORDER:
        seen = [s for s in facts.sightings if s.source == source and (s.gfx or s.chip_id or s.product)]
        for sighting in _distinct(seen):
            group = _match(groups, sighting)
            if group is None:
                groups.append([sighting])
            else:
                group.append(sighting)
    return tuple(_gpu(index, group) for index, group in enumerate(groups))


def _distinct(seen: list[Sighting]) -> list[Sighting]:
    """Drop a repetition: the same node or PCI address, same gfx, pasted twice."""
    kept: list[Sighting] = []
    for sighting in seen:
        twin = any(
            k.gfx == sighting.gfx
            and k.chip_id == sighting.chip_id
            and (k.evidence.where != sighting.evidence.where or k.node is not None or k.pci)
            and (k.node, k.pci) == (sighting.node, sighting.pci)
            and (k.node is not None or k.pci)
            for k in kept
        )
        if not twin:
            kept.append(sighting)
    return kept


def _match(groups: list[list[Sighting]], new: Sighting) -> list[Sighting] | None:
    """The group a sighting belongs to, None for a GPU not seen before."""
    free = [g for g in groups if all(s.source != new.source for s in g)]
    for group in groups:  # the same source may show one node twice with another gfx: an override came between
        if any(_same_place(s, new) is True for s in group):
            return group
    free = [g for g in free if not any(_same_place(s, new) is False for s in g)]
    for test in (_same_gfx, _same_chip, _chip_explains):
        for group in free:
            if test(group, new):
                return group
    if len(free) == 1 and len(groups) == 1:
        return free[0]
    if free and (not new.gfx or all(not s.gfx for g in free for s in g)):
        return free[0]
    return None


def _same_place(a: Sighting, b: Sighting) -> bool | None:
    """True for the same slot, False for different ones, None when the sightings do not say."""
    if a.pci and b.pci:
        return a.pci.lower() == b.pci.lower()
    if a.node is not None and b.node is not None:
        return a.node == b.node
    return None


def _same_gfx(group: list[Sighting], new: Sighting) -> bool:
    return bool(new.gfx) and any(s.gfx == new.gfx for s in group)


def _same_chip(group: list[Sighting], new: Sighting) -> bool:
    return new.chip_id is not None and any(s.chip_id == new.chip_id for s in group)


def _chip_explains(group: list[Sighting], new: Sighting) -> bool:
    names = {s.gfx for s in group if s.gfx}
    return bool(names & set(_chip_targets([new])[0])) or new.gfx in _chip_targets(group)[0]


def _chip_targets(group: list[Sighting]) -> tuple[tuple[str, ...], Evidence | None]:
    """Targets by PCI id, else by product name, with the sighting that showed it."""
    for sighting in group:
        if sighting.chip_id is not None:
            found = targets_of_chip(sighting.chip_id)
            if found:
                return found, sighting.evidence
    for sighting in group:
        if sighting.product:
            found = targets_of_product(sighting.product)
            if found:
                return found, sighting.evidence
    return (), None


def _gpu(index: int, group: list[Sighting]) -> Gpu:
    group = sorted(group, key=lambda s: ORDER.index(s.source))
    gfx = next((s.gfx for s in group if s.gfx), "")
    chip_targets, chip_evidence = _chip_targets(group)
    contradictions: list[Contradiction] = []
    leader = next((s for s in group if s.gfx), None)
    for sighting in group:
        if leader and sighting.gfx and sighting.gfx != leader.gfx:
            contradictions.append(Contradiction("gfx", leader.evidence, sighting.evidence))
    width_leader = next((s for s in group if s.wavefront), None)
    for sighting in group:
        if width_leader and sighting.wavefront and sighting.wavefront != width_leader.wavefront:
            contradictions.append(Contradiction("wavefront", width_leader.evidence, sighting.evidence))
    wavefront = width_leader.wavefront if width_leader else None
    name = gfx or (chip_targets[0] if len(chip_targets) == 1 else "")
    kind = ""
    try:
        target = load_target(name) if name else None
    except FactError:
        target = None
    chip_id = next((s.chip_id for s in group if s.chip_id is not None), None)
    told = [s.apu for s in group if s.apu is not None]
    if any(told):
        kind = "apu"
    elif chip_targets and chip_targets[0] != name and len(chip_targets) == 1:
        kind = load_target(chip_targets[0]).kind  # the chip decides, not the name it is spoofed as
    elif target is not None:
        kind = "apu" if target.is_apu(chip_id) else target.kind
    elif told:
        kind = "dgpu"
    if wavefront is None and target is not None:
        wavefront = target.wavefront
    products = [s.product for s in group if s.product]
    generic = {"amd radeon graphics", "amd radeon(tm) graphics", "radeon graphics"}
    product = next((p for p in products if p.lower() not in generic), products[0] if products else "")
    reported = tuple(dict.fromkeys(s.gfx for s in group if s.gfx))
    return Gpu(
        index, gfx, wavefront, product, kind, chip_targets, chip_evidence, reported, tuple(group), tuple(contradictions)
    )
