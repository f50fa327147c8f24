"""More than one ROCm: several trees on disk, or a system one over the wheel's own."""

from __future__ import annotations

from collections.abc import Iterator

from rocport.doctor.check import Check, Result, ok, problem, says, skipped
from rocport.doctor.machine import Evidence, Machine
from rocport.doctor.versions import torch_version
from rocport.facts.rocm import parse_hip
from rocport.model.versions import RocmVersion, VersionError

CHECK = Check("rocm-trees", "one ROCm only", ("H048", "H049", "H120"))


def run(machine: Machine) -> Iterator[Result]:
    found = False
    path = machine.env("LD_LIBRARY_PATH")
    broken = machine.symptoms("system-library", "sysdeps-missing")
    wheel = machine.setting("torch_folder") is not None or machine.package("rocm-sdk-core") is not None
    version = torch_version(machine)
    if broken or (
        path is not None
        and "/opt/rocm" in str(path.value)
        and wheel
        and version is not None
        and version.flavour == "rocm"
    ):
        found = True
        yield problem(
            "warn" if not broken else "fail",
            "LD_LIBRARY_PATH puts the system's ROCm before the libraries of the torch wheel",
            [path.evidence if path else None, *(s.evidence for s in broken)],
            "The wheel's libraries are found by RUNPATH, which LD_LIBRARY_PATH overrules: undefined symbols at import, "
            "or rocBLAS reads the other release's kernels.",
            ("unset LD_LIBRARY_PATH",),
            "python -c 'import torch; print(torch.cuda.is_available())'",
            env={"LD_LIBRARY_PATH": None} if machine.live and path is not None else None,
        )
    trees: dict[tuple[int, int, int], object] = {}
    for fact in machine.versions("rocm"):
        try:
            trees.setdefault(RocmVersion.parse(fact.value).release, fact)
        except VersionError:
            continue
    installed = [f for f in machine.versions("rocm") if f.evidence.source in ("install", "hipconfig", "torch", "pip")]
    tag = version.rocm if version else None
    if len(trees) > 1:
        found = True
        yield says(
            "rocm-trees.several-rocm-releases",
            [f.evidence for f in installed],
            trees=", ".join(".".join(map(str, k)) for k in sorted(trees)),
        )
    elif tag is not None and installed and not _same(tag, RocmVersion.parse(installed[0].value)):
        found = True
        yield says(
            "rocm-trees.torch-built-rocm-system-rocm",
            [installed[0].evidence, _torch_evidence(machine)],
            tag=tag,
            installed_first=installed[0].value,
        )
    built, runtime = machine.version("torch_hip"), machine.version("hip")
    if built is not None and runtime is not None and not found:
        mine, other = parse_hip(built.value), parse_hip(runtime.value)
        if mine is not None and other is not None and mine != other:
            found = True
            yield says(
                "rocm-trees.torch-built-hip-runs-hip", [built.evidence, runtime.evidence], mine=mine, other=other
            )
    if not found:
        roots = [s for s in machine.facts.settings if s.name == "rocm_root"]
        if roots or installed:
            yield ok("one release", *(s.evidence for s in roots), *(f.evidence for f in installed[:1]))
        else:
            yield skipped("no ROCm tree is known")


def _torch_evidence(machine: Machine) -> Evidence | None:
    fact = machine.version("torch")
    return fact.evidence if fact else None


def _same(a: RocmVersion, b: RocmVersion) -> bool:
    """Equal as far as both are written: the tag +rocm6.1 is any 6.1."""
    if a.patch is None or b.patch is None:
        return a.release[:2] == b.release[:2]
    return a.release == b.release
