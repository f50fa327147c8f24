"""Quantize in Triton, on the current stream: usable on side streams and in graphs, which bitsandbytes 0.50.2 is not."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import torch
import triton
import triton.language as tl

from rocport.ops.decode import on_device, refuse_triton
from rocport.ops.dispatch import Tier
from rocport.ops.formats import NESTED_BLOCK, Format, QuantTensor, blocks
from rocport.ops.tables import table
from rocport.runtime.machine import Platform, platform

BUCKET_SHIFT = 17
"""Bits of an fp32 dropped to find its bucket: 64 buckets an octave, narrower than any step of the dynamic type."""
LOWEST_EXPONENT = 127 - 24
"""Magnitudes below 2^-24 share the first bucket: they are nearer to 0 than to the smallest code, 5.5e-7."""


@triton.jit
def nearest_even(x):
    """fp32 to the nearest integer, halfway to even, for |x| < 2^22, on every backend."""
    magic = 12582912.0
    return (x + magic) - magic


@triton.jit
def pack(codes, BITS: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    """Codes [ROWS, COLUMNS] to words [ROWS, COLUMNS * BITS / 32]; for widths that divide 32, low element first."""
    PER: tl.constexpr = 32 // BITS
    tile = tl.reshape(codes, (ROWS, COLUMNS // PER, PER))
    return tl.sum(tile << (tl.arange(0, PER) * BITS)[None, None, :], 2)


@triton.jit
def quantize_affine(x, codes, scales, biases, groups, BITS: tl.constexpr, GROUP: tl.constexpr, BLOCK: tl.constexpr):
    """BLOCK groups a program. The scale is anchored at the end of the range that is larger in magnitude."""
    first = tl.program_id(0).to(tl.int64) * BLOCK
    row = tl.arange(0, BLOCK)
    known = row < groups - first
    at = row[:, None] * GROUP + tl.arange(0, GROUP)[None, :]
    value = tl.load(x + first * GROUP + at, mask=known[:, None], other=0.0).to(tl.float32)
    high = tl.max(value, 1)
    low = tl.min(value, 1)
    LEVELS: tl.constexpr = (1 << BITS) - 1
    scale = tl.maximum(tl.div_rn(high - low, tl.full((BLOCK,), LEVELS, tl.float32)), 1e-7)
    anchor_low = tl.abs(low) > tl.abs(high)
    scale = tl.where(anchor_low, scale, -scale)
    edge = tl.where(anchor_low, low, high)
    zero = nearest_even(tl.div_rn(edge, scale))
    scale = tl.where(zero != 0, tl.div_rn(edge, tl.where(zero != 0, zero, 1.0)), scale)
    bias = tl.where(zero == 0, 0.0, edge)
    level = nearest_even(tl.div_rn(value - bias[:, None], tl.broadcast_to(scale[:, None], (BLOCK, GROUP))))
    code = tl.minimum(tl.maximum(level, 0.0), LEVELS).to(tl.int32)
    tl.store(scales + first + row, scale.to(scales.dtype.element_ty), mask=known)
    tl.store(biases + first + row, bias.to(biases.dtype.element_ty), mask=known)
    WORDS: tl.constexpr = GROUP * BITS // 32
    if 32 % BITS == 0:
        words = pack(code, BITS, BLOCK, GROUP)
        to = row[:, None] * WORDS + tl.arange(0, WORDS)[None, :]
        tl.store(codes + first * WORDS + to, words, mask=known[:, None])
    else:
        UNITS: tl.constexpr = GROUP // 32
        tile = tl.reshape(code, (BLOCK, UNITS, 32))
        unit = row[:, None] * UNITS + tl.arange(0, UNITS)[None, :]
        start = tl.arange(0, 32) * BITS
        for word in tl.static_range(BITS):
            shift = start - 32 * word
            inside = (shift > -BITS) & (shift < 32)
            left = tile << tl.where(shift >= 0, shift & 31, 0)[None, None, :]
            right = tile >> tl.where(shift < 0, (-shift) & 31, 0)[None, None, :]
            part = tl.where((shift >= 0)[None, None, :], left, right)
            packed = tl.sum(tl.where(inside[None, None, :], part, 0), 2)
            tl.store(codes + first * WORDS + unit * BITS + word, packed, mask=known[:, None])


@triton.jit
def block_scale(value):
    """absmax of each row, and its reciprocal as the specification takes it."""
    absmax = tl.max(tl.abs(value), 1)
    one = tl.full((value.shape[0],), 1.0, tl.float32)
    return absmax, tl.div_rn(one, tl.maximum(absmax, 1.1754943508222875e-38))


@triton.jit
def sorted_code(scaled, start, middle, SHIFT: tl.constexpr, LOWEST: tl.constexpr, BUCKETS: tl.constexpr):
    """How many decision points lie below `scaled`, |scaled| <= 1. `start[bucket]` counts those below the bucket, found
    by the leading bits of the float; at most one lies inside, and one comparison settles it."""
    bucket = (tl.abs(scaled).to(tl.int32, bitcast=True) >> SHIFT) - (LOWEST << (23 - SHIFT))
    bucket = tl.maximum(bucket, 0) + tl.where(scaled < 0, BUCKETS, 0)
    low = tl.load(start + bucket).to(tl.int32)
    return low + (scaled > tl.load(middle + low)).to(tl.int32)


@triton.jit
def quantize_4bit(
    x, codes, absmaxes, start, middle, numel, NF4: tl.constexpr, SHIFT: tl.constexpr, LOWEST: tl.constexpr,
    BUCKETS: tl.constexpr, GROUP: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """BLOCK blocks of GROUP elements a program; `middle` holds the 15 (NF4) or 7 (FP4) decision points."""
    first = tl.program_id(0).to(tl.int64) * BLOCK
    row = tl.arange(0, BLOCK)
    at = row[:, None] * GROUP + tl.arange(0, GROUP)[None, :]
    left = numel - first * GROUP
    value = tl.load(x + first * GROUP + at, mask=at < left, other=0.0).to(tl.float32)
    absmax, reciprocal = block_scale(value)
    tl.store(absmaxes + first + row, absmax, mask=row * GROUP < left)
    scaled = value * reciprocal[:, None]
    if NF4:
        code = sorted_code(tl.minimum(tl.maximum(scaled, -1.0), 1.0), start, middle, SHIFT, LOWEST, BUCKETS)
    else:
        code = tl.zeros((BLOCK, GROUP), tl.int32)
        size = tl.abs(scaled)
        for step in tl.static_range(7):
            code += (size > tl.load(middle + step)).to(tl.int32)
        # Position among the increasing magnitudes to the code that means it, a nibble each.
        code = (0x32547610 >> (code * 4)) & 7
        code = tl.where((scaled < 0) & (code > 0), code + 8, code)
    pairs = tl.reshape(code, (BLOCK, GROUP // 2, 2))
    byte = tl.sum(pairs << ((1 - tl.arange(0, 2)) * 4)[None, None, :], 2)
    to = row[:, None] * (GROUP // 2) + tl.arange(0, GROUP // 2)[None, :]
    tl.store(codes + first * (GROUP // 2) + to, byte.to(tl.uint8), mask=to * 2 < left)


@triton.jit
def quantize_dynamic8(
    x, codes, absmaxes, start, middle, numel, SHIFT: tl.constexpr, LOWEST: tl.constexpr, BUCKETS: tl.constexpr,
    GROUP: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """BLOCK blocks of GROUP elements a program."""
    first = tl.program_id(0).to(tl.int64) * BLOCK
    row = tl.arange(0, BLOCK)
    at = row[:, None] * GROUP + tl.arange(0, GROUP)[None, :]
    left = numel - first * GROUP
    value = tl.load(x + first * GROUP + at, mask=at < left, other=0.0).to(tl.float32)
    absmax, reciprocal = block_scale(value)
    tl.store(absmaxes + first + row, absmax, mask=row * GROUP < left)
    scaled = tl.minimum(tl.maximum(value * reciprocal[:, None], -1.0), 1.0)
    code = sorted_code(scaled, start, middle, SHIFT, LOWEST, BUCKETS)
    tl.store(codes + first * GROUP + at, code.to(tl.uint8), mask=at < left)


@triton.jit
def e4m3_code(value):
    """Nearest e4m3 code of fp32 |value| <= 448, halfway to even, without fp8 instructions."""
    bits = value.to(tl.int32, bitcast=True)
    sign = (bits >> 24) & 0x80
    size = bits & 0x7FFFFFFF
    normal = ((size + 0x7FFFF + ((size >> 20) & 1)) >> 20) - (120 << 3)
    small = nearest_even(tl.abs(value) * 512.0).to(tl.int32)
    return tl.where(size < (121 << 23), small, normal) | sign


@triton.jit
def quantize_microscaling(
    x, codes, scales, groups, middle, scale_table, KIND: tl.constexpr, GROUP: tl.constexpr, BLOCK: tl.constexpr
):
    """BLOCK groups a program; KIND 0 mxfp4, 1 nvfp4, 2 mxfp8."""
    first = tl.program_id(0).to(tl.int64) * BLOCK
    row = tl.arange(0, BLOCK)
    known = row < groups - first
    at = row[:, None] * GROUP + tl.arange(0, GROUP)[None, :]
    value = tl.load(x + first * GROUP + at, mask=known[:, None], other=0.0).to(tl.float32)
    largest = tl.max(tl.abs(value), 1)
    LIMIT: tl.constexpr = 448.0 if KIND == 2 else 6.0
    ratio = tl.div_rn(largest, tl.full((BLOCK,), LIMIT, tl.float32))
    if KIND == 1:
        stored = e4m3_code(tl.minimum(ratio, 448.0))
        scale = tl.load(scale_table + stored)
    else:
        bits = ratio.to(tl.int32, bitcast=True)
        exponent = (bits >> 23) + ((bits & 0x7FFFFF) != 0).to(tl.int32)
        stored = tl.where(largest == 0, 127, tl.minimum(exponent, 254))
        scale = tl.where(stored == 0, 1 << 22, stored << 23).to(tl.float32, bitcast=True)
    tl.store(scales + first + row, stored.to(tl.uint8), mask=known)
    divisor = tl.where(scale == 0, 1.0, scale)
    scaled = tl.div_rn(value, tl.broadcast_to(divisor[:, None], (BLOCK, GROUP)))
    scaled = tl.where((scale == 0)[:, None], 0.0, scaled)
    if KIND == 2:
        code = e4m3_code(tl.minimum(tl.maximum(scaled, -LIMIT), LIMIT))
        words = pack(code, 8, BLOCK, GROUP)
        WORDS: tl.constexpr = GROUP // 4
    else:
        size = tl.abs(scaled)
        code = tl.zeros((BLOCK, GROUP), tl.int32)
        for step in tl.static_range(7):
            point = tl.load(middle + step)
            # Halfway goes to the even code: up from an odd one, down from an even one.
            above = (size >= point) if step % 2 == 1 else (size > point)
            code += above.to(tl.int32)
        code = tl.where((scaled < 0) & (code > 0), code + 8, code)
        words = pack(code, 4, BLOCK, GROUP)
        WORDS: tl.constexpr = GROUP // 8
    to = row[:, None] * WORDS + tl.arange(0, WORDS)[None, :]
    tl.store(codes + first * WORDS + to, words, mask=known[:, None])


@cache
def decision_points(kind: str, device: torch.device) -> torch.Tensor:
    """Midpoints between neighbouring values: of all codes (nf4, dynamic8), or of the magnitudes (fp4, e2m1)."""
    values = table(kind, torch.device("cpu"))
    if kind in ("fp4", "mxfp4", "nvfp4"):
        values = values[:8]
    values = values.sort().values
    return ((values[:-1] + values[1:]) / 2).to(device)


@cache
def buckets(kind: str, device: torch.device) -> tuple[torch.Tensor, torch.Tensor, int]:
    """For `sorted_code` of nf4 or dynamic8: decision points below each bucket (int16, positive then negative),
    the points with an infinity appended, and the number of buckets a sign."""
    middle = decision_points(kind, torch.device("cpu"))
    lowest = LOWEST_EXPONENT << (23 - BUCKET_SHIFT)
    count = (0x3F800000 >> BUCKET_SHIFT) - lowest + 1
    low = (torch.arange(lowest, lowest + count) << BUCKET_SHIFT).to(torch.int32).view(torch.float32)
    low[0] = 0.0
    high = ((torch.arange(lowest + 1, lowest + count + 1) << BUCKET_SHIFT) - 1).to(torch.int32).view(torch.float32)
    positive = torch.bucketize(low, middle)
    negative = torch.bucketize(-high, middle)
    start = torch.cat([positive, negative]).to(torch.int16)
    padded = torch.cat([middle, torch.tensor([float("inf")])])
    return start.to(device), padded.to(device), count


@dataclass(frozen=True)
class Tile:
    """What one program quantizes: `elements`, but at most `blocks` blocks and at least one, with 32-wide warps."""

    elements: int = 2048
    blocks: int = 4096
    warps: int = 4

    def fit(self, group: int, where: Platform) -> tuple[int, int]:
        """Blocks of `group` a program, and warps at the wavefront width of `where`: eight elements a lane or more."""
        wave = where.target.wavefront if where.target else 32
        return max(1, min(self.blocks, self.elements // group)), max(1, self.warps * 32 // wave)


# 32 NF4 blocks a program were 6 times slower than 16 on an NVIDIA H200 (643 us against 112 for 67M elements).
TILES = {"nf4": Tile(blocks=16), "fp4": Tile(), "dynamic8": Tile(), "affine": Tile()}
MICROSCALING_TILE = Tile()


def _flat(x: torch.Tensor, fmt: Format, nested: bool) -> QuantTensor:
    flat = x.reshape(-1)
    numel = flat.numel()
    count = blocks(numel, fmt.group)
    absmax = torch.empty(count, dtype=torch.float32, device=x.device)
    codes = torch.empty(blocks(numel * fmt.bits, 8), dtype=torch.uint8, device=x.device)
    if count:
        step, warps = TILES[fmt.kind].fit(fmt.group, platform(x.device))
        grid = (triton.cdiv(count, step),)
        with on_device(x):
            if fmt.kind == "fp4":
                start, size = absmax, 0
                middle = decision_points("fp4", x.device)
            else:
                start, middle, size = buckets(fmt.kind, x.device)
            table_sizes = {"SHIFT": BUCKET_SHIFT, "LOWEST": LOWEST_EXPONENT, "BUCKETS": size}
            common = {"GROUP": fmt.group, "BLOCK": step, "num_warps": warps, "enable_fp_fusion": False}
            if fmt.bits == 4:
                nf4 = fmt.kind == "nf4"
                quantize_4bit[grid](flat, codes, absmax, start, middle, numel, NF4=nf4, **table_sizes, **common)
            else:
                quantize_dynamic8[grid](flat, codes, absmax, start, middle, numel, **table_sizes, **common)
    result = QuantTensor(fmt, tuple(x.shape), x.dtype, codes, absmax)
    return nest(result) if nested else result


def nest(q: QuantTensor) -> QuantTensor:
    """As the eager `nest`, through these kernels."""
    offset = q.scales.mean()
    inner = _flat(q.scales - offset, Format("dynamic8", 8, NESTED_BLOCK), False)
    return QuantTensor(q.format, q.shape, q.dtype, q.codes, inner.codes, None, inner.scales, offset)


def run(x: torch.Tensor, fmt: Format, nested: bool = False) -> QuantTensor:
    """See `rocport.ops.quantize`."""
    x = x.contiguous()
    if fmt.flat:
        return _flat(x, fmt, nested)
    shape = tuple(x.shape)
    lead, count = shape[:-1], x.numel() // fmt.group
    codes = torch.empty((*lead, shape[-1] * fmt.bits // 32), dtype=torch.int32, device=x.device)
    affine = fmt.kind == "affine"
    scales = torch.empty((*lead, shape[-1] // fmt.group), dtype=x.dtype if affine else torch.uint8, device=x.device)
    biases = torch.empty_like(scales) if affine else None
    if count:
        step, warps = TILES.get(fmt.kind, MICROSCALING_TILE).fit(fmt.group, platform(x.device))
        grid = (triton.cdiv(count, step),)
        with on_device(x):
            if biases is not None:
                quantize_affine[grid](
                    x, codes, scales, biases, count, BITS=fmt.bits, GROUP=fmt.group, BLOCK=step,
                    num_warps=warps, enable_fp_fusion=False,
                )  # fmt: skip
            else:
                kind = ("mxfp4", "nvfp4", "mxfp8").index(fmt.kind)
                middle = decision_points("mxfp4", x.device)
                quantize_microscaling[grid](
                    x, codes, scales, count, middle, table("mxfp8", x.device), KIND=kind, GROUP=fmt.group,
                    BLOCK=step, num_warps=warps, enable_fp_fusion=False,
                )  # fmt: skip
    return QuantTensor(fmt, shape, x.dtype, codes, scales, biases)


def refuse(platform: Platform, x: torch.Tensor, fmt: Format, nested: bool = False) -> str:
    if x.dtype not in (torch.float32, torch.float16, torch.bfloat16):
        return f"needs float32, float16 or bfloat16, have {x.dtype}"
    return refuse_triton(platform)


TIER = Tier("triton", 20, run, refuse, "rocport")
