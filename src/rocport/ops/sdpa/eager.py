"""The specification of attention: fp32 scores, an explicit mask, an explicit softmax."""

from __future__ import annotations

import torch

from rocport.ops.dispatch import Tier, never
from rocport.ops.sdpa import visible


def run(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, left: int, right: int, scale: float,
    mask: torch.Tensor | None = None, sinks: torch.Tensor | None = None,
) -> torch.Tensor:  # fmt: skip
    """See `rocport.ops.sdpa`."""
    repeat = q.shape[2] // k.shape[2]
    queries = q.float().transpose(1, 2)
    keys = k.float().transpose(1, 2).repeat_interleave(repeat, 1)
    values = v.float().transpose(1, 2).repeat_interleave(repeat, 1)
    scores = queries @ keys.transpose(-1, -2) * scale
    if mask is not None and mask.dtype != torch.bool:
        scores = scores + mask.float()
    for seen in (visible(q.shape[1], k.shape[1], left, right, q.device), mask):
        if seen is not None and seen.dtype == torch.bool:
            scores = scores.masked_fill(~seen, float("-inf"))
    if sinks is not None:
        scores = torch.cat((scores, sinks.float().view(1, -1, 1, 1).expand(*scores.shape[:3], 1)), -1)
    # A softmax over nothing is NaN, and so is its gradient: such rows are taken over zeros, and dropped.
    nothing = scores.amax(-1, keepdim=True) == float("-inf")
    weights = torch.softmax(scores.masked_fill(nothing, 0.0), -1).masked_fill(nothing, 0.0)
    return (weights[..., : k.shape[1]] @ values).transpose(1, 2).to(q.dtype)


TIER = Tier("eager", 100, run, never, "rocport")
