"""Mean cross entropy of logits against class indices.

cross_entropy(logits: [T, V], target: [T] integers, ignore_index=-100) -> scalar fp32: the mean over rows whose
target is not `ignore_index` (NaN when there are none). Differentiable in logits.
"""

from __future__ import annotations

import torch

from rocport.ops import served
from rocport.ops.cross_entropy import eager
from rocport.ops.dispatch import operator

_operator = operator("cross_entropy")


def cross_entropy(
    logits: torch.Tensor, target: torch.Tensor, ignore_index: int = -100, *, tier: str = ""
) -> torch.Tensor:
    """Mean cross entropy; see the module."""
    if logits.dim() != 2 or logits.shape[:1] != target.shape:
        raise ValueError(f"cross_entropy: logits {tuple(logits.shape)}, target {tuple(target.shape)} do not meet")
    out: torch.Tensor = served.serve(_operator, eager.run, (logits, target, ignore_index), tier)
    return out


def cases(device: torch.device) -> tuple[object, ...]:
    """A call to explain and to test with: arguments after the platform."""
    return torch.ones(8, 64, device=device), torch.zeros(8, dtype=torch.int64, device=device), -100
