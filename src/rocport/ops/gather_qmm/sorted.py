"""Many rows an expert: sort the rows by expert, dequantize, one grouped matmul, put the rows back."""

from __future__ import annotations

import torch

from rocport.ops.dispatch import Tier, operator
from rocport.ops.formats import QuantTensor
from rocport.runtime.machine import Platform, platform


def run(x: torch.Tensor, q: QuantTensor, experts: torch.Tensor, transpose: bool = True) -> torch.Tensor:
    """See `rocport.ops.gather_qmm`."""
    where = platform(x.device)
    top = experts.numel() // x.shape[0]
    weight = operator("dequantize").select(where, q, x.dtype).run(q, x.dtype)
    weight = weight.transpose(1, 2) if transpose else weight
    shape = (*experts.shape, weight.shape[2])
    experts = experts.reshape(-1)
    there = (experts >= 0) & (experts < q.shape[0])
    # Rows without an expert go last, past the last end.
    experts = torch.where(there, experts, q.shape[0])
    order = torch.argsort(experts, stable=True)
    counts = torch.zeros(q.shape[0] + 1, dtype=torch.int32, device=x.device)
    counts.scatter_add_(0, experts.long(), torch.ones_like(experts, dtype=torch.int32))
    ends = counts[:-1].cumsum(0, dtype=torch.int32)
    rows = x[order // top]
    out = torch.empty((experts.numel(), weight.shape[2]), dtype=x.dtype, device=x.device)
    out[order] = operator("grouped_mm").select(where, rows, weight, ends).run(rows, weight, ends)
    return out.masked_fill_(~there.unsqueeze(1), 0).view(shape)


def refuse(platform: Platform, x: torch.Tensor, q: QuantTensor, experts: torch.Tensor, transpose: bool = True) -> str:
    if platform.kind == "cpu":
        return "is for GPUs; on the CPU eager is as fast"
    return ""


TIER = Tier("sorted", 30, run, refuse, "rocport")
