"""torch's grouped matmul, where it is one: a CUTLASS kernel from compute capability 9.0."""

from __future__ import annotations

import torch

from rocport.ops.dispatch import Tier
from rocport.runtime.machine import Platform


def run(x: torch.Tensor, weight: torch.Tensor, ends: torch.Tensor) -> torch.Tensor:
    """See `rocport.ops.grouped_mm`."""
    out: torch.Tensor = torch._grouped_mm(x, weight, offs=ends)
    return out


def refuse(platform: Platform, x: torch.Tensor, weight: torch.Tensor, ends: torch.Tensor) -> str:
    if not hasattr(torch, "_grouped_mm"):
        return f"needs torch._grouped_mm (torch 2.8 and later), have torch {torch.__version__}"
    if platform.kind != "cuda" or platform.capability is None or platform.capability[0] != 9:
        return f"is one kernel on compute capability 9.x only and loops elsewhere, have {platform}"
    if x.dtype != torch.bfloat16:
        return f"needs bfloat16, have {x.dtype}"
    if any(size * x.element_size() % 16 for size in weight.shape[1:]):
        return f"needs rows of a multiple of 16 bytes, have weight {tuple(weight.shape)}"
    return ""


TIER = Tier("pytorch", 10, run, refuse, "torch", lambda *_: run)
