"""The specification of the rotary embedding, in fp32 with one rounding at the end."""

from __future__ import annotations

import torch

from rocport.ops.dispatch import Tier, never


def _rotate(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    a, b = x.float().chunk(2, -1)
    c, s = cos.float().unsqueeze(2), sin.float().unsqueeze(2)
    return torch.cat((a * c - b * s, b * c + a * s), -1).to(x.dtype)


def run(q: torch.Tensor, k: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """See `rocport.ops.rope`."""
    return _rotate(q, cos, sin), _rotate(k, cos, sin)


TIER = Tier("eager", 100, run, never, "rocport")
