"""AdamW with its two moments in 8 bits, block by block (arXiv 2110.02861).

adamw8bit(p, grad, m, v, absmax_m, absmax_v, map_m, map_v, step, lr, betas, eps, weight_decay): one update in place.

p: [n] fp32, fp16 or bf16; m, v: [n] uint8; absmax: [ceil(n / 256)] fp32; maps: [256] fp32 code tables, increasing.
Served by bitsandbytes (its own ROCm build on AMD); the eager tier says what it computes.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from rocport.ops.dispatch import operator
from rocport.runtime.machine import platform

BLOCK = 256


@dataclass(frozen=True)
class State:
    """The quantized moments of one parameter."""

    m: torch.Tensor
    v: torch.Tensor
    absmax_m: torch.Tensor
    absmax_v: torch.Tensor
    map_m: torch.Tensor
    map_v: torch.Tensor


@dataclass(frozen=True)
class Hyper:
    """Step counted from 1."""

    step: int
    lr: float
    beta1: float = 0.9
    beta2: float = 0.999
    eps: float = 1e-8
    weight_decay: float = 0.0


def adamw8bit(p: torch.Tensor, grad: torch.Tensor, state: State, hyper: Hyper, *, tier: str = "") -> None:
    """One update of `p` and `state` in place; see the module."""
    if p.shape != grad.shape or state.m.numel() != p.numel():
        raise ValueError(f"adamw8bit: p {tuple(p.shape)}, grad {tuple(grad.shape)} and state do not meet")
    operator("adamw8bit").select(platform(p.device), p, grad, state, hyper, tier=tier).run(p, grad, state, hyper)


def cases(device: torch.device) -> tuple[object, ...]:
    """A call to explain and to test with: arguments after the platform."""
    code = torch.zeros(512, dtype=torch.uint8, device=device)
    absmax = torch.zeros(2, device=device)
    table = torch.linspace(-1, 1, 256, device=device)
    p = torch.zeros(512, device=device)
    return p, p, State(code, code.clone(), absmax, absmax.clone(), table, table), Hyper(1, 1e-3)
