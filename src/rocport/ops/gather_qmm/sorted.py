"""Many rows an expert: sort the rows by expert, dequantize, one grouped matmul, put the rows back."""

from __future__ import annotations

import torch

from rocport.ops.dispatch import Tier, operator
from rocport.ops.experts import by_expert
from rocport.ops.formats import QuantTensor
from rocport.runtime.machine import Platform, platform


def run(x: torch.Tensor, q: QuantTensor, experts: torch.Tensor, transpose: bool = True) -> torch.Tensor:
    """See `rocport.ops.gather_qmm`."""
    weight = operator("dequantize").select(platform(x.device), q, x.dtype).run(q, x.dtype)
    return by_expert(x, weight.transpose(1, 2) if transpose else weight, experts)


def refuse(platform: Platform, x: torch.Tensor, q: QuantTensor, experts: torch.Tensor, transpose: bool = True) -> str:
    if platform.kind == "cpu":
        return "is for GPUs; on the CPU eager is as fast"
    return ""


TIER = Tier("sorted", 30, run, refuse, "rocport")
