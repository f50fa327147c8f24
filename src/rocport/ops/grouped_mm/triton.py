"""Grouped matmul in one Triton launch: each program finds its group by a scan over the group ends."""

from __future__ import annotations

from dataclasses import dataclass

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
    """One [BM, BN] tile. Row tiles are counted over all groups; a group of r rows has ceil(r / BM). The rows past the
    last end are one more group, whose result is 0. Programs that share rows of x follow each other, so that x is read
    once."""
    columns = tl.cdiv(N, BN)
    tile = tl.program_id(0) // columns
    index = tl.arange(0, GROUPS)
    end = tl.load(ends + index, mask=index < EXPERTS, other=0)
    end = tl.where(index == EXPERTS, T, end)
    start = tl.load(ends + index - 1, mask=(index > 0) & (index <= EXPERTS), other=0)
    tiles = tl.cdiv(tl.maximum(end - start, 0), BM)
    upto = tl.cumsum(tiles, 0)
    expert = tl.sum((upto <= tile).to(tl.int32), 0)
    if expert <= EXPERTS:
        here = index == expert
        first = tl.sum(tl.where(here, start + (tile - upto + tiles) * BM, 0), 0)
        last = tl.sum(tl.where(here, end, 0), 0)
        m = first + tl.arange(0, BM)
        n = tl.program_id(0) % columns * BN + tl.arange(0, BN)
        row = tl.minimum(m, T - 1).to(tl.int64)
        column = tl.minimum(n, N - 1).to(tl.int64)
        matrix = weight + expert.to(tl.int64) * stride_e
        acc = tl.zeros((BM, BN), tl.float32)
        for k0 in range(0, tl.where(expert < EXPERTS, K, 0), BK):
            k = k0 + tl.arange(0, BK)
            left = tl.load(x + row[:, None] * K + k[None, :], mask=(k < K)[None, :], other=0.0)
            right = tl.load(
                matrix + (k.to(tl.int64) * stride_k)[:, None] + (column * stride_n)[None, :],
                mask=(k < K)[:, None], other=0.0,
            )  # fmt: skip
            acc = tl.dot(left, right, acc, input_precision="ieee")
        to = out + row[:, None] * N + n[None, :]
        tl.store(to, acc.to(out.dtype.element_ty), mask=(m < last)[:, None] & (n < N)[None, :])


@dataclass(frozen=True)
class GroupConfig:
    """Tile sizes of `grouped_kernel`."""

    bm: int
    bn: int
    bk: int
    warps: int
    stages: int


def group_config(where: Platform, rows: int, experts: int) -> GroupConfig:
    """Tiles by the average rows of a group. With Hopper's shared memory the best of up to 24 on an NVIDIA H200
    (E = 128, N = 768, K = 2048); elsewhere what fits 64 KB."""
    few, some = rows <= 16 * experts, rows <= 128 * experts
    if where.capability is not None and where.capability[0] in (9, 10):
        if few:
            return GroupConfig(16, 128, 128, 4, 3)
        return GroupConfig(128, 128, 64, 8, 3) if some else GroupConfig(128, 256, 64, 8, 4)
    if few:
        return GroupConfig(16, 64, 64, 4, 2)
    if some:
        return GroupConfig(64, 64, 64, 4, 2)
    # Eight warps of 32 lanes spill 27 registers on gfx1100.
    narrow = where.target is not None and where.target.wavefront == 32
    return GroupConfig(128, 128, 64, 16 if narrow else 8, 2)


def run(x: torch.Tensor, weight: torch.Tensor, ends: torch.Tensor) -> torch.Tensor:
    """See `rocport.ops.grouped_mm`."""
    rows, k = x.shape
    experts, _, n = weight.shape
    out = torch.empty((rows, n), dtype=x.dtype, device=x.device)
    config = group_config(platform(x.device), rows, experts)
    # Every group, and the rows past the last, may end in a part tile: this many tiles are enough whatever the groups,
    # and nothing is counted on the host.
    tiles = triton.cdiv(rows, config.bm) + min(experts, rows)
    with on_device(x):
        grouped_kernel[(triton.cdiv(n, config.bn) * tiles,)](
            x, weight, ends, out, rows, n, k, *weight.stride(), experts,
            BM=config.bm, BN=config.bn, BK=config.bk, GROUPS=triton.next_power_of_2(experts + 1),
            num_warps=config.warps, num_stages=config.stages, enable_fp_fusion=True,
        )  # fmt: skip
    return out


def refuse(platform: Platform, x: torch.Tensor, weight: torch.Tensor, ends: torch.Tensor) -> str:
    if x.dtype not in (torch.float32, torch.float16, torch.bfloat16) or weight.dtype != x.dtype:
        return f"needs one of float32, float16, bfloat16 on both sides, have {x.dtype} and {weight.dtype}"
    return refuse_triton(platform)


TIER = Tier("triton", 20, run, refuse, "rocport", lambda *_: run)
