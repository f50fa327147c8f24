"""Scaled dot-product attention, with layout, heads and masks settled before any tier sees them.

sdpa(q: [B, Sq, H, D], k, v: [B, Sk, Hkv, D], causal=False, window=None, scale=None) -> [B, Sq, H, D].

H is a multiple of Hkv: query head h reads key head h // (H / Hkv). `causal` is aligned at the bottom right: query i
sees keys up to i + Sk - Sq, so that a decode step (Sq = 1) sees every key. `window` (left, right) limits a query to
keys [i + Sk - Sq - left, i + Sk - Sq + right]; a negative side is open. A query that sees no key gets 0.
"""

from __future__ import annotations

import torch

from rocport.ops.dispatch import operator
from rocport.runtime.machine import platform

Window = tuple[int, int]


def sdpa(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    *,
    causal: bool = False,
    window: Window | None = None,
    scale: float | None = None,
    tier: str = "",
) -> torch.Tensor:
    """Attention; see the module. Raises ValueError when the shapes do not meet."""
    if q.dim() != 4 or k.shape != v.shape or q.shape[0] != k.shape[0] or q.shape[3] != k.shape[3]:
        raise ValueError(
            f"sdpa: q {tuple(q.shape)}, k {tuple(k.shape)}, v {tuple(v.shape)} do not meet; "
            "expected [batch, sequence, heads, dim]"
        )
    if k.shape[2] == 0 or q.shape[2] % k.shape[2]:
        raise ValueError(f"sdpa: {q.shape[2]} query heads are not a multiple of {k.shape[2]} key heads")
    scale = q.shape[3] ** -0.5 if scale is None else scale
    left, right = window if window is not None else (-1, -1)
    if causal:
        right = 0 if right < 0 else min(right, 0)
    if q.numel() == 0 or k.shape[1] == 0:
        return torch.zeros_like(q)
    chosen = operator("sdpa").select(platform(q.device), q, k, v, left, right, scale, tier=tier)
    out: torch.Tensor = chosen.run(q, k, v, left, right, scale)
    return out


def visible(sq: int, sk: int, left: int, right: int, device: torch.device) -> torch.Tensor | None:
    """The mask [Sq, Sk] of keys each query sees, True where it does; None when every query sees every key."""
    if left < 0 and right < 0:
        return None
    position = torch.arange(sq, device=device)[:, None] + (sk - sq)
    key = torch.arange(sk, device=device)[None, :]
    seen = torch.ones((sq, sk), dtype=torch.bool, device=device)
    if left >= 0:
        seen &= key >= position - left
    if right >= 0:
        seen &= key <= position + right
    return seen


def cases(device: torch.device) -> tuple[object, ...]:
    """A call to explain and to test with: arguments after the platform."""
    q = torch.zeros(1, 16, 8, 64, device=device, dtype=torch.bfloat16)
    k = torch.zeros(1, 32, 2, 64, device=device, dtype=torch.bfloat16)
    return q, k, k, -1, 0, 0.125
