"""Can this user open the render node of every GPU?"""

from __future__ import annotations

from rocport.doctor.check import Check, Result, ok, problem, skipped
from rocport.doctor.machine import Machine

CHECK = Check("render-access", "/dev/dri/renderD*", ("H006", "H028", "H029"))


def run(machine: Machine) -> Result:
    if machine.symptoms("smi-error"):
        return problem(
            "fail",
            "amd-smi cannot open a device node",
            [s.evidence for s in machine.symptoms("smi-error")],
            "Programs that look at the GPU through amd-smi (vLLM) find no platform, although /dev/kfd opens.",
            ("ls -l /dev/dri", "sudo usermod -a -G render,video $USER"),
            "amd-smi list",
            sudo=True,
            relogin=True,
        )
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
        return problem(
            "fail",
            f"/dev/dri/renderD{minor} of GPU {gpu.index} is missing ({len(missing)} of {len(wanted)})",
            gpu.evidence,
            "The runtime may then list no GPU at all, also when other render nodes are there.",
            ("# hand every render node into the container: --device=/dev/dri; choose with ROCR_VISIBLE_DEVICES",),
            "ls /dev/dri",
        )
    denied = [n for _, m in wanted if (n := nodes[f"/dev/dri/renderD{m}"]).errno]
    if denied:
        gid = denied[0].gid
        return problem(
            "fail",
            f"{denied[0].path} cannot be opened",
            [n.evidence for n in denied],
            "/dev/kfd alone is not enough: memory is mapped through the render node.",
            (
                "sudo usermod -a -G render,video $USER",
                f"# in a container or service: give it group {gid} (--group-add {gid}, SupplementaryGroups={gid})",
            ),
            f"test -w {denied[0].path} && echo ok",
            sudo=True,
            relogin=True,
        )
    return ok(f"{len(wanted)} open", *(nodes[f"/dev/dri/renderD{m}"].evidence for _, m in wanted))
