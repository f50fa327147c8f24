"""The specification of LLM.int8, in fp32; the int8 product is exact (fp64)."""

from __future__ import annotations

import torch

from rocport.ops.dispatch import Tier, never


def quantize_rows(x: torch.Tensor, outliers: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """x [M, K] to int8 and fp32 absmax [M], its outlier columns [K] (boolean) as 0."""
    kept = torch.where(outliers, 0.0, x.float())
    absmax = kept.abs().amax(-1)
    scale = 127.0 / absmax.clamp(min=torch.finfo(torch.float32).tiny)
    return torch.round(kept * scale.unsqueeze(-1)).to(torch.int8), absmax


def outlier_columns(x: torch.Tensor, threshold: float) -> torch.Tensor:
    """Columns [K] of x [M, K] with an element of magnitude `threshold` or more; none when it is 0."""
    if threshold <= 0:
        return torch.zeros(x.shape[1], dtype=torch.bool, device=x.device)
    return (x.abs() >= threshold).any(0)


def run(
    x: torch.Tensor, weight: torch.Tensor, absmax: torch.Tensor, bias: torch.Tensor | None, threshold: float
) -> torch.Tensor:
    """See `rocport.ops.int8_linear`."""
    outliers = outlier_columns(x, threshold)
    codes, rows = quantize_rows(x, outliers)
    product = (codes.double() @ weight.double().T).float()
    out = product * (rows.unsqueeze(1) * absmax.unsqueeze(0)) / (127.0 * 127.0)
    dense = weight.float() * (absmax / 127.0).unsqueeze(1)
    out = out + torch.where(outliers, x.float(), 0.0) @ dense.T
    return (out if bias is None else out + bias.float()).to(x.dtype)


TIER = Tier("eager", 100, run, never, "rocport")
