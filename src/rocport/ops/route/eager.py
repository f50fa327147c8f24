"""The specification of `route`: a stable sort, and a search for where each expert ends."""

from __future__ import annotations

import torch

from rocport.ops.dispatch import Tier, never


def run(experts: torch.Tensor, count: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """experts [T, top] to rows [T * top], places [T, top] and ends [count]; see `rocport.ops.route`."""
    each, device = experts.reshape(-1), experts.device
    there = (each >= 0) & (each < count)
    # A radix sort takes a pass for every eight bits.
    short = torch.int16 if count < 2**15 else torch.int32
    found, order = torch.sort(torch.where(there, each, count).to(short), stable=True)
    numbers = torch.arange(count, dtype=short, device=device)
    ends = torch.searchsorted(found, numbers, right=True, out_int32=True)
    places = torch.empty(each.numel(), dtype=torch.int32, device=device)
    places[order] = torch.arange(each.numel(), dtype=torch.int32, device=device)
    rows = (order // max(1, experts.shape[1])).to(torch.int32)
    return rows, torch.where(there, places, -1).view(experts.shape), ends


TIER = Tier("eager", 100, run, never, "rocport")
