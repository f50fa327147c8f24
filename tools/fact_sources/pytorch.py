"""torch's channels, Python versions and code objects: PyTorch's binary matrix, its build script, uv's table."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from packaging.version import Version

from fact_sources.claim import Claim, listed
from fact_sources.snapshot import Snapshot
from rocport.facts.rocm import channels_of, torch_releases, wheel_channels

MATRIX = ("pytorch/test-infra", "tools/scripts/generate_binary_build_matrix.py")
UV = ("astral-sh/uv", "crates/uv-torch/src/backend.rs")
BUILD = ("pytorch/pytorch", ".ci/docker/manywheel/build.sh")


@dataclass(frozen=True)
class Released:
    """One release of torch as the binary matrix had it: version, the day it appeared there, ROCm channels, Pythons."""

    version: str
    day: str
    rocm: tuple[str, ...]
    python: tuple[str, ...]


def _listed(text: str, name: str, stage: str = "release") -> tuple[str, ...]:
    table = re.search(rf"{name}\b[^=]*= (\{{.*?\n\}})", text, re.DOTALL)
    return tuple(ast.literal_eval(table[1]).get(stage, ())) if table else ()


def _pythons(text: str, stage: str = "release") -> tuple[str, ...]:
    return tuple(p for p in _listed(text, "PYTHON_ARCHES_DICT", stage) if not p.endswith("t"))


def released(snapshot: Snapshot) -> list[Released]:
    """Every release in the matrix's history, oldest first; the last lists that stood under a version count."""
    found: dict[str, Released] = {}
    for day, text in snapshot.history(*MATRIX):
        version = re.search(r'CURRENT_STABLE_VERSION = "([\d.]+)"', text)
        rocm = _listed(text, "ROCM_ARCHES_DICT")
        if version and rocm:
            first = found[version[1]].day if version[1] in found else day
            found[version[1]] = Released(version[1], first, rocm, _pythons(text))
    return list(found.values())


def candidate(snapshot: Snapshot) -> Released | None:
    """The release that the matrix is testing where its history ends; None where it names none or has none to test."""
    day, text = (snapshot.history(*MATRIX) or [("", "")])[-1]
    version = re.search(r'CURRENT_CANDIDATE_VERSION = "([\d.]+)"', text)
    rocm = _listed(text, "ROCM_ARCHES_DICT", "test")
    return Released(version[1], day, rocm, _pythons(text, "test")) if version and rocm else None


def _releases(snapshot: Snapshot) -> Iterator[Claim]:
    seen = released(snapshot)
    tested = candidate(snapshot)
    text = ":".join(MATRIX)
    for release in torch_releases():
        final = [one for one in seen if one.version.rpartition(".")[0] == release.version]
        same = final or [one for one in (tested,) if one and one.version.rpartition(".")[0] == release.version]
        patches = listed(one.version for one in final) if final else None
        yield Claim(f"torch {release.version}: patches", "torch_rocm.toml", listed(release.patches), patches, text)
        if not same and not channels_of(release):
            continue  # no channel and no Python is said of it
        rocm = listed(channel for one in same for channel in one.rocm) if same else None
        yield Claim(f"torch {release.version}: channels", "torch_rocm.toml", listed(channels_of(release)), rocm, text)
        python = sorted({p for one in same for p in one.python}, key=Version)
        ends = f"{python[0]} {python[-1]}" if python else None
        said = f"{release.python_min} {release.python_max}"
        if release.python_max_experimental and python:  # the matrix lists what is final
            said = f"{release.python_min} {python[-1]}"
        yield Claim(f"torch {release.version}: Python", "torch_rocm.toml", said, ends, text)


def _uv(snapshot: Snapshot) -> dict[str, set[str]]:
    text = snapshot.text(*UV) or ""
    names = {variant: channel for channel, variant in re.findall(r'"rocm([\d.]+)" => Ok\(Self::(Rocm\w+)\)', text)}
    table: dict[str, set[str]] = {}
    for variant, gfx in re.findall(r"TorchBackend::(Rocm\w+), AmdGpuArchitecture::Gfx(\w+)", text):
        table.setdefault(names.get(variant, variant), set()).add(f"gfx{gfx}")
    return table


def _script(snapshot: Snapshot) -> dict[str, set[str]]:
    """Targets of the build script: those every build has, by the channels that it names."""
    text = snapshot.text(*BUILD, "027375bf") or ""
    lists = re.findall(r'PYTORCH_ROCM_ARCH="(gfx[\w;]+)"', text)
    if not lists:
        return {}
    return {name: set(lists[0].split(";")) for name in re.findall(r'GPU_ARCH_VERSION" == \*"(\d+\.\d{2})"', text)}


def _channels(snapshot: Snapshot) -> Iterator[Claim]:
    uv, script = _uv(snapshot), _script(snapshot)
    for channel in wheel_channels():
        if channel.owner != "pytorch":
            continue
        table, text = (uv, ":".join(UV)) if "uv-torch" in channel.source else (script, ":".join(BUILD))
        says = listed(table[channel.name]) if channel.name in table else None
        yield Claim(f"wheels of rocm{channel.name}: targets", "torch_wheels.toml", listed(channel.targets), says, text)


def claims(snapshot: Snapshot) -> Iterator[Claim]:
    """Every claim about torch's own wheels."""
    yield from _releases(snapshot)
    yield from _channels(snapshot)
