"""Channel, system, target, library: what in the wheels of torch has code for a GPU, as far as that is known."""

from __future__ import annotations

from dataclasses import dataclass

from rocport.facts.attention import attention_of
from rocport.facts.platforms import windows_targets
from rocport.facts.rocm import WheelChannel, channels_of, torch_releases
from rocport.model.targets import GfxTarget

LIBRARIES = ("rocBLAS", "hipBLASLt", "MIOpen", "AOTriton", "RCCL")
_THEROCK = "https://github.com/ROCm/TheRock/blob/89553ce/cmake/therock_amdgpu_targets.cmake"


@dataclass(frozen=True)
class Cell:
    """`state`: yes, no, switch (only with a variable set), or unknown; source and sure are empty for unknown."""

    state: str
    source: str = ""
    sure: str = "unverified"


UNKNOWN = Cell("unknown")


def in_torch(channel: WheelChannel, target: GfxTarget, system: str = "linux") -> Cell:
    """Whether torch itself has code for a target in a channel's wheels on a system (linux, wsl, windows)."""
    if system == "windows":
        known = windows_targets()
        if channel.owner != "amd" or target.name not in known.targets:
            return Cell("no", known.source, known.sure)
    if target.name in channel.unsure:
        return UNKNOWN
    return Cell("yes" if target.name in channel.targets else "no", channel.source, channel.sure)


def in_library(channel: WheelChannel, library: str, target: GfxTarget, system: str = "linux") -> Cell:
    """Whether one of LIBRARIES beside torch has code for a target there; `no` where torch itself has none."""
    torch = in_torch(channel, target, system)
    if torch.state != "yes":
        return torch
    if library == "RCCL" and system == "windows":
        return Cell(
            "no", "https://github.com/ROCm/rocm-docs/blob/47fb4b9f/docs/data/components-current.yaml", "documented"
        )
    if library == "AOTriton":
        newest = next((release.version for release in torch_releases() if channel.name in channels_of(release)), None)
        answer = attention_of(target, newest)
        return Cell(answer.state, answer.record.source, answer.record.sure) if answer.record else UNKNOWN
    record = channel.library(library)
    if record is not None and target.name in (*record.has, *record.lacks):
        return Cell("yes" if target.name in record.has else "no", record.source, record.sure)
    if channel.owner != "amd":
        return UNKNOWN
    records = target.library(library)
    if records:
        return Cell(records[-1].state, records[-1].source, records[-1].sure)
    return Cell("yes", _THEROCK, "documented") if library in ("rocBLAS", "MIOpen") else UNKNOWN
