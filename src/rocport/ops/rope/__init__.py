"""Rotary position embedding.

rope(q: [B, S, H, D], k: [B, S, Hkv, D], cos, sin: [S, R/2] or [B, S, R/2]) -> (q, k) with the first R elements of each
head rotated, the rest as they are: pairs (a, b) become (a * cos - b * sin, b * cos + a * sin). A pair is an element of
the first half of R and its place in the second (as in Llama), or, `interleaved`, two neighbours (as in GPT-J; MLX calls
it traditional). One angle a pair: a table that repeats it for both halves, as Hugging Face models keep it, is passed as
`cos[..., : R // 2]`. Tables of more positions are read from `offset` on. Differentiable in q and k.
"""

from __future__ import annotations

import torch

from rocport.ops import served
from rocport.ops.dispatch import operator
from rocport.ops.rope import eager

_operator = operator("rope")


def rope(
    q: torch.Tensor, k: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor,
    *, interleaved: bool = False, offset: int | None = None, tier: str = "",
) -> tuple[torch.Tensor, torch.Tensor]:  # fmt: skip
    """Rotate q and k; see the module."""
    if offset is not None:
        end = offset + q.shape[1]
        cos, sin = cos[..., offset:end, :], sin[..., offset:end, :]
    args = (q, k, cos, sin, interleaved)
    out: tuple[torch.Tensor, torch.Tensor] = served.serve(_operator, eager.run, args, tier, _check)
    return out


def _check(q: torch.Tensor, k: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, interleaved: bool) -> None:
    shape = cos.shape if cos.dim() == 3 else (1, *cos.shape)
    fits = len(shape) == 3 and shape[1] == q.shape[1] and 2 * shape[2] <= q.shape[3] and shape[0] in (1, q.shape[0])
    if cos.shape != sin.shape or not fits:
        raise ValueError(f"rope: q {tuple(q.shape)} and cos {tuple(cos.shape)} do not meet")


def cases(device: torch.device) -> tuple[object, ...]:
    """A call to explain and to test with: arguments after the platform."""
    q = torch.ones(1, 8, 4, 64, device=device)
    return q, q[:, :, :2], torch.ones(1, 8, 32, device=device), torch.ones(1, 8, 32, device=device), False
