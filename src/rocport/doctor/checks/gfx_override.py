"""Is the GPU disguised as another target (HSA_OVERRIDE_GFX_VERSION)? KFD and the PCI id tell."""

from __future__ import annotations

from collections.abc import Iterator

from rocport.doctor.check import Check, Result, ok, problem, says, skipped
from rocport.doctor.machine import Gpu, Machine
from rocport.facts.errors import FactError
from rocport.facts.targets import load_target

CHECK = Check("gfx-override", "gfx override", ("H016", "H017", "H069"), silent=True)


def run(machine: Machine) -> Iterator[Result]:
    override = machine.env("HSA_OVERRIDE_GFX_VERSION")
    spoofed = [g for g in machine.gpus if g.spoofed]
    for gpu in spoofed:
        yield _spoofed(machine, gpu)
    if spoofed:
        return
    if override is not None:
        yield _set(machine, override.value)
    elif machine.gpus and any(g.gfx for g in machine.gpus):
        told = [g for g in machine.gpus if g.chip_targets]
        if told:
            yield ok("the reported gfx is the chip's own", *(g.chip_evidence for g in told))
        else:
            yield skipped("no PCI id, known product name or KFD node to compare the reported gfx with")
    else:
        yield skipped("no GPU whose gfx is known")


def _spoofed(machine: Machine, gpu: Gpu) -> Result:
    native = gpu.hardware or " or ".join(gpu.chip_targets)
    shown = next((n for n in gpu.reported if n != native), gpu.gfx)
    override = machine.env("HSA_OVERRIDE_GFX_VERSION") or machine.setting("override_mentioned")
    family = _generic(native) == _generic(shown) != ""
    if family:
        why = (
            f"{shown} and {native} share an instruction set, so it usually works, but tools that read the name choose "
            "for the wrong chip."
        )
    else:
        why = f"{shown} and {native} differ in their instruction sets: crashes, page faults or wrong results follow."
    return problem(
        "warn" if family else "fail",
        f"GPU {gpu.index} is a {native} that shows itself as {shown}",
        [gpu.chip_evidence, *gpu.evidence, override.evidence if override else None],
        why,
        (
            "unset HSA_OVERRIDE_GFX_VERSION",
            f"# then use builds for {native}: pip install --index-url https://repo.amd.com/rocm/whl-multi-arch/ "
            f"'torch[device-{native}]'"
            if len(gpu.chip_targets) == 1
            else "# then use builds for the chip's own target: rocport compat",
        ),
        "rocminfo | grep -m1 'Name: *gfx'",
        env={"HSA_OVERRIDE_GFX_VERSION": None} if override is not None and machine.live else None,
    )


def _generic(name: str) -> str:
    try:
        return load_target(name).llvm_generic
    except FactError:
        return ""


def _set(machine: Machine, value: object) -> Result:
    override = machine.env("HSA_OVERRIDE_GFX_VERSION")
    evidence = override.evidence if override else None
    parts = str(value).split(".")
    wanted = ""
    if len(parts) == 3 and all(p.isdigit() for p in parts):
        wanted = f"gfx{int(parts[0])}{int(parts[1]):x}{int(parts[2]):x}"
    same = [g for g in machine.gpus if g.hardware == wanted]
    if wanted and same and len(same) == len(machine.gpus):
        return says(
            "gfx-override.hsa-override-gfx-version-names-gpu-own-target", [evidence], value=value, wanted=wanted
        )
    other = next((g.hardware for g in machine.gpus if g.hardware and _generic(g.hardware) != _generic(wanted)), "")
    if _generic(wanted) and other:
        return says("gfx-override.other-instruction-set", [evidence], value=value, gfx=other, wanted=wanted)
    return says(
        "gfx-override.hsa-override-gfx-version-set-every-gpu-treated",
        [evidence],
        value=value,
        wanted=wanted or "another target",
    )
