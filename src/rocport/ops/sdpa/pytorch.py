"""torch.nn.functional.scaled_dot_product_attention: AOTriton or CK kernels on ROCm, cuDNN or FlashAttention on NVIDIA.

Its `is_causal` is aligned at the top left, so it is passed only where that is the same as ours (Sq = Sk), and not at
all where a single query sees every key (Sq = 1). It knows no sinks: one more key is put in front, of value 0, and one
more element a head, in which that key is 1, the others 0 and the query its sink.
"""

from __future__ import annotations

import torch

from rocport.ops.dispatch import Tier
from rocport.ops.sdpa import visible
from rocport.runtime.machine import Platform


def run(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, left: int, right: int, scale: float,
    mask: torch.Tensor | None = None, sinks: torch.Tensor | None = None,
) -> torch.Tensor:  # fmt: skip
    """See `rocport.ops.sdpa`."""
    sq, sk = q.shape[1], k.shape[1]
    causal = left < 0 and right == 0 and sq == sk and sq > 1 and mask is None and sinks is None
    everything = (left < 0 and right < 0) or (left < 0 and right == 0 and sq == 1)
    seen = None if causal or everything else visible(sq, sk, left, right, q.device)
    nothing = None
    if mask is not None:
        seen, nothing = _joined(mask, seen)
    if sinks is not None:
        q, k, v = _with_sinks(q, k, v, sinks, scale)
        nothing = None
        if seen is not None:
            seen = seen.expand(*seen.shape[:-1], sk)
            seen = torch.nn.functional.pad(seen, (1, 0), value=True if seen.dtype == torch.bool else 0.0)
    elif seen is not None and nothing is not None:
        seen = seen | nothing if seen.dtype == torch.bool else seen.masked_fill(nothing, 0.0)
    out = torch.nn.functional.scaled_dot_product_attention(
        q.transpose(1, 2),
        k.transpose(1, 2),
        v.transpose(1, 2),
        attn_mask=seen,
        is_causal=causal,
        scale=scale,
        enable_gqa=q.shape[2] != k.shape[2],
    )
    if nothing is not None:
        out = out.masked_fill(nothing, 0.0)
    return out.transpose(1, 2)


def _joined(mask: torch.Tensor, seen: torch.Tensor | None) -> tuple[torch.Tensor, torch.Tensor]:
    """The mask with the keys that are not `seen` taken out, and the queries that see no key then, [..., Sq, 1]."""
    if mask.dtype == torch.bool:
        mask = mask if seen is None else mask & seen
        return mask, ~mask.any(-1, keepdim=True)
    mask = mask if seen is None else mask.masked_fill(~seen, float("-inf"))
    return mask, mask.amax(-1, keepdim=True) == float("-inf")


def _with_sinks(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, sinks: torch.Tensor, scale: float
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """q, k and v with the sinks among them, in heads eight elements longer: kernels take multiples of eight."""
    pad = torch.nn.functional.pad
    # Infinity times the 0 of the other keys would be NaN in every score; scores are taken in fp32 at least.
    wide = torch.promote_types(q.dtype, torch.float32)
    most = min(torch.finfo(q.dtype).max, torch.finfo(torch.float32).max / 2) / max(1.0, abs(scale))
    column = (sinks.to(wide) / scale).clamp(-most, most).to(q.dtype).view(1, 1, -1, 1).expand(*q.shape[:3], 1)
    key = pad(k.new_ones(k.shape[0], 1, k.shape[2], 1), (k.shape[3], 7))
    q = torch.cat((q, pad(column, (0, 7))), 3)
    return q, torch.cat((key, pad(k, (0, 8))), 1), pad(v, (0, 0, 0, 0, 1, 0))


def refuse(
    platform: Platform, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, left: int, right: int, scale: float,
    mask: torch.Tensor | None = None, sinks: torch.Tensor | None = None,
) -> str:  # fmt: skip
    if mask is not None and mask.dtype not in (torch.bool, q.dtype):
        return f"rounds what is added from {mask.dtype} to {q.dtype}"
    if sinks is not None:
        return "puts sinks into the scores by a division" if scale == 0 else ""
    if mask is None and right >= 0 and q.shape[1] > k.shape[1] + right:
        return "gives NaN for a query that sees no key (more queries than keys, causal)"
    if mask is None and left >= 0 and right >= 0 and left + right < 0:
        return "gives NaN for a query that sees no key (empty window)"
    return ""


TIER = Tier("pytorch", 20, run, refuse, "torch")
