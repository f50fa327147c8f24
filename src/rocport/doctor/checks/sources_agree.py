"""Do the sources agree on each GPU? A contradiction is a finding of its own."""

from __future__ import annotations

from rocport.doctor.check import Check, Result, ok, problem, skipped
from rocport.doctor.machine import Machine

CHECK = Check("sources-agree", "sources agree", ("H017",), silent=True)


def run(machine: Machine) -> Result:
    clashes = [(g, c) for g in machine.gpus for c in g.contradictions]
    if clashes:
        gpu, clash = clashes[0]
        first, second = clash.first, clash.second
        return problem(
            "warn",
            f"GPU {gpu.index}: {first.source} says {first.text!r}, {second.source} {second.text!r}",
            [e for _, c in clashes for e in (c.first, c.second)],
            f"{first.source} is believed: it comes first in the order KFD, torch, rocminfo, smi.",
            (
                "env | grep HSA_OVERRIDE_GFX_VERSION",
                "grep gfx_target_version /sys/class/kfd/kfd/topology/nodes/*/properties",
            ),
            "rocport doctor --json",
        )
    several = [g for g in machine.gpus if len({s.source for s in g.sightings}) > 1]
    if several:
        return ok(f"{len(several[0].sightings)} sources agree", *several[0].evidence)
    return skipped("one source only, nothing to compare")
