"""The specification of 8-bit AdamW: dequantize, the usual update in fp32, quantize to the nearest code."""

from __future__ import annotations

import math

import torch

from rocport.ops.adamw8bit import BLOCK, Hyper, State
from rocport.ops.dispatch import Tier, never


def _spread(absmax: torch.Tensor, count: int) -> torch.Tensor:
    return absmax.repeat_interleave(BLOCK)[:count]


def _store(value: torch.Tensor, table: torch.Tensor, codes: torch.Tensor, absmax: torch.Tensor) -> None:
    padded = torch.nn.functional.pad(value, (0, -value.numel() % BLOCK)).view(-1, BLOCK)
    absmax.copy_(padded.abs().amax(-1))
    scaled = value / _spread(absmax, value.numel()).clamp(min=torch.finfo(torch.float32).tiny)
    codes.view(-1).copy_(torch.bucketize(scaled, (table[:-1] + table[1:]) / 2).to(torch.uint8))


def run(p: torch.Tensor, grad: torch.Tensor, state: State, hyper: Hyper) -> None:
    """See `rocport.ops.adamw8bit`."""
    count = p.numel()
    g = grad.reshape(-1).float()
    m = state.map_m[state.m.view(-1).long()] * _spread(state.absmax_m, count)
    v = state.map_v[state.v.view(-1).long()] * _spread(state.absmax_v, count)
    m = m * hyper.beta1 + g * (1 - hyper.beta1)
    v = v * hyper.beta2 + g * g * (1 - hyper.beta2)
    correction = math.sqrt(1 - hyper.beta2**hyper.step)
    step_size = hyper.lr * correction / (1 - hyper.beta1**hyper.step)
    value = p.reshape(-1).float() - step_size * m / (v.sqrt() + correction * hyper.eps)
    value = value * (1 - hyper.lr * hyper.weight_decay)
    _store(m, state.map_m, state.m, state.absmax_m)
    _store(v, state.map_v, state.v, state.absmax_v)
    p.copy_(value.view(p.shape).to(p.dtype))


TIER = Tier("eager", 100, run, never, "rocport")
