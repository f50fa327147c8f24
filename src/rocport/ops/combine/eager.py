"""The specification of `combine`: gather the rows, weigh and add them in fp32."""

from __future__ import annotations

import torch

from rocport.ops.dispatch import Tier, never


def run(rows: torch.Tensor, places: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    """rows [R, D], places and weights [T, top] to [T, D]; see `rocport.ops.combine`."""
    there = places >= 0
    chosen = rows[torch.where(there, places, 0).long()].float()
    weighed = chosen * weights.float().unsqueeze(2)
    # A place below 0 counts nothing, and what is not finite times 0 is not 0.
    return torch.where(there.unsqueeze(2), weighed, 0).sum(1).to(rows.dtype)


TIER = Tier("eager", 100, run, never, "rocport")
