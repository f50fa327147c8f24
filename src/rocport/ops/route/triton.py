"""`route` as a counting sort in Triton: how many rows of each block meet each expert, then where each row goes. Two
launches in place of the dozen of a sort and its inverse."""

from __future__ import annotations

from collections.abc import Callable

import torch
import triton
import triton.language as tl

from rocport.ops.decode import refuse_triton, warps
from rocport.ops.dispatch import Tier
from rocport.ops.launch import Launch
from rocport.runtime.machine import Platform


@triton.jit
def expert_at(experts, at, R, E):
    """The expert of the rows `at`: E for what is none of the E, E + 1 past the last of R rows."""
    expert = tl.load(experts + at, mask=at < R, other=0)
    expert = tl.where((expert >= 0) & (expert < E), expert, E).to(tl.int32)
    return tl.where(at < R, expert, E + 1)


@triton.jit
def count_experts(experts, counts, R, E, GROUPS: tl.constexpr, BLOCK: tl.constexpr):
    """How many of BLOCK rows meet each of GROUPS experts, to one row of counts [programs, GROUPS]."""
    block = tl.program_id(0)
    found = tl.histogram(expert_at(experts, block * BLOCK + tl.arange(0, BLOCK), R, E), GROUPS)
    tl.store(counts + block * GROUPS + tl.arange(0, GROUPS), found)


@triton.jit
def place_rows(
    experts, counts, rows, places, ends, R, E, TOP, blocks,
    GROUPS: tl.constexpr, BLOCK: tl.constexpr, STEP: tl.constexpr,
):  # fmt: skip
    """Places of BLOCK rows: after the rows of the experts before, of its own expert in the blocks before, and in its
    block before it."""
    block = tl.program_id(0)
    group = tl.arange(0, GROUPS)
    total = tl.zeros((GROUPS,), tl.int32)
    before = tl.zeros((GROUPS,), tl.int32)
    for first in range(0, blocks, STEP):
        index = first + tl.arange(0, STEP)
        some = tl.load(counts + index[:, None] * GROUPS + group[None, :], mask=(index < blocks)[:, None], other=0)
        total += tl.sum(some, 0)
        before += tl.sum(tl.where((index < block)[:, None], some, 0), 0)
    upto = tl.cumsum(total, 0)
    if block == 0:
        tl.store(ends + group, upto, mask=group < E)
    here = tl.arange(0, BLOCK)
    at = block * BLOCK + here
    expert = expert_at(experts, at, R, E)
    rank = tl.zeros((BLOCK,), tl.int32)
    for first in range(0, BLOCK, STEP):
        other = first + tl.arange(0, STEP)
        same = expert[:, None] == expert_at(experts, block * BLOCK + other, R, E)[None, :]
        rank += tl.sum((same & (other[None, :] < here[:, None])).to(tl.int32), 1)
    place = tl.gather(upto - total + before, expert, 0) + rank
    tl.store(rows + place, at // TOP, mask=at < R)
    tl.store(places + at, tl.where(expert < E, place, -1), mask=at < R)


BLOCK, STEP = 256, 8
THREADS = 128
ROWS_AT_MOST = 2**16
"""Each block reads what all blocks counted: beyond this a radix sort reads less."""
EXPERTS_AT_MOST = 1022


def prepare(
    experts: torch.Tensor, count: int
) -> Callable[[torch.Tensor, int], tuple[torch.Tensor, torch.Tensor, torch.Tensor]]:
    """`run` for experts of this shape and type: a function of them."""
    size, shape, device = experts.numel(), experts.shape, experts.device
    blocks, groups = triton.cdiv(size, BLOCK), triton.next_power_of_2(count + 2)
    fixed = {"R": size, "E": count, "TOP": shape[1], "blocks": blocks, "GROUPS": groups, "BLOCK": BLOCK, "STEP": STEP}
    lanes = warps(THREADS, device)
    counting = Launch(count_experts, (blocks,), ("experts", "counts"), fixed, num_warps=lanes)
    given = ("experts", "counts", "rows", "places", "ends")
    placing = Launch(place_rows, (blocks,), given, fixed, num_warps=lanes)

    def call(experts: torch.Tensor, count: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        counts = torch.empty(blocks * groups, dtype=torch.int32, device=device)
        rows = torch.empty(size, dtype=torch.int32, device=device)
        places = torch.empty(shape, dtype=torch.int32, device=device)
        ends = torch.empty(count, dtype=torch.int32, device=device)
        counting(experts, counts)
        placing(experts, counts, rows, places, ends)
        return rows, places, ends

    return call


def run(experts: torch.Tensor, count: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """See `rocport.ops.route`."""
    return prepare(experts, count)(experts, count)


def refuse(platform: Platform, experts: torch.Tensor, count: int) -> str:
    if experts.numel() > ROWS_AT_MOST or count > EXPERTS_AT_MOST:
        return f"sorts up to {ROWS_AT_MOST} rows by up to {EXPERTS_AT_MOST} experts, have {experts.numel()} and {count}"
    return refuse_triton(platform)


TIER = Tier("triton", 20, run, refuse, "rocport", prepare)
