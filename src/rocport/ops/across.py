"""x @ W with W quantized along its columns: what MLX calls `transpose=False`, and the transpose of a layer's product.

No kernel sums across the groups of a format: the tiers that dequantize serve it. Its gradient is the ordinary product,
which has kernels.
"""

from __future__ import annotations

from typing import Any

import torch

from rocport.ops import library, plans, served
from rocport.ops.dispatch import operator
from rocport.ops.formats import QuantTensor
from rocport.runtime.machine import platform


class _Across(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, q: QuantTensor, experts: torch.Tensor | None, tier: str) -> torch.Tensor:
        ctx.q, ctx.experts = q, experts
        name = "quantized_matmul" if experts is None else "gather_qmm"
        call = (x, q, experts, False)
        out: torch.Tensor = operator(name).select(platform(x.device), *call, tier=tier).run(*call)
        return out

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        grad = grad.contiguous()
        if ctx.experts is None:
            serve = plans.matmul if served.direct(grad) else library.matmul
            return serve(grad, ctx.q, None, ""), None, None, None
        several = plans.gather if served.direct(grad) else library.gather
        if ctx.experts.dim() == 1:
            return several(grad, ctx.q, ctx.experts, ""), None, None, None
        each = several(grad.flatten(0, 1), ctx.q, ctx.experts.flatten(), "")
        return each.view(*ctx.experts.shape, -1).sum(1), None, None, None


def matmul(x: torch.Tensor, q: QuantTensor, bias: torch.Tensor | None, tier: str) -> torch.Tensor:
    """x [..., K] times q [K, N]."""
    if torch.compiler.is_compiling():
        out = x @ library.dequantize(q, x.dtype)
    else:
        rows = x.reshape(-1, x.shape[-1])
        out = _Across.apply(rows, q, None, tier).view(*x.shape[:-1], q.shape[1])  # type: ignore[no-untyped-call]
    return out if bias is None else out + bias.to(out.dtype)


def gather(x: torch.Tensor, q: QuantTensor, experts: torch.Tensor, tier: str) -> torch.Tensor:
    """x [T, K] times those of q [E, K, N] that `experts` [T] or [T, top] name."""
    library.check_experts(experts, q.shape[0])
    if experts.numel() == 0:
        return x.new_zeros((*experts.shape, q.shape[2]))
    out: torch.Tensor = _Across.apply(x, q, experts, tier)  # type: ignore[no-untyped-call]
    return out
