"""The specification of the layer norm, in fp32 with one rounding at the end."""

from __future__ import annotations

import torch

from rocport.ops.dispatch import Tier, never


def run(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, eps: float) -> torch.Tensor:
    """See `rocport.ops.layer_norm`."""
    wide = x.float()
    centred = wide - wide.mean(-1, keepdim=True)
    normal = centred * torch.rsqrt(centred.square().mean(-1, keepdim=True) + eps)
    return (normal * weight.float() + bias.float()).to(x.dtype)


TIER = Tier("eager", 100, run, never, "rocport")
