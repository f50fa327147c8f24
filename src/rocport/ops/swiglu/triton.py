"""SwiGLU in Triton, forward and backward. Out of place: Liger's backward writes the gradients over gate and up."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import triton
import triton.language as tl

from rocport.ops.decode import refuse_triton, warps
from rocport.ops.dispatch import Tier
from rocport.ops.launch import Launch
from rocport.runtime.machine import Platform


@triton.jit
def swiglu_kernel(gate, up, out, numel, BLOCK: tl.constexpr):
    """BLOCK elements a program."""
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    known = at < numel
    wide = tl.load(gate + at, mask=known, other=0.0).to(tl.float32)
    other = tl.load(up + at, mask=known, other=0.0).to(tl.float32)
    tl.store(out + at, (wide * tl.sigmoid(wide) * other).to(out.dtype.element_ty), mask=known)


@triton.jit
def swiglu_backward(grad, gate, up, grad_gate, grad_up, numel, BLOCK: tl.constexpr):
    """BLOCK elements a program."""
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    known = at < numel
    incoming = tl.load(grad + at, mask=known, other=0.0).to(tl.float32)
    wide = tl.load(gate + at, mask=known, other=0.0).to(tl.float32)
    other = tl.load(up + at, mask=known, other=0.0).to(tl.float32)
    sigmoid = tl.sigmoid(wide)
    silu = wide * sigmoid
    tl.store(grad_up + at, (incoming * silu).to(grad_up.dtype.element_ty), mask=known)
    slope = sigmoid * (1 + wide * (1 - sigmoid))
    tl.store(grad_gate + at, (incoming * other * slope).to(grad_gate.dtype.element_ty), mask=known)


BLOCK = 2048
THREADS = 256
"""Eight elements a lane, so that each loads 128 bits whatever the wavefront."""


class _Plan:
    """The launches for tensors of one size, type and device."""

    def __init__(self, gate: torch.Tensor) -> None:
        grid, fixed = (triton.cdiv(gate.numel(), BLOCK),), {"numel": gate.numel(), "BLOCK": BLOCK}
        count = warps(THREADS, gate.device)
        self.forward = Launch(swiglu_kernel, grid, ("gate", "up", "out"), fixed, num_warps=count)
        given = ("grad", "gate", "up", "grad_gate", "grad_up")
        self.backward = Launch(swiglu_backward, grid, given, fixed, num_warps=count)


class _Swiglu(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, gate: torch.Tensor, up: torch.Tensor, plan: _Plan) -> torch.Tensor:
        gate, up = gate.contiguous(), up.contiguous()
        ctx.save_for_backward(gate, up)
        ctx.plan = plan
        out = torch.empty_like(gate)
        plan.forward(gate, up, out)
        return out

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, None]:
        gate, up = ctx.saved_tensors
        grad_gate, grad_up = torch.empty_like(gate), torch.empty_like(up)
        ctx.plan.backward(grad.contiguous(), gate, up, grad_gate, grad_up)
        return grad_gate, grad_up, None


def prepare(gate: torch.Tensor, up: torch.Tensor) -> Callable[[torch.Tensor, torch.Tensor], torch.Tensor]:
    """`run` for operands of these shapes and types."""
    plan = _Plan(gate)
    if torch.is_grad_enabled() and (gate.requires_grad or up.requires_grad):
        return lambda gate, up: _Swiglu.apply(gate, up, plan)

    def call(gate: torch.Tensor, up: torch.Tensor) -> torch.Tensor:
        gate, up = gate.contiguous(), up.contiguous()
        out = torch.empty_like(gate)
        plan.forward(gate, up, out)
        return out

    return call


def run(gate: torch.Tensor, up: torch.Tensor) -> torch.Tensor:
    """See `rocport.ops.swiglu`."""
    return prepare(gate, up)(gate, up)


def refuse(platform: Platform, gate: torch.Tensor, up: torch.Tensor) -> str:
    for tensor in (gate, up):
        if tensor.dtype not in (torch.float32, torch.float16, torch.bfloat16):
            return f"needs float32, float16 or bfloat16, have {tensor.dtype}"
    return refuse_triton(platform)


TIER = Tier("triton", 5, run, refuse, "rocport", prepare)
