"""Many rows an expert: sort the rows by expert, dequantize, one grouped matmul, put the rows back."""

from __future__ import annotations

import torch

from rocport.ops.dispatch import Tier, operator
from rocport.ops.formats import QuantTensor
from rocport.runtime.machine import Platform, platform


def run(x: torch.Tensor, q: QuantTensor, experts: torch.Tensor) -> torch.Tensor:
    """See `rocport.ops.gather_qmm`."""
    where = platform(x.device)
    weight = operator("dequantize").select(where, q, x.dtype).run(q, x.dtype).transpose(1, 2)
    order = torch.argsort(experts, stable=True)
    counts = torch.zeros(q.shape[0], dtype=torch.int32, device=x.device)
    counts.scatter_add_(0, experts.long(), torch.ones_like(experts, dtype=torch.int32))
    ends = counts.cumsum(0, dtype=torch.int32)
    rows = x[order]
    out = torch.empty((x.shape[0], q.shape[1]), dtype=x.dtype, device=x.device)
    out[order] = operator("grouped_mm").select(where, rows, weight, ends).run(rows, weight, ends)
    return out


def refuse(platform: Platform, x: torch.Tensor, q: QuantTensor, experts: torch.Tensor) -> str:
    if platform.kind == "cpu":
        return "is for GPUs; on the CPU eager is as fast"
    return ""


TIER = Tier("sorted", 30, run, refuse, "rocport")
