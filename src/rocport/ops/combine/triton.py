"""Weighed sums of rows in Triton: each row is read once, where it lies, and nothing is written but the sums."""

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
def combine_kernel(rows, places, weights, out, D, TOP: tl.constexpr, BLOCK: tl.constexpr):
    """BLOCK columns of one sum a program."""
    t = tl.program_id(0).to(tl.int64)
    at = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for j in tl.static_range(TOP):
        place = tl.load(places + t * TOP + j)
        weight = tl.load(weights + t * TOP + j, mask=place >= 0, other=0.0).to(tl.float32)
        known = (at < D) & (place + tl.zeros_like(at) >= 0)
        row = tl.load(rows + place.to(tl.int64) * D + at, mask=known, other=0.0)
        total += weight * row.to(tl.float32)
    tl.store(out + t * D + at, total.to(out.dtype.element_ty), mask=at < D)


BLOCK = 2048
LANES = 256
TOP_AT_MOST = 32
"""Rows of a sum that are asked for one by one in the code."""


def prepare(
    rows: torch.Tensor, places: torch.Tensor, weights: torch.Tensor
) -> Callable[[torch.Tensor, torch.Tensor, torch.Tensor], torch.Tensor]:
    """`run` for operands of these shapes and types: a function of them."""
    count, top = places.shape
    shape = (count, rows.shape[1])
    grid, fixed = (count, triton.cdiv(shape[1], BLOCK)), {"D": shape[1], "TOP": top, "BLOCK": BLOCK}
    given = ("rows", "places", "weights", "out")
    launch = Launch(combine_kernel, grid, given, fixed, num_warps=warps(LANES, rows.device))

    def call(rows: torch.Tensor, places: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
        out = rows.new_empty(shape)
        launch(rows, places, weights, out)
        return out

    return call


def run(rows: torch.Tensor, places: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    """See `rocport.ops.combine`."""
    return prepare(rows, places, weights)(rows, places, weights)


def refuse(platform: Platform, rows: torch.Tensor, places: torch.Tensor, weights: torch.Tensor) -> str:
    if rows.dtype not in (torch.float32, torch.float16, torch.bfloat16):
        return f"needs float32, float16 or bfloat16, have {rows.dtype}"
    if places.shape[1] > TOP_AT_MOST:
        return f"adds up to {TOP_AT_MOST} rows, have {places.shape[1]}"
    return refuse_triton(platform)


TIER = Tier("triton", 20, run, refuse, "rocport", prepare)
