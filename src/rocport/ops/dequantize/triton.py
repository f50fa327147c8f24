"""Dequantize in Triton: packed words in 128-bit loads, dense tiles in 128-bit stores. Bit-exact with eager."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from rocport.ops.decode import arguments, load_scale, on_device, refuse_triton, stream_values, word_values
from rocport.ops.dispatch import Tier
from rocport.ops.formats import QuantTensor
from rocport.runtime.machine import Platform


@triton.jit
def dequantize_words(
    codes, scales, biases, table, scale_table, absmax2, offset, out, numel,
    BITS: tl.constexpr, GROUP: tl.constexpr, LUT: tl.constexpr, SCALE: tl.constexpr, FLAT: tl.constexpr,
    BLOCK: tl.constexpr,
):  # fmt: skip
    """BLOCK words a program; for widths that divide 32. `out` is flat, `numel` its elements."""
    PER: tl.constexpr = 32 // BITS
    LANE: tl.constexpr = 4 * PER
    first = tl.program_id(0).to(tl.int64) * BLOCK
    lane = tl.arange(0, BLOCK // 4)
    left = numel - first * PER
    quads = lane[:, None] * 4 + tl.arange(0, 4)[None, :]
    words = tl.load(codes + first + quads, mask=quads * PER < left, other=0)
    values = word_values(words, PER, BITS, FLAT and BITS == 4)
    if LUT:
        dense = tl.load(table + values)
    else:
        dense = values.to(tl.float32)
    SPLIT: tl.constexpr = LANE // GROUP if GROUP < LANE else 1
    segment = lane[:, None] * SPLIT + tl.arange(0, SPLIT)[None, :]
    begin = segment * (LANE // SPLIT)
    group = first * PER // GROUP + ((first * PER) % GROUP + begin) // GROUP
    known = begin < left
    scale = load_scale(scales, scale_table, absmax2, offset, group, known, SCALE)
    parts = tl.reshape(dense, (BLOCK // 4, SPLIT, LANE // SPLIT)) * scale[:, :, None]
    if not LUT:
        parts += tl.load(biases + group, mask=known, other=0.0).to(tl.float32)[:, :, None]
    at = lane[:, None] * LANE + tl.arange(0, LANE)[None, :]
    tl.store(out + first * PER + at, tl.reshape(parts, (BLOCK // 4, LANE)).to(out.dtype.element_ty), mask=at < left)


@triton.jit
def dequantize_stream(
    codes, scales, biases, out, numel,
    BITS: tl.constexpr, GROUP: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """BLOCK elements a program; for 3, 5 and 6 bits, whose codes cross words. Rows are whole words, so the whole
    tensor is one bit stream."""
    first = tl.program_id(0).to(tl.int64) * BLOCK
    k = tl.arange(0, BLOCK)
    known = k < numel - first
    values = stream_values(codes, first * BITS // 32, k, known, BITS)
    group = first // GROUP + k // GROUP
    scale = tl.load(scales + group, mask=known, other=0.0).to(tl.float32)
    bias = tl.load(biases + group, mask=known, other=0.0).to(tl.float32)
    dense = values.to(tl.float32) * scale + bias
    tl.store(out + first + k, dense.to(out.dtype.element_ty), mask=known)


WORDS = {"BLOCK": 1024, "num_warps": 4}
TABLE_WORDS = {"BLOCK": 512, "num_warps": 4}
"""For 4-bit codes looked up in a table; each row of settings measured best of five on an NVIDIA H200."""
STREAM = {"BLOCK": 2048, "num_warps": 4}


def run(q: QuantTensor, dtype: torch.dtype) -> torch.Tensor:
    """See `rocport.ops.dequantize`. FP fusion is off: a fused multiply-add would differ in the last bit."""
    out = torch.empty(q.shape, dtype=dtype, device=q.codes.device)
    numel = out.numel()
    if numel == 0:
        return out
    a = arguments(q)
    with on_device(out):
        if 32 % a.bits == 0:
            settings = TABLE_WORDS if a.lut and a.bits == 4 else WORDS
            grid = (triton.cdiv(numel, settings["BLOCK"] * (32 // a.bits)),)
            dequantize_words[grid](
                *a.tensors, out, numel, a.bits, a.group, a.lut, a.scale_mode, a.flat,
                BLOCK=settings["BLOCK"], num_warps=settings["num_warps"], enable_fp_fusion=False,
            )  # fmt: skip
        else:
            dequantize_stream[(triton.cdiv(numel, STREAM["BLOCK"]),)](
                a.codes, a.scales, a.biases, out, numel, a.bits, a.group,
                BLOCK=STREAM["BLOCK"], num_warps=STREAM["num_warps"], enable_fp_fusion=False,
            )  # fmt: skip
    return out


def refuse(platform: Platform, q: QuantTensor, dtype: torch.dtype) -> str:
    if dtype not in (torch.float32, torch.float16, torch.bfloat16):
        return f"needs float32, float16 or bfloat16 output, have {dtype}"
    return refuse_triton(platform)


TIER = Tier("triton", 20, run, refuse, "rocport")
