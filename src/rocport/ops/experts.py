"""Many rows by the dense matrices of their experts: sorted by expert, one grouped matmul, put back."""

from __future__ import annotations

from collections.abc import Callable

import torch

from rocport.ops.combine import combine
from rocport.ops.dispatch import operator
from rocport.ops.formats import QuantTensor
from rocport.runtime.machine import platform


def sort_by_expert(experts: torch.Tensor, count: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """For `experts` [R], each below `count`: which row comes when sorted by expert, where the rows of each expert end,
    int32 [count], and which rows have an expert. Those that have none go last, past the last end."""
    there = (experts >= 0) & (experts < count)
    # A radix sort takes a pass for every eight bits.
    short = torch.int16 if count < 2**15 else torch.int32
    found, order = torch.sort(torch.where(there, experts, count).to(short), stable=True)
    numbers = torch.arange(count, dtype=short, device=experts.device)
    return order, torch.searchsorted(found, numbers, right=True, out_int32=True), there


def _grouped(rows: torch.Tensor, weight: torch.Tensor, ends: torch.Tensor) -> torch.Tensor:
    out: torch.Tensor = operator("grouped_mm").select(platform(rows.device), rows, weight, ends).run(rows, weight, ends)
    return out


def by_expert(x: torch.Tensor, weight: torch.Tensor, experts: torch.Tensor) -> torch.Tensor:
    """x [T, K] by those of weight [E, K, N] that `experts` [T] or [T, top] name, to [T, N] or [T, top, N]; with
    x [T * top, K] a row for each. 0 where there is no such expert."""
    shape, each = (*experts.shape, weight.shape[2]), experts.reshape(-1)
    top = each.numel() // x.shape[0]
    order, ends, there = sort_by_expert(each, weight.shape[0])
    out = torch.empty((each.numel(), weight.shape[2]), dtype=x.dtype, device=x.device)
    out[order] = _grouped(x[order // top], weight, ends)
    return out.masked_fill_(~there.unsqueeze(1), 0).view(shape)


def mixture(
    x: torch.Tensor, gate_up: QuantTensor, down: QuantTensor, index: torch.Tensor, weights: torch.Tensor,
    act: Callable[[torch.Tensor, torch.Tensor], torch.Tensor],
    dense: Callable[[QuantTensor, torch.dtype], torch.Tensor],
) -> torch.Tensor:  # fmt: skip
    """y[t] = the sum over j of weights[t, j] times down_e(act(gate_e x[t], up_e x[t])), e = index[t, j], without a
    gradient: x [T, H], gate_up [E, 2 I, H], down [E, H, I], index and weights [T, top] to [T, H]. An expert that is
    none of the E adds nothing. `dense`: what dequantizes.

    The rows are sorted once for both products and stay sorted in between."""
    each = index.reshape(-1)
    order, ends, there = sort_by_expert(each, gate_up.shape[0])

    def product(rows: torch.Tensor, q: QuantTensor) -> torch.Tensor:
        return _grouped(rows, dense(q, x.dtype).transpose(1, 2), ends)

    gate, up = product(x[order // index.shape[1]], gate_up).chunk(2, -1)
    out = product(act(gate, up), down)
    places = torch.empty(each.numel(), dtype=torch.int32, device=x.device)
    places[order] = torch.arange(each.numel(), dtype=torch.int32, device=x.device)
    return combine(out, torch.where(there, places, -1).view(index.shape), weights)
