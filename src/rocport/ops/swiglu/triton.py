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
def swiglu_rows_kernel(gate, up, out, D, stride, BLOCK: tl.constexpr):
    """BLOCK columns of one row a program; rows of gate and up lie `stride` elements apart, as halves of one matrix."""
    row = tl.program_id(0).to(tl.int64)
    at = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    wide = tl.load(gate + row * stride + at, mask=at < D, other=0.0).to(tl.float32)
    other = tl.load(up + row * stride + at, mask=at < D, other=0.0).to(tl.float32)
    tl.store(out + row * D + at, (wide * tl.sigmoid(wide) * other).to(out.dtype.element_ty), mask=at < D)


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
        self._strided: dict[int, Launch] = {}
        grid, fixed = (triton.cdiv(gate.numel(), BLOCK),), {"numel": gate.numel(), "BLOCK": BLOCK}
        count = warps(THREADS, gate.device)
        self.forward = Launch(swiglu_kernel, grid, ("gate", "up", "out"), fixed, num_warps=count)
        given = ("grad", "gate", "up", "grad_gate", "grad_up")
        self.backward = Launch(swiglu_backward, grid, given, fixed, num_warps=count)

    def strided(self, gate: torch.Tensor) -> Launch:
        """The forward for rows that lie as far apart as those of `gate` [T, D]."""
        if (stride := gate.stride(0)) not in self._strided:
            rows, width = gate.shape
            block = min(BLOCK, triton.next_power_of_2(width))
            fixed = {"D": width, "stride": stride, "BLOCK": block}
            grid = (rows, triton.cdiv(width, block))
            count = max(1, warps(THREADS * block // BLOCK, gate.device))
            self._strided[stride] = Launch(swiglu_rows_kernel, grid, ("gate", "up", "out"), fixed, num_warps=count)
        return self._strided[stride]


def _halves(gate: torch.Tensor, up: torch.Tensor) -> bool:
    """Rows that lie apart, in both alike."""
    return gate.dim() == 2 and gate.stride() == up.stride() and gate.stride(1) == 1 and not gate.is_contiguous()


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
        if _halves(gate, up):
            out = gate.new_empty(gate.shape)
            plan.strided(gate)(gate, up, out)
            return out
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
