"""hipBLASLt: which GPUs have it, and the versions where its absence is an error."""

from __future__ import annotations

from collections.abc import Iterator

from rocport.doctor.check import Check, Result, ok, says, skipped
from rocport.doctor.machine import Evidence, Machine
from rocport.doctor.versions import in_range, torch_version

CHECK = Check("hipblaslt", "hipBLASLt", ("H072", "H073", "H074", "H075"))
VERIFY = "python -c 'import torch; a = torch.ones(64, 64, device=\"cuda\"); print((a @ a)[0, 0])'"


def run(machine: Machine) -> Iterator[Result]:
    fatal = machine.symptoms("hipblaslt-arch")
    torch = torch_version(machine)
    targets = list({t.name: (g, t) for g, t in machine.targets()}.values())
    prefer = machine.env("TORCH_BLAS_PREFER_HIPBLASLT")
    if fatal:
        yield _fatal([*(s.evidence for s in fatal)])
        return
    if not targets:
        yield skipped("no GPU whose target is known")
        return
    for gpu, target in targets:
        record = next(iter(target.library("hipBLASLt")), None)
        fact = machine.version("torch")
        # torch 2.3 to 2.5 raised for every target without a record of its own
        era = torch is not None and torch.flavour == "rocm" and in_range(machine, "H072")
        off = prefer is not None and str(prefer.value) == "0"
        if era and not off and not target.library("hipBLASLt of torch"):
            yield _fatal([fact.evidence if fact else None, gpu.evidence[0]])
        elif record is None:
            yield skipped(f"nothing is recorded for {target.name}", gpu.evidence[0])
        elif record.state == "no":
            yield ok(
                f"{target.name} has none: torch 2.6 and later warns once and uses hipBLAS "
                "(TORCH_BLAS_PREFER_HIPBLASLT=0 silences it)",
                gpu.evidence[0],
            )
        else:
            yield ok(f"{target.name} has it", gpu.evidence[0])


def _fatal(evidence: list[Evidence | None]) -> Result:
    return says("hipblaslt.torch-raises-where-hipblaslt", evidence)
