"""Cross entropy in Triton: one pass over the logits forward, one backward, nothing counted on the host, so that a
graph can capture it. The caller's logits stay as they are."""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl

from rocport.ops.decode import on_device, refuse_triton, warps
from rocport.ops.dispatch import Tier
from rocport.runtime.machine import Platform

LOG2E = tl.constexpr(1.4426950408889634)


@triton.jit
def row_losses(logits, target, losses, sums, V, IGNORE, BLOCK: tl.constexpr):
    """losses[row], 0 where the target is IGNORE, and sums[row], the logarithm of the sum of exponentials."""
    row = tl.program_id(0).to(tl.int64)
    # A lane keeps the largest of its own elements, eight at a time: no barrier in the loop, and one exponential more
    # for eight elements than the sum needs.
    at = tl.arange(0, BLOCK // 8)[:, None] * 8 + tl.arange(0, 8)[None, :]
    most = tl.full((BLOCK // 8,), float("-inf"), tl.float32)
    total = tl.zeros((BLOCK // 8,), tl.float32)
    for first in range(0, V, BLOCK):
        value = tl.load(logits + row * V + first + at, mask=first + at < V, other=float("-inf")).to(tl.float32)
        above = tl.maximum(most, tl.max(value, 1))
        # exp2(-inf - -inf) is NaN: a lane that has seen nothing finite keeps 0.
        shift = tl.where(above == float("-inf"), 0.0, above * LOG2E)
        total = total * tl.exp2(most * LOG2E - shift) + tl.sum(tl.exp2(value * LOG2E - shift[:, None]), 1)
        most = above
    peak = tl.max(most, 0)
    log_sum = peak + tl.log(tl.sum(total * tl.exp2(most * LOG2E - peak * LOG2E), 0))
    tl.store(sums + row, log_sum)
    wanted = tl.load(target + row)
    kept = wanted != IGNORE
    hit = tl.load(logits + row * V + wanted, mask=kept, other=0.0).to(tl.float32)
    tl.store(losses + row, tl.where(kept, log_sum - hit, 0.0))


@triton.jit
def mean_loss(losses, target, mean, inverse, T, IGNORE, BLOCK: tl.constexpr):
    """The mean of `losses` over rows whose target is not IGNORE, and one over their number."""
    total = tl.zeros((BLOCK,), tl.float32)
    count = tl.zeros((BLOCK,), tl.int32)
    for first in range(0, T, BLOCK):
        at = first + tl.arange(0, BLOCK)
        total += tl.load(losses + at, mask=at < T, other=0.0)
        count += (tl.load(target + at, mask=at < T, other=IGNORE) != IGNORE).to(tl.int32)
    number = tl.sum(count, 0).to(tl.float32)
    tl.store(mean, tl.sum(total, 0) / number)
    tl.store(inverse, 1.0 / number)


@triton.jit
def logit_gradients(logits, target, sums, inverse, grad, out, V, IGNORE, BLOCK: tl.constexpr):
    """out = grad / count * (softmax - one at the target), 0 in ignored rows; BLOCK logits of a row a program."""
    row = tl.program_id(0).to(tl.int64)
    at = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    wanted = tl.load(target + row)
    factor = tl.where(wanted != IGNORE, tl.load(grad).to(tl.float32) * tl.load(inverse), 0.0)
    value = tl.load(logits + row * V + at, mask=at < V, other=float("-inf")).to(tl.float32)
    share = tl.exp(value - tl.load(sums + row)) - tl.where(at == wanted, 1.0, 0.0)
    result = tl.where(factor == 0.0, 0.0, share * factor)
    tl.store(out + row * V + at, result.to(out.dtype.element_ty), mask=at < V)


BLOCK = 2048
THREADS = 256
"""Eight logits a lane, so that each loads 128 bits whatever the wavefront."""


class _CrossEntropy(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, logits: torch.Tensor, target: torch.Tensor, ignore_index: int) -> torch.Tensor:
        logits, target = logits.contiguous(), target.contiguous()
        count, width = logits.shape
        losses = torch.empty(count, dtype=torch.float32, device=logits.device)
        sums = torch.empty_like(losses)
        mean = torch.empty((), dtype=torch.float32, device=logits.device)
        inverse = torch.empty_like(mean)
        with on_device(logits):
            if count:
                row_losses[(count,)](
                    logits,
                    target,
                    losses,
                    sums,
                    width,
                    ignore_index,
                    BLOCK=BLOCK,
                    num_warps=warps(THREADS, logits.device),
                )
            mean_loss[(1,)](losses, target, mean, inverse, count, ignore_index, BLOCK=1024, num_warps=4)
        ctx.save_for_backward(logits, target, sums, inverse)
        ctx.ignore_index = ignore_index
        return mean

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad: torch.Tensor) -> tuple[torch.Tensor, None, None]:
        logits, target, sums, inverse = ctx.saved_tensors
        count, width = logits.shape
        out = torch.empty_like(logits)
        if out.numel():
            with on_device(logits):
                logit_gradients[(count, triton.cdiv(width, BLOCK))](
                    logits,
                    target,
                    sums,
                    inverse,
                    grad.contiguous(),
                    out,
                    width,
                    ctx.ignore_index,
                    BLOCK=BLOCK,
                    num_warps=warps(THREADS, logits.device),
                )
        return out, None, None


def run(logits: torch.Tensor, target: torch.Tensor, ignore_index: int) -> torch.Tensor:
    """See `rocport.ops.cross_entropy`."""
    out: torch.Tensor = _CrossEntropy.apply(logits, target, ignore_index)
    return out


def refuse(platform: Platform, logits: torch.Tensor, target: torch.Tensor, ignore_index: int) -> str:
    if logits.dtype not in (torch.float32, torch.float16, torch.bfloat16):
        return f"needs float32, float16 or bfloat16, have {logits.dtype}"
    if target.dtype not in (torch.int32, torch.int64):
        return f"needs int32 or int64 targets, have {target.dtype}"
    return refuse_triton(platform)


TIER = Tier("triton", 5, run, refuse, "rocport")
