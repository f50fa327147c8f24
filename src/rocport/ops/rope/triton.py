"""Rotary embedding in Triton: one launch over q and k, out of place, forward and backward."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import triton
import triton.language as tl

from rocport.ops.decode import refuse_triton
from rocport.ops.dispatch import Tier
from rocport.ops.launch import Launch
from rocport.ops.rope import eager
from rocport.runtime.machine import Platform


@triton.jit
def turn_heads(
    x, cos, sin, out, position, batch, block, S, H, D, D_HALF, batch_stride, row_stride,
    SIGN: tl.constexpr, INTERLEAVED: tl.constexpr, HEADS: tl.constexpr, HALF: tl.constexpr, REST: tl.constexpr,
):  # fmt: skip
    """HEADS heads of one token. The strides are those of the tables, that of the batch 0 when all share one. REST
    covers what of a head is left as it is, 0 when nothing is."""
    token = batch * S + position
    head = block * HEADS + tl.arange(0, HEADS)
    at = tl.arange(0, HALF)
    known = at < D_HALF
    start = (token * H + head)[:, None] * D
    mask = (head < H)[:, None] & known[None, :]
    if INTERLEAVED:
        first, second = start + 2 * at[None, :], start + 2 * at[None, :] + 1
    else:
        first, second = start + at[None, :], start + at[None, :] + D_HALF
    a = tl.load(x + first, mask=mask, other=0.0).to(tl.float32)
    b = tl.load(x + second, mask=mask, other=0.0).to(tl.float32)
    angle = batch * batch_stride + position * row_stride + at
    c = tl.load(cos + angle, mask=known, other=0.0).to(tl.float32)[None, :]
    s = SIGN * tl.load(sin + angle, mask=known, other=0.0).to(tl.float32)[None, :]
    tl.store(out + first, (a * c - b * s).to(out.dtype.element_ty), mask=mask)
    tl.store(out + second, (b * c + a * s).to(out.dtype.element_ty), mask=mask)
    if REST > 0:
        after = 2 * D_HALF + tl.arange(0, REST)
        left = (head < H)[:, None] & (after < D)[None, :]
        tl.store(out + start + after[None, :], tl.load(x + start + after[None, :], mask=left), mask=left)


@triton.jit
def rope_kernel(
    q, k, cos, sin, out_q, out_k, S, H_Q, H_K, D, D_HALF, batch_stride, row_stride, BLOCKS_OF_Q, BLOCKS,
    SIGN: tl.constexpr, INTERLEAVED: tl.constexpr, HEADS: tl.constexpr, HALF: tl.constexpr, REST: tl.constexpr,
):  # fmt: skip
    """Program axes are the BLOCKS of heads (first those of q) of each position, so that programs side by side read on
    from each other, and batch."""
    position, block = tl.program_id(0) // BLOCKS, tl.program_id(0) % BLOCKS
    batch = tl.program_id(1).to(tl.int64)
    if block < BLOCKS_OF_Q:
        turn_heads(
            q, cos, sin, out_q, position, batch, block, S, H_Q, D, D_HALF, batch_stride, row_stride,
            SIGN, INTERLEAVED, HEADS, HALF, REST,
        )  # fmt: skip
    else:
        turn_heads(
            k, cos, sin, out_k, position, batch, block - BLOCKS_OF_Q, S, H_K, D, D_HALF, batch_stride, row_stride,
            SIGN, INTERLEAVED, HEADS, HALF, REST,
        )  # fmt: skip


SETTINGS = (1024, 4)
"""Pairs and warps of a program. Best of eight on an NVIDIA H200."""


def rotation(q: torch.Tensor, k: torch.Tensor, cos: torch.Tensor, interleaved: bool, sign: int) -> Launch:
    """The launch that turns q and k [B, S, H, D] by `sign` times the angle, to be given them, cos, sin and outputs."""
    batch, length, count, dim = q.shape
    pairs = cos.shape[-1]
    half = triton.next_power_of_2(pairs)
    heads = min(triton.next_power_of_2(max(count, k.shape[2])), max(1, SETTINGS[0] // half))
    blocks_of_q = triton.cdiv(count, heads)
    blocks = blocks_of_q + triton.cdiv(k.shape[2], heads)
    fixed = {
        "S": length, "H_Q": count, "H_K": k.shape[2], "D": dim, "D_HALF": pairs,
        "BLOCKS_OF_Q": blocks_of_q, "BLOCKS": blocks,
        "batch_stride": 0 if cos.dim() == 2 or cos.shape[0] == 1 else cos.stride(0),
        "row_stride": cos.stride(-2), "SIGN": sign, "INTERLEAVED": interleaved, "HEADS": heads, "HALF": half,
        "REST": triton.next_power_of_2(dim - 2 * pairs) if dim > 2 * pairs else 0,
    }  # fmt: skip
    grid = (length * blocks, batch)
    return Launch(rope_kernel, grid, ("q", "k", "cos", "sin", "out_q", "out_k"), fixed, num_warps=SETTINGS[1])


def tables(cos: torch.Tensor, sin: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """As the kernel reads them: of one layout, a row side by side."""
    if cos.stride(-1) == 1 and cos.stride() == sin.stride():
        return cos, sin
    return cos.contiguous(), sin.contiguous()


class _Plan:
    """The launches forward and back."""

    def __init__(self, q: torch.Tensor, k: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, interleaved: bool):
        cos, _ = tables(cos, sin)
        self.strides = cos.stride()
        self.forward, self.backward = (rotation(q, k, cos, interleaved, sign) for sign in (1, -1))

    def turn(
        self, launch: Launch, q: torch.Tensor, k: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        q, k = q.contiguous(), k.contiguous()
        turned = torch.empty_like(q), torch.empty_like(k)
        launch(q, k, cos, sin, *turned)
        return turned


class _Rope(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, q: torch.Tensor, k: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, plan: _Plan
    ) -> tuple[torch.Tensor, torch.Tensor]:
        ctx.save_for_backward(cos, sin)
        ctx.plan = plan
        return plan.turn(plan.forward, q, k, cos, sin)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, *grads: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        plan: _Plan = ctx.plan
        return (*plan.turn(plan.backward, *grads, *ctx.saved_tensors), None, None, None)


Turn = Callable[..., tuple[torch.Tensor, torch.Tensor]]


def prepare(q: torch.Tensor, k: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, interleaved: bool) -> Turn:
    """`run` for operands of these shapes and types."""
    if not (q.numel() and k.numel()):
        return eager.run
    plan = _Plan(q, k, cos, sin, interleaved)
    taped = torch.is_grad_enabled() and (q.requires_grad or k.requires_grad)

    def call(
        q: torch.Tensor, k: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, interleaved: bool
    ) -> tuple[torch.Tensor, torch.Tensor]:
        cos, sin = tables(cos, sin)
        now = plan if cos.stride() == plan.strides else _Plan(q, k, cos, sin, interleaved)
        if taped:
            return _Rope.apply(q, k, cos, sin, now)  # type: ignore[no-any-return]
        return now.turn(now.forward, q, k, cos, sin)

    return call


def run(
    q: torch.Tensor, k: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, interleaved: bool
) -> tuple[torch.Tensor, torch.Tensor]:
    """See `rocport.ops.rope`."""
    return prepare(q, k, cos, sin, interleaved)(q, k, cos, sin, interleaved)


def refuse(
    platform: Platform, q: torch.Tensor, k: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, interleaved: bool
) -> str:
    for tensor in (q, k):
        if tensor.dtype not in (torch.float32, torch.float16, torch.bfloat16):
            return f"needs float32, float16 or bfloat16, have {tensor.dtype}"
    if q.shape[:2] != k.shape[:2] or q.shape[3] != k.shape[3] or q.dtype != k.dtype:
        return f"needs q and k that differ in heads only, have {tuple(q.shape)} and {tuple(k.shape)}"
    if cos.requires_grad or sin.requires_grad:
        return "gives no gradient of the angles"
    return refuse_triton(platform)


TIER = Tier("triton", 5, run, refuse, "rocport", prepare)
