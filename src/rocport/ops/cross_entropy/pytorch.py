"""torch's cross entropy on fp32 logits."""

from __future__ import annotations

import torch

from rocport.ops.dispatch import Tier
from rocport.runtime.machine import Platform


def run(logits: torch.Tensor, target: torch.Tensor, ignore_index: int) -> torch.Tensor:
    """See `rocport.ops.cross_entropy`."""
    return torch.nn.functional.cross_entropy(logits.float(), target, ignore_index=ignore_index)


def refuse(platform: Platform, logits: torch.Tensor, target: torch.Tensor, ignore_index: int) -> str:
    return "" if platform.kind != "cpu" else "rounds between steps on the CPU, where eager rounds once"


TIER = Tier("pytorch", 20, run, refuse, "torch")
