"""Liger's Triton kernel."""

from __future__ import annotations

import torch

from rocport.ops.dispatch import Tier
from rocport.ops.liger import refuse_liger
from rocport.runtime.machine import Platform


def run(
    q: torch.Tensor, k: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, interleaved: bool
) -> tuple[torch.Tensor, torch.Tensor]:
    """See `rocport.ops.rope`."""
    from liger_kernel.ops.rope import LigerRopeFunction

    # Liger takes [B, H, S, D] and rotates in place: the copies keep the caller's tensors. It reads the first half of a
    # table as wide as the head.
    if cos.dim() == 2:
        cos, sin = cos.unsqueeze(0), sin.unsqueeze(0)
    heads_first = (q.transpose(1, 2).clone(), k.transpose(1, 2).clone())
    rotated_q, rotated_k = LigerRopeFunction.apply(*heads_first, torch.cat((cos, cos), -1), torch.cat((sin, sin), -1))
    return rotated_q.transpose(1, 2), rotated_k.transpose(1, 2)


def refuse(
    platform: Platform, q: torch.Tensor, k: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, interleaved: bool
) -> str:
    if interleaved or 2 * cos.shape[-1] != q.shape[-1]:
        return "turns whole heads by halves only"
    return refuse_liger(platform, q)


TIER = Tier("liger", 10, run, refuse, "Liger Kernel")
