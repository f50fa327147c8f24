"""How much memory may an APU's GPU use? VRAM is the firmware's carve-out; GTT is main memory beside it."""

from __future__ import annotations

from rocport.doctor.check import Check, Result, ok, problem, skipped
from rocport.doctor.machine import Machine

CHECK = Check("apu-memory", "memory of the APU", ("H022", "H023"))
GIB = 1 << 30


def run(machine: Machine) -> Result:
    apus = [g for g in machine.gpus if g.kind == "apu"]
    if not apus:
        return skipped("no APU")
    oom = machine.symptoms("hip-oom")
    for gpu in apus:
        vram, gtt = gpu.number("vram_bytes"), gpu.number("gtt_bytes")
        if vram is None:
            continue
        evidence = [s.evidence for s in gpu.sightings if s.vram_bytes or s.gtt_bytes]
        text = f"VRAM (carve-out) {vram / GIB:.1f} GiB"
        if gtt is not None:
            text += f", GTT {gtt / GIB:.1f} GiB; both are the same DRAM, do not add them"
        if oom or (gtt is not None and vram < 2 * GIB and gtt < 8 * GIB):
            return problem(
                "warn",
                text,
                [*evidence, *(s.evidence for s in oom)],
                "Models that would fit into the machine's memory end with 'HIP out of memory'.",
                (
                    "# best: a small carve-out in the firmware and a large GTT, on kernel 6.10 and later:",
                    "# kernel command line: ttm.pages_limit=N ttm.page_pool_size=N (pages of 4 KiB), then reboot",
                    "cat /sys/class/drm/card*/device/mem_info_gtt_total",
                ),
                "python -c 'import torch; print(torch.cuda.mem_get_info())'",
                sudo=True,
                reboot=True,
            )
        return ok(text, *evidence)
    return skipped("the sizes of VRAM and GTT are not in what was read")
