"""Does the torch wheel carry code for this GPU?"""

from __future__ import annotations

from collections.abc import Iterator

from rocport.doctor.check import Check, Result, ok, problem, says, skipped
from rocport.doctor.machine import Evidence, Gpu, Machine
from rocport.doctor.versions import torch_version
from rocport.facts.rocm import WheelChannel, channel_of_torch, wheel_channel, wheel_channels

CHECK = Check("torch-arch", "torch wheel carries this gfx", ("H043", "H044", "H053"), silent=True)
INDEX = "https://repo.amd.com/rocm/whl-multi-arch/"
VERIFY = "python -c 'import torch; print(torch.cuda.get_arch_list())'"


def run(machine: Machine) -> Iterator[Result]:
    failed = machine.symptoms("invalid-device-function")
    gpus = list({g.runtime_gfx: g for g in reversed(machine.gpus) if g.runtime_gfx and g.kind}.values())[::-1]
    version = torch_version(machine)
    listed = machine.setting("torch_arch_list")
    extras = [p for p in machine.facts.packages if p.name.startswith(("amd-torch-device-", "rocm-sdk-device-"))]
    if failed and not gpus:
        yield says("torch-arch.kernel-no-code-gpu-was", [s.evidence for s in failed])
        return
    if not gpus:
        yield skipped("no GPU whose gfx is known")
        return
    if version is None and listed is None:
        yield from _without_torch(gpus)
        return
    channel = channel_of_torch(version) if version else None
    built = next((o for o in machine.facts.code_objects if o.package == "torch" and o.targets), None)
    for gpu in gpus:
        if built is not None:
            names = tuple(t.split(":")[0] for t in built.targets)
            yield _judge(gpu, names, built.evidence, "the installed torch")
        elif listed is not None:
            yield _judge(gpu, tuple(str(listed.value).split()), listed.evidence, "the installed torch")
        elif extras:
            names = tuple(p.name.rsplit("-", 1)[-1] for p in extras)
            yield _judge(gpu, names, extras[0].evidence, "the installed device packages")
        elif channel is not None:
            yield _channel(gpu, channel, machine)
        elif failed:
            yield _missing(gpu, "the installed torch", [*gpu.evidence, *(s.evidence for s in failed)])
        else:
            fact = machine.version("torch")
            yield skipped(
                f"{gpu.runtime_gfx}: which targets torch {version} carries is not recorded; ask it: {VERIFY}",
                fact.evidence if fact else None,
            )


def _channel(gpu: Gpu, channel: WheelChannel, machine: Machine) -> Result:
    fact = machine.version("torch")
    evidence = [fact.evidence if fact else None, *gpu.evidence[:1]]
    if gpu.runtime_gfx in channel.no_rocblas:
        return _missing(gpu, f"the rocBLAS of the rocm{channel.name} wheels of pytorch.org", evidence)
    if gpu.runtime_gfx in channel.targets:
        return ok(f"{gpu.runtime_gfx} is in the rocm{channel.name} wheels", *evidence)
    if gpu.runtime_gfx in channel.unsure:
        return skipped(
            f"{gpu.runtime_gfx}: sources disagree on the rocm{channel.name} wheels; ask torch: {VERIFY}", *evidence
        )
    first = dict(wheel_channel(channel.name).since).get(gpu.runtime_gfx or "")
    before = f" before torch {first}" if first else ""
    return _missing(gpu, f"the rocm{channel.name} wheels of pytorch.org{before}", evidence)


def _judge(gpu: Gpu, names: tuple[str, ...], shown: Evidence, what: str) -> Result:
    generic = gpu.target.llvm_generic if gpu.target else ""
    if gpu.runtime_gfx in names or (generic and generic in names):
        return ok(f"{gpu.runtime_gfx} is among the targets", shown)
    return _missing(gpu, what, [shown, *gpu.evidence[:1]])


def _missing(gpu: Gpu, what: str, evidence: list[Evidence | None]) -> Result:
    gfx = gpu.hardware or gpu.runtime_gfx
    amd = wheel_channel("multi-arch")
    if gfx in amd.targets:
        fix = f"pip install --force-reinstall --index-url {INDEX} 'torch[device-{gfx}]'"
    else:
        fix = f"# no published wheel carries {gfx}: build torch with PYTORCH_ROCM_ARCH={gfx}"
    return problem(
        "fail",
        f"no code for {gpu.runtime_gfx} in {what}",
        evidence,
        "The first kernel ends with 'invalid device function', or, on some versions, hangs.",
        (fix,),
        VERIFY,
    )


def _without_torch(gpus: list[Gpu]) -> Iterator[Result]:
    """No torch is known: say which published wheels would carry the GPU."""
    newest = [c for c in wheel_channels() if c.owner == "pytorch"][-1].name
    for gpu in gpus:
        gfx = gpu.runtime_gfx
        carried = [c.name for c in wheel_channels() if gfx in c.targets]
        if newest in carried:
            text = f"torch is not known here; {gfx} is in the wheels of {', '.join(carried)}"
            yield skipped(text, gpu.evidence[0])
        elif carried:
            yield problem(
                "warn",
                f"{gfx} is not in pytorch.org's newest wheels (rocm{newest}), only in {', '.join(carried)}",
                gpu.evidence[:1],
                "A wheel without it installs, and then fails at the first kernel.",
                (f"pip install --index-url {INDEX} 'torch[device-{gfx}]'",) if "multi-arch" in carried else (),
                VERIFY,
            )
        else:
            yield says("torch-arch.no-published-torch-wheel-carries", gpu.evidence[:1], gfx=gfx)
