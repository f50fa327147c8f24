"""Root-mean-square norm over the last dimension.

rms_norm(x: [..., D], weight: [D] or None, eps) -> [..., D] of x's type: x / sqrt(mean(x^2) + eps) * weight, in fp32.
Differentiable in x and weight.
"""

from __future__ import annotations

import torch

from rocport.ops import served
from rocport.ops.dispatch import operator
from rocport.ops.rms_norm import eager

_operator = operator("rms_norm")


def rms_norm(x: torch.Tensor, weight: torch.Tensor | None, eps: float = 1e-6, *, tier: str = "") -> torch.Tensor:
    """RMS norm; see the module."""
    if weight is None:
        weight = x.new_ones(x.shape[-1])
    if x.shape[-1:] != weight.shape:
        raise ValueError(f"rms_norm: x {tuple(x.shape)} and weight {tuple(weight.shape)} do not meet")
    if x.numel() == 0:
        return torch.empty_like(x)
    out: torch.Tensor = served.serve(_operator, eager.run, (x, weight, eps), tier)
    return out


def cases(device: torch.device) -> tuple[object, ...]:
    """A call to explain and to test with: arguments after the platform."""
    return torch.ones(8, 64, device=device), torch.ones(64, device=device), 1e-6
