"""The specification of `combine`: gather the rows, weigh and add them in fp32."""

from __future__ import annotations

import torch

from rocport.ops.dispatch import Tier, never


def run(rows: torch.Tensor, places: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    """rows [R, D], places and weights [T, top] to [T, D]; see `rocport.ops.combine`."""
    there = places >= 0
    chosen = rows[torch.where(there, places, 0).long()].float() * there.unsqueeze(2)
    return (chosen * weights.float().unsqueeze(2)).sum(1).to(rows.dtype)


TIER = Tier("eager", 100, run, never, "rocport")
