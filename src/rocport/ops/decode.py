"""What the Triton kernels share: scales, code tables, packed words. Imported by the Triton tiers only."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass

import torch
import triton
import triton.language as tl

from rocport.ops.formats import QuantTensor
from rocport.ops.tables import table
from rocport.runtime.machine import Platform

# How a kernel reads the scale of a group; constexpr arguments of the kernels.
SCALE_PLAIN = 0
SCALE_NESTED = 1
SCALE_E8M0 = 2
SCALE_TABLE = 3


@triton.jit
def load_scale(scales, scale_table, absmax2, offset, at, mask, MODE: tl.constexpr):
    """The fp32 scale of group `at`: plain, nested (table[code] * absmax2 + offset), 2^(e - 127), or e4m3 by table."""
    if MODE == 0:
        scale = tl.load(scales + at, mask=mask, other=0.0).to(tl.float32)
    elif MODE == 1:
        inner = tl.load(scale_table + tl.load(scales + at, mask=mask, other=0).to(tl.int32))
        scale = inner * tl.load(absmax2 + at // 256, mask=mask, other=0.0) + tl.load(offset)
    elif MODE == 2:
        exponent = tl.load(scales + at, mask=mask, other=0).to(tl.int32)
        scale = tl.where(exponent == 0, 1 << 22, exponent << 23).to(tl.float32, bitcast=True)
    else:
        scale = tl.load(scale_table + tl.load(scales + at, mask=mask, other=0).to(tl.int32))
    return scale


@triton.jit
def column(tile, AT: tl.constexpr, WIDTH: tl.constexpr):
    """Column `AT` of an integer tile [T, WIDTH] as [T]. A row lies in one lane, so this moves nothing."""
    index = tl.arange(0, WIDTH)
    return tl.sum(tl.where((index == AT)[None, :], tile, 0), 1)


@triton.jit
def word_values(words, PER: tl.constexpr, BITS: tl.constexpr, HIGH_FIRST: tl.constexpr):
    """Packed words [A, W] to codes [A, W * PER]. HIGH_FIRST: the even element of a byte is its high half."""
    A: tl.constexpr = words.shape[0]
    W: tl.constexpr = words.shape[1]
    element = tl.arange(0, PER)
    if HIGH_FIRST:
        element = element ^ 1
    codes = (words[:, :, None] >> (element * BITS)[None, None, :]) & ((1 << BITS) - 1)
    return tl.reshape(codes, (A, W * PER))


@triton.jit
def joined_values(words, PER: tl.constexpr, BITS: tl.constexpr, HIGH_FIRST: tl.constexpr):
    """As `word_values`, built by joins: the codes of a word stay in the lane that loaded it, side by side, so that a
    tile of them is stored and loaded in wide pieces. A broadcast over a new dimension spreads them over lanes."""
    A: tl.constexpr = words.shape[0]
    W: tl.constexpr = words.shape[1]
    parts = ()
    for j in tl.static_range(PER):
        if HIGH_FIRST:
            code = (words >> ((j ^ 1) * BITS)) & ((1 << BITS) - 1)
        else:
            code = (words >> (j * BITS)) & ((1 << BITS) - 1)
        parts = parts + (code,)
    if PER == 16:
        parts = halve(parts, 8)
    if PER >= 8:
        parts = halve(parts, 4)
    parts = halve(parts, 2)
    return tl.reshape(tl.join(parts[0], parts[1]), (A, W * PER))


@triton.jit
def halve(parts, HALF: tl.constexpr):
    """Join part i with part i + HALF, for each i below HALF."""
    joined = ()
    for i in tl.static_range(HALF):
        joined = joined + (tl.join(parts[i], parts[i + HALF]),)
    return joined


@triton.jit
def stream_values(codes, row, k, mask, BITS: tl.constexpr):
    """Codes of elements `k` of a bit stream whose rows start at word `row`; for widths that cross words."""
    bit = k * BITS
    at = bit // 32
    shift = (bit % 32).to(tl.uint32)
    low = tl.load(codes + row + at, mask=mask, other=0).to(tl.uint32, bitcast=True) >> shift
    crosses = mask & (shift > 32 - BITS)
    high = tl.load(codes + row + at + 1, mask=crosses, other=0).to(tl.uint32, bitcast=True)
    joined = low | tl.where(crosses, high << (32 - tl.where(crosses, shift, 1)), 0)
    return (joined & ((1 << BITS) - 1)).to(tl.int32)


@dataclass(frozen=True)
class Arguments:
    """A QuantTensor as kernel arguments: tensors in order, and what is fixed at compile time."""

    codes: torch.Tensor
    scales: torch.Tensor
    biases: torch.Tensor
    table: torch.Tensor
    scale_table: torch.Tensor
    absmax2: torch.Tensor
    offset: torch.Tensor
    bits: int
    group: int
    lut: bool
    scale_mode: int
    flat: bool

    @property
    def tensors(self) -> tuple[torch.Tensor, ...]:
        return (
            self.codes, self.scales, self.biases, self.table, self.scale_table, self.absmax2, self.offset
        )  # fmt: skip


def arguments(q: QuantTensor) -> Arguments:
    """Kernel arguments of `q`. Unused tensors are stood in for by the scales: they are never read."""
    device = q.codes.device
    fmt = q.format
    codes = q.codes.contiguous().view(-1)
    if fmt.flat:
        padding = -codes.numel() % 4
        if padding or codes.data_ptr() % 16:
            codes = torch.nn.functional.pad(codes, (0, padding)).clone()
        codes = codes.view(torch.int32)
    scales = q.scales.contiguous()
    mode = SCALE_PLAIN
    scale_table = absmax2 = offset = scales
    if q.absmax2 is not None and q.offset is not None:
        mode, absmax2, offset = SCALE_NESTED, q.absmax2, q.offset
        scale_table = table("dynamic8", device)
    elif fmt.kind == "nvfp4":
        mode, scale_table = SCALE_TABLE, table("mxfp8", device)
    elif fmt.kind in ("mxfp4", "mxfp8"):
        mode = SCALE_E8M0
    lut = fmt.kind != "affine"
    return Arguments(
        codes=codes,
        scales=scales,
        biases=q.biases.contiguous() if q.biases is not None else scales,
        table=table(fmt.kind, device) if lut else scales,
        scale_table=scale_table,
        absmax2=absmax2,
        offset=offset,
        bits=fmt.bits,
        group=fmt.group,
        lut=lut,
        scale_mode=mode,
        flat=fmt.flat,
    )


def refuse_triton(platform: Platform) -> str:
    """Why Triton kernels cannot run on `platform`; empty when they can."""
    if platform.kind == "cpu" and not platform.interpreted:
        return "needs a GPU (or TRITON_INTERPRET=1, which is slow), have the CPU"
    if platform.kind == "cuda" and platform.capability is not None and platform.capability < (7, 5):
        return "needs compute capability 7.5 or later, have {}.{}".format(*platform.capability)
    if platform.kind == "rocm" and platform.target is not None and platform.target.matrix == "none":
        return f"needs a target with matrix instructions that Triton compiles for, have {platform.gfx}"
    return ""


@contextlib.contextmanager
def on_device(tensor: torch.Tensor) -> Iterator[None]:
    """Launch on the device that holds `tensor`: Triton launches on the current one."""
    if tensor.is_cuda and tensor.device.index != torch.cuda.current_device():
        with torch.cuda.device(tensor.device):
            yield
    else:
        yield


def interpreted() -> bool:
    """The kernels of this process run under Triton's interpreter."""
    return os.environ.get("TRITON_INTERPRET", "0") == "1"
