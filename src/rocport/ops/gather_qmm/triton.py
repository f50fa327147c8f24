"""Few rows an expert: the row kernel of the quantized matmul, with the matrix chosen by the row's expert."""

from __future__ import annotations

from collections.abc import Callable

import torch

from rocport.ops.decode import arguments, compute_units, refuse_triton
from rocport.ops.dispatch import Tier
from rocport.ops.formats import QuantTensor
from rocport.ops.quantized_matmul import triton as matmul
from rocport.runtime.machine import Platform, platform

ROWS_AN_EXPERT = 2
"""Beyond this many rows an expert, weights are read again too often: sorting and dequantizing wins."""


def prepare(
    x: torch.Tensor, q: QuantTensor, experts: torch.Tensor
) -> Callable[[torch.Tensor, torch.Tensor | None], torch.Tensor]:
    """`run` for x and experts of this shape and type: a function of them."""
    a = arguments(q)
    rows = experts.numel() * q.shape[1]
    where, pairs = platform(x.device), matmul.takes_pairs(x, a)
    config = matmul.rows_config(where, rows, q.shape[2], a.lut, compute_units(x.device), pairs)
    return matmul.rows_launch(x, a, q.shape[1], None, experts, config).output((*experts.shape, q.shape[1]))


def run(x: torch.Tensor, q: QuantTensor, experts: torch.Tensor) -> torch.Tensor:
    """See `rocport.ops.gather_qmm`."""
    return prepare(x, q, experts)(x, experts)


def refuse(platform: Platform, x: torch.Tensor, q: QuantTensor, experts: torch.Tensor, transpose: bool = True) -> str:
    if not transpose:
        return "sums along the rows of W"
    if reason := refuse_triton(platform) or matmul.refuse_shape(x, q):
        return reason
    if experts.numel() > ROWS_AN_EXPERT * q.shape[0]:
        return f"serves up to {ROWS_AN_EXPERT} rows an expert, have {experts.numel()} rows and {q.shape[0]} experts"
    return ""


TIER = Tier("triton", 20, run, refuse, "rocport", prepare)
