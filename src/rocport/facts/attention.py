"""Fused attention inside torch, as every command answers it: AOTriton's kernels and the switch in front of them."""

from __future__ import annotations

from dataclasses import dataclass

from packaging.version import Version

from rocport.model.targets import GfxTarget, Support, Switch
from rocport.model.versions import TorchVersion

FIRST, FIRST_RADEON = Version("2.3"), Version("2.5")
"""Releases of torch that call AOTriton first: https://github.com/pytorch/pytorch/pull/114309 and, for Radeon,
https://github.com/pytorch/pytorch/pull/134498."""


@dataclass(frozen=True)
class Attention:
    """`state`: yes, switch (only with `switches` set), no, or unknown. `record`: the fact, None when there is none."""

    state: str
    record: Support | None
    switches: tuple[Switch, ...] = ()


def attention_of(target: GfxTarget, torch: TorchVersion | str | None = None) -> Attention:
    """The answer for a target at a torch release; without one, `switch` if any release asks for a switch."""
    records = target.library("AOTriton")
    if not records:
        return Attention("unknown", None)
    record = records[-1]
    if record.state != "yes":
        return Attention("no", record)
    text = ".".join(map(str, torch.release)) if isinstance(torch, TorchVersion) else torch
    if text is not None and Version(text) < (FIRST if target.product_class == "instinct" else FIRST_RADEON):
        return Attention("no", record)
    switches = target.switches_of("AOTriton", text)
    return Attention("switch" if switches else "yes", record, switches)
