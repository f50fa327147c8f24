"""aiter's flash attention on CDNA: [B, S, H, D], grouped heads native, causal aligned at the bottom right.

Signature, layout, mask and window read from ROCm/aiter at e4048607a5 (2026-08-22): `flash_attn_func` in
aiter/ops/mha.py. Not run here, because aiter needs an AMD GPU to be imported.
"""

from __future__ import annotations

import importlib.util

import torch

from rocport.facts.targets import all_targets
from rocport.ops.dispatch import Tier
from rocport.runtime.machine import Platform

TARGETS = tuple(t.name for t in all_targets() if any(s.state == "yes" for s in t.library("aiter")))


def run(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, left: int, right: int, scale: float,
    mask: torch.Tensor | None = None, sinks: torch.Tensor | None = None,
) -> torch.Tensor:  # fmt: skip
    """See `rocport.ops.sdpa`."""
    from aiter import flash_attn_func

    causal = right == 0
    window = (left, -1 if causal else right)
    # Where a gradient is wanted aiter asserts that the logarithm of the sums was asked for, and returns a tuple.
    graded = torch.is_grad_enabled() and any(tensor.requires_grad for tensor in (q, k, v))
    result = flash_attn_func(
        q.contiguous(), k.contiguous(), v.contiguous(), softmax_scale=scale, causal=causal, window_size=window,
        return_lse=graded,
    )  # fmt: skip
    out: torch.Tensor = result[0] if graded else result
    return out


def refuse(
    platform: Platform, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, left: int, right: int, scale: float,
    mask: torch.Tensor | None = None, sinks: torch.Tensor | None = None,
) -> str:  # fmt: skip
    if platform.kind != "rocm" or platform.gfx not in TARGETS:
        return f"needs {' or '.join(TARGETS)}, have {platform}"
    if importlib.util.find_spec("aiter") is None:
        return "needs the Python package aiter, which is not installed"
    if q.dtype not in (torch.float16, torch.bfloat16):
        return f"needs float16 or bfloat16, have {q.dtype}"
    if q.shape[3] > 256 or q.shape[3] % 8:
        return f"needs a head dimension that is a multiple of 8 up to 256, have {q.shape[3]}"
    if mask is not None or sinks is not None or v.shape[3] != k.shape[3]:
        return "is called without array masks and sinks, with values as wide as keys"
    if right >= 0 and q.shape[1] > k.shape[1] + right:
        return "has queries that see no key"
    return ""


TIER = Tier("aiter", 10, run, refuse, "aiter")
