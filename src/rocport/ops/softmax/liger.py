"""Liger's Triton kernel."""

from __future__ import annotations

import torch

from rocport.ops.dispatch import Tier
from rocport.ops.liger import refuse_liger
from rocport.runtime.machine import Platform


def run(x: torch.Tensor) -> torch.Tensor:
    """See `rocport.ops.softmax`."""
    from liger_kernel.ops.softmax import LigerSoftmaxFunction

    out: torch.Tensor = LigerSoftmaxFunction.apply(x.contiguous())
    return out


def refuse(platform: Platform, x: torch.Tensor) -> str:
    return refuse_liger(platform, x)


TIER = Tier("liger", 10, run, refuse, "Liger Kernel")
