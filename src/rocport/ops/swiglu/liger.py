"""Liger's Triton kernel."""

from __future__ import annotations

import torch

from rocport.ops.dispatch import Tier
from rocport.ops.liger import refuse_liger
from rocport.runtime.machine import Platform


def run(gate: torch.Tensor, up: torch.Tensor) -> torch.Tensor:
    """See `rocport.ops.swiglu`."""
    from liger_kernel.ops.swiglu import LigerSiLUMulFunction

    out: torch.Tensor = LigerSiLUMulFunction.apply(gate.contiguous(), up.contiguous())
    return out


def refuse(platform: Platform, gate: torch.Tensor, up: torch.Tensor) -> str:
    return refuse_liger(platform, gate)


TIER = Tier("liger", 10, run, refuse, "Liger Kernel")
