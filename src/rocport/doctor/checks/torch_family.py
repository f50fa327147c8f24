"""Do torch, torchvision, torchaudio and Triton come from one build?"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rocport.doctor.check import Check, Result, ok, says, skipped
from rocport.doctor.machine import Machine
from rocport.doctor.versions import torch_version
from rocport.facts.errors import FactError
from rocport.facts.rocm import torch_release
from rocport.model.versions import RocmVersion

CHECK = Check("torch-family", "torch, torchvision, torchaudio", ("H046",))

# Built from a commit, as in AMD's and vLLM's images: 2.9.0a0+git1c57644, 0.23.0a0+824e8c8.
_COMMIT = re.compile(r"\d(?:a\d+)?\+(?:git[0-9a-f]{6,}|[0-9a-f]{7,})$")


def run(machine: Machine) -> Iterator[Result]:
    torch, version = machine.version("torch"), torch_version(machine)
    others = [p for n in ("torchvision", "torchaudio") if (p := machine.package(n))]
    if torch is None or version is None or not others:
        yield skipped("torch and a companion are not both known")
        return
    found = False
    try:
        wanted = torch_release(version).torchvision
    except FactError:
        wanted = ""
    for package in others:
        if _COMMIT.search(torch.value) and _COMMIT.search(package.version):
            yield skipped(
                f"{package.name} {package.version} and torch {torch.value} are built from commits: numbers do not "
                "say what belongs together",
                package.evidence,
                torch.evidence,
            )
            found = True
            continue
        match = re.match(r"(\d+\.\d+)", package.version)
        mine = match.group(1) if match else ""
        expected = wanted if package.name == "torchvision" else f"{version.major}.{version.minor}"
        apart = bool(expected and mine and mine != expected)
        if package.name == "torchaudio" and version.release >= (2, 10, 0):
            apart = False  # torchaudio left the common numbering in its maintenance mode
        tag = re.search(r"\+rocm(\d+\.\d+)", package.version)
        mine_rocm = RocmVersion.parse(tag[1]).release[:2] if tag else None
        other = version.rocm is not None and mine_rocm is not None and mine_rocm != version.rocm.release[:2]
        foreign = version.flavour == "rocm" and "+rocm" not in package.version and "+git" not in package.version
        if apart or foreign or other:
            found = True
            why = "it is built for another ROCm" if other else "it has no +rocm tag"
            if apart:
                why = f"torch {torch.value} goes with {package.name} {expected}"
            yield says(
                "torch-family.another-release",
                [package.evidence, torch.evidence],
                package_name=package.name,
                package_version=package.version,
                why=why,
                status="fail" if apart else "warn",
            )
    if not found:
        yield ok("one build", torch.evidence, *(p.evidence for p in others))
