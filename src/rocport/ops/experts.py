"""Many rows by the dense matrices of their experts: sorted by expert, one grouped matmul, put back."""

from __future__ import annotations

import torch

from rocport.ops.dispatch import operator
from rocport.runtime.machine import platform


def by_expert(x: torch.Tensor, weight: torch.Tensor, experts: torch.Tensor) -> torch.Tensor:
    """x [T, K] by those of weight [E, K, N] that `experts` [T] or [T, top] name, to [T, N] or [T, top, N]; with
    x [T * top, K] a row for each. 0 where there is no such expert."""
    where, count = platform(x.device), weight.shape[0]
    shape, each = (*experts.shape, weight.shape[2]), experts.reshape(-1)
    top = each.numel() // x.shape[0]
    there = (each >= 0) & (each < count)
    # Rows without an expert go last, past the last end.
    found, order = torch.sort(torch.where(there, each, count), stable=True)
    numbers = torch.arange(count, dtype=found.dtype, device=x.device)
    ends = torch.searchsorted(found, numbers, right=True, out_int32=True)
    rows = x[order // top]
    out = torch.empty((each.numel(), weight.shape[2]), dtype=x.dtype, device=x.device)
    out[order] = operator("grouped_mm").select(where, rows, weight, ends).run(rows, weight, ends)
    return out.masked_fill_(~there.unsqueeze(1), 0).view(shape)
