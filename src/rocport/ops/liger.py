"""When Liger Kernel can serve: shared by its tiers."""

from __future__ import annotations

import importlib.util

import torch

from rocport.runtime.machine import Platform


def refuse_liger(platform: Platform, x: torch.Tensor) -> str:
    """Why Liger cannot serve `x`; empty when it can."""
    if platform.kind == "cpu":
        return "needs a GPU, have the CPU"
    if importlib.util.find_spec("liger_kernel") is None:
        return "needs the Python package liger-kernel, which is not installed"
    if x.dtype not in (torch.float32, torch.float16, torch.bfloat16):
        return f"needs float32, float16 or bfloat16, have {x.dtype}"
    if x.shape[-1] > 65536:
        return f"keeps a row in one program, at most 65536 long, have {x.shape[-1]}"
    return ""
