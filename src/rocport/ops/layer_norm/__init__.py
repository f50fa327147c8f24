"""Layer norm over the last dimension.

layer_norm(x: [..., D], weight: [D], bias: [D], eps) -> [..., D] of x's type, in fp32. Differentiable in all three.
"""

from __future__ import annotations

import torch

from rocport.ops import served
from rocport.ops.dispatch import operator
from rocport.ops.layer_norm import eager

_operator = operator("layer_norm")


def layer_norm(
    x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, eps: float = 1e-5, *, tier: str = ""
) -> torch.Tensor:
    """Layer norm; see the module."""
    if x.shape[-1:] != weight.shape or weight.shape != bias.shape:
        raise ValueError(f"layer_norm: x {tuple(x.shape)}, weight {tuple(weight.shape)} and bias do not meet")
    if x.numel() == 0:
        return torch.empty_like(x)
    out: torch.Tensor = served.serve(_operator, eager.run, (x, weight, bias, eps), tier)
    return out


def cases(device: torch.device) -> tuple[object, ...]:
    """A call to explain and to test with: arguments after the platform."""
    one = torch.ones(64, device=device)
    return torch.ones(8, 64, device=device), one, one, 1e-5
