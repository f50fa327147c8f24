"""RMS norm and layer norm in Triton, forward and backward: what the triton tiers of both share.

The backward reads x and the incoming gradient once. A program keeps several rows' share of the weight's gradient in
registers and writes it once; a second kernel adds the programs' shares in a fixed order, so that the result does not
change between runs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import triton
import triton.language as tl

from rocport.ops.decode import compute_units, let_the_next_begin, refuse_triton, wait_for_the_one_before
from rocport.ops.launch import Launch
from rocport.runtime.machine import Platform, platform


@triton.jit
def row_index(block, ROWS: tl.constexpr):
    """Rows of a block: a scalar, or [ROWS, 1]."""
    if ROWS == 1:
        row = block
    else:
        row = (block * ROWS + tl.arange(0, ROWS))[:, None]
    return row


@triton.jit
def row_mask(row, at, T, D, ROWS: tl.constexpr):
    """Which elements `at` of the rows exist."""
    if ROWS == 1:
        row = row + tl.zeros_like(at)
    return (row < T) & (at < D)


@triton.jit
def row_sum(tile, ROWS: tl.constexpr):
    """Sums of the rows: a scalar, or [ROWS, 1]."""
    if ROWS == 1:
        total = tl.sum(tile, 0)
    else:
        total = tl.sum(tile, 1)[:, None]
    return total


@triton.jit
def norm_forward(
    x, weight, bias, out, means, scales, T, D, eps,
    MEAN: tl.constexpr, SAVE: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr, FOLLOW: tl.constexpr,
):  # fmt: skip
    """ROWS rows a program. SAVE keeps 1 / sqrt(variance + eps) of each row, with MEAN its mean, for the backward.
    FOLLOW: launched while the kernel before ends; the next begins when the last rows are taken."""
    if FOLLOW:
        wait_for_the_one_before()
        let_the_next_begin()
    row = row_index(tl.program_id(0), ROWS)
    at = tl.arange(0, BLOCK)
    inside = row_mask(row, at, T, D, ROWS)
    offset = row.to(tl.int64) * D + at
    wide = tl.load(x + offset, mask=inside, other=0.0).to(tl.float32)
    factor = tl.load(weight + at, mask=at < D, other=0.0).to(tl.float32)
    if MEAN:
        shift = tl.load(bias + at, mask=at < D, other=0.0).to(tl.float32)
        mean = row_sum(wide, ROWS) / D
        wide = tl.where(inside, wide - mean, 0.0)
    scale = tl.rsqrt(row_sum(wide * wide, ROWS) / D + eps)
    result = wide * scale * factor
    if MEAN:
        result += shift
    tl.store(out + offset, result.to(out.dtype.element_ty), mask=inside)
    if SAVE:
        tl.store(scales + row, scale, mask=row < T)
        if MEAN:
            tl.store(means + row, mean, mask=row < T)


@triton.jit
def rows_of(x, grad, block, T, D, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    """A block of rows of x and of the incoming gradient; 0 past the last."""
    row = row_index(block, ROWS)
    at = tl.arange(0, BLOCK)
    inside = row_mask(row, at, T, D, ROWS)
    offset = row.to(tl.int64) * D + at
    return tl.load(x + offset, mask=inside, other=0.0), tl.load(grad + offset, mask=inside, other=0.0)


@triton.jit
def norm_backward(
    grad, x, weight, means, scales, grad_x, parts, T, D,
    MEAN: tl.constexpr, SHARED: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr, AHEAD: tl.constexpr,
    STAGES: tl.constexpr, FOLLOW: tl.constexpr,
):  # fmt: skip
    """Program p takes every P-th block of ROWS rows, asked for ahead into registers (AHEAD) or into shared memory, at
    most STAGES - 1 blocks. SHARED: the weight's gradient (with MEAN also the bias's) is
    wanted; `parts` [1 or 2, P, D] takes the programs' shares. FOLLOW: launched while the kernel before ends."""
    if FOLLOW:
        wait_for_the_one_before()
    program, programs = tl.program_id(0), tl.num_programs(0)
    at = tl.arange(0, BLOCK)
    factor = tl.load(weight + at, mask=at < D, other=0.0).to(tl.float32)
    weight_share = tl.zeros((BLOCK,), tl.float32)
    bias_share = tl.zeros((BLOCK,), tl.float32)
    if AHEAD:
        next_x, next_grad = rows_of(x, grad, program, T, D, ROWS, BLOCK)
    for block in tl.range(program, tl.cdiv(T, ROWS), programs, num_stages=STAGES if STAGES > 0 else None):
        if AHEAD:
            # The next rows are asked for before these are computed: a program has few rows in flight otherwise.
            this_x, this_grad = next_x, next_grad
            next_x, next_grad = rows_of(x, grad, block + programs, T, D, ROWS, BLOCK)
        else:
            this_x, this_grad = rows_of(x, grad, block, T, D, ROWS, BLOCK)
        row = row_index(block, ROWS)
        inside = row_mask(row, at, T, D, ROWS)
        scale = tl.load(scales + row, mask=row < T, other=0.0)
        normal = this_x.to(tl.float32)
        if MEAN:
            normal = tl.where(inside, normal - tl.load(means + row, mask=row < T, other=0.0), 0.0)
        normal = normal * scale
        wide = this_grad.to(tl.float32)
        inner = wide * factor
        result = inner - normal * (row_sum(inner * normal, ROWS) / D)
        if MEAN:
            result = result - row_sum(inner, ROWS) / D
        tl.store(grad_x + row.to(tl.int64) * D + at, (result * scale).to(grad_x.dtype.element_ty), mask=inside)
        if SHARED:
            weight_share += wide * normal if ROWS == 1 else tl.sum(wide * normal, 0)
            if MEAN:
                bias_share += wide if ROWS == 1 else tl.sum(wide, 0)
    if FOLLOW:
        let_the_next_begin()
    if SHARED:
        tl.store(parts + program.to(tl.int64) * D + at, weight_share, mask=at < D)
        if MEAN:
            tl.store(parts + (programs + program).to(tl.int64) * D + at, bias_share, mask=at < D)


@triton.jit
def sum_parts(parts, out, P, D, DEEP: tl.constexpr, WIDE: tl.constexpr, FOLLOW: tl.constexpr):
    """out [axis 1, D] = the sum of parts [axis 1, P, D] over P. FOLLOW: launched while the kernel before ends."""
    if FOLLOW:
        wait_for_the_one_before()
    which = tl.program_id(1)
    at = tl.program_id(0) * WIDE + tl.arange(0, WIDE)
    total = tl.zeros((DEEP, WIDE), tl.float32)
    for first in range(0, P, DEEP):
        part = first + tl.arange(0, DEEP)
        offset = (which * P + part).to(tl.int64)[:, None] * D + at[None, :]
        total += tl.load(parts + offset, mask=(part < P)[:, None] & (at < D)[None, :], other=0.0)
    if FOLLOW:
        let_the_next_begin()
    tl.store(out + which * D + at, tl.sum(total, 0).to(out.dtype.element_ty), mask=at < D)


def row_warps(block: int, where: Platform, a_lane: int = 16) -> int:
    """Warps for a block of elements, `a_lane` a lane."""
    wave = where.target.wavefront if where.target else 32
    return max(1, min(1024 // wave, block // (a_lane * wave)))


def rows_a_program(block: int) -> int:
    """Rows of `block` elements that make a program worth its launch."""
    return max(1, 1024 // block)


BACKWARD_A_UNIT = 2
"""Programs of the backward a multiprocessor: one computes while another waits. Best of six on an NVIDIA H200."""

STAGES = 3
STAGED_A_UNIT = 6144
STAGED_AT_MOST = 65536
"""On NVIDIA the backward copies the next two blocks of rows into shared memory while it computes, where they take so
many bytes at most; so many elements of rows a multiprocessor has in work. NVIDIA H200, 2^26 elements, bf16, share of
copy bandwidth, before (one row ahead in registers) / now: layer norm of 1024, 2048, 4096, 8192 0.43, 0.70, 0.88, 0.79 /
0.93, 0.92, 0.93, 0.91; RMS norm of 1024, 2048, 4096 0.53, 0.78, 0.94 / 0.95, 0.95, 0.93. Two and four stages, and half
or twice as many programs, are slower by 10 to 40 %."""

SUM = (128, 16, 4)
"""Programs' shares and columns a step of `sum_parts`, and its warps. Best of six on an NVIDIA H200."""


class _Plan:
    """The launches for rows of one shape, type and device. `bias` makes it a layer norm."""

    def __init__(self, x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None, eps: float) -> None:
        self.where = platform(x.device)
        self.units = compute_units(x.device)
        self.mean = bias is not None
        self.width, self.bytes = x.shape[-1], x.element_size()
        self.count = x.numel() // self.width
        self.block = triton.next_power_of_2(self.width)
        self.several = rows_a_program(self.block)
        self.eps = eps
        self.plain, self.saving = self._forward(False), self._forward(True)
        self._back: dict[bool, tuple[int, Launch, Launch]] = {}

    def _launch(
        self, kernel: Any, grid: tuple[int, ...], given: tuple[str, ...], fixed: dict[str, Any], warps: int
    ) -> Launch:
        return Launch(kernel, grid, given, fixed, self.where, num_warps=warps)

    def _forward(self, save: bool) -> Launch:
        fixed = {
            "T": self.count, "D": self.width, "eps": self.eps,
            "MEAN": self.mean, "SAVE": save, "ROWS": self.several, "BLOCK": self.block,
        }  # fmt: skip
        given = ("x", "weight", "bias", "out", "means", "scales")
        grid = (triton.cdiv(self.count, self.several),)
        return self._launch(norm_forward, grid, given, fixed, row_warps(self.block * self.several, self.where))

    def back(self, shared: bool) -> tuple[int, Launch, Launch]:
        """How many programs share the weight's gradient, the backward, and the sum of their shares."""
        if shared not in self._back:
            size = self.block * self.several
            staged = self.where.target is None and 2 * (STAGES - 1) * size * self.bytes <= STAGED_AT_MOST
            a_unit = triton.cdiv(STAGED_A_UNIT, self.width * self.several) if staged else BACKWARD_A_UNIT
            programs = min(triton.cdiv(self.count, self.several), a_unit * self.units)
            if staged:
                warps = row_warps(size, self.where, 16 if self.mean or size != 4096 else 8)
            else:
                # 32 a lane for layer norm: best of four on an NVIDIA H200; on AMD it leaves too few wavefronts.
                warps = row_warps(size, self.where, 32 if self.mean and self.where.target is None else 8)
            # Rows asked for ahead need registers that 16 elements a lane leave on no AMD target.
            ahead = self.where.target is None or size <= 8 * warps * self.where.target.wavefront
            fixed = {
                "T": self.count, "D": self.width,
                "MEAN": self.mean, "SHARED": shared, "ROWS": self.several, "BLOCK": self.block,
                "AHEAD": ahead and not staged, "STAGES": STAGES if staged else 0,
            }  # fmt: skip
            given = ("grad", "x", "weight", "means", "scales", "grad_x", "parts")
            rows = self._launch(norm_backward, (programs,), given, fixed, warps)
            fixed = {"P": programs, "D": self.width, "DEEP": SUM[0], "WIDE": SUM[1]}
            grid = (triton.cdiv(self.width, SUM[1]), 2 if self.mean else 1)
            self._back[shared] = programs, rows, self._launch(sum_parts, grid, ("parts", "out"), fixed, SUM[2])
        return self._back[shared]


class _Norm(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None, plan: _Plan
    ) -> torch.Tensor:
        x, weight = x.contiguous(), weight.contiguous()
        out = torch.empty_like(x)
        scales = torch.empty(plan.count, dtype=torch.float32, device=x.device)
        means = torch.empty_like(scales) if bias is not None else scales
        plan.saving(x, weight, weight if bias is None else bias.contiguous(), out, means, scales)
        ctx.save_for_backward(x, weight, means, scales)
        ctx.plan = plan
        return out

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        x, weight, means, scales = ctx.saved_tensors
        plan: _Plan = ctx.plan
        shared = ctx.needs_input_grad[1] or ctx.needs_input_grad[2]
        programs, rows, total = plan.back(shared)
        grad = grad.contiguous()
        grad_x = torch.empty_like(grad)
        if not shared:
            rows(grad, x, weight, means, scales, grad_x, scales)
            return grad_x, None, None, None
        kinds = 2 if plan.mean else 1
        parts = torch.empty((kinds, programs, plan.width), dtype=torch.float32, device=x.device)
        sums = torch.empty((kinds, plan.width), dtype=weight.dtype, device=x.device)
        rows(grad, x, weight, means, scales, grad_x, parts)
        total(parts, sums)
        return grad_x, sums[0], sums[1] if plan.mean else None, None


Norm = Callable[[torch.Tensor, torch.Tensor, torch.Tensor | None], torch.Tensor]


def prepare(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None, eps: float) -> Norm:
    """RMS norm over the last dimension, or layer norm when there is a bias: a function of x, weight and bias of these
    shapes, types and device. Differentiable in all three."""
    plan = _Plan(x, weight, bias, eps)
    if torch.is_grad_enabled() and any(t is not None and t.requires_grad for t in (x, weight, bias)):
        return lambda x, weight, bias: _Norm.apply(x, weight, bias, plan)

    def call(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None) -> torch.Tensor:
        x = x.contiguous()
        out = torch.empty_like(x)
        # What is not kept is stood in for by x, and never written.
        plan.plain(x, weight.contiguous(), weight if bias is None else bias.contiguous(), out, x, x)
        return out

    return call


def norm(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None, eps: float) -> torch.Tensor:
    """RMS norm of x over its last dimension, or layer norm when there is a bias. Differentiable in all three."""
    return prepare(x, weight, bias, eps)(x, weight, bias)


WIDEST = 65536
"""Elements of the longest row that one program holds."""


def refuse_rows(platform: Platform, x: torch.Tensor) -> str:
    """Why the kernels that hold a row in one program cannot take x; empty when they can."""
    if x.dtype not in (torch.float32, torch.float16, torch.bfloat16):
        return f"needs float32, float16 or bfloat16, have {x.dtype}"
    if x.shape[-1] > WIDEST:
        return f"keeps a row in one program, at most {WIDEST} long, have {x.shape[-1]}"
    return refuse_triton(platform)
