"""Settings that AMD advises on MI300: HIP_FORCE_DEV_KERNARG, NUMA balancing off."""

from __future__ import annotations

from collections.abc import Iterator

from rocport.doctor.check import Check, Result, ok, says, skipped
from rocport.doctor.machine import Machine

CHECK = Check("instinct-tuning", "Instinct tuning", ("H105", "H112"))


def run(machine: Machine) -> Iterator[Result]:
    told = machine.symptoms("numa-balancing")
    instinct = [g for g, target in machine.targets() if target.product_class == "instinct"]
    if not instinct and not told:
        yield skipped("no Instinct GPU")
        return
    found = False
    balancing, nodes = machine.setting("numa_balancing"), machine.setting("numa_nodes")
    several = nodes is not None and int(nodes.value) > 1
    if told or (balancing is not None and balancing.value == 1 and several):
        found = True
        yield says(
            "instinct-tuning.automatic-numa-balancing-several-numa",
            [*(s.evidence for s in told), balancing.evidence if balancing else None, nodes.evidence if nodes else None],
        )
    mi300 = any(target.family == "CDNA3" for _, target in machine.targets())
    if mi300 and machine.probed("env-complete") and machine.env("HIP_FORCE_DEV_KERNARG") is None:
        yield ok("HIP_FORCE_DEV_KERNARG=1 shortens launches on MI300 a little (AMD's guide)", instinct[0].evidence[0])
        return
    if not found:
        yield ok("nothing to change") if machine.live else skipped("not in what was read")
