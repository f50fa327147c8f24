"""Scaled dot-product attention, with layout, heads and masks settled before any tier sees them.

sdpa(q: [B, Sq, H, D], k: [B, Sk, Hkv, D], v: [B, Sk, Hkv, Dv], causal=False, window=None, scale=None, mask=None,
sinks=None) -> [B, Sq, H, Dv].

H is a multiple of Hkv: query head h reads key head h // (H / Hkv). `causal` is aligned at the bottom right: query i
sees keys up to i + Sk - Sq, so that a decode step (Sq = 1) sees every key. `window` (left, right) limits a query to
keys [i + Sk - Sq - left, i + Sk - Sq + right]; a negative side is open. `mask` broadcasts to [B, H, Sq, Sk]: booleans
say which keys a query sees beside those limits, numbers are added to the scores. `sinks` [H] is the score of one more
key a head, whose value is 0 (gpt-oss). A query that sees no key gets 0. Differentiable in q, k, v, sinks and an added
mask.
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
    mask: torch.Tensor | None = None,
    sinks: torch.Tensor | None = None,
    tier: str = "",
) -> torch.Tensor:
    """Attention; see the module. Raises ValueError when the shapes do not meet."""
    meet = q.dim() == k.dim() == v.dim() == 4 and k.shape[:3] == v.shape[:3]
    if not meet or q.shape[0] != k.shape[0] or q.shape[3] != k.shape[3]:
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
    if mask is not None:
        mask = _settled(mask, (q.shape[0], q.shape[2], q.shape[1], k.shape[1]))
    if sinks is not None and sinks.shape != q.shape[2:3]:
        raise ValueError(f"sdpa: sinks {tuple(sinks.shape)}, expected one number for each of {q.shape[2]} query heads")
    if q.numel() == 0 or k.shape[1] == 0 or v.shape[3] == 0:
        return q.new_zeros((*q.shape[:3], v.shape[3]))
    call = (q, k, v, left, right, scale, mask, sinks)
    chosen = operator("sdpa").select(platform(q.device), *call, tier=tier)
    out: torch.Tensor = chosen.run(*call)
    return out


def _settled(mask: torch.Tensor, full: tuple[int, int, int, int]) -> torch.Tensor:
    """`mask` with four dimensions, each 1 or as in `full`. Raises ValueError."""
    shape = (1,) * (4 - mask.dim()) + tuple(mask.shape)
    if len(shape) != 4 or any(have not in (1, wanted) for have, wanted in zip(shape, full, strict=True)):
        raise ValueError(f"sdpa: mask {tuple(mask.shape)} does not broadcast to [batch, heads, queries, keys] {full}")
    if mask.dtype != torch.bool and not mask.is_floating_point():
        raise ValueError(f"sdpa: mask of {mask.dtype}, expected booleans or numbers to add")
    return mask.view(shape)


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
    return q, k, k, -1, 0, 0.125, None, None
