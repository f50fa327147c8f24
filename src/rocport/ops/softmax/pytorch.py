"""torch's softmax, which sums in fp32 whatever the type."""

from __future__ import annotations

import torch

from rocport.ops.dispatch import Tier
from rocport.runtime.machine import Platform


def run(x: torch.Tensor) -> torch.Tensor:
    """See `rocport.ops.softmax`."""
    return torch.softmax(x, -1)


def refuse(platform: Platform, x: torch.Tensor) -> str:
    return "" if platform.kind != "cpu" else "rounds between steps on the CPU, where eager rounds once"


TIER = Tier("pytorch", 20, run, refuse, "torch")
