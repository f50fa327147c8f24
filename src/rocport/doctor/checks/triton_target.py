"""Does the installed Triton take this GPU? Upstream drops and adds targets between releases."""

from __future__ import annotations

from collections.abc import Iterator

from packaging.version import Version

from rocport.doctor.check import Check, Result, ok, problem, skipped
from rocport.doctor.machine import Machine
from rocport.doctor.versions import package_version, torch_version
from rocport.facts.errors import FactError
from rocport.facts.rocm import torch_release, torch_releases
from rocport.model.targets import GfxTarget, Support
from rocport.model.versions import TorchVersion

CHECK = Check("triton-target", "Triton takes this gfx", ("H099", "H100", "H101"))
VERIFY = "python -c 'import triton; print(triton.__version__)'"


def run(machine: Machine) -> Iterator[Result]:
    version, fact = package_version(machine, "triton"), machine.version("triton")
    told = machine.symptoms("triton-target")
    targets = list(machine.targets())
    torch = torch_version(machine)
    if version is None and torch is not None:
        version = _pair(torch)
    if told:
        yield problem(
            "fail",
            "Triton refuses this GPU's target",
            [*(s.evidence for s in told), fact.evidence if fact else None],
            "torch.compile and every Triton kernel end with 'PassManager::run failed'.",
            tuple(_advice(target) for target in dict.fromkeys(target for _, target in targets))
            or ("# ask with --from on the machine itself which upstream Triton takes the GPU",),
            VERIFY,
        )
        return
    if not targets:
        yield skipped("no GPU whose target is known")
        return
    for gpu, target in {t.name: (g, t) for g, t in targets}.values():
        records = target.library("triton")
        if version is None:
            latest = records[-1] if records else None
            if latest is not None and latest.state != "yes":
                yield problem(
                    "warn",
                    f"no upstream Triton takes {target.name}"
                    if records[0].since == "3.0.0" and all(r.state == "no" for r in records)
                    else f"upstream Triton {latest.since} does not take {target.name}",
                    [gpu.evidence[0]],
                    "torch.compile and Triton kernels need an older Triton, or none takes this GPU.",
                    (_advice(target),),
                    VERIFY,
                )
            else:
                yield skipped(f"Triton is not known here; upstream 3.9 takes {target.name}", gpu.evidence[0])
            continue
        record = next(
            (
                r
                for r in records
                if (not r.since or version >= Version(r.since)) and (not r.until or version < Version(r.until))
            ),
            None,
        )
        evidence = [fact.evidence if fact else None, gpu.evidence[0]]
        if record is None:
            yield skipped(f"Triton {version} was not tried on {target.name}", *evidence)
        elif record.state == "yes":
            yield ok(f"Triton {version} takes {target.name}", *evidence)
        else:
            amd = fact is not None and (
                "rocm" in fact.value or fact.evidence.text.startswith(("triton-rocm", "pytorch-triton-rocm"))
            )
            how = "aborts on" if record.state == "aborts" else "rejects"
            yield problem(
                "warn" if amd else "fail",
                f"Triton {version} {how} {target.name}" + (" (upstream; AMD's own build was not tried)" if amd else ""),
                evidence,
                "torch.compile and Triton kernels fail, in the case of 'aborts' with the whole process.",
                (_advice(target),),
                VERIFY,
            )


def _pair(torch: TorchVersion) -> Version | None:
    """The Triton that belongs to a torch release, when the list with the installed one is not there."""
    try:
        pair = torch_release(torch).triton
    except FactError:
        return None
    return Version(pair[-1]) if pair else None


def _advice(target: GfxTarget) -> str:
    """Which torch brings a Triton that takes the target. Triton itself is never installed beside torch's own."""
    taken = [record for record in target.library("triton") if record.state == "yes"]
    if not taken:
        return "# no upstream Triton takes this GPU: use torch without compile (TORCHDYNAMO_DISABLE=1)"
    pairs = [
        f"{release.version} (triton {release.triton[-1]})"
        for release in torch_releases()
        if release.triton and any(_in(Version(release.triton[-1]), record) for record in taken)
    ]
    if not pairs:
        return "# no torch release brings a Triton that takes this GPU: TORCHDYNAMO_DISABLE=1"
    return (
        f"# take torch {' or '.join(pairs[:3])} with the triton of its own ROCm index (rocport compat --gpu "
        f"{target.name} --want torch prints the command); PyPI's triton beside it breaks both"
    )


def _in(version: Version, record: Support) -> bool:
    return (not record.since or version >= Version(record.since)) and (
        not record.until or version < Version(record.until)
    )
