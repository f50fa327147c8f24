"""Liger's Triton kernel."""

from __future__ import annotations

import torch

from rocport.ops.dispatch import Tier
from rocport.ops.liger import refuse_liger
from rocport.runtime.machine import Platform


def run(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, eps: float) -> torch.Tensor:
    """See `rocport.ops.layer_norm`."""
    from liger_kernel.ops.layer_norm import LigerLayerNormFunction

    out: torch.Tensor = LigerLayerNormFunction.apply(x.contiguous(), weight, bias, eps)
    return out


def refuse(platform: Platform, x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, eps: float) -> str:
    if torch.is_grad_enabled() and (x.requires_grad or weight.requires_grad):
        return "its backward took 511 us where torch's took 280 (16384 x 4096 bf16, NVIDIA H200)"
    return refuse_liger(platform, x)


TIER = Tier("liger", 10, run, refuse, "Liger Kernel")
