"""Many rows an expert: sort the rows by expert, dequantize, one grouped matmul, put the rows back."""

from __future__ import annotations

from collections.abc import Callable

import torch

from rocport.ops.dequantize import prepared
from rocport.ops.dispatch import Tier
from rocport.ops.experts import by_expert
from rocport.ops.formats import QuantTensor
from rocport.runtime.machine import Platform


def prepare(
    x: torch.Tensor, q: QuantTensor, experts: torch.Tensor, transpose: bool = True
) -> Callable[[torch.Tensor, torch.Tensor], torch.Tensor]:
    """`run` for x and experts of this shape and type: a function of them."""
    dense = prepared(q, x.dtype)
    return lambda x, experts: by_expert(x, dense().transpose(1, 2) if transpose else dense(), experts)


def run(x: torch.Tensor, q: QuantTensor, experts: torch.Tensor, transpose: bool = True) -> torch.Tensor:
    """See `rocport.ops.gather_qmm`."""
    return prepare(x, q, experts, transpose)(x, experts)


def refuse(platform: Platform, x: torch.Tensor, q: QuantTensor, experts: torch.Tensor, transpose: bool = True) -> str:
    if platform.kind == "cpu":
        return "is for GPUs; on the CPU eager is as fast"
    return ""


TIER = Tier("sorted", 30, run, refuse, "rocport", prepare)
