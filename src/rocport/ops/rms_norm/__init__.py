"""Root-mean-square norm over the last dimension.

rms_norm(x: [..., D], weight: [D], eps) -> [..., D] of x's type: x / sqrt(mean(x^2) + eps) * weight, in fp32.
Differentiable in x and weight.
"""

from __future__ import annotations

import torch

from rocport.ops.dispatch import operator
from rocport.runtime.machine import platform


def rms_norm(x: torch.Tensor, weight: torch.Tensor, eps: float = 1e-6, *, tier: str = "") -> torch.Tensor:
    """RMS norm; see the module."""
    if x.shape[-1:] != weight.shape:
        raise ValueError(f"rms_norm: x {tuple(x.shape)} and weight {tuple(weight.shape)} do not meet")
    if x.numel() == 0:
        return torch.empty_like(x)
    out: torch.Tensor = operator("rms_norm").select(platform(x.device), x, weight, eps, tier=tier).run(x, weight, eps)
    return out


def cases(device: torch.device) -> tuple[object, ...]:
    """A call to explain and to test with: arguments after the platform."""
    return torch.ones(8, 64, device=device), torch.ones(64, device=device), 1e-6
