"""LLM.int8: x @ W^T with W in int8 rows and the outlier columns of x in its own type (arXiv 2208.07339).

int8_linear(x: [..., K], weight: [N, K] int8, absmax: [N] fp32, bias: [N] or None, threshold) -> [..., N] of x's type.

W[n] = weight[n] * absmax[n] / 127. Columns of x with an element of magnitude >= threshold (0: none) are multiplied
unquantized; the rest of x is quantized by row, and the product is exact in int32.
"""

from __future__ import annotations

import torch

from rocport.ops.dispatch import operator
from rocport.runtime.machine import platform


def int8_linear(
    x: torch.Tensor,
    weight: torch.Tensor,
    absmax: torch.Tensor,
    bias: torch.Tensor | None = None,
    *,
    threshold: float = 6.0,
    tier: str = "",
) -> torch.Tensor:
    """Multiply by an int8 matrix; see the module. Raises ValueError when the shapes do not meet."""
    if weight.dtype != torch.int8 or x.shape[-1] != weight.shape[1] or absmax.shape != weight.shape[:1]:
        raise ValueError(
            f"int8_linear: x {tuple(x.shape)}, weight {weight.dtype} {tuple(weight.shape)} and "
            f"absmax {tuple(absmax.shape)} do not meet"
        )
    rows = x.reshape(-1, x.shape[-1]).contiguous()
    if rows.shape[0] == 0:
        return x.new_empty((*x.shape[:-1], weight.shape[0]))
    chosen = operator("int8_linear").select(platform(x.device), rows, weight, absmax, bias, threshold, tier=tier)
    out: torch.Tensor = chosen.run(rows, weight, absmax, bias, threshold)
    return out.view(*x.shape[:-1], weight.shape[0])


def cases(device: torch.device) -> tuple[object, ...]:
    """A call to explain and to test with: arguments after the platform."""
    weight = torch.zeros(64, 64, dtype=torch.int8, device=device)
    return torch.ones(32, 64, device=device, dtype=torch.bfloat16), weight, torch.ones(64, device=device), None, 6.0
