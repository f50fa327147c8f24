"""Softmax in Triton, a row in registers, forward and backward."""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl

from rocport.ops.decode import on_device
from rocport.ops.dispatch import Tier
from rocport.ops.norms import refuse_rows, row_index, row_mask, row_sum, row_warps, rows_a_program
from rocport.runtime.machine import Platform, platform


@triton.jit
def softmax_kernel(x, out, T, D, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    """ROWS rows a program."""
    row = row_index(tl.program_id(0), ROWS)
    at = tl.arange(0, BLOCK)
    inside = row_mask(row, at, T, D, ROWS)
    offset = row.to(tl.int64) * D + at
    wide = tl.load(x + offset, mask=inside, other=float("-inf")).to(tl.float32)
    if ROWS == 1:
        most = tl.max(wide, 0)
    else:
        most = tl.max(wide, 1)[:, None]
    # Rows past the last are all -inf: their NaN is not stored.
    powers = tl.exp(wide - most)
    # One division a row: a division an element took longer than the memory.
    tl.store(out + offset, (powers * (1.0 / row_sum(powers, ROWS))).to(out.dtype.element_ty), mask=inside)


@triton.jit
def softmax_backward(y, grad, grad_x, T, D, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    """grad_x = y * (grad - sum(y * grad)), ROWS rows a program."""
    row = row_index(tl.program_id(0), ROWS)
    at = tl.arange(0, BLOCK)
    inside = row_mask(row, at, T, D, ROWS)
    offset = row.to(tl.int64) * D + at
    share = tl.load(y + offset, mask=inside, other=0.0).to(tl.float32)
    incoming = tl.load(grad + offset, mask=inside, other=0.0).to(tl.float32)
    result = share * (incoming - row_sum(share * incoming, ROWS))
    tl.store(grad_x + offset, result.to(grad_x.dtype.element_ty), mask=inside)


class _Softmax(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        rows = x.contiguous().view(-1, x.shape[-1])
        out = torch.empty_like(rows)
        launch(softmax_kernel, rows, out)
        ctx.save_for_backward(out)
        return out.view(x.shape)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad: torch.Tensor) -> torch.Tensor:
        (out,) = ctx.saved_tensors
        grad = grad.contiguous()
        grad_x = torch.empty_like(grad)
        launch(softmax_backward, out, grad, grad_x)
        return grad_x


def launch(kernel: Any, rows: torch.Tensor, *others: torch.Tensor) -> None:
    """Run one of the kernels over rows [T, D]."""
    count, width = rows.shape
    block = triton.next_power_of_2(width)
    several = rows_a_program(block)
    with on_device(rows):
        kernel[(triton.cdiv(count, several),)](
            rows, *others, count, width, ROWS=several, BLOCK=block,
            num_warps=row_warps(block * several, platform(rows.device)),
        )  # fmt: skip


def run(x: torch.Tensor) -> torch.Tensor:
    """See `rocport.ops.softmax`."""
    out: torch.Tensor = _Softmax.apply(x)
    return out


def refuse(platform: Platform, x: torch.Tensor) -> str:
    return refuse_rows(platform, x)


TIER = Tier("triton", 5, run, refuse, "rocport")
