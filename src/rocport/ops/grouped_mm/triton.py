"""Grouped matmul in one Triton launch: each program finds its group by a scan over the group ends."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from rocport.ops.decode import on_device, refuse_triton
from rocport.ops.dispatch import Tier
from rocport.runtime.machine import Platform, platform


@triton.jit
def grouped_kernel(
    x, weight, ends, out, T, N, K, stride_e, stride_k, stride_n, EXPERTS,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUPS: tl.constexpr,
):  # fmt: skip
    """One [BM, BN] tile. Program axis 0 counts row tiles over all groups; a group of r rows has ceil(r / BM)."""
    tile = tl.program_id(0)
    index = tl.arange(0, GROUPS)
    end = tl.load(ends + index, mask=index < EXPERTS, other=0)
    start = tl.load(ends + index - 1, mask=(index > 0) & (index < EXPERTS), other=0)
    tiles = tl.cdiv(tl.maximum(end - start, 0), BM)
    upto = tl.cumsum(tiles, 0)
    expert = tl.sum((upto <= tile).to(tl.int32), 0)
    if expert < EXPERTS:
        here = index == expert
        first = tl.sum(tl.where(here, start + (tile - upto + tiles) * BM, 0), 0)
        last = tl.sum(tl.where(here, end, 0), 0)
        m = first + tl.arange(0, BM)
        n = tl.program_id(1) * BN + tl.arange(0, BN)
        row = tl.minimum(m, T - 1).to(tl.int64)
        column = tl.minimum(n, N - 1).to(tl.int64)
        matrix = weight + expert.to(tl.int64) * stride_e
        acc = tl.zeros((BM, BN), tl.float32)
        for k0 in range(0, K, BK):
            k = k0 + tl.arange(0, BK)
            left = tl.load(x + row[:, None] * K + k[None, :], mask=(k < K)[None, :], other=0.0)
            right = tl.load(
                matrix + (k.to(tl.int64) * stride_k)[:, None] + (column * stride_n)[None, :],
                mask=(k < K)[:, None], other=0.0,
            )  # fmt: skip
            acc = tl.dot(left, right, acc, input_precision="ieee")
        to = out + row[:, None] * N + n[None, :]
        tl.store(to, acc.to(out.dtype.element_ty), mask=(m < last)[:, None] & (n < N)[None, :])


@triton.jit
def zero_tail(ends, out, T, N, EXPERTS, BLOCK: tl.constexpr):
    """Rows past the last end are 0, as in the specification."""
    row = tl.program_id(0)
    if row >= tl.load(ends + EXPERTS - 1):
        at = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
        tl.store(out + row.to(tl.int64) * N + at, tl.zeros((BLOCK,), out.dtype.element_ty), mask=at < N)


CONFIGS = (
    (16, {"BM": 16, "BN": 64, "BK": 64, "num_warps": 4, "num_stages": 2}),
    (128, {"BM": 64, "BN": 64, "BK": 64, "num_warps": 4, "num_stages": 2}),
)
LARGE = {"BM": 128, "BN": 128, "BK": 64, "num_warps": 8, "num_stages": 2}
"""Tiles by the average rows of a group: up to 16, up to 128, more."""


def run(x: torch.Tensor, weight: torch.Tensor, ends: torch.Tensor) -> torch.Tensor:
    """See `rocport.ops.grouped_mm`."""
    rows, k = x.shape
    experts, _, n = weight.shape
    out = torch.empty((rows, n), dtype=x.dtype, device=x.device)
    config = next((tile for most, tile in CONFIGS if rows <= most * experts), LARGE)
    bm, bn = config["BM"], config["BN"]
    where, warps = platform(x.device), config["num_warps"]
    if where.target is not None and where.target.wavefront == 32 and config is LARGE:
        warps = 16  # Eight spill 27 registers on gfx1100.
    # Every group may end in a part tile, so this many tiles are enough whatever the groups; no sync to count them.
    tiles = triton.cdiv(rows, bm) + min(experts, rows)
    with on_device(x):
        grouped_kernel[(tiles, triton.cdiv(n, bn))](
            x, weight, ends, out, rows, n, k, *weight.stride(), experts,
            BM=bm, BN=bn, BK=config["BK"], GROUPS=triton.next_power_of_2(experts),
            num_warps=warps, num_stages=config["num_stages"], enable_fp_fusion=True,
        )  # fmt: skip
        zero_tail[(rows, triton.cdiv(n, 1024))](ends, out, rows, n, experts, BLOCK=1024, num_warps=4)
    return out


def refuse(platform: Platform, x: torch.Tensor, weight: torch.Tensor, ends: torch.Tensor) -> str:
    if x.dtype not in (torch.float32, torch.float16, torch.bfloat16) or weight.dtype != x.dtype:
        return f"needs one of float32, float16, bfloat16 on both sides, have {x.dtype} and {weight.dtype}"
    return refuse_triton(platform)


TIER = Tier("triton", 20, run, refuse, "rocport")
