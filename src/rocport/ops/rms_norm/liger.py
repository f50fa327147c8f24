"""Liger's Triton kernel."""

from __future__ import annotations

import torch

from rocport.ops.dispatch import Tier
from rocport.ops.liger import refuse_liger
from rocport.runtime.machine import Platform


def run(x: torch.Tensor, weight: torch.Tensor, eps: float) -> torch.Tensor:
    """See `rocport.ops.rms_norm`."""
    from liger_kernel.ops.rms_norm import LigerRMSNormFunction

    # "gemma" casting keeps the product with the weight in fp32, as the specification does; in_place would overwrite
    # the incoming gradient.
    out: torch.Tensor = LigerRMSNormFunction.apply(x.contiguous(), weight, eps, 0.0, "gemma", False)
    return out


def refuse(platform: Platform, x: torch.Tensor, weight: torch.Tensor, eps: float) -> str:
    if torch.is_grad_enabled() and (x.requires_grad or weight.requires_grad):
        return "its backward took 502 us where torch's took 263 (16384 x 4096 bf16, NVIDIA H200)"
    return refuse_liger(platform, x)


TIER = Tier("liger", 10, run, refuse, "Liger Kernel")
