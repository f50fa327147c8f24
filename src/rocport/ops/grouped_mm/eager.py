"""The specification of the grouped matmul: one fp32 product for each group of rows."""

from __future__ import annotations

import torch

from rocport.ops.dispatch import Tier, never


def run(x: torch.Tensor, weight: torch.Tensor, ends: torch.Tensor) -> torch.Tensor:
    """x [T, K], weight [E, K, N], ends [E] to [T, N]; see `rocport.ops.grouped_mm`. Rows past the last end are 0."""
    out = torch.zeros((x.shape[0], weight.shape[-1]), dtype=torch.float32, device=x.device)
    start = 0
    for expert, end in enumerate(ends.tolist()):
        out[start:end] = x[start:end].float() @ weight[expert].float()
        start = end
    return out.to(x.dtype)


TIER = Tier("eager", 100, run, never, "rocport")
