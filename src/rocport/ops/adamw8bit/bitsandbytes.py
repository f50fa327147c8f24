"""bitsandbytes' own kernel: its CUDA or ROCm library."""

from __future__ import annotations

import importlib.util

import torch

from rocport.ops.adamw8bit import Hyper, State
from rocport.ops.dispatch import Tier
from rocport.runtime.machine import Platform


def run(p: torch.Tensor, grad: torch.Tensor, state: State, hyper: Hyper) -> None:
    """See `rocport.ops.adamw8bit`."""
    from bitsandbytes.functional import optimizer_update_8bit_blockwise

    optimizer_update_8bit_blockwise(
        "adam",
        grad,
        p,
        state.m,
        state.v,
        hyper.beta1,
        hyper.beta2,
        0.0,
        0.0,
        hyper.eps,
        hyper.step,
        hyper.lr,
        state.map_m,
        state.map_v,
        state.absmax_m,
        state.absmax_v,
        hyper.weight_decay,
    )


def refuse(platform: Platform, p: torch.Tensor, grad: torch.Tensor, state: State, hyper: Hyper) -> str:
    if platform.kind == "cpu":
        return "is for GPUs; on the CPU eager is as fast"
    if importlib.util.find_spec("bitsandbytes") is None:
        return "needs the Python package bitsandbytes, which is not installed"
    return ""


TIER = Tier("bitsandbytes", 10, run, refuse, "bitsandbytes")
