"""From sightings to GPUs: which sightings are the same GPU, which gfx it is, and where the sources contradict.

The evidence order is KFD, torch's gcnArchName, rocminfo, other programs of the HIP runtime, the smi tools, the PCI bus,
and last what a reporter wrote. rocminfo and torch show what HSA_OVERRIDE_GFX_VERSION makes of the GPU; KFD and the PCI
id show the chip.
"""

from __future__ import annotations

from rocport.doctor.machine import Contradiction, Evidence, Facts, Gpu, Sighting
from rocport.facts.errors import FactError
from rocport.facts.targets import load_target, targets_of_chip, targets_of_product

MAX_GPUS = 128
"""More than any machine shows (64: eight MI300X, each in eight partitions): a paste that repeats one GPU for megabytes
would otherwise cost its square."""
ORDER = ("kfd", "torch", "rocminfo", "runtime", "amd-smi", "rocm-smi", "pci", "stated")


def resolve(facts: Facts) -> tuple[Gpu, ...]:
    """The GPUs of a machine, in KFD or rocminfo order. Sightings without gfx, PCI id and product are dropped."""
    groups: list[list[Sighting]] = []
    for source in ORDER:
        seen = _distinct([s for s in facts.sightings if s.source == source and (s.gfx or s.chip_id or s.product)])
        before = list(groups)
        rest: list[Sighting] = []
        for sighting in seen:
            group = _certain(groups, sighting)
            if group is not None:
                group.append(sighting)
            else:
                rest.append(sighting)
        for sighting in rest:
            group = _in_place(groups, sighting) or _likely(before, sighting, alone=len(seen) == len(before) == 1)
            if group is not None:
                group.append(sighting)
            elif source != "stated" or not groups:
                groups.append([sighting])
    return tuple(_gpu(index, group) for index, group in enumerate(groups))


def _distinct(seen: list[Sighting]) -> list[Sighting]:
    """Drop a repetition: the same node or PCI address, same gfx, pasted twice; and what no machine has."""
    kept: list[Sighting] = []
    for sighting in seen:
        if len(kept) == MAX_GPUS:
            break
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


def _certain(groups: list[list[Sighting]], new: Sighting) -> list[Sighting] | None:
    """The group that shows the same slot, or the same gfx or PCI id and is not taken by this source."""
    group = _in_place(groups, new)
    if group is not None:
        return group
    free = _free(groups, new)
    for test in (_same_gfx, _same_chip, _chip_explains):
        for candidate in free:
            if test(candidate, new):
                return candidate
    return None


def _in_place(groups: list[list[Sighting]], new: Sighting) -> list[Sighting] | None:
    """The group in the same slot. One source may show a slot twice, with another gfx: an override came between."""
    return next((g for g in groups if any(_same_place(s, new) is True for s in g)), None)


def _likely(groups: list[list[Sighting]], new: Sighting, alone: bool) -> list[Sighting] | None:
    """The group a sighting is put to when nothing proves it: the only GPU of both sources, or, for a sighting without
    a gfx, the free GPU most like its chip. None for a GPU not seen before."""
    free = _free(groups, new)
    if not free:
        return None
    if alone:
        return free[0]
    if new.gfx and any(s.gfx for g in free for s in g):
        return None
    mine = _chip_targets([new])[0]
    return max(free, key=lambda group: _likeness(group, mine))


def _free(groups: list[list[Sighting]], new: Sighting) -> list[list[Sighting]]:
    """Groups without a sighting of this source and not in another slot."""
    return [g for g in groups if all(s.source != new.source and _same_place(s, new) is not False for s in g)]


def _likeness(group: list[Sighting], targets: tuple[str, ...]) -> int:
    """How alike a group's gfx and a chip's target are: the kind of GPU counts more than the instruction set."""
    score = 0
    for name in {s.gfx for s in group if s.gfx}:
        for other in targets:
            try:
                a, b = load_target(name), load_target(other)
            except FactError:
                continue
            score = max(score, 2 * (a.kind == b.kind) + (a.llvm_generic == b.llvm_generic != ""))
    return score


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
    known = any(s.gfx for s in group)
    for sighting in group:
        if sighting.product and not (known and sighting.source == "stated"):
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
    products = [s.product for s in group if s.product]
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
        kind = "apu" if target.is_apu(chip_id, " ".join(products)) else "dgpu"
    elif told:
        kind = "dgpu"
    if wavefront is None and target is not None:
        wavefront = target.wavefront
    generic = {"amd radeon graphics", "amd radeon(tm) graphics", "radeon graphics"}
    product = next((p for p in products if p.lower() not in generic), products[0] if products else "")
    reported = tuple(dict.fromkeys(s.gfx for s in group if s.gfx))
    return Gpu(
        index, gfx, wavefront, product, kind, chip_targets, chip_evidence, reported, tuple(group), tuple(contradictions)
    )
