"""Rotary position embedding, the two halves of a head rotated against each other (as in Llama).

rope(q: [B, S, H, D], k: [B, S, Hkv, D], cos, sin: [S, D/2] or [B, S, D/2]) -> (q, k) rotated: halves (a, b) of a head
become (a * cos - b * sin, b * cos + a * sin). One angle a pair: a table that repeats it for both halves, as Hugging
Face models keep it, is passed as `cos[..., : D // 2]`. Differentiable in q and k.
"""

from __future__ import annotations

import torch

from rocport.ops.dispatch import operator
from rocport.runtime.machine import platform


def rope(
    q: torch.Tensor, k: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, *, tier: str = ""
) -> tuple[torch.Tensor, torch.Tensor]:
    """Rotate q and k; see the module."""
    if cos.dim() == 2:
        cos, sin = cos.unsqueeze(0), sin.unsqueeze(0)
    if cos.shape != sin.shape or cos.shape[1:] != (q.shape[1], q.shape[3] // 2) or cos.shape[0] not in (1, q.shape[0]):
        raise ValueError(f"rope: q {tuple(q.shape)} and cos {tuple(cos.shape)} do not meet")
    if q.numel() == 0:
        return torch.empty_like(q), torch.empty_like(k)
    chosen = operator("rope").select(platform(q.device), q, k, cos, sin, tier=tier)
    out: tuple[torch.Tensor, torch.Tensor] = chosen.run(q, k, cos, sin)
    return out


def cases(device: torch.device) -> tuple[object, ...]:
    """A call to explain and to test with: arguments after the platform."""
    q = torch.ones(1, 8, 4, 64, device=device)
    return q, q[:, :, :2], torch.ones(1, 8, 32, device=device), torch.ones(1, 8, 32, device=device)
