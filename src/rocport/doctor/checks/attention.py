"""Flash attention: AOTriton's experimental targets, and the switch for them."""

from __future__ import annotations

from collections.abc import Iterator

from rocport.doctor.check import Check, Result, ok, says, skipped
from rocport.doctor.machine import Machine
from rocport.doctor.versions import torch_version
from rocport.facts.attention import attention_of

CHECK = Check("attention", "fused attention", ("H077", "H078", "H079"))
VERIFY = "python -c 'import torch; print(torch.backends.cuda.is_flash_attention_available())'"


def run(machine: Machine) -> Iterator[Result]:
    targets = list({t.name: (g, t) for g, t in machine.targets()}.values())
    torch = torch_version(machine)
    switch = machine.env("TORCH_ROCM_AOTRITON_ENABLE_EXPERIMENTAL")
    if not targets:
        yield skipped("no GPU whose target is known")
        return
    for gpu, target in targets:
        answer = attention_of(target, torch)
        if answer.state == "unknown":
            yield skipped(f"{target.name}: whether AOTriton has kernels is not in the facts", gpu.evidence[0])
            continue
        if answer.state == "no":
            yield ok(
                f"{target.name}: AOTriton has no kernels, attention runs as plain math (expected)", gpu.evidence[0]
            )
            continue
        if answer.state == "yes":
            yield ok(f"{target.name} is in AOTriton", gpu.evidence[0])
        elif switch is not None and str(switch.value) == "1":
            yield ok(f"{target.name}: experimental kernels are on; check results once against math", switch.evidence)
        elif torch is None or not machine.probed("env-complete"):
            yield ok(
                f"{target.name}: fused attention needs TORCH_ROCM_AOTRITON_ENABLE_EXPERIMENTAL=1 where torch calls it "
                "experimental",
                gpu.evidence[0],
            )
        else:
            yield says(
                "attention.fused-attention-experimental-switched-off", [gpu.evidence[0]], target_name=target.name
            )
