"""SwiGLU: silu(gate) * up, elementwise.

swiglu(gate, up: [..., D]) -> [..., D] of gate's type, in fp32. Differentiable in both.
"""

from __future__ import annotations

import torch

from rocport.ops import served
from rocport.ops.dispatch import operator
from rocport.ops.swiglu import eager

_operator = operator("swiglu")


def swiglu(gate: torch.Tensor, up: torch.Tensor, *, tier: str = "") -> torch.Tensor:
    """silu(gate) * up; see the module."""
    if gate.shape != up.shape:
        raise ValueError(f"swiglu: gate {tuple(gate.shape)} and up {tuple(up.shape)} do not meet")
    if gate.numel() == 0:
        return torch.empty_like(gate)
    out: torch.Tensor = served.serve(_operator, eager.run, (gate, up), tier)
    return out


def cases(device: torch.device) -> tuple[object, ...]:
    """A call to explain and to test with: arguments after the platform."""
    return torch.ones(8, 64, device=device), torch.ones(8, 64, device=device)
