"""torch.nn.functional.scaled_dot_product_attention: AOTriton or CK kernels on ROCm, cuDNN or FlashAttention on NVIDIA.

Its `is_causal` is aligned at the top left, so it is passed only where that is the same as ours (Sq = Sk), and not at
all where a single query sees every key (Sq = 1).
"""

from __future__ import annotations

import torch

from rocport.ops.dispatch import Tier
from rocport.ops.sdpa import visible
from rocport.runtime.machine import Platform


def run(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, left: int, right: int, scale: float) -> torch.Tensor:
    """See `rocport.ops.sdpa`."""
    sq, sk = q.shape[1], k.shape[1]
    causal = left < 0 and right == 0 and sq == sk and sq > 1
    everything = (left < 0 and right < 0) or (left < 0 and right == 0 and sq == 1)
    mask = None if causal or everything else visible(sq, sk, left, right, q.device)
    out = torch.nn.functional.scaled_dot_product_attention(
        q.transpose(1, 2),
        k.transpose(1, 2),
        v.transpose(1, 2),
        attn_mask=mask,
        is_causal=causal,
        scale=scale,
        enable_gqa=q.shape[2] != k.shape[2],
    )
    return out.transpose(1, 2)


def refuse(
    platform: Platform, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, left: int, right: int, scale: float
) -> str:
    if right >= 0 and q.shape[1] > k.shape[1] + right:
        return "gives NaN for a query that sees no key (more queries than keys, causal)"
    if left >= 0 and right >= 0 and left + right < 0:
        return "gives NaN for a query that sees no key (empty window)"
    return ""


TIER = Tier("pytorch", 20, run, refuse, "torch")
