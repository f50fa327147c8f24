"""LLM.int8 through torch._int_mm: hipBLASLt's int8 kernels on ROCm, cuBLASLt's on NVIDIA."""

from __future__ import annotations

import torch

from rocport.ops.dispatch import Tier
from rocport.ops.int8_linear.eager import outlier_columns, quantize_rows
from rocport.runtime.machine import Platform

LEAST_ROWS = 17
"""torch._int_mm wants more than 16 rows on CUDA."""


def run(
    x: torch.Tensor, weight: torch.Tensor, absmax: torch.Tensor, bias: torch.Tensor | None, threshold: float
) -> torch.Tensor:
    """See `rocport.ops.int8_linear`. The outlier product is taken over all columns, zeros elsewhere: no host sync."""
    rows = x.shape[0]
    padded = torch.nn.functional.pad(x, (0, 0, 0, max(0, LEAST_ROWS - rows)))
    outliers = outlier_columns(x, threshold)
    codes, row_absmax = quantize_rows(padded, outliers)
    product = torch._int_mm(codes, weight.t())[:rows].float()
    out = product * (row_absmax[:rows].unsqueeze(1) * absmax.unsqueeze(0)) / (127.0 * 127.0)
    if threshold > 0:
        dense = (weight.float() * (absmax / 127.0).unsqueeze(1)).to(x.dtype)
        out = out + (torch.where(outliers, x, 0) @ dense.T).float()
    return (out if bias is None else out + bias.float()).to(x.dtype)


def refuse(
    platform: Platform,
    x: torch.Tensor,
    weight: torch.Tensor,
    absmax: torch.Tensor,
    bias: torch.Tensor | None,
    threshold: float,
) -> str:
    if platform.kind == "cpu":
        return "is for GPUs; on the CPU eager is the specification"
    if weight.shape[0] % 8 or weight.shape[1] % 8:
        return f"needs N and K multiples of 8, have {tuple(weight.shape)}"
    return ""


TIER = Tier("pytorch", 20, run, refuse, "torch")
