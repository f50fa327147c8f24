"""Cross entropy in Triton: one pass over the logits forward, one backward, nothing counted on the host, so that a
graph can capture it. The caller's logits stay as they are."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
import triton
import triton.language as tl

from rocport.ops.decode import refuse_triton, warps
from rocport.ops.dispatch import Tier
from rocport.ops.launch import Launch
from rocport.runtime.machine import Platform

LOG2E = tl.constexpr(1.4426950408889634)


@triton.jit
def row_losses(logits, target, kept_rows, mean, T, V, IGNORE, BLOCK: tl.constexpr, ONE: tl.constexpr):
    """kept_rows[row]: the loss, 0 where the target is IGNORE; kept_rows[T + row]: the logarithm of the sum of
    exponentials. ONE: there is no other row, and what `mean_loss` would write is written here."""
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
    tl.store(kept_rows + T + row, log_sum)
    wanted = tl.load(target + row)
    kept = wanted != IGNORE
    hit = tl.load(logits + row * V + wanted, mask=kept, other=0.0).to(tl.float32)
    loss = tl.where(kept, log_sum - hit, 0.0)
    if ONE:
        number = kept.to(tl.float32)
        tl.store(mean, loss / number)
        tl.store(kept_rows + 2, 1.0 / number)
    else:
        tl.store(kept_rows + row, loss)


@triton.jit
def mean_loss(kept_rows, target, mean, T, IGNORE, BLOCK: tl.constexpr):
    """The mean of the losses over rows whose target is not IGNORE, and kept_rows[2 T]: one over their number."""
    total = tl.zeros((BLOCK,), tl.float32)
    count = tl.zeros((BLOCK,), tl.int32)
    for first in range(0, T, BLOCK):
        at = first + tl.arange(0, BLOCK)
        total += tl.load(kept_rows + at, mask=at < T, other=0.0)
        count += (tl.load(target + at, mask=at < T, other=IGNORE) != IGNORE).to(tl.int32)
    number = tl.sum(count, 0).to(tl.float32)
    tl.store(mean, tl.sum(total, 0) / number)
    tl.store(kept_rows + 2 * T, 1.0 / number)


@triton.jit
def logit_gradients(logits, target, kept_rows, grad, out, T, V, IGNORE, BLOCK: tl.constexpr):
    """out = grad / count * (softmax - one at the target), 0 in ignored rows; BLOCK logits of a row a program."""
    row = tl.program_id(0).to(tl.int64)
    at = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    wanted = tl.load(target + row)
    factor = tl.where(wanted != IGNORE, tl.load(grad).to(tl.float32) * tl.load(kept_rows + 2 * T), 0.0)
    value = tl.load(logits + row * V + at, mask=at < V, other=float("-inf")).to(tl.float32)
    share = tl.exp(value - tl.load(kept_rows + T + row)) - tl.where(at == wanted, 1.0, 0.0)
    result = tl.where(factor == 0.0, 0.0, share * factor)
    tl.store(out + row * V + at, result.to(out.dtype.element_ty), mask=at < V)


BLOCK = 2048
THREADS = 256
"""Eight logits a lane, so that each loads 128 bits whatever the wavefront."""
FORWARD_THREADS = 128
"""Sixteen logits a lane: two loads at a time. NVIDIA H200, 4096 x 32000, microseconds: 67.4, with 256 threads 70.4."""
MEAN = (2048, 512)
"""Losses at a time and threads of the one program that takes their mean: it alone keeps the GPU waiting."""


class _Plan:
    """The launches for logits of one shape, type and device."""

    def __init__(self, logits: torch.Tensor, ignore_index: int) -> None:
        self.count, width = logits.shape
        kind = {"dtype": torch.float32, "device": logits.device}
        self.rows: Callable[[], torch.Tensor] = partial(torch.empty, 2 * self.count + 1, **kind)
        self.scalar: Callable[[], torch.Tensor] = partial(torch.empty, (), **kind)
        count = warps(THREADS, logits.device)
        fixed = {"T": self.count, "V": width, "IGNORE": ignore_index, "BLOCK": BLOCK, "ONE": self.count == 1}
        self.losses = Launch(
            row_losses, (self.count,), ("logits", "target", "kept_rows", "mean"), fixed,
            num_warps=warps(FORWARD_THREADS, logits.device),
        )  # fmt: skip
        few = {"T": self.count, "IGNORE": ignore_index, "BLOCK": MEAN[0]}
        given = ("kept_rows", "target", "mean")
        self.mean = Launch(mean_loss, (1,), given, few, num_warps=warps(MEAN[1], logits.device))
        given = ("logits", "target", "kept_rows", "grad", "out")
        grid = (self.count, triton.cdiv(width, BLOCK))
        self.gradients = Launch(logit_gradients, grid, given, fixed, num_warps=count)

    def forward(self, logits: torch.Tensor, target: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """The mean loss, and what the backward needs: a loss and a logarithm a row, and one over the number of rows."""
        kept_rows, mean = self.rows(), self.scalar()
        if self.count:
            self.losses(logits, target, kept_rows, mean)
        if self.count != 1:
            self.mean(kept_rows, target, mean)
        return mean, kept_rows


class _CrossEntropy(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, logits: torch.Tensor, target: torch.Tensor, plan: _Plan) -> torch.Tensor:
        logits, target = logits.contiguous(), target.contiguous()
        mean, kept_rows = plan.forward(logits, target)
        ctx.save_for_backward(logits, target, kept_rows)
        ctx.plan = plan
        return mean

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad: torch.Tensor) -> tuple[torch.Tensor, None, None]:
        logits, target, kept_rows = ctx.saved_tensors
        out = torch.empty_like(logits)
        if out.numel():
            ctx.plan.gradients(logits, target, kept_rows, grad.contiguous(), out)
        return out, None, None


def prepare(logits: torch.Tensor, target: torch.Tensor, ignore_index: int) -> Callable[..., torch.Tensor]:
    """`run` for operands of these shapes and types."""
    plan = _Plan(logits, ignore_index)
    if torch.is_grad_enabled() and logits.requires_grad:
        return lambda logits, target, _: _CrossEntropy.apply(logits, target, plan)
    return lambda logits, target, _: plan.forward(logits.contiguous(), target.contiguous())[0]


def run(logits: torch.Tensor, target: torch.Tensor, ignore_index: int) -> torch.Tensor:
    """See `rocport.ops.cross_entropy`."""
    return prepare(logits, target, ignore_index)(logits, target, ignore_index)


def refuse(platform: Platform, logits: torch.Tensor, target: torch.Tensor, ignore_index: int) -> str:
    if logits.dtype not in (torch.float32, torch.float16, torch.bfloat16):
        return f"needs float32, float16 or bfloat16, have {logits.dtype}"
    if target.dtype not in (torch.int32, torch.int64):
        return f"needs int32 or int64 targets, have {target.dtype}"
    return refuse_triton(platform)


TIER = Tier("triton", 5, run, refuse, "rocport", prepare)
