"""Several GPUs: what makes RCCL hang, fail or add up wrongly."""

from __future__ import annotations

from collections.abc import Iterator

from rocport.doctor.check import Check, Result, ok, problem, skipped
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
        yield problem(
            "warn",
            "the kernel command line has no iommu=pt",
            [*(s.evidence for s in told), cmdline.evidence if cmdline else None],
            "Transfers between GPUs may hang on some boards; a false alarm where the kernel passes through by default.",
            ("# add iommu=pt to GRUB_CMDLINE_LINUX in /etc/default/grub, then:", "sudo update-grub && sudo reboot"),
            "grep -o iommu=pt /proc/cmdline",
            sudo=True,
            reboot=True,
        )
    proto = machine.env("NCCL_PROTO")
    allowed = str(proto.value).split(",") if proto is not None else ["LL"]
    if cards and "LL" in allowed and in_range(machine, "H116"):
        found = True
        yield problem(
            "fail",
            "RCCL's LL protocol gives wrong all_reduce results on CDNA4 GPUs with ROCm 10.1",
            [cards[0].evidence[0], proto.evidence if proto else None],
            "Sums over GPUs are wrong without a message.",
            ("export NCCL_PROTO=LL128,Simple",),
            "env | grep NCCL_PROTO",
            env={"NCCL_PROTO": "LL128,Simple"},
        )
    radeon = [g for g in cards if g.target is not None and g.target.radeon]
    if len(radeon) > 1 and machine.env("NCCL_P2P_DISABLE") is None and not found:
        yield ok("on Radeon cards NCCL_P2P_DISABLE=1 helps if the first all_reduce hangs", radeon[0].evidence[0])
        return
    rocr = machine.env("ROCR_VISIBLE_DEVICES")
    if rocr is not None and machine.env("LOCAL_RANK") is not None:
        found = True
        yield problem(
            "warn",
            "each rank masks GPUs with ROCR_VISIBLE_DEVICES",
            [rocr.evidence],
            "RCCL cannot open its peers' memory then.",
            ("unset ROCR_VISIBLE_DEVICES",),
            "env | grep VISIBLE",
            env={"ROCR_VISIBLE_DEVICES": None},
        )
    if not found:
        yield (
            ok(f"{len(cards)} GPUs", *(g.evidence[0] for g in cards[:2]))
            if machine.live
            else skipped("the kernel's command line is not in what was read")
        )
