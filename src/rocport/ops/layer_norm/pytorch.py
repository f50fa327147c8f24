"""torch's fused layer norm."""

from __future__ import annotations

import torch

from rocport.ops.dispatch import Tier
from rocport.runtime.machine import Platform


def run(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, eps: float) -> torch.Tensor:
    """See `rocport.ops.layer_norm`."""
    return torch.nn.functional.layer_norm(x, weight.shape, weight.to(x.dtype), bias.to(x.dtype), eps)


def refuse(platform: Platform, x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, eps: float) -> str:
    return "" if platform.kind != "cpu" else "rounds between steps on the CPU, where eager rounds once"


TIER = Tier("pytorch", 20, run, refuse, "torch")
