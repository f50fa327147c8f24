"""The specification of attention: fp32 scores, an explicit mask, an explicit softmax."""

from __future__ import annotations

import torch

from rocport.ops.dispatch import Tier, never
from rocport.ops.sdpa import visible


def run(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, left: int, right: int, scale: float) -> torch.Tensor:
    """See `rocport.ops.sdpa`."""
    repeat = q.shape[2] // k.shape[2]
    queries = q.float().transpose(1, 2)
    keys = k.float().transpose(1, 2).repeat_interleave(repeat, 1)
    values = v.float().transpose(1, 2).repeat_interleave(repeat, 1)
    scores = queries @ keys.transpose(-1, -2) * scale
    seen = visible(q.shape[1], k.shape[1], left, right, q.device)
    if seen is not None:
        scores = scores.masked_fill(~seen, float("-inf"))
    weights = torch.softmax(scores, -1)
    if seen is not None:
        weights = weights.masked_fill(~seen.any(-1, keepdim=True), 0.0)
    return (weights @ values).transpose(1, 2).to(q.dtype)


TIER = Tier("eager", 100, run, never, "rocport")
