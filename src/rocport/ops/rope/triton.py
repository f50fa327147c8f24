"""Rotary embedding in Triton: one pass over q and one over k, out of place, forward and backward."""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl

from rocport.ops.decode import on_device, refuse_triton
from rocport.ops.dispatch import Tier
from rocport.runtime.machine import Platform


@triton.jit
def rope_kernel(
    x, cos, sin, out, S, H, D_HALF, batch_stride, SIGN: tl.constexpr, HEADS: tl.constexpr, HALF: tl.constexpr
):
    """HEADS heads of one token: program axes are position, heads, batch. `batch_stride` is the distance of the tables
    of two batches, 0 when they share one."""
    position, batch = tl.program_id(0), tl.program_id(2).to(tl.int64)
    token = batch * S + position
    head = tl.program_id(1) * HEADS + tl.arange(0, HEADS)
    at = tl.arange(0, HALF)
    known = at < D_HALF
    first = (token * H + head)[:, None] * (2 * D_HALF) + at[None, :]
    mask = (head < H)[:, None] & known[None, :]
    a = tl.load(x + first, mask=mask, other=0.0).to(tl.float32)
    b = tl.load(x + first + D_HALF, mask=mask, other=0.0).to(tl.float32)
    angle = batch * batch_stride + position * D_HALF + at
    c = tl.load(cos + angle, mask=known, other=0.0).to(tl.float32)[None, :]
    s = SIGN * tl.load(sin + angle, mask=known, other=0.0).to(tl.float32)[None, :]
    tl.store(out + first, (a * c - b * s).to(out.dtype.element_ty), mask=mask)
    tl.store(out + first + D_HALF, (b * c + a * s).to(out.dtype.element_ty), mask=mask)


SETTINGS = (2048, 4)
"""Pairs and warps of a program."""


def rotate(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, sign: int) -> torch.Tensor:
    """x [B, S, H, D] turned by `sign` times the angle."""
    x = x.contiguous()
    out = torch.empty_like(x)
    batch, length, count, dim = x.shape
    half = triton.next_power_of_2(dim // 2)
    heads = min(triton.next_power_of_2(count), max(1, SETTINGS[0] // half))
    with on_device(x):
        rope_kernel[(length, triton.cdiv(count, heads), batch)](
            x, cos, sin, out, length, count, dim // 2, 0 if cos.shape[0] == 1 else length * (dim // 2),
            SIGN=sign, HEADS=heads, HALF=half, num_warps=SETTINGS[1],
        )  # fmt: skip
    return out


class _Rope(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, q: torch.Tensor, k: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> Any:
        cos, sin = cos.contiguous(), sin.contiguous()
        ctx.save_for_backward(cos, sin)
        return rotate(q, cos, sin, 1), rotate(k, cos, sin, 1)

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> Any:
        cos, sin = ctx.saved_tensors
        return rotate(grads[0], cos, sin, -1), rotate(grads[1], cos, sin, -1), None, None


def run(q: torch.Tensor, k: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """See `rocport.ops.rope`."""
    turned_q, turned_k = _Rope.apply(q, k, cos, sin)
    return turned_q, turned_k


def refuse(platform: Platform, q: torch.Tensor, k: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> str:
    for tensor in (q, k):
        if tensor.dtype not in (torch.float32, torch.float16, torch.bfloat16):
            return f"needs float32, float16 or bfloat16, have {tensor.dtype}"
    if cos.requires_grad or sin.requires_grad:
        return "gives no gradient of the angles"
    return refuse_triton(platform)


TIER = Tier("triton", 5, run, refuse, "rocport")
