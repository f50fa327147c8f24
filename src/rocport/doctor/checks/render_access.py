"""Can this user open the render node of every GPU?"""

from __future__ import annotations

from rocport.doctor.check import Check, Result, ok, says, skipped
from rocport.doctor.machine import Machine

CHECK = Check("render-access", "/dev/dri/renderD*", ("H006", "H028", "H029"))


def run(machine: Machine) -> Result:
    if machine.symptoms("smi-error"):
        return says("render-access.amd-smi-cannot-open-device", [s.evidence for s in machine.symptoms("smi-error")])
    if not machine.probed("access"):
        return skipped("the captured text says nothing of the render nodes")
    if machine.flag("wsl") or machine.flag("windows"):
        return skipped("no render nodes on WSL and Windows")
    nodes = {n.path: n for n in machine.facts.nodes if "renderD" in n.path}
    wanted = [(g, m) for g in machine.gpus if (m := g.number("render_minor"))]
    if not wanted:
        return skipped("no GPU names its render node")
    missing = [(g, m) for g, m in wanted if f"/dev/dri/renderD{m}" not in nodes]
    if missing:
        gpu, minor = missing[0]
        return says(
            "render-access.dev-dri-renderd-gpu-missing",
            gpu.evidence,
            minor=minor,
            gpu_index=gpu.index,
            missing=len(missing),
            wanted=len(wanted),
        )
    denied = [n for _, m in wanted if (n := nodes[f"/dev/dri/renderD{m}"]).errno]
    if denied:
        gid = denied[0].gid
        return says("render-access.cannot-opened", [n.evidence for n in denied], denied_path=denied[0].path, gid=gid)
    return ok(f"{len(wanted)} open", *(nodes[f"/dev/dri/renderD{m}"].evidence for _, m in wanted))
