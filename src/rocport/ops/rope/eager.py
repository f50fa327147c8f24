"""The specification of the rotary embedding, in fp32 with one rounding at the end."""

from __future__ import annotations

import torch

from rocport.ops.dispatch import Tier, never


def _rotate(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, interleaved: bool) -> torch.Tensor:
    turned, rest = x[..., : 2 * cos.shape[-1]].float(), x[..., 2 * cos.shape[-1] :]
    a, b = (turned[..., 0::2], turned[..., 1::2]) if interleaved else turned.chunk(2, -1)
    c, s = cos.float().unsqueeze(-2), sin.float().unsqueeze(-2)
    pair = (a * c - b * s, b * c + a * s)
    out = torch.stack(pair, -1).flatten(-2) if interleaved else torch.cat(pair, -1)
    return torch.cat((out.to(x.dtype), rest), -1)


def run(
    q: torch.Tensor, k: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, interleaved: bool
) -> tuple[torch.Tensor, torch.Tensor]:
    """See `rocport.ops.rope`."""
    return _rotate(q, cos, sin, interleaved), _rotate(k, cos, sin, interleaved)


TIER = Tier("eager", 100, run, never, "rocport")
