"""Several GPUs: what makes RCCL hang, fail or add up wrongly."""

from __future__ import annotations

from collections.abc import Iterator

from rocport.doctor.check import Check, Result, ok, says, skipped
from rocport.doctor.machine import Machine
from rocport.doctor.versions import in_range

CHECK = Check("rccl", "RCCL", ("H113", "H114", "H115", "H116"), silent=True)


def run(machine: Machine) -> Iterator[Result]:
    told = machine.symptoms("iommu-missing")
    cards = [g for g in machine.gpus if g.kind == "dgpu"]
    if len(cards) < 2 and not told:
        yield skipped("fewer than two graphics cards or accelerators")
        return
    found = False
    cmdline, passthrough = machine.setting("cmdline"), machine.flag("iommu_passthrough_default")
    bare = machine.setting("container") is None and not machine.flag("wsl") and not machine.flag("windows")
    lacks = cmdline is not None and "iommu=pt" not in str(cmdline.value) and "iommu=off" not in str(cmdline.value)
    if (told or (lacks and bare)) and not passthrough:
        found = True
        yield says(
            "rccl.kernel-command-line-no-iommu", [*(s.evidence for s in told), cmdline.evidence if cmdline else None]
        )
    proto = machine.env("NCCL_PROTO")
    allowed = str(proto.value).split(",") if proto is not None else ["LL"]
    if cards and "LL" in allowed and in_range(machine, "H116"):
        found = True
        yield says("rccl.rccl-ll-protocol-gives-wrong", [cards[0].evidence[0], proto.evidence if proto else None])
    radeon = [g for g in cards if g.target is not None and g.target.radeon]
    if len(radeon) > 1 and machine.env("NCCL_P2P_DISABLE") is None and not found:
        yield ok("on Radeon cards NCCL_P2P_DISABLE=1 helps if the first all_reduce hangs", radeon[0].evidence[0])
        return
    rocr = machine.env("ROCR_VISIBLE_DEVICES")
    if rocr is not None and machine.env("LOCAL_RANK") is not None:
        found = True
        yield says("rccl.each-rank-masks-gpus-rocr-visible-devices", [rocr.evidence])
    if not found:
        yield (
            ok(f"{len(cards)} GPUs", *(g.evidence[0] for g in cards[:2]))
            if machine.live
            else skipped("the kernel's command line is not in what was read")
        )
