"""Dequantize in Triton: a lane decodes eight neighbours, so that it stores 128 bits of 16-bit output and its neighbours
continue them. Bit-exact with eager."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import triton
import triton.language as tl

from rocport.ops.decode import (
    arguments,
    column,
    finish_scale,
    halve,
    lane_lookup,
    lane_table,
    refuse_triton,
    takes_ptx,
    warps,
)  # fmt: skip
from rocport.ops.dispatch import Tier
from rocport.ops.formats import QuantTensor
from rocport.ops.launch import Launch
from rocport.runtime.machine import Platform


@triton.jit
def lane_code(low, high, START: tl.constexpr, BITS: tl.constexpr):
    """The code at bit START of the 64 bits high:low."""
    if START >= 32:
        code = high >> (START - 32)
    elif START + BITS > 32:
        code = (low.to(tl.uint32, bitcast=True) >> START).to(tl.int32, bitcast=True) | (high << (32 - START))
    else:
        code = low >> START
    return code & ((1 << BITS) - 1)


@triton.jit
def dequantize_kernel(
    codes, scales, biases, table, scale_table, absmax2, offset, out, numel,
    BITS: tl.constexpr, GROUP: tl.constexpr, LUT: tl.constexpr, SCALE: tl.constexpr, FLAT: tl.constexpr,
    BLOCK: tl.constexpr, SHUFFLE: tl.constexpr,
):  # fmt: skip
    """BLOCK lanes of eight elements a program. Rows are whole words, so the whole tensor is one bit stream. The eight
    codes of a lane start at a whole byte and lie in two words at most; a group has at least sixteen, so they share a
    scale. `out` is flat, `numel` its elements."""
    # Last first: what a matmul reads first is then still in the L2 cache (125 us against 126.5 at 512 rows, N = 14336,
    # K = 4096, NVIDIA H200).
    first = (tl.num_programs(0) - 1 - tl.program_id(0)).to(tl.int64) * (BLOCK * 8)
    lane = tl.arange(0, BLOCK)
    left = numel - first
    known = lane * 8 < left
    group = first // GROUP + (first % GROUP + lane * 8) // GROUP
    raw = tl.load(scales + group, mask=known, other=0)
    words = codes + first // 32 * BITS
    shift = (lane * (8 * BITS)) % 32
    if BITS == 8:
        pair = tl.load(words + lane[:, None] * 2 + tl.arange(0, 2)[None, :], mask=known[:, None], other=0)
        low, high = column(pair, 0, 2), column(pair, 1, 2)
    else:
        at = lane * (8 * BITS) // 32
        low = tl.load(words + at, mask=known, other=0)
        high = low
        if 32 % BITS != 0:
            crosses = shift + 8 * BITS > 32
            high = tl.load(words + at + 1, mask=known & crosses, other=0)
            wide = (high.to(tl.int64) << 32) | (low.to(tl.int64) & 0xFFFFFFFF)
            wide = wide >> shift.to(tl.int64)
            low, high = wide.to(tl.int32), (wide >> 32).to(tl.int32)
        elif BITS == 2:
            low = low >> shift
    scale = finish_scale(raw, scale_table, absmax2, offset, group, known, SCALE)
    if not LUT:
        bias = tl.load(biases + group, mask=known, other=0.0).to(tl.float32)
    if LUT and BITS == 4 and SHUFFLE:
        entries = lane_table(table, lane)
    parts = ()
    for j in tl.static_range(8):
        code = lane_code(low, high, (j ^ 1 if FLAT and BITS == 4 else j) * BITS, BITS)
        if LUT and BITS == 4 and SHUFFLE:
            value = lane_lookup(entries, code) * scale
        elif LUT:
            value = tl.load(table + code) * scale
        else:
            value = code.to(tl.float32) * scale + bias
        parts = parts + (value.to(out.dtype.element_ty),)
    parts = halve(halve(parts, 4), 2)
    dense = tl.reshape(tl.join(parts[0], parts[1]), (BLOCK, 8))
    at = lane[:, None] * 8 + tl.arange(0, 8)[None, :]
    tl.store(out + first + at, dense, mask=at < left)


LANES = 1024
"""Lanes of eight elements, two a thread. Best of nine on an NVIDIA H200."""


def prepare(q: QuantTensor, dtype: torch.dtype) -> Callable[[], torch.Tensor]:
    """`run`, decided once. FP fusion is off: a fused multiply-add would differ in the last bit."""
    device = q.codes.device
    if q.numel == 0:
        return lambda: torch.empty(q.shape, dtype=dtype, device=device)
    a = arguments(q)
    # 3-, 5- and 6-bit codes are 3 % faster in half the block.
    lanes = LANES if 32 % a.bits == 0 else LANES // 2
    fixed = a.named | {
        "numel": q.numel, "BITS": a.bits, "GROUP": a.group, "LUT": a.lut, "SCALE": a.scale_mode, "FLAT": a.flat,
        "BLOCK": lanes, "SHUFFLE": takes_ptx(device),
    }  # fmt: skip
    options: dict[str, Any] = {"num_warps": warps(lanes // 2, device), "enable_fp_fusion": False}
    launch = Launch(dequantize_kernel, (triton.cdiv(q.numel, lanes * 8),), ("out",), fixed, **options)
    shape = q.shape

    def call() -> torch.Tensor:
        out = torch.empty(shape, dtype=dtype, device=device)
        launch(out)
        return out

    return call


def run(q: QuantTensor, dtype: torch.dtype) -> torch.Tensor:
    """See `rocport.ops.dequantize`."""
    return prepare(q, dtype)()


def refuse(platform: Platform, q: QuantTensor, dtype: torch.dtype) -> str:
    if dtype not in (torch.float32, torch.float16, torch.bfloat16):
        return f"needs float32, float16 or bfloat16 output, have {dtype}"
    return refuse_triton(platform)


TIER = Tier("triton", 20, run, refuse, "rocport", prepare)
